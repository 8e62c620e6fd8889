"""The cases of one submission: what is left of their budget, and running one after another."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Literal

from prorl_sandbox.types import (
    Budget,
    Call,
    Case,
    Check,
    Limits,
    Outcome,
    Program,
    Sandbox,
    Stdin,
)


class Account:
    """What is left of ``budget`` for cases that have ``limits`` each. No budget: always enough.

    Time that a case waited for a processor, for its box or for a compiler is not charged.
    """

    def __init__(self, budget: Budget | None, limits: Limits) -> None:
        self._limits = limits
        self._cpu = budget.cpu_seconds if budget is not None else float("inf")
        self._wall = budget.wall_seconds if budget is not None else float("inf")

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self._cpu <= 0 or self._wall <= 0

    def limits(self) -> Limits:
        """Return the limits of a case that starts now. Call it only while something is left."""
        return replace(
            self._limits,
            cpu_seconds=min(self._limits.cpu_seconds, self._cpu),
            wall_seconds=min(self._limits.wall_seconds, self._wall),
        )

    def covers(self, outcome: Outcome) -> bool:
        """Tell whether as much is left as a case has used."""
        wall = outcome.wall_seconds - outcome.waited_seconds
        return outcome.cpu_seconds <= self._cpu and wall <= self._wall

    def charge(self, outcome: Outcome) -> Outcome:
        """Take off what a case has used; return its outcome, which says if that was too much."""
        if outcome.status == "compile-error":
            return outcome
        cut_short = (outcome.limit == "cpu" and self._cpu <= self._limits.cpu_seconds) or (
            outcome.limit == "wall" and self._wall <= self._limits.wall_seconds
        )
        self._cpu -= outcome.cpu_seconds
        self._wall -= outcome.wall_seconds - outcome.waited_seconds
        if not cut_short and self._cpu >= 0 and self._wall >= 0:
            return outcome
        limit = outcome.limit or ("cpu" if self._cpu < 0 else "wall")
        if limit == "cpu":
            self._cpu = 0.0
        else:
            self._wall = 0.0
        return replace(outcome, status="timeout", limit=limit, over_budget=True)

    def nothing_left(self, isolation: str) -> Outcome:
        """Return the outcome of a case that comes when nothing is left."""
        limit: Literal["wall", "cpu"] = "cpu" if self._cpu <= 0 else "wall"
        return Outcome("timeout", limit=limit, isolation=isolation, over_budget=True)


def one_by_one(
    sandbox: Sandbox,
    program: Program,
    cases: Sequence[Case],
    limits: Limits,
    budget: Budget | None,
) -> Generator[Outcome, None, None]:
    """Do what ``Sandbox.run_cases`` does with a sandbox's ``run`` and ``run_check`` alone."""
    account = Account(budget, limits)
    for case in cases:
        if account.spent:
            yield account.nothing_left(sandbox.isolation)
            continue
        left = account.limits()
        match case:
            case Stdin(text=stdin):
                outcome = sandbox.run(replace(program, stdin=stdin, call=None, args=()), left)
            case Call(name=name, args=args):
                outcome = sandbox.run(replace(program, call=name, args=args), left)
            case Check(source=checker, entry_point=entry_point):
                outcome = sandbox.run_check(program, checker, entry_point, left)
        yield account.charge(outcome)
