"""What a boundary report says: groups, claims, solvable sets, gains, lengths, ladders; and its JSON.

Leaves out: how the numbers are made (``boundary``, ``claims``, ``solvable``, ``gain``, ``paired``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.stats.paired import Change
from prorl_evaluation.types import finite

BOUNDARY_FORMAT = 1
Kind = Literal["overall", "domain", "benchmark", "task"]
Regime = Literal["sustained", "plateau", "sharpened only", "fell", "undecided"]
"""What a claim says, in the order in which a report shows them."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One statement that a claim rests on, and its one-sided p-value, not corrected."""

    name: str
    p: float


@dataclass(frozen=True, slots=True)
class Claim:
    """What one checkpoint shows in one group.

    ``p`` is the largest p-value of ``tests`` (all of them must hold), ``p_corrected`` the same after
    Holm's correction over every candidate claim of the report; for ``undecided`` both belong to the
    candidate that came nearest, and are NaN when none could be tested. ``reason`` is a sentence.
    """

    kind: Kind
    group: str
    checkpoint: str
    regime: Regime
    p: float
    p_corrected: float
    tests: tuple[Hypothesis, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Curve:
    """pass@k of one result in one group: an interval over problems for each k."""

    label: str
    points: Mapping[int, Interval]


@dataclass(frozen=True, slots=True)
class SolvableChanges:
    """Which problems became solvable, and which were lost, from one result to another.

    ``gained`` and ``lost`` are raw sets: at least one success in one result's samples and none in the
    other's. ``gained_shown`` and ``lost_shown`` are those problems whose success rate differs by
    Fisher's exact test at a false discovery rate of ``fdr`` and that were unsolved on one side.
    ``gained_by_luck`` and ``lost_by_luck`` are how many of each raw set one expects when no success rate
    changed. ``unjudged`` problems have no verdict on one side and are in no set.
    """

    before: str
    after: str
    both: int
    neither: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    gained_shown: tuple[str, ...]
    lost_shown: tuple[str, ...]
    gained_by_luck: float
    lost_by_luck: float
    unjudged: tuple[str, ...]
    fdr: float


@dataclass(frozen=True, slots=True)
class GainPoint:
    """One group's base pass@k and what was gained on it."""

    group: str
    base: float
    gain: float
    problems: int


@dataclass(frozen=True, slots=True)
class GainAgainstBase:
    """Does less headroom mean less gain? ProRL finds a negative correlation over tasks.

    ``correlation`` is Spearman's over ``points`` with a bootstrap interval over groups.
    """

    k: int
    points: tuple[GainPoint, ...]
    correlation: Interval


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a difficulty ladder: the metric of each result there, in the report's order."""

    value: float
    name: str
    problems: int
    values: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Ladder:
    """One task at rising difficulty; ``key`` is the label that orders it, ``metric`` what is shown."""

    task: str
    key: str
    metric: str
    rungs: tuple[Rung, ...]


@dataclass(frozen=True, slots=True)
class BoundaryGroup:
    """One domain, benchmark or task, or all problems: curves, changes of each later checkpoint, claims.

    ``changes`` and ``claims`` have one entry for each result after the first.
    """

    kind: Kind
    name: str
    problems: int
    curves: tuple[Curve, ...]
    changes: tuple[tuple[Change, ...], ...]
    claims: tuple[Claim, ...]

    @property
    def is_coarse(self) -> bool:
        """Whether every result has a group of this name: all problems, or a domain."""
        match self.kind:
            case "overall" | "domain":
                return True
            case "benchmark" | "task":
                return False
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True)
class BoundaryReport:
    """Two or more results on the same problems, baseline first; see :class:`BoundaryGroup`.

    ``k`` is the largest k the claims look at, ``margin`` the change of pass@k that counts as none,
    ``alpha`` the family-wise error rate of all claims together, ``hypotheses`` how many were tested.
    ``solvable`` and ``gains`` have one entry for each result after the first.
    """

    labels: tuple[str, ...]
    k: int
    near_n: tuple[str, ...]
    alpha: float
    margin: float
    level: float
    hypotheses: int
    groups: tuple[BoundaryGroup, ...]
    solvable: tuple[SolvableChanges, ...]
    gains: tuple[GainAgainstBase, ...]
    ladders: tuple[Ladder, ...]
    warnings: tuple[str, ...]

    def group(self, kind: Kind, name: str) -> BoundaryGroup | None:
        """Return the group of that kind and name, or None."""
        return next((g for g in self.groups if (g.kind, g.name) == (kind, name)), None)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims in the order of groups and checkpoints."""
        return tuple(c for g in self.groups for c in g.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object; NaN becomes null, a k is a string of digits."""
        value = finite(dataclasses.asdict(self))
        assert isinstance(value, dict)
        return {"format": BOUNDARY_FORMAT, **value}
