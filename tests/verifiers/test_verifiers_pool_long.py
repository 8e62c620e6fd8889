import os
import threading

import pytest

from prorl_verifiers import Task, VerifierPool, WorkerOptions, load_task
from prorl_verifiers.pool.protocol import cpu_seconds_of
from prorl_verifiers.pool.queue import LEAST_CHARACTERS, Batch, FairQueue, Job, TextCosts
from prorl_verifiers.pool.scoring import LONG_NICENESS
from prorl_verifiers.pool.workers import WorkerFactory

FOUR = Task("math", {"answer": "4"})
LONG_TEXT = "so it is " * 20_000 + r"\boxed{4}"


def one_job() -> Job:
    return Job(Batch([("", FOUR)]), 0)


def test_a_text_is_long_by_its_size_until_its_verifier_proves_cheap() -> None:
    costs = TextCosts()
    assert costs.is_long("math", 100_000) and not costs.is_long("math", 50_000)
    for _ in range(30):
        costs.observe("math", 100_000, 0.001)
    assert not costs.is_long("math", 100_000)
    assert costs.is_long("instruction", 100_000)


def test_a_verifier_that_proves_dear_makes_shorter_texts_long() -> None:
    costs = TextCosts()
    costs.observe("instruction", 20_000, 0.5)
    assert costs.is_long("instruction", 20_000)
    assert not costs.is_long("instruction", LEAST_CHARACTERS - 1)


def test_one_dear_text_among_cheap_ones_is_not_forgotten_at_once() -> None:
    costs = TextCosts()
    costs.observe("instruction", 20_000, 0.5)
    costs.observe("instruction", 20_000, 0.001)
    assert costs.is_long("instruction", 20_000)


def test_short_texts_teach_nothing_of_long_ones() -> None:
    costs = TextCosts()
    costs.observe("math", 10, 10.0)
    assert not costs.is_long("math", 20_000)


def test_a_thread_for_long_texts_takes_nothing_else_and_no_other_thread_takes_them() -> None:
    queue = FairQueue(1)
    queue.add("slow", [one_job()])
    assert queue.take(wait=False) is None
    assert queue.take("standby", wait=False) is None
    queue.add("text", [one_job()])
    work = queue.take("slow", wait=False)
    assert work is not None and work.lane == "slow"
    assert queue.take("slow", wait=False) is None


def test_a_queue_with_a_long_text_in_work_is_not_idle() -> None:
    queue = FairQueue(1)
    queue.add("slow", [one_job()])
    work = queue.take("slow", wait=False)
    assert work is not None and queue.busy == 1
    assert not queue.wait_until_idle(0.01)
    queue.finish(work, 0.1, 1)
    assert queue.wait_until_idle(0.01)


def test_quick_items_are_scored_while_long_texts_hold_all_their_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, go_on = threading.Semaphore(0), threading.Event()
    take = WorkerFactory.take

    def slow_for_long(self: WorkerFactory, warm: bool = False):  # type: ignore[no-untyped-def]
        if int(threading.current_thread().name.removeprefix("verifier-")) > 1:
            held.release()
            assert go_on.wait(30)
        return take(self, warm)

    monkeypatch.setattr(WorkerFactory, "take", slow_for_long)
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        long = [pool.submit(LONG_TEXT, FOUR) for _ in range(2)]
        assert held.acquire(timeout=30)
        assert [v.reward for v in pool.score([(r"\boxed{4}", FOUR)] * 5)] == [1.0] * 5
        assert not any(future.done() for future in long)
        go_on.set()
        assert [future.result(60).reward for future in long] == [1.0, 1.0]


def test_the_worker_of_long_texts_gives_way_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    real = os.setpriority

    def setpriority(which: int, who: int, niceness: int) -> None:
        real(which, who, niceness)
        seen.append((who, os.getpriority(which, who)))

    monkeypatch.setattr(os, "setpriority", setpriority)
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        pool.score([(r"\boxed{4}", FOUR)])
        assert not seen
        assert pool.score([(LONG_TEXT, FOUR)])[0].reward == 1.0
    assert [niceness for _, niceness in seen] == [LONG_NICENESS]


def test_processor_time_is_counted_by_verifier() -> None:
    words = load_task(
        "instruction",
        {
            "instruction_id_list": ["length_constraints:number_words"],
            "kwargs": [{"num_words": 3, "relation": "at least"}],
        },
    )
    with VerifierPool(1, worker_options=WorkerOptions(prestart=False)) as pool:
        pool.score([(r"\boxed{4}", FOUR)] * 50 + [(LONG_TEXT, words)])
        spent = pool.stats.cpu_seconds
    assert set(spent) == {"math", "instruction"}
    assert 0 <= spent["math"] < 20  # less than some clocks can measure
    assert 0 < spent["instruction"] < 20


@pytest.mark.parametrize("claimed", [None, "1", -1.0, 11.0, float("nan"), float("inf")])
def test_processor_time_that_cannot_be_true_counts_as_the_limit(claimed: object) -> None:
    assert cpu_seconds_of({"cpu_seconds": claimed}, 10.0) == 10.0


def test_processor_time_of_a_reply_is_believed_within_its_limit() -> None:
    assert cpu_seconds_of({"cpu_seconds": 0.25}, 10.0) == 0.25
