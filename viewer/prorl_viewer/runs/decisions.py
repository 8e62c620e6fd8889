"""Shows a run's decisions and its validation forecast."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from prorl_common import UserError
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.decisions import (
    penalty_windows,
    phase_spans,
    read_decision,
    stage_spans,
)
from prorl_training.schedule.safety import EVERY_STEP
from prorl_training.types import Decision
from prorl_viewer.runs.curves import words
from prorl_viewer.runs.header import read_plain
from prorl_viewer.subject import Json

NOT_MARKED = frozenset({"penalty_window_opened", "penalty_window_closed", *EVERY_STEP})
"""Kinds of decisions without a mark in charts: they are drawn as bands, or made in every step."""
LISTED = 60
"""Maximum number of items shown of a list."""

DEEPEST = 10
"""Maximum nesting depth of shown evidence."""

LABELS = {
    "also": "other rules that applied",
    "kl": "KL (nats per token)",
    "z": "robust deviations above the line",
    "expected": "expected KL (nats per token)",
    "median": "median of the steps before",
    "spread": "robust deviation of the steps before",
    "before": "mean reward before",
    "after": "mean reward after",
    "gain": "gain, problem by problem",
    "paired_se": "its standard error",
    "problems": "problems compared",
    "gain_due": "gain that was due",
    "p": "p value",
    "alpha": "level of the test",
    "optimizer": "optimiser",
    "reset_to": "reset to",
    "best_step": "step of the best validation",
    "steps_since_reset": "steps since the last reset",
    "every": "interval in steps",
    "set": "settings of the phase",
    "of": "phases in all",
    "steps_on": "steps on",
    "steps_off": "steps off",
    "infra_rate": "share without a verdict that counts as an outage",
    "without_verdict": "responses without a verdict",
    "grad_norm": "gradient norm",
    "back_off": "factor of the learning rate",
}
"""Labels of evidence keys; other keys are split into words."""


def overview(rows: Sequence[Mapping[str, Any]], last: int) -> Json:
    """Return the decisions up to step ``last``, as bands and marks of charts and as a list.

    In the list, consecutive decisions of a kind in EVERY_STEP form one entry.
    """
    decisions = [read_decision(row) for row in rows if _is_one(row)]
    spans = {
        "penalty": [(a, b, "length penalty on") for a, b, _ in penalty_windows(decisions, last)],
        "phase": phase_spans(decisions, last),
        "stage": stage_spans(decisions, last),
    }
    return {
        "bands": [
            {"kind": kind, "from": first, "to": end, "label": label}
            for kind, ranges in spans.items()
            for first, end, label in ranges
        ],
        "marks": [
            {"step": d.step, "kind": d.kind, "label": _headline(d)}
            for d in decisions
            if d.kind not in NOT_MARKED
        ],
        "list": _listed(decisions),
        "counts": dict(Counter(d.kind for d in decisions)),
    }


def at_step(rows: Sequence[Mapping[str, Any]], step: int) -> list[Json]:
    decisions = [read_decision(row) for row in rows if row["step"] == step and _is_one(row)]
    decisions.sort(key=lambda d: d.kind in EVERY_STEP)
    return [
        {
            "step": d.step,
            "kind": d.kind,
            "label": words(d.kind),
            "reason": d.reason,
            "evidence": evidence(d.evidence),
        }
        for d in decisions
    ]


def _is_one(row: Mapping[str, Any]) -> bool:
    evidence = row.get("evidence", {})
    return isinstance(row.get("kind"), str) and "reason" in row and isinstance(evidence, Mapping)


def evidence(values: Mapping[str, Any], depth: int = 0) -> list[Json]:
    """Return evidence as rows with key, label and value; mappings become nested rows."""
    return [
        {"key": key, "label": LABELS.get(key, words(key)), "value": _value(value, depth + 1)}
        for key, value in values.items()
    ]


def _value(value: Any, depth: int) -> Json:
    match value:
        case Mapping() | list() | tuple() if depth > DEEPEST:
            return "nested too deep to be shown"
        case Mapping():
            return {"rows": evidence(value, depth)}
        case list() | tuple():
            listing: dict[str, Any] = {"items": [_value(v, depth + 1) for v in value[:LISTED]]}
            return listing | ({"more": len(value) - LISTED} if len(value) > LISTED else {})
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value


def _headline(d: Decision) -> str:
    rule = d.evidence.get("rule")
    if d.kind == "reference_reset" and rule is not None:
        return f"reference reset: {words(str(rule))}"
    return words(d.kind)


def _listed(decisions: Sequence[Decision]) -> list[Json]:
    entries: list[tuple[int, Json]] = []
    for place, d in enumerate(decisions):
        if d.kind not in EVERY_STEP:
            entry = {"step": d.step, "kind": d.kind, "label": _headline(d), "reason": d.reason}
            entries.append((place, entry))
    for kind in sorted(EVERY_STEP):
        of_kind = [(place, d) for place, d in enumerate(decisions) if d.kind == kind]
        for _, group in groupby(enumerate(of_kind), lambda pair: pair[1][1].step - pair[0]):
            stretch = [d for _, (_, d) in group]
            first, last = stretch[0], stretch[-1]
            entry = {"step": first.step, "kind": kind, "label": words(kind), "reason": first.reason}
            if len(stretch) > 1:
                entry |= {"to": last.step, "reason": f"{len(stretch)} steps, first: {first.reason}"}
            entries.append((decisions.index(first), entry))
    return [entry for _, entry in sorted(entries, key=lambda pair: (pair[1]["step"], pair[0]))]


FURTHEST = 1_000_000
"""Upper limit of the planned steps in a forecast, which computes every step."""


class ForecastCache:
    """Caches the forecast from a run's newest validation."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._kept: tuple[tuple[int, int], Json] | None = None

    def forecast(self, last_step: int, last_validation: int) -> Json:
        """Return the forecast up to the run's planned end, or beyond it if it has been reached.

        ``points`` are [step, value, low, high]; there are none if no forecast is possible.
        """
        with self._lock:
            request = (last_validation, self._to_step(last_step))
            if self._kept is None or self._kept[0] != request:
                self._kept = (request, self._compute(last_validation, request[1]))
            return self._kept[1]

    def _to_step(self, last: int) -> int:
        from prorl_training.schedule.forecast import step_to_ask_for

        try:
            planned = read_plain(self.run.config_path).get("steps")
        except UserError:  # the page's header reports it
            planned = None
        usable = isinstance(planned, int) and planned < FURTHEST
        return step_to_ask_for(last, planned if usable else None)

    def _compute(self, last_validation: int, to_step: int) -> Json:
        from prorl_training.schedule.forecast import forecast, one_line

        result = forecast(self.run.metrics(), to_step)
        answer: dict[str, Any] = {"told": one_line(result), "why": result.why, "points": []}
        if result.value is not None and result.value.identified:
            answer["points"] = [
                [p.step, p.value, p.low, p.high] for p in result.curve if p.step >= last_validation
            ]
        return answer
