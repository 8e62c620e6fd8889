"""Time limits count all of the box's time and nobody else's, with and without control groups."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

import pytest

from prorl_sandbox import Budget, Limits, LocalSandbox, Outcome, Program, Stdin
from prorl_sandbox.box import limits
from prorl_sandbox.capabilities import WALLS
from prorl_sandbox.environments.store import Environment
from prorl_sandbox.run.conversation import Box, Boxes
from prorl_sandbox.run.places import NoneFree, Places, When
from prorl_sandbox.run.plan import Job, Plan
from prorl_sandbox.run.sandbox import BoxSandbox

SPIN = "import time\nwhile time.process_time() < 0.6: pass\nprint('right')"
CHILDREN = "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        while True: pass\n"
UNWAITED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    for _ in range(6):
        try:
            child = os.fork()
        except OSError:
            try: os.waitpid(-1, os.WNOHANG)
            except OSError: pass
            continue
        if child == 0:
            end = time.process_time() + 0.03
            while time.process_time() < end: pass
            os._exit(0)
    time.sleep(0.05)
"""


@pytest.mark.parametrize(
    "source", [CHILDREN + "time.sleep(60)", CHILDREN + "os._exit(0)", UNWAITED]
)
def test_time_of_children_counts_however_they_end(either: LocalSandbox, source: str) -> None:
    limits = Limits(wall_seconds=20.0, cpu_seconds=1.0)
    outcome = either.run(Program(source), limits)
    if "_exit(0)" in source.splitlines()[-1]:  # it ended before it could be measured
        assert outcome.status == "ok"
    else:
        assert (outcome.status, outcome.limit) == ("timeout", "cpu")
        assert outcome.cpu_seconds >= 1.0


def test_a_program_that_is_killed_has_used_what_it_has_used(either: LocalSandbox) -> None:
    outcome = either.run(Program("while True: pass"), Limits(wall_seconds=60.0, cpu_seconds=0.5))
    assert (outcome.status, outcome.limit) == ("timeout", "cpu")
    assert 0.5 <= outcome.cpu_seconds < 5.0


def test_waiting_for_a_processor_does_not_count_for_the_wall_limit(sandbox: LocalSandbox) -> None:
    busy = Program("while True: pass")
    with LocalSandbox((*WALLS, "landlock"), "test", slots=4) as mine:
        long = Limits(wall_seconds=60.0, cpu_seconds=2.0)
        others = [threading.Thread(target=mine.run, args=(busy, long)) for _ in range(3)]
        for thread in others:
            thread.start()
        outcome = mine.run(Program(SPIN), Limits(wall_seconds=0.7, cpu_seconds=5.0))
        assert (outcome.status, outcome.stdout) == ("ok", "right\n"), outcome
        for thread in others:
            thread.join()


def test_sleep_counts_for_the_wall_limit(either: LocalSandbox) -> None:
    outcome = either.run(Program("import time\ntime.sleep(60)"), Limits(wall_seconds=0.5))
    assert (outcome.status, outcome.limit) == ("timeout", "wall")
    assert outcome.waited_seconds < 0.5


class ToldSandbox(BoxSandbox):
    """A sandbox without processes that gives fixed outcomes and records its starts."""

    def __init__(self, *outcomes: Outcome) -> None:
        super().__init__("told", sessions=1)
        self.left, self.asked = list(outcomes), list[str]()

    @contextlib.contextmanager
    def _boxes(self, jobs: Sequence[Job], when: When) -> Iterator[Boxes]:
        self.asked.append(when)
        yield Boxes([], lambda: False)

    def _run(self, plan: Plan, made: Boxes) -> Outcome:
        return self.left.pop(0)

    def _are_free(self, count: int) -> bool:
        return False

    def _session_box(self, job: Job) -> AbstractContextManager[Box]:
        raise NotImplementedError

    def _environment(self, name: str) -> Environment:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is held."""


RIGHT = Outcome("ok", exit_code=0)


@pytest.mark.parametrize(
    ("outcome", "again"),
    [
        (Outcome("timeout", limit="cpu", cpu_seconds=5.5, exit_code=0), True),
        (Outcome("timeout", limit="cpu", cpu_seconds=5.5, exit_code=None), False),  # killed
        (Outcome("timeout", limit="cpu", cpu_seconds=7.6, exit_code=-9), False),
        (Outcome("timeout", limit="wall", wall_seconds=40.0, waited_seconds=30.0), True),
        (Outcome("timeout", limit="wall", wall_seconds=12.0, waited_seconds=2.0), False),
        (Outcome("runtime-error", exit_code=1, cpu_seconds=4.0), False),
        (Outcome("runtime-error", exit_code=-9), True),  # from outside, or by itself
    ],
)
def test_what_others_may_have_caused_is_run_again_alone(outcome: Outcome, again: bool) -> None:
    told = ToldSandbox(outcome, RIGHT)
    found = told.run(Program(""), Limits(wall_seconds=10.0, cpu_seconds=5.0))
    expected = (RIGHT, ["free", "alone"]) if again else (outcome, ["free"])
    assert (found, told.asked) == expected


def test_what_is_too_slow_alone_is_too_slow() -> None:
    slow = Outcome("timeout", limit="cpu", cpu_seconds=5.5, exit_code=0)
    told = ToldSandbox(slow, slow)
    assert told.run(Program(""), Limits(cpu_seconds=5.0)) is slow
    assert told.asked == ["free", "alone"]


THREE = [Stdin("0"), Stdin("1"), Stdin("2")]


class AheadSandbox(ToldSandbox):
    """Start the last of three cases ahead, for which the second waits; the last one's runs have fixed outcomes."""

    def __init__(self, *outcomes: Outcome, second: Outcome) -> None:
        super().__init__(*outcomes)
        self.second = second
        self.begun = threading.Event()

    def _run(self, plan: Plan, made: Boxes) -> Outcome:
        match plan.jobs[0].stdin:
            case b"0":
                return RIGHT
            case b"1":
                assert self.begun.wait(60)
                return self.second
        self.begun.set()
        return super()._run(plan, made)

    def _are_free(self, count: int) -> bool:
        return True


def test_a_case_begun_ahead_that_others_may_have_slowed_is_run_again_alone() -> None:
    slow = Outcome("timeout", limit="cpu", cpu_seconds=5.5, exit_code=0)
    told = AheadSandbox(slow, RIGHT, second=RIGHT)
    assert list(told.run_cases(Program(""), THREE, Limits(cpu_seconds=5.0))) == [RIGHT] * 3
    assert sorted(told.asked) == ["alone", "free", "free", "now"]


def test_a_case_begun_with_more_budget_than_was_left_counts_what_it_does_with_less() -> None:
    long = Outcome("ok", exit_code=0, cpu_seconds=3.0)
    over = Outcome("timeout", limit="cpu", cpu_seconds=2.0)
    told = AheadSandbox(long, over, second=long)
    outcomes = told.run_cases(Program(""), THREE, Limits(), Budget(5.0, 50.0))
    assert [o.over_budget for o in outcomes] == [False, False, True]
    assert sorted(told.asked) == ["free", "free", "free", "now"]


def test_nobody_runs_beside_a_run_that_is_alone() -> None:
    places = Places(3)
    order: list[str] = []

    def borrow(when: When, name: str) -> None:
        with places.take(1, when):
            order.append(f"{name} in")
            time.sleep(0.05)
            order.append(f"{name} out")

    threads = [
        threading.Thread(target=borrow, args=one) for one in (("alone", "alone"), ("free", "later"))
    ]
    with places.take(1):
        for thread in threads:
            thread.start()
            time.sleep(0.05)
        assert order == []
    for thread in threads:
        thread.join(10)
    assert order == ["alone in", "alone out", "later in", "later out"]


def test_places_that_somebody_waits_for_are_not_taken_ahead() -> None:
    places = Places(2)
    with places.take(1):
        with places.take(1, "now"), pytest.raises(NoneFree), places.take(1, "now"):
            pass
        check = threading.Thread(target=lambda: places.take(2).__enter__())
        check.start()
        time.sleep(0.05)
        with pytest.raises(NoneFree), places.take(1, "now"):
            pass
    check.join(10)


def test_a_tally_keeps_what_the_kernel_forgets() -> None:
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    child = os.fork()
    if child == 0:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        os.read(os.pipe()[0], 1)
    time.sleep(0.05)
    numbers = [child]
    tally = limits.Tally(proc, lambda: numbers)
    while tally.seconds < 0.2:
        time.sleep(0.02)
        tally.look()
    os.kill(child, 9)
    os.waitpid(child, 0)
    tally.look()
    assert tally.seconds >= 0.2
    tally.close()


def test_a_tally_finds_all_that_came_from_a_process() -> None:
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.fork()
        os.write(tell, b"x")
        os.read(os.pipe()[0], 1)
    os.read(ready, 1)
    os.read(ready, 1)
    below = limits.with_all_below(proc, [child])
    assert child in below and len(below) == 2
    for number in below:
        os.kill(number, 9)
    os.waitpid(child, 0)
    os.close(proc)
