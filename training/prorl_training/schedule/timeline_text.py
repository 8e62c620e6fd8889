"""A run's decisions as text: one line of lanes, a table, and how two lists of decisions differ.

Leaves out: the picture (``timeline``) and printing (the command line).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from prorl_training.schedule.decisions import CONTROLLER_KINDS, Decision
from prorl_training.schedule.timeline import Span, penalty_windows, phase_spans


class Difference(NamedTuple):
    """A decision that only one of two lists has."""

    step: int
    kind: str
    side: str
    """``simulated`` or ``recorded``."""
    reason: str


def lanes_text(decisions: Sequence[Decision], steps: int, width: int = 72) -> list[str]:
    """Return lines of a text timeline, ``width`` characters for ``steps`` steps.

    Phases by their number, ``=`` where the length penalty is on for any of a column's steps, ``R``
    where the reference is reset, ``!`` for any other decision.
    """
    width = max(min(width, steps), 1)

    def column(step: int) -> int:
        return (min(max(step, 1), steps) - 1) * width // steps

    lines = []
    if phases := phase_spans(decisions, steps):
        lines.append("phase    " + _bars(phases, column, width, [str(n + 1) for n in range(99)]))
    windows = penalty_windows(decisions, steps)
    lines.append("penalty  " + _bars(windows, column, width, ["="] * len(windows)))
    resets = [d.step for d in decisions if d.kind == "reference_reset"]
    lines.append("reset    " + _marks(resets, column, width, "R"))
    if other := [d.step for d in decisions if d.kind not in CONTROLLER_KINDS]:
        lines.append("other    " + _marks(other, column, width, "!"))
    right = str(steps)
    lines.append("step     1" + " " * (width - 1 - len(right)) + right)
    return lines


def _bars(spans: Sequence[Span], column: Any, width: int, signs: Sequence[str]) -> str:
    cells = ["."] * width
    for (first, end, _), sign in zip(spans, signs, strict=False):
        for i in range(column(first), column(end - 1) + 1):
            cells[i] = sign[-1]
    return "".join(cells)


def _marks(steps: Sequence[int], column: Any, width: int, sign: str) -> str:
    at = {column(step) for step in steps}
    return "".join(sign if i in at else "." for i in range(width))


def table_rows(decisions: Sequence[Decision]) -> list[tuple[str, str, str]]:
    """Return (step, what, why) of each decision as text."""
    return [(str(d.step), d.kind.replace("_", " "), d.reason) for d in decisions]


def read_decision(row: Mapping[str, Any]) -> Decision:
    """Return the decision of a line of ``decisions.jsonl``."""
    return Decision(int(row["step"]), row["kind"], str(row["reason"]), row.get("evidence", {}))


def differences(
    simulated: Sequence[Decision], recorded: Sequence[Decision], steps: int
) -> list[Difference]:
    """Return where two lists differ in what the controller decides, up to ``steps``, in step order.

    A reset by another rule or to other weights differs too. What only the guard or the engine can know
    (skipped updates, outages) is not compared.
    """
    sides = {
        side: {_identity(d): d for d in found if d.kind in CONTROLLER_KINDS and d.step <= steps}
        for side, found in (("simulated", simulated), ("recorded", recorded))
    }
    only = [
        Difference(d.step, d.kind, side, d.reason)
        for side, other in (("simulated", "recorded"), ("recorded", "simulated"))
        for identity, d in sides[side].items()
        if identity not in sides[other]
    ]
    return sorted(only, key=lambda x: (x.step, x.kind, x.side))


def _identity(d: Decision) -> tuple[Any, ...]:
    shown = ("rule", "reset_to", "optimizer", "phase", "weight", "form")
    return (d.step, d.kind, *(d.evidence.get(key) for key in shown))
