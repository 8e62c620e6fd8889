import itertools
import threading
import time

import pytest
from fake_sandbox import FakeSandbox

from prorl_sandbox import Limits, Outcome, Program
from prorl_verifiers import Task, VerifierPool, WorkerOptions, load_task
from prorl_verifiers.pool.queue import Batch, FairQueue, Job, LaneName, PoolClosedError

FOUR = Task("math", {"answer": "4"})
SUM = load_task("code", {"tests": [{"call": "f", "args": [], "expected": 1}]})
PROGRAM = "```python\nx\n```"


def batch(size: int) -> Batch:
    return Batch([("", FOUR)] * size)


def jobs(of: Batch) -> list[Job]:
    return [Job(of, index) for index in range(len(of.items))]


def drain(queue: FairQueue, seconds: dict[LaneName, float]) -> list[tuple[LaneName, Batch]]:
    """Take everything with one thread, each job lasting ``seconds`` of its lane."""
    order = []
    while (work := queue.take(wait=False)) is not None:
        order += [(work.lane, job.batch) for job in work.jobs]
        queue.finish(work, seconds[work.lane] * len(work.jobs), len(work.jobs))
    return order


def with_slow_texts() -> FairQueue:
    """Return a queue whose texts were so slow that they are taken one by one."""
    queue, first = FairQueue(1), batch(1)
    queue.add("text", jobs(first))
    work = queue.take(wait=False)
    assert work is not None
    queue.finish(work, 1.0, 1)
    return queue


def test_lanes_share_time_not_items() -> None:
    queue = FairQueue(1)
    slow, quick = batch(4), batch(400)
    queue.add("code", jobs(slow))
    queue.add("text", jobs(quick))
    order = [kind for kind, _ in drain(queue, {"code": 1.0, "text": 0.01})]
    places = [at for at, kind in enumerate(order) if kind == "code"]
    gaps = [b - a for a, b in itertools.pairwise(places)]
    assert len(order) == 404 and all(50 <= gap <= 150 for gap in gaps[1:])


def test_callers_take_turns() -> None:
    queue = with_slow_texts()
    first, second = batch(50), batch(50)
    queue.add("text", jobs(first))
    queue.add("text", jobs(second))
    order = [of for _, of in drain(queue, {"text": 0.1})]
    assert order[:40].count(first) == pytest.approx(20, abs=2)
    assert order[-1] is not order[0] or order[-2] is not order[0]


def test_a_newcomer_does_not_wait_for_what_was_queued_before() -> None:
    queue = with_slow_texts()
    long, short = batch(1000), batch(1)
    queue.add("text", jobs(long))
    for _ in range(200):
        work = queue.take(wait=False)
        assert work is not None
        queue.finish(work, 0.1, 1)
    queue.add("text", jobs(short))
    order = [of for _, of in drain(queue, {"text": 0.1})]
    assert order.index(short) <= 2


def test_quick_items_are_taken_together_and_slow_ones_alone() -> None:
    queue = FairQueue(1)
    many = batch(100)
    queue.add("text", jobs(many))
    work = queue.take(wait=False)
    assert work is not None and 1 < len(work.jobs) <= 64
    queue.finish(work, 5.0 * len(work.jobs), len(work.jobs))
    work = queue.take(wait=False)
    assert work is not None and len(work.jobs) == 1


def test_what_was_cancelled_is_never_taken() -> None:
    queue = FairQueue(1)
    dropped, kept = batch(10), batch(2)
    queue.add("text", jobs(dropped))
    queue.add("text", jobs(kept))
    dropped.cancel()
    queue.drop_cancelled(dropped)
    assert queue.queued == 2
    assert [of for _, of in drain(queue, {"text": 0.01})] == [kept, kept]


def test_the_thread_that_stands_by_takes_only_from_the_lane_that_has_no_thread() -> None:
    queue = FairQueue(1)
    slow = batch(3)
    queue.add("code", jobs(slow))
    assert queue.take("standby", wait=False) is None
    work = queue.take(wait=False)
    assert work is not None and work.lane == "code"
    assert queue.take("standby", wait=False) is None
    quick = batch(1)
    queue.add("text", jobs(quick))
    extra = queue.take("standby", wait=False)
    assert extra is not None and extra.lane == "text"


def test_a_closed_queue_ends_what_waits() -> None:
    queue = FairQueue(1)
    waiting = batch(2)
    queue.add("text", jobs(waiting))
    queue.close()
    with pytest.raises(PoolClosedError):
        waiting.result()
    late = batch(1)
    queue.add("text", jobs(late))
    with pytest.raises(PoolClosedError):
        late.result()
    assert queue.take() is None


class SlowSandbox(FakeSandbox):
    """A sandbox whose runs last until ``go`` is set."""

    isolation = "none"

    def __init__(self) -> None:
        self.go = threading.Event()
        self.running = threading.Semaphore(0)
        self.most = self.now = 0
        self._lock = threading.Lock()

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:  # noqa: B008
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.running.release()
        assert self.go.wait(120)
        with self._lock:
            self.now -= 1
        return Outcome("ok", value=1)


def test_a_math_item_passes_slow_programs_that_hold_every_thread() -> None:
    sandbox = SlowSandbox()
    with VerifierPool(2, sandbox, worker_options=WorkerOptions(prestart=False)) as pool:
        programs = [pool.submit(PROGRAM, SUM) for _ in range(6)]
        for _ in range(2):
            assert sandbox.running.acquire(timeout=60)
        assert [v.reward for v in pool.score([(r"\boxed{4}", FOUR)] * 5)] == [1.0] * 5
        assert not any(future.done() for future in programs)
        assert (pool.stats.busy, pool.stats.queued) == (2, 4)
        sandbox.go.set()
        assert [future.result(60).reward for future in programs] == [1.0] * 6
    assert sandbox.most == 2


def test_a_program_passes_hostile_answers_that_hold_every_thread(hang: str) -> None:
    sandbox = SlowSandbox()
    sandbox.go.set()
    with VerifierPool(
        1, sandbox, timeout_seconds=600, worker_options=WorkerOptions(prestart=False)
    ) as pool:
        hostile = pool.submit(hang, FOUR)
        while pool.stats.busy == 0:
            time.sleep(0.01)
        assert pool.score([(PROGRAM, SUM)])[0].reward == 1.0
        assert not hostile.done()
        pool.close(drain_seconds=0)
    assert hostile.done()
