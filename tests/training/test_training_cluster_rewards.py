from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from prorl_common import ServiceError, UserError
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.rewards import (
    MOST_WORKERS,
    Node,
    Place,
    RayReplicas,
    places,
    places_in_cluster,
)
from prorl_training.rollout.scoring import answers_in_a_step, worker_count, workers_here
from prorl_verifiers import Task
from prorl_verifiers.replicas import ReplicaLost


class RayError(Exception):
    """Stub of Ray's base class."""


class RayTaskError(RayError):
    """Stub of Ray's error for an exception inside an actor."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class FakeRay:
    """The part of Ray that the replicas use; futures are closures."""

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
    """An actor whose methods return or raise the given value."""

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
    first, second, third, never = (replicas.ask(i, [("x", Task("math", {}))]) for i in range(4))
    assert [verdict.reward for verdict in replicas.result(first)] == [1.0]
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
        == [("code", "scientific"), ("code", "stdlib"), ("math", None)]
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
    assert sum(place.workers for place in found) >= worker_count(256 * 16)
    assert places_in_cluster(FakeRay(alive("a", 8, 3)), config, "cpu", 2) == [Place("a", 1)] * 2


@pytest.mark.parametrize("answers", [16, 4_096, 8_192, 100_000])
@pytest.mark.parametrize("count", [1, 4, 64])
def test_workers_are_what_the_answers_ask_for_within_the_free_cores_and_on_every_node(
    answers: int, count: int
) -> None:
    nodes = [Node(f"n{i}", 96, 8) for i in range(count)]
    found = places(nodes, answers)
    workers, free = sum(p.workers for p in found), sum(n.free for n in nodes)
    assert min(worker_count(answers), free) <= workers <= free
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
