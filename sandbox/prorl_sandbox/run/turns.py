"""The cases of one submission in turn: each is planned, run, run again where others may be to blame, and
charged to the budget of all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import assert_never

from prorl_common import UserError
from prorl_sandbox.run.attempt import Attempt, Boxes, NoneFree, Plan, When, move_on
from prorl_sandbox.run.cases import Account
from prorl_sandbox.run.conversation import CROWDED_CPU, MOST_STRETCH, Job
from prorl_sandbox.types import Case, Limits, Outcome, SandboxError

_MOST_AHEAD = 8
_SOON_SECONDS = 0.5


class Turns:
    """Runs cases in turn; ``outcomes`` yields what came of each.

    While boxes are free and nobody waits for one, cases are begun before it is their turn, once one
    has ended soon: a submission that fails at once, or takes long, costs no more than it must.

    ``plan`` says what a case needs under limits, or what its outcome is without a run;
    ``may_begin(case)``: it can be planned at once. ``boxes`` is ``BoxSandbox._boxes``.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        account: Account,
        plan: Callable[[Case, Limits], Plan | Outcome],
        may_begin: Callable[[Case], bool],
        boxes: Callable[[Sequence[Job], When], AbstractContextManager[Boxes]],
    ) -> None:
        self._cases = cases
        self._account = account
        self._plan = plan
        self._may_begin = may_begin
        self._boxes = boxes
        self._turn = 0
        self._soon = False
        self._ahead: deque[tuple[Limits, Attempt]] = deque()

    def outcomes(self, isolation: str) -> Iterator[Outcome]:
        """Yield an outcome a case, in order. Raises SandboxError, UserError."""
        try:
            for number, case in enumerate(self._cases):
                self._turn = number
                if self._account.spent:
                    self._give_up_ahead()
                    yield self._account.nothing_left(isolation)
                    continue
                outcome = self._take_turn(case, self._account.limits())
                self._soon = outcome.wall_seconds < _SOON_SECONDS
                yield self._account.charge(outcome)
        finally:
            self._give_up_ahead()

    def _take_turn(self, case: Case, left: Limits) -> Outcome:
        when: When = "free"
        if self._ahead:
            given, attempt = self._ahead.popleft()
            outcome = self._finish(attempt)
            if may_be_others(outcome, given):
                when = "alone"
            elif given == left or self._account.covers(outcome):
                return outcome
            # Begun when there was more left: it counts what it does with what is left now.
        plan = self._plan_alone(case, left)
        if isinstance(plan, Outcome):
            return plan
        outcome = self._run(plan, when)
        if when == "free" and may_be_others(outcome, left):
            self._give_up_ahead()
            return self._run(plan, "alone")
        return outcome

    def _plan_alone(self, case: Case, limits: Limits) -> Plan | Outcome:
        """Plan a case that may have to wait for a box. Who holds boxes waits for none: others may
        wait for those."""
        self._give_up_ahead()
        return self._plan(case, limits)

    def _run(self, plan: Plan, when: When) -> Outcome:
        attempt = Attempt(plan, self._boxes(plan.jobs, when))
        try:
            return self._finish(attempt)
        finally:
            attempt.give_up()

    def _finish(self, attempt: Attempt) -> Outcome:
        """See an attempt to its end, and meanwhile to others."""
        while not attempt.finished:
            if self._soon:
                self._begin_ahead()
            move_on([attempt, *(one for _, one in self._ahead if not one.finished)])
        return attempt.outcome()

    def _begin_ahead(self) -> None:
        """Begin the next cases that are not under way yet, as far as boxes are free for them."""
        limits = self._account.limits()
        first = self._turn + 1
        for case in self._cases[first + len(self._ahead) : first + _MOST_AHEAD]:
            if not self._may_begin(case):
                return
            try:
                plan = self._plan(case, limits)
                if isinstance(plan, Outcome):
                    return
                self._ahead.append((limits, Attempt(plan, self._boxes(plan.jobs, "now"))))
            except (NoneFree, SandboxError, UserError):  # what is wrong shows when it is its turn
                return

    def _give_up_ahead(self) -> None:
        while self._ahead:
            self._ahead.popleft()[1].give_up()


def may_be_others(outcome: Outcome, limits: Limits) -> bool:
    """Tell whether others may be why a case took too long, so that it is run again alone.

    That is so when it used more processor time than its limit while others shared the machine, and
    yet came to an end; and when it was kept from a processor for all the time that a wall limit is
    stretched by. What it does alone counts.
    """
    match outcome.limit:
        case None:
            return False
        case "cpu":
            ended = outcome.exit_code is not None  # by itself
            return ended and outcome.cpu_seconds < limits.cpu_seconds * CROWDED_CPU
        case "wall":
            return outcome.waited_seconds >= limits.wall_seconds * (MOST_STRETCH - 1)
        case _:
            assert_never(outcome.limit)
