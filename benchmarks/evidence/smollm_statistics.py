"""The tests of the SmolLM2 protocol on its evaluation file: paired, clustered by item, stratified by task.

Leaves out: the document (``smollm_report``) and the figures (``smollm_figures``).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import smollm_protocol as protocol

from prorl_common import derive_seed
from prorl_evaluation import Interval, bootstrap_ci, pass_at_k

MODELS = ("base", "step-0", "trained")


@dataclass(frozen=True, slots=True)
class Row:
    """One held-out item under one model and way of sampling: ``c`` of ``n`` answers with full marks."""

    model: str
    sampling: str
    task: str
    item: str
    n: int
    c: int
    reward_mean: float
    tokens: int
    unparsable: int


@dataclass(frozen=True, slots=True)
class Change:
    """Means before and after over the same items, the interval of the difference, and p where tested."""

    task: str
    before: float
    after: float
    value: float
    low: float
    high: float
    p: float = float("nan")
    p_holm: float = float("nan")

    def text(self) -> str:
        """Return means, difference and interval."""
        return f"{self.before:.3f} -> {self.after:.3f}, {self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def read_evaluation(path: Path) -> list[Row]:
    """Return the rows of ``evaluation.csv``."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                r["model"],
                r["sampling"],
                r["task"],
                r["item"],
                int(r["n"]),
                int(r["c"]),
                float(r["reward_mean"]),
                int(r["tokens"]),
                int(r["unparsable"]),
            )
            for r in csv.DictReader(file)
        ]


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the lines of ``metrics.jsonl``."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _of(rows: Sequence[Row], model: str, sampling: str, task: str | None = None) -> list[Row]:
    own = [r for r in rows if (r.model, r.sampling) == (model, sampling)]
    return sorted((r for r in own if task in (None, r.task)), key=lambda r: r.item)


def interval(rows: Sequence[Row], model: str, sampling: str, k: int) -> Interval:
    """Return mean pass@k over the items with its bootstrap interval, stratified by task."""
    own = _of(rows, model, sampling)
    values = [pass_at_k(r.n, r.c, k) for r in own]
    return _bootstrap(values, [r.task for r in own], f"{model}/{sampling}/{k}")


def mean(rows: Sequence[Row], model: str, task: str) -> float:
    """Return pass@1 of one model on one task."""
    own = _of(rows, model, "sampled", task)
    return sum(r.c / r.n for r in own) / len(own)


def length(rows: Sequence[Row], model: str) -> float:
    """Return the mean tokens of a sampled answer."""
    own = _of(rows, model, "sampled")
    return sum(r.tokens for r in own) / sum(r.n for r in own)


def unparsable(rows: Sequence[Row], model: str) -> float:
    """Return the share of sampled answers without a readable answer in the tag."""
    own = _of(rows, model, "sampled")
    return sum(r.unparsable for r in own) / sum(r.n for r in own)


def primary(rows: Sequence[Row]) -> Change:
    """Return the primary endpoint: pass@1 of the trained model minus step 0's."""
    return difference(rows, "sampled", 1)


def difference(rows: Sequence[Row], sampling: str, k: int, task: str | None = None) -> Change:
    """Return the paired change of pass@k from step 0 to the trained model, all tasks or one.

    Raises ValueError when the two models were not sampled on the same items.
    """
    before, after = (_of(rows, model, sampling, task) for model in ("step-0", "trained"))
    if [r.item for r in before] != [r.item for r in after] or not before:
        raise ValueError("step-0 and trained must be evaluated on the same items")
    a = [pass_at_k(r.n, r.c, k) for r in before]
    b = [pass_at_k(r.n, r.c, k) for r in after]
    change = [y - x for x, y in zip(a, b, strict=True)]
    found = _bootstrap(change, [r.task for r in before], f"difference/{sampling}/{k}/{task}")
    p = sign_flip(change, f"{sampling}/{k}/{task}")
    means = sum(a) / len(a), sum(b) / len(b)
    return Change(task or "all", *means, found.value, found.low, found.high, p)


def by_task(rows: Sequence[Row]) -> list[Change]:
    """Return the change of pass@1 on each task with Holm-adjusted p values."""
    found = [difference(rows, "sampled", 1, task.name) for task in protocol.TASKS]
    adjusted = holm([d.p for d in found])
    return [
        Change(d.task, d.before, d.after, d.value, d.low, d.high, d.p, p)
        for d, p in zip(found, adjusted, strict=True)
    ]


def sign_flip(change: Sequence[float], purpose: str) -> float:
    """Return the two-sided p value of mean 0 under random signs, by ``DRAWS`` draws (never exactly 0)."""
    values = np.asarray(change, dtype=np.float64)
    rng = np.random.default_rng(derive_seed(protocol.EVAL_SEED, "sign_flip", purpose))
    signs = rng.integers(0, 2, size=(protocol.DRAWS, len(values))) * 2 - 1
    extreme = np.abs(signs @ values) >= abs(values.sum()) - 1e-12
    return float((extreme.sum() + 1) / (protocol.DRAWS + 1))


def holm(values: Sequence[float]) -> list[float]:
    """Return the adjusted p values of Holm's step-down procedure (Scand. J. Statist. 6, 1979)."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted = [0.0] * len(values)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = highest
    return adjusted


def _bootstrap(values: Sequence[float], strata: Sequence[str], purpose: str) -> Interval:
    seed = derive_seed(protocol.EVAL_SEED, "bootstrap", purpose)
    return bootstrap_ci(
        values, strata=strata, level=protocol.LEVEL, draws=protocol.DRAWS, seed=seed
    )
