"""The two figures of the SmolLM2 document: the run's curves, and pass@1 by task before and after.

Leaves out: the numbers in text (``smollm_report``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import smollm_protocol as protocol
import smollm_statistics as statistics

WINDOW = 10
"""Steps that a smoothed point is the mean of."""


def draw(evidence: Path, folder: Path) -> None:
    """Write ``smollm2-run.png`` and ``smollm2-tasks.png`` from the committed files."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    _run(statistics.read_metrics(evidence / "metrics.jsonl"), folder / "smollm2-run.png")
    _tasks(statistics.read_evaluation(evidence / "evaluation.csv"), folder / "smollm2-tasks.png")


def smoothed(values: list[float]) -> list[float]:
    """Return the running mean over the last ``WINDOW`` values."""
    parts = [values[max(0, i - WINDOW + 1) : i + 1] for i in range(len(values))]
    return [sum(p) / len(p) for p in parts]


def _run(metrics: list[dict[str, Any]], path: Path) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(14, 3), layout="constrained")
    shown = (
        ("reward_mean", "reward in training"),
        ("kl", "KL to the reference"),
        ("entropy", "entropy, nats a token"),
        ("response_length_mean", "tokens an answer"),
    )
    for axis, (key, title) in zip(axes, shown, strict=True):
        rows = [m for m in metrics if m.get(key) is not None]
        steps, values = [m["step"] for m in rows], [float(m[key]) for m in rows]
        axis.plot(steps, values, color="0.75", linewidth=0.8)
        axis.plot(steps, smoothed(values), color="C0")
        axis.set(title=title, xlabel="step")
    checked = [m for m in metrics if m.get("validation_reward") is not None]
    points = [m["step"] for m in checked], [m["validation_reward"] for m in checked]
    axes[0].plot(*points, "o", color="C1", label="validation")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _tasks(rows: list[statistics.Row], path: Path) -> None:
    from matplotlib import pyplot as plt

    changes = statistics.by_task(rows)
    figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for i, change in enumerate(changes):
        half = [change.value - change.low], [change.high - change.value]
        axis.errorbar([change.value], [i], xerr=half, fmt="o", color="C0", capsize=3)
    axis.axvline(0, color="0.5", linewidth=0.8)
    axis.set_yticks(range(len(changes)), [c.task for c in changes])
    axis.set_xlabel(
        f"change of pass@1, step 0 to {protocol.STEPS} ({protocol.LEVEL:.0%} intervals)"
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)
