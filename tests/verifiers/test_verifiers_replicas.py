from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from prorl_common import ServiceError
from prorl_verifiers import Task, TaskError, Verdict
from prorl_verifiers.replicas import (
    BATCH,
    LATE,
    PATIENCE,
    ReplicaBusy,
    ReplicaLost,
    ReplicaPool,
)
from prorl_verifiers.types import Item

Answer = Callable[[Sequence[Item]], list[Verdict]]


def items(count: int) -> list[tuple[str, Task]]:
    return [("x" * n, Task("math", {"answer": str(n)})) for n in range(count)]


def judged(rows: Sequence[Item]) -> list[Verdict]:
    return [Verdict(float(len(text)), "scored", "by length") for text, _ in rows]


def lost(rows: Sequence[Item]) -> list[Verdict]:
    raise ReplicaLost("the node died")


class Clock:
    """A clock that advances by sleeping, and a little with every reading."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1e-3
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class FakeReplicas:
    """Replicas whose futures are closures; one whose answer is None never answers."""

    def __init__(self, *answers: Answer | None, slots: int = 2, clock: Clock | None = None) -> None:
        self.answers = list(answers)
        self.slots = [slots] * len(answers)
        self.names = [f"replica {number}" for number in range(len(answers))]
        self.clock = clock or Clock()
        self.asked: list[tuple[int, int]] = []
        self.closed = False

    def ask(self, replica: int, rows: Sequence[Item]) -> Any:
        self.asked.append((replica, len(rows)))
        answer = self.answers[replica]
        return (lambda: answer(rows)) if answer else object()

    def first_done(self, futures: Sequence[Any], seconds: float) -> Any:
        done = next((f for f in futures if callable(f)), None)
        if done is None:
            self.clock.sleep(seconds)
        return done

    def result(self, future: Any) -> list[Verdict]:
        found: list[Verdict] = future()
        return found

    def close(self) -> None:
        self.closed = True


def pool_of(replicas: FakeReplicas, said: list[str] | None = None) -> ReplicaPool:
    say = (lambda line: None) if said is None else said.append
    return ReplicaPool(replicas, say, replicas.clock, replicas.clock.sleep)


def rewards(verdicts: Sequence[Verdict]) -> list[float | None]:
    return [verdict.reward for verdict in verdicts]


def test_verdicts_come_in_order_from_all_replicas_in_small_batches() -> None:
    replicas = FakeReplicas(judged, judged, judged)
    assert rewards(pool_of(replicas).score(items(100))) == [float(n) for n in range(100)]
    asked = Counter(replica for replica, _ in replicas.asked)
    assert set(asked) == {0, 1, 2} and sum(asked.values()) == -(-100 // BATCH)
    assert max(size for _, size in replicas.asked) == BATCH


def test_a_replica_with_more_room_gets_more_at_once() -> None:
    replicas = FakeReplicas(None, None)
    replicas.slots = [1, 3]
    found = pool_of(replicas).score(items(4 * BATCH))
    assert all(verdict.is_infra_error for verdict in found)  # in the end, as no replica answers
    assert Counter(replica for replica, _ in replicas.asked[:4]) == {0: 1, 1: 3}


def test_the_answers_of_a_replica_that_dies_are_asked_again_elsewhere_and_none_is_lost() -> None:
    said: list[str] = []
    replicas = FakeReplicas(lost, judged)
    assert rewards(pool_of(replicas, said).score(items(50))) == [float(n) for n in range(50)]
    assert said == ["replica 0 is lost: the others take over (the node died)"]


def test_a_replica_that_is_back_is_found_by_one_call_and_then_used_again() -> None:
    said: list[str] = []
    replicas = FakeReplicas(lost, judged)
    pool = pool_of(replicas, said)
    pool.score(items(8))
    replicas.answers[0] = judged
    before = len(replicas.asked)
    pool.score(items(8))  # its pause is not over
    assert {replica for replica, _ in replicas.asked[before:]} == {1}
    replicas.clock.sleep(60)
    pool.score(items(80))
    assert said[-1] == "replica 0 is back"
    assert Counter(replica for replica, _ in replicas.asked)[0] > 2


def test_a_call_that_is_never_answered_goes_to_another_replica() -> None:
    replicas = FakeReplicas(None, judged, slots=1)
    assert rewards(pool_of(replicas).score(items(20))) == [float(n) for n in range(20)]
    assert replicas.clock.now > LATE


def test_without_any_replica_the_pool_says_so_and_gives_no_reward() -> None:
    replicas = FakeReplicas(lost, lost)
    replicas.answers = [lost, lost]
    with pytest.raises(
        ServiceError, match=r"no verdict for 12. s or more from replica 0, replica 1"
    ):
        pool_of(replicas).score(items(200))


def test_answers_over_which_replica_after_replica_dies_are_no_rewards() -> None:
    def dies_of_poison(rows: Sequence[Item]) -> list[Verdict]:
        return lost(rows) if any(text == "poison" for text, _ in rows) else judged(rows)

    poison = [("poison", Task("math", {"answer": "1"}))]
    replicas = FakeReplicas(dies_of_poison, dies_of_poison)
    found = pool_of(replicas).score([*items(BATCH), *poison])
    assert rewards(found[:BATCH]) == [float(n) for n in range(BATCH)]
    assert (found[-1].reward, found[-1].status) == (None, "infra_error")
    assert "5 replicas were lost over it" in found[-1].reason


def test_an_answer_without_a_verdict_is_asked_once_more() -> None:
    calls: list[int] = []

    def first_fails(rows: Sequence[Item]) -> list[Verdict]:
        calls.append(len(rows))
        if len(calls) > 1:
            return judged(rows)
        return [Verdict(None, "infra_error", "worker died"), *judged(rows[1:])]

    assert rewards(pool_of(FakeReplicas(first_fails)).score(items(5))) == [0, 1, 2, 3, 4]
    assert calls == [5, 1]


def test_a_malformed_task_is_raised_and_leaves_the_pool_in_order() -> None:
    def refuses(rows: Sequence[Item]) -> list[Verdict]:
        raise TaskError("no gold")

    replicas = FakeReplicas(refuses, refuses)
    pool = pool_of(replicas)
    with pytest.raises(TaskError):
        pool.score(items(40))
    replicas.answers = [judged, judged]
    assert len(pool.score(items(40))) == 40


def test_threads_share_the_room_of_a_replica() -> None:
    most, now, lock = [0], [0], threading.Lock()

    class Counting(FakeReplicas):
        def ask(self, replica: int, rows: Sequence[Item]) -> Any:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            return super().ask(replica, rows)

        def result(self, future: Any) -> list[Verdict]:
            with lock:
                now[0] -= 1
            return super().result(future)

    pool = pool_of(Counting(judged, judged, slots=2))
    threads = [threading.Thread(target=pool.score, args=(items(200),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] <= 4


def test_a_busy_replica_is_left_alone_as_long_as_it_asks_and_its_batch_is_not_lost() -> None:
    calls: list[float] = []
    said: list[str] = []

    def busy_twice(rows: Sequence[Item]) -> list[Verdict]:
        calls.append(replicas.clock.now)
        if len(calls) <= 2:
            raise ReplicaBusy("the queue is full", 7.0)
        return judged(rows)

    replicas = FakeReplicas(busy_twice)
    assert rewards(pool_of(replicas, said).score(items(5))) == [0, 1, 2, 3, 4]
    assert calls[1] - calls[0] >= 7.0 and calls[2] - calls[1] >= 7.0
    assert said == []


def test_replicas_that_are_busy_for_ever_end_the_call() -> None:
    def busy(rows: Sequence[Item]) -> list[Verdict]:
        raise ReplicaBusy("the queue is full", 2.0)

    replicas = FakeReplicas(busy)
    with pytest.raises(ServiceError, match="no verdict"):
        pool_of(replicas).score(items(5))
    assert replicas.clock.now > LATE


def test_every_item_is_reported_once_when_its_verdict_is_final() -> None:
    calls: list[int] = []
    reported: list[tuple[int, float | None]] = []

    def first_fails(rows: Sequence[Item]) -> list[Verdict]:
        calls.append(len(rows))
        if len(calls) > 1:
            return judged(rows)
        return [Verdict(None, "infra_error", "worker died"), *judged(rows[1:])]

    pool = pool_of(FakeReplicas(first_fails))
    pool.score(items(20), lambda index, verdict: reported.append((index, verdict.reward)))
    assert sorted(reported) == [(n, float(n)) for n in range(20)]


def test_replicas_are_let_go_with_the_pool() -> None:
    replicas = FakeReplicas(judged)
    pool_of(replicas).close()
    assert replicas.closed
    assert PATIENCE < LATE
