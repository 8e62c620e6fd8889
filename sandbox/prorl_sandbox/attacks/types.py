"""The words of the attack suite: what an attack is, how it may end, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from prorl_sandbox.types import Limits

Delivery = Literal["main", "call", "check"]
Grade = Literal["AC", "WA", "TLE", "MLE", "OLE", "RTE", "CE"]
Finding = Literal["held", "BREACH", "unexpected"]

ARGS: tuple[Any, ...] = (17, 25)
ANSWER = 1137
"""The task of every attack that has none of its own: f(17, 25), or "17 25" on standard input."""

USUAL_LIMITS = Limits(
    wall_seconds=10.0, cpu_seconds=8.0, memory_mb=200, output_kb=64, scratch_mb=16
)

INVARIANTS = (
    "no marker outside the box",
    "no surviving process one second later",
    "the host's services, files and processes untouched",
    "the next honest submission is accepted",
    "no growth in host memory",
    "no growth in open files",
)


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile program and one way to deliver it.

    ``ends``: the statuses with which it may end. ``legal``: right output is accepted here.
    ``legal_in_assert``: accepted where Python's own ``==`` in an assert would take it. ``expected``
    is the gold, which the program is not told. ``checker``: body of a check of its own. ``repeat``:
    runs in a row, all of which must end well; ``same_output``: and print the same.
    """

    case: str
    name: str
    run: Delivery
    source: str
    ends: frozenset[str]
    expected: Any = ANSWER
    legal: bool = False
    legal_in_assert: bool = False
    checker: str | None = None
    repeat: int = 1
    same_output: bool = False
    limits: Limits = USUAL_LIMITS

    @property
    def title(self) -> str:
        """Return case, way of delivery and name in one line."""
        return f"{self.case} {self.run}: {self.name}"


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the catalogue. ``by_construction`` says why there is no attack to run."""

    id: str
    title: str
    held_by: str
    attacks: tuple[Attack, ...]
    residual: str = ""
    by_construction: str = ""


@dataclass(frozen=True, slots=True)
class AttackResult:
    """What one attack did. ``status``: of its last run; ``broken``: the invariants it broke."""

    attack: Attack
    finding: Finding
    grade: Grade
    status: str
    seconds: float
    detail: str = ""
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A whole suite on one backend. ``growth``: (before, after) of memory in KiB and open files."""

    isolation: str
    seconds: float
    results: tuple[AttackResult, ...]
    growth: dict[str, tuple[int, int]] = field(default_factory=dict)
    broken: tuple[str, ...] = ()

    @property
    def breaches(self) -> list[AttackResult]:
        """Return the attacks that worked or broke an invariant."""
        return [r for r in self.results if r.finding == "BREACH" or r.broken]

    @property
    def held(self) -> bool:
        """True when every attack ended as it may and every invariant holds."""
        return not self.broken and all(r.finding == "held" and not r.broken for r in self.results)
