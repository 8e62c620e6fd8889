"""IFEval's accuracies: prompt and instruction level, strict and loose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prorl_verifiers.types import Task, Verdict

Outcomes = list[tuple[str, bool, bool]]
"""(id, strict, loose) per constraint of one prompt."""


def summarise(verdicts: Iterable[Verdict], tasks: Sequence[Task] | None = None) -> dict[str, Any]:
    """Return {"prompts", "instructions", "prompt_strict", "prompt_loose", "instruction_strict", "instruction_loose",
    "by_group", "by_id", "infra_errors"}.

    Accuracies are fractions or None. "by_group" and "by_id" map names to {"count", "strict", "loose"}. A verdict
    without metrics fails all constraints of its task in ``tasks``. Without ``tasks``, it raises ValueError.
    """
    rows: list[Outcomes] = []
    infra_errors = 0
    for at, verdict in enumerate(verdicts):
        if verdict.is_infra_error:
            infra_errors += 1
        else:
            rows.append(_outcomes(verdict, at, tasks))
    flat = [outcome for row in rows for outcome in row]
    return {
        "prompts": len(rows),
        "instructions": len(flat),
        "prompt_strict": _share([all(strict for _, strict, _ in row) for row in rows]),
        "prompt_loose": _share([all(loose for _, _, loose in row) for row in rows]),
        "instruction_strict": _share([strict for _, strict, _ in flat]),
        "instruction_loose": _share([loose for _, _, loose in flat]),
        "by_group": _by((name.partition(":")[0], strict, loose) for name, strict, loose in flat),
        "by_id": _by(flat),
        "infra_errors": infra_errors,
    }


def _outcomes(verdict: Verdict, at: int, tasks: Sequence[Task] | None) -> Outcomes:
    if "constraints" not in verdict.metrics:
        if tasks is None:
            raise ValueError(f"verdict {at} has no metrics ({verdict.status}): give the tasks too")
        return [(str(name), False, False) for name in tasks[at].reference["instruction_id_list"]]
    outcomes: Outcomes = []
    for key, value in verdict.metrics.items():
        index, _, name = key.partition(":")
        if index.isdecimal():
            loose = float(verdict.metrics[f"loose:{key}"]) > 0
            outcomes.append((name, float(value) > 0, loose))
    return outcomes


def _share(outcomes: Sequence[bool]) -> float | None:
    return sum(outcomes) / len(outcomes) if outcomes else None


def _by(outcomes: Iterable[tuple[str, bool, bool]]) -> Mapping[str, Mapping[str, float]]:
    groups: dict[str, list[tuple[bool, bool]]] = {}
    for name, strict, loose in outcomes:
        groups.setdefault(name, []).append((strict, loose))
    return {
        name: {
            "count": len(group),
            "strict": sum(strict for strict, _ in group) / len(group),
            "loose": sum(loose for _, loose in group) / len(group),
        }
        for name, group in sorted(groups.items())
    }
