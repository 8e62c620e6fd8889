"""The cases of one submission in turn: each is run, run again where others may be to blame, and charged
to the budget of all."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import assert_never

from prorl_sandbox.run.cases import Account
from prorl_sandbox.run.conversation import CROWDED_CPU, MOST_STRETCH, Box, BoxLostError, Job
from prorl_sandbox.run.plans import Boxes, NoneFree, Plan, When
from prorl_sandbox.types import Case, Limits, Outcome

_MOST_AHEAD = 8
_SOON_SECONDS = 0.5


@dataclass(slots=True)
class _Ahead:
    """A case that a helper has begun, under limits of that time, and what came of it: NoneFree where
    it could not be run then."""

    limits: Limits
    result: Outcome | Exception | None = None


Start = Callable[[Sequence[Job], When], AbstractContextManager[Boxes]]
"""``BoxSandbox._boxes``."""


class Turns:
    """Runs cases in turn; ``outcomes`` yields what came of each.

    While boxes are free and nobody waits for one, helping threads begin cases before it is their
    turn, once one has ended soon: a submission that fails at once, or takes long, costs no more
    than it must. ``plan`` says what a case needs under limits, or what its outcome is without a
    run; ``boxes`` and ``are_free`` are those of ``BoxSandbox``.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        account: Account,
        plan: Callable[[Case, Limits], Plan | Outcome],
        boxes: Start,
        are_free: Callable[[int], bool],
    ) -> None:
        self._cases = cases
        self._account = account
        self._plan = plan
        self._boxes = boxes
        self._are_free = are_free
        self._changed = threading.Condition()
        self._turn = 0
        self._next = 0  # the first case that nobody has begun
        self._ahead: dict[int, _Ahead] = {}
        self._helpers: list[threading.Thread] = []
        self._running: list[Box] = []
        self._over = False

    def outcomes(self, isolation: str) -> Generator[Outcome, None, None]:
        """Yield an outcome a case, in order. Raises SandboxError, UserError."""
        soon = False
        try:
            for number, case in enumerate(self._cases):
                if self._account.spent:
                    self._end_helpers()
                    yield self._account.nothing_left(isolation)
                    continue
                self._turn = number
                if soon:
                    self._get_help()
                outcome = self._take_turn(case, self._account.limits())
                soon = outcome.wall_seconds < _SOON_SECONDS
                with self._changed:
                    outcome = self._account.charge(outcome)
                yield outcome
        finally:
            self._end_helpers()

    def _take_turn(self, case: Case, left: Limits) -> Outcome:
        when: When = "free"
        with self._changed:
            self._next = max(self._next, self._turn + 1)
            ahead = self._ahead.pop(self._turn, None)
            if ahead is not None:
                self._changed.wait_for(lambda: ahead.result is not None)
        if ahead is not None and not isinstance(ahead.result, NoneFree):
            assert ahead.result is not None
            if isinstance(ahead.result, BoxLostError):
                when = "alone"
            elif isinstance(ahead.result, Exception):
                raise ahead.result
            elif may_be_others(ahead.result, ahead.limits):
                when = "alone"
            elif ahead.limits == left or self._account.covers(ahead.result):
                return ahead.result
            # Begun when there was more left: it counts what it does with what is left now.
        plan = self._plan(case, left)
        if isinstance(plan, Outcome):
            return plan
        return run_fairly(plan, left, self._boxes, when)

    def _get_help(self) -> None:
        """Start one more helper, if there are both a case and a box for it."""
        self._helpers = [one for one in self._helpers if one.is_alive()]
        own = self._turn not in self._ahead
        if self._turn + 1 + len(self._ahead) < len(self._cases) and self._are_free(1 + own):
            context = contextvars.copy_context()  # whoever may cancel this thread's runs
            helper = threading.Thread(target=context.run, args=(self._help,), daemon=True)
            self._helpers.append(helper)
            helper.start()

    def _help(self) -> None:
        """Run cases ahead of their turn, until none is near, or others want the boxes."""
        while True:
            with self._changed:
                number = max(self._next, self._turn + 1)
                near = number < min(len(self._cases), self._turn + 1 + _MOST_AHEAD)
                if not near or self._over or self._account.spent:
                    return
                self._next = number + 1
                ahead = self._ahead[number] = _Ahead(self._account.limits())
            try:
                result: Outcome | Exception = self._run_ahead(number, ahead.limits)
            except Exception as error:  # noqa: BLE001 - raised when it is its turn
                result = error
            with self._changed:
                ahead.result = result
                self._changed.notify_all()
            if isinstance(result, Exception):
                return

    def _run_ahead(self, number: int, limits: Limits) -> Outcome:
        plan = self._plan(self._cases[number], limits)
        if isinstance(plan, Outcome):
            return plan
        with self._boxes(plan.jobs, "now") as made:
            with self._changed:
                if self._over:
                    raise NoneFree
                self._running += made.boxes
            try:
                return plan.run(made)
            finally:
                with self._changed:
                    self._running = [box for box in self._running if box not in made.boxes]

    def _end_helpers(self) -> None:
        """Kill what helpers run, and wait until it is gone."""
        with self._changed:
            self._over = True
            for box in self._running:
                box.kill("closed")
        while self._helpers:
            self._helpers.pop().join()


def run_fairly(plan: Plan, limits: Limits, boxes: Start, when: When = "free") -> Outcome:
    """Run a plan, and once more alone where others may be why it took too long, or why its box was
    lost. Raises SandboxError, BoxLostError when the box was lost again."""
    try:
        with boxes(plan.jobs, when) as made:
            outcome = plan.run(made)
    except BoxLostError:
        if when == "alone":
            raise
        return run_fairly(plan, limits, boxes, "alone")
    if when == "free" and may_be_others(outcome, limits):
        return run_fairly(plan, limits, boxes, "alone")
    return outcome


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
