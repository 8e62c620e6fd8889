"""Decides claims about the reasoning boundary, as defined in docs/concepts/evaluation.md.

A claim consists of one-sided hypotheses, and its p-value is the largest of theirs (intersection-union test, Berger
1982). The p-values of all claims are corrected by Holm's method. "No change" takes two one-sided tests (Schuirmann
1987).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from prorl_evaluation.boundary.types import Claim, Hypothesis, Kind, Regime
from prorl_evaluation.stats.distributions import holm
from prorl_evaluation.stats.intervals import Drawn
from prorl_evaluation.stats.paired import one_sided


@dataclass(frozen=True, slots=True)
class Evidence:
    """The data from which the claim on one group and checkpoint is decided.

    ``since_base`` and ``since_before`` are bootstrap draws of the changes since the baseline and since the previous
    checkpoint (None for the first). ``first`` is their column for pass@1, ``last`` that for pass@K. ``blocked`` is the
    reason why nothing can be tested, or "".
    """

    kind: Kind
    group: str
    checkpoint: str
    k: int
    since_base: Drawn | None
    since_before: Drawn | None
    first: int
    last: int
    blocked: str = ""
    base: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A claim that can be tested; it holds if all its ``statements`` are significant."""

    regime: Regime
    statements: tuple[Hypothesis, ...]
    reason: str

    @property
    def p(self) -> float:
        """The largest p-value, or NaN if any is NaN."""
        values = [s.p for s in self.statements]
        return math.nan if any(math.isnan(v) for v in values) else max(values)


def decide_claims(
    evidence: Iterable[Evidence], alpha: float = 0.05, margin: float = 0.05
) -> tuple[list[Claim], int]:
    """Return one claim per item of ``evidence``, and how many tested claims were corrected together.

    If several claims hold, the first is returned, in the order fell, sustained, plateau, sharpened only. If none holds,
    the claim is "undecided".
    """
    listed = [
        (replace(e, since_base=None, since_before=None), candidates(e, margin)) for e in evidence
    ]
    flat = [c for _, group in listed for c in group]
    corrected = holm([c.p for c in flat])
    lookup: Mapping[int, float] = {id(c): p for c, p in zip(flat, corrected, strict=True)}
    claims = []
    for e, group in listed:
        holding = [c for c in group if lookup[id(c)] <= alpha]
        if holding:
            c = holding[0]
            small = c is not holding[-1] and holding[-1].regime == "sharpened only"
            reason = f"{c.reason}, by less than {margin:g}" if small else c.reason
            claims.append(_claim(e, c, c.regime, lookup[id(c)], reason))
            continue
        tested = [c for c in group if not math.isnan(c.p)]
        nearest = min(tested, key=lambda c: c.p) if tested else None
        reason, p = "nothing could be tested", math.nan
        if nearest is not None:
            p = lookup[id(nearest)]
            reason = f"nothing is shown; nearest: {nearest.reason} (corrected p = {p:.2g})"
        reason = e.blocked or reason
        if not e.blocked and e.base + margin > 1.0:
            reason += (
                f"; the baseline's pass@{e.k} is within {margin:g} of 1, no gain could be shown"
            )
        claims.append(_claim(e, nearest, "undecided", p, reason))
    return claims, sum(not math.isnan(c.p) for c in flat)


def candidates(e: Evidence, margin: float) -> list[Candidate]:
    """Return the claims that can be tested; of those that hold, the first one counts."""
    if e.since_base is None or e.blocked:
        return []
    name = f"pass@{e.k}"
    rose, fell = one_sided(e.since_base, e.last)
    up = Hypothesis(f"{name} rose", rose)
    better = Hypothesis("pass@1 rose", one_sided(e.since_base, e.first)[0])
    same = _within(e.since_base, e.last, name, margin, "")
    loss = Candidate("fell", (Hypothesis(f"{name} fell", fell),), f"{name} fell")
    sharper = Candidate(
        "sharpened only",
        (better, *same),
        f"pass@1 rose while {name} changed by less than {margin:g}",
    )
    only = [sharper] if e.base + margin <= 1.0 else []
    if e.since_before is None:
        reason = f"{name} rose (with one checkpoint, this cannot be distinguished from a plateau)"
        return [loss, Candidate("sustained", (up,), reason), *only]
    # sustained and plateau also need the change since the previous checkpoint
    went_on, _ = one_sided(e.since_before, e.last)
    on = Hypothesis(f"{name} rose since the checkpoint before", went_on)
    still = _within(e.since_before, e.last, name, margin, " since")
    return [
        loss,
        Candidate("sustained", (up, on), f"{name} rose, also since the checkpoint before"),
        Candidate("plateau", (up, *still), f"{name} rose, then changed by less than {margin:g}"),
        *only,
    ]


def _within(
    drawn: Drawn, column: int, name: str, margin: float, when: str
) -> tuple[Hypothesis, Hypothesis]:
    _, little_up = one_sided(drawn, column, margin)
    little_down, _ = one_sided(drawn, column, -margin)
    return (
        Hypothesis(f"{name} rose by less than {margin:g}{when}", little_up),
        Hypothesis(f"{name} fell by less than {margin:g}{when}", little_down),
    )


def _claim(
    e: Evidence, c: Candidate | None, regime: Regime, corrected: float, reason: str
) -> Claim:
    p, tests = (c.p, c.statements) if c is not None else (math.nan, ())
    return Claim(e.kind, e.group, e.checkpoint, regime, p, corrected, tests, reason)
