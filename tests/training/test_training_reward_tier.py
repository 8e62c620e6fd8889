"""The reward tier: dealing batches out, replicas that die, hang and come back, and how many there are."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from prorl_common import ServiceError, UserError
from prorl_training.config.loading import load_config
from prorl_training.config.runtime import RewardConfig
from prorl_training.engine.openrlhf.rewards import tier as module
from prorl_training.engine.openrlhf.rewards.replicas import RayReplicas, places_in_cluster
from prorl_training.engine.openrlhf.rewards.services import ServiceReplicas
from prorl_training.engine.openrlhf.rewards.size import MOST_WORKERS, Node, Place, places
from prorl_training.engine.openrlhf.rewards.tier import BATCH, LATE, ReplicaLost, RewardTier, Row
from prorl_training.rollout.reward_workers import answers_in_a_step, wanted_workers, workers_here
from prorl_verifiers import Task, TaskError, Verdict

Answer = Callable[[Sequence[Row]], list[Verdict]]


def items(count: int) -> list[tuple[str, Task]]:
    return [("x" * n, Task("math", {"answer": str(n)})) for n in range(count)]


def judged(rows: Sequence[Row]) -> list[Verdict]:
    return [Verdict(float(len(text)), "scored", "by length") for text, _, _ in rows]


def lost(rows: Sequence[Row]) -> list[Verdict]:
    raise ReplicaLost("the node died")


class Clock:
    """A clock that goes on by what is slept, and a little with every look."""

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
        self.clock = clock or Clock()
        self.asked: list[tuple[int, int]] = []
        self.closed = False

    def ask(self, replica: int, rows: Sequence[Row]) -> Any:
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


def tier_of(replicas: FakeReplicas, said: list[str] | None = None) -> RewardTier:
    say = (lambda line: None) if said is None else said.append
    return RewardTier(replicas, say, replicas.clock, replicas.clock.sleep)


def rewards(verdicts: Sequence[Verdict]) -> list[float | None]:
    return [verdict.reward for verdict in verdicts]


def test_verdicts_come_in_order_from_all_replicas_in_small_batches() -> None:
    replicas = FakeReplicas(judged, judged, judged)
    assert rewards(tier_of(replicas).score(items(100))) == [float(n) for n in range(100)]
    asked = Counter(replica for replica, _ in replicas.asked)
    assert set(asked) == {0, 1, 2} and sum(asked.values()) == -(-100 // BATCH)
    assert max(size for _, size in replicas.asked) == BATCH


def test_a_replica_with_more_room_gets_more_at_once() -> None:
    replicas = FakeReplicas(None, None)
    replicas.slots = [1, 3]
    found = tier_of(replicas).score(items(4 * BATCH))
    assert all(verdict.is_infra_error for verdict in found)  # in the end, as nobody answers
    assert Counter(replica for replica, _ in replicas.asked[:4]) == {0: 1, 1: 3}


def test_the_answers_of_a_replica_that_dies_are_asked_again_elsewhere_and_none_is_lost() -> None:
    said: list[str] = []
    replicas = FakeReplicas(lost, judged)
    assert rewards(tier_of(replicas, said).score(items(50))) == [float(n) for n in range(50)]
    assert said == ["reward replica 0 is lost: the others take over (the node died)"]


def test_a_replica_that_is_back_is_found_by_one_call_and_then_used_again() -> None:
    said: list[str] = []
    replicas = FakeReplicas(lost, judged)
    tier = tier_of(replicas, said)
    tier.score(items(8))
    replicas.answers[0] = judged
    before = len(replicas.asked)
    tier.score(items(8))  # its pause is not over
    assert {replica for replica, _ in replicas.asked[before:]} == {1}
    replicas.clock.sleep(60)
    tier.score(items(80))
    assert said[-1] == "reward replica 0 is back"
    assert Counter(replica for replica, _ in replicas.asked)[0] > 2


def test_a_call_that_is_never_answered_goes_to_another_replica() -> None:
    replicas = FakeReplicas(None, judged, slots=1)
    assert rewards(tier_of(replicas).score(items(20))) == [float(n) for n in range(20)]
    assert replicas.clock.now > LATE


def test_without_any_replica_the_tier_says_so_and_gives_no_reward() -> None:
    replicas = FakeReplicas(lost, lost)
    replicas.answers = [lost, lost]
    with pytest.raises(ServiceError, match="none of 2 reward replicas has answered for 120 s"):
        tier_of(replicas).score(items(200))


def test_answers_over_which_replica_after_replica_dies_are_no_rewards() -> None:
    def dies_of_poison(rows: Sequence[Row]) -> list[Verdict]:
        return lost(rows) if any(text == "poison" for text, _, _ in rows) else judged(rows)

    poison = [("poison", Task("math", {"answer": "1"}))]
    replicas = FakeReplicas(dies_of_poison, dies_of_poison)
    found = tier_of(replicas).score([*items(BATCH), *poison])
    assert rewards(found[:BATCH]) == [float(n) for n in range(BATCH)]
    assert (found[-1].reward, found[-1].status) == (None, "infra_error")
    assert "5 replicas were lost over it" in found[-1].reason


def test_an_answer_without_a_verdict_is_asked_once_more() -> None:
    calls: list[int] = []

    def first_fails(rows: Sequence[Row]) -> list[Verdict]:
        calls.append(len(rows))
        if len(calls) > 1:
            return judged(rows)
        return [Verdict(None, "infra_error", "worker died"), *judged(rows[1:])]

    assert rewards(tier_of(FakeReplicas(first_fails)).score(items(5))) == [0, 1, 2, 3, 4]
    assert calls == [5, 1]


def test_a_malformed_task_is_raised_and_leaves_the_tier_in_order() -> None:
    def refuses(rows: Sequence[Row]) -> list[Verdict]:
        raise TaskError("no gold")

    replicas = FakeReplicas(refuses, refuses)
    tier = tier_of(replicas)
    with pytest.raises(TaskError):
        tier.score(items(40))
    replicas.answers = [judged, judged]
    assert len(tier.score(items(40))) == 40


def test_threads_share_the_room_of_a_replica() -> None:
    most, now, lock = [0], [0], threading.Lock()

    class Counting(FakeReplicas):
        def ask(self, replica: int, rows: Sequence[Row]) -> Any:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            return super().ask(replica, rows)

        def result(self, future: Any) -> list[Verdict]:
            with lock:
                now[0] -= 1
            return super().result(future)

    tier = tier_of(Counting(judged, judged, slots=2))
    threads = [threading.Thread(target=tier.score, args=(items(200),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] <= 4


class RayError(Exception):
    """Ray's base class."""


class RayTaskError(RayError):
    """What Ray raises for an error inside an actor."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class FakeRay:
    """The part of Ray that the replicas use: futures are closures."""

    class exceptions:
        RayError = RayError
        RayTaskError = RayTaskError

    def __init__(self, *nodes: dict[str, Any]) -> None:
        self._nodes = nodes
        self.killed: list[Any] = []

    def nodes(self) -> Sequence[dict[str, Any]]:
        return self._nodes

    def wait(self, futures: Sequence[Any], num_returns: int, timeout: float) -> Any:
        done = [f for f in futures if callable(f)]
        return done[:num_returns], [f for f in futures if f not in done[:num_returns]]

    def get(self, future: Any) -> Any:
        return future()

    def kill(self, handle: Any) -> None:
        self.killed.append(handle)


class Handle:
    """An actor: each method answers with what it was given, or raises it."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.score = self.prepare = self
        self.rows: Any = None

    def remote(self, rows: Any) -> Any:
        self.rows = rows
        return self._answer if self.answer is not None else object()

    def _answer(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_dead_actor_is_a_lost_replica_and_what_it_raised_itself_stays_what_it_was() -> None:
    verdict = {"reward": 1.0, "status": "scored", "reason": "fine"}
    handles = [
        Handle([verdict]),
        Handle(RayError("The actor died\nLong story.")),
        Handle(RayTaskError(UserError("no isolation here"))),
        Handle(None),
    ]
    ray = FakeRay()
    replicas = RayReplicas(ray, handles, [1] * 4)
    first, second, third, never = (replicas.ask(i, [("x", "math", {})]) for i in range(4))
    assert rewards(replicas.result(first)) == [1.0]
    with pytest.raises(ReplicaLost, match=r"RayError: The actor died$"):
        replicas.result(second)
    with pytest.raises(UserError, match="no isolation here"):
        replicas.result(third)
    assert replicas.first_done([never], 0.0) is None
    replicas.close()
    assert ray.killed == handles


def test_replicas_are_asked_before_the_run_whether_they_can_score_such_tasks() -> None:
    tasks = [Task("math", {"answer": "1"}), Task("math", {"answer": "2"})]
    tasks += [Task("code", {"tests": [], "environment": e}) for e in ("stdlib", "scientific")]
    good = Handle([])
    RayReplicas(FakeRay(), [good], [1]).prepare(tasks)
    assert (
        sorted((name, ref.get("environment")) for _, name, ref in good.rows)
        == [
            ("code", "scientific"),
            ("code", "stdlib"),
            ("math", None),
        ]
        or len(good.rows) == 3
    )
    bad = Handle(RayTaskError(UserError("prorl sandbox doctor")))
    with pytest.raises(UserError, match="sandbox doctor"):
        RayReplicas(FakeRay(), [good, bad], [1, 1]).prepare(tasks)
    with pytest.raises(ServiceError, match="1 of 1 reward replicas did not start"):
        RayReplicas(FakeRay(), [Handle(None)], [1]).prepare(tasks)
    with pytest.raises(ServiceError, match="could not start: RayError: gone"):
        RayReplicas(FakeRay(), [Handle(RayError("gone"))], [1]).prepare(tasks)


def alive(name: str, cpus: int, gpus: int) -> dict[str, Any]:
    return {"NodeID": name, "Alive": True, "Resources": {"CPU": cpus, "GPU": gpus}}


def test_the_tier_takes_the_live_nodes_and_without_gpus_the_machines_own_cores() -> None:
    config = load_config("prorl-v2", None, ["engine=openrlhf"])
    dead = {**alive("c", 96, 8), "Alive": False}
    found = places_in_cluster(
        FakeRay(alive("a", 96, 8), alive("b", 96, 8), dead), config, "cuda", 2
    )
    assert {place.node for place in found} == {"a", "b"}
    assert sum(place.workers for place in found) >= wanted_workers(256 * 16)
    assert places_in_cluster(FakeRay(alive("a", 8, 3)), config, "cpu", 2) == [Place("a", 1)] * 2


@pytest.mark.parametrize("answers", [16, 4_096, 8_192, 100_000])
@pytest.mark.parametrize("count", [1, 4, 64])
def test_workers_are_what_the_answers_ask_for_within_the_free_cores_and_on_every_node(
    answers: int, count: int
) -> None:
    nodes = [Node(f"n{i}", 96, 8) for i in range(count)]
    found = places(nodes, answers)
    workers, free = sum(p.workers for p in found), sum(n.free for n in nodes)
    assert min(wanted_workers(answers), free) <= workers <= free
    assert len(found) >= 2 and max(p.workers for p in found) <= MOST_WORKERS
    on = Counter(p.node for p in found)
    assert len(on) == min(count, len(found))
    by_node = Counter({n.name: 0 for n in nodes})
    for place in found:
        by_node[place.node] += place.workers
    assert max(by_node.values()) <= nodes[0].free


def test_a_node_with_more_free_cores_gets_more() -> None:
    found = places([Node("large", 128, 8), Node("small", 36, 8)], 100_000)
    by_node = Counter({p.node: 0 for p in found})
    for place in found:
        by_node[place.node] += place.workers
    assert by_node["large"] > 3 * by_node["small"]


def test_numbers_that_the_config_gives_are_taken() -> None:
    nodes = [Node("a", 8, 0), Node("b", 8, 0)]
    assert places(nodes, 4096, replicas=3, workers=5) == [
        Place("a", 5),
        Place("b", 5),
        Place("a", 5),
    ]
    assert len(places(nodes, 16, replicas=1)) == 1
    with pytest.raises(ValueError, match="no node"):
        places([], 16)


def test_a_pool_of_one_machine_has_what_a_step_asks_for_and_what_the_config_says() -> None:
    config = load_config("prorl-v2", None, [])
    assert answers_in_a_step(config) == 256 * 16
    assert workers_here(load_config("cpu", None, [])) == 2
    assert workers_here(load_config("cpu", None, ["reward.workers=7"])) == 7


@pytest.fixture
def broken_service() -> Iterator[str]:
    """A server that answers every request with 503."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(503)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_service_that_is_full_or_down_is_a_lost_replica(broken_service: str) -> None:
    replicas = ServiceReplicas([broken_service, "http://127.0.0.1:9"])
    for place in (0, 1):
        future = replicas.ask(place, [("x", "math", {"answer": "1"})])
        assert replicas.first_done([future], 10.0) is future
        with pytest.raises(ReplicaLost):
            replicas.result(future)
    waiting: Future[list[Verdict]] = Future()
    assert replicas.first_done([waiting], 0.01) is None
    replicas.close()


def test_replicas_are_let_go_with_the_tier() -> None:
    replicas = FakeReplicas(judged)
    tier_of(replicas).close()
    assert replicas.closed
    assert module.PATIENCE < LATE
    assert RewardConfig().workers == 0
