"""Defines the records of a boundary report."""

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
"""Possible claims, in the order in which a report shows them."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A statement with its uncorrected one-sided p-value."""

    name: str
    p: float


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim decided for one checkpoint and group.

    ``p`` is the largest p-value of ``tests``, and ``p_corrected`` is ``p`` after Holm's correction. The
    ``tests`` of an "undecided" claim are those of the claim with the smallest ``p``.
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
    label: str
    points: Mapping[int, Interval]


@dataclass(frozen=True, slots=True)
class SolvableChanges:
    """Problems that became solvable (gained) or unsolvable (lost) between two results.

    ``gained_shown`` and ``lost_shown`` are the significant ones (Fisher's exact test, false discovery rate ``fdr``).
    ``gained_by_luck`` and ``lost_by_luck`` are the numbers expected by chance if no success rate changed.
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
    group: str
    base: float
    gain: float
    problems: int


@dataclass(frozen=True, slots=True)
class GainAgainstBase:
    """Spearman's correlation, over groups of problems, of the baseline's pass@k and the gain in pass@k."""

    k: int
    points: tuple[GainPoint, ...]
    correlation: Interval


@dataclass(frozen=True, slots=True)
class Rung:
    """One difficulty level of a task, with the metric of each result (``values``)."""

    value: float
    name: str
    problems: int
    values: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Ladder:
    """One task's metric at its difficulty levels (``rungs``, ascending); ``key`` is the label that holds the level."""

    task: str
    key: str
    metric: str
    rungs: tuple[Rung, ...]


@dataclass(frozen=True, slots=True)
class BoundaryGroup:
    """All problems, or the problems of a domain, benchmark or task.

    ``changes`` and ``claims`` have one entry per later result.
    """

    kind: Kind
    name: str
    problems: int
    curves: tuple[Curve, ...]
    changes: tuple[tuple[Change, ...], ...]
    claims: tuple[Claim, ...]

    @property
    def is_coarse(self) -> bool:
        match self.kind:
            case "overall" | "domain":
                return True
            case "benchmark" | "task":
                return False
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True)
class BoundaryReport:
    """A comparison of results on the same problems, baseline first.

    ``solvable`` and ``gains`` have one entry per later result. See ``BoundaryOptions`` for ``alpha`` and ``margin``.
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
        return next((g for g in self.groups if (g.kind, g.name) == (kind, name)), None)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(c for g in self.groups for c in g.claims)

    def to_json(self) -> dict[str, Any]:
        value = finite(dataclasses.asdict(self))
        assert isinstance(value, dict)
        return {"format": BOUNDARY_FORMAT, **value}
