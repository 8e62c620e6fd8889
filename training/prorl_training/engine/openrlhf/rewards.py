"""Score the responses of a cluster run, with reward servers or with verifier replicas as Ray actors.

The replicas reserve no CPUs in Ray, because OpenRLHF's actors would then wait for free CPUs.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from prorl_common import ProrlError, ServiceError
from prorl_training.config import TrainConfig
from prorl_training.config.runtime import RewardConfig
from prorl_training.planning.gpus import Device
from prorl_training.rollout.scoring import answers_in_a_step, worker_count
from prorl_training.types import Scorer
from prorl_verifiers import RemotePool, Task, Verdict, VerifierPool, runs_programs
from prorl_verifiers.replicas import BATCH, ReplicaLost, ReplicaPool, probes
from prorl_verifiers.types import Item

START_SECONDS = 300.0
"""Maximum seconds for all replicas to start and open sandboxes, including slow imports from a shared disk."""
CORES_A_GPU = 2
"""Cores per GPU that are left to the training and sampling processes."""
MOST_WORKERS = 16
"""Maximum workers of a replica, because a single Python thread distributes its items."""
LEAST_REPLICAS = 2
"""Minimum number of replicas, so that scoring continues if one dies."""
Row = tuple[str, str, dict[str, Any]]
"""Response, verifier and reference, as sent to an actor."""


@contextlib.contextmanager
def open_scorer(
    config: TrainConfig, device: Device, tasks: Iterable[Task], say: Callable[[str], None]
) -> Iterator[Scorer]:
    """Yield a scorer that is ready for ``tasks``. Raises UserError, or ServiceError if servers or replicas fail."""
    if config.reward.servers:
        with RemotePool(config.reward.servers, modes={}, say=say) as pool:
            pool.require(tasks)
            yield pool
        return
    ray: Any = importlib.import_module("ray")
    replica_places = places_in_cluster(ray, config, device, os.cpu_count() or 1)
    nodes, workers = len({p.node for p in replica_places}), sum(p.workers for p in replica_places)
    say(f"starting {len(replica_places)} reward replicas of {workers} workers on {nodes} node(s)")
    replicas = start_replicas(ray, config.reward, replica_places)
    replicas.prepare(tasks)
    scorer = ReplicaPool(replicas, say)
    try:
        yield scorer
    finally:
        scorer.close()


class RewardReplica:
    """The Ray actor of a replica, with one verifier pool."""

    def __init__(self, reward: RewardConfig, workers: int) -> None:
        self._pool = VerifierPool(
            workers,
            reward.backend,
            allow_weak=reward.allow_weak,
            timeout_seconds=reward.timeout_seconds,
        )

    def prepare(self, rows: Sequence[Row]) -> None:
        """Check that this node can score ``rows``. Raises UserError, or ServiceError for a broken sandbox."""
        items = _items(rows)
        self._pool.require(task for _, task in items)
        for verdict in self._pool.score([item for item in items if runs_programs(item[1])]):
            if verdict.is_infra_error:
                raise ServiceError(f"the sandbox does not work: {verdict.reason}")

    def score(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        return [asdict(verdict) for verdict in self._pool.score(_items(rows))]


@dataclass(frozen=True, slots=True)
class RayReplicas:
    ray: Any
    handles: Sequence[Any]
    slots: Sequence[int]

    @property
    def names(self) -> Sequence[str]:
        return [f"reward replica {number}" for number in range(len(self.handles))]

    def ask(self, replica: int, items: Sequence[Item]) -> Any:
        return self.handles[replica].score.remote(_rows(items))

    def first_done(self, futures: Sequence[Any], seconds: float) -> Any:
        done, _ = self.ray.wait(list(futures), num_returns=1, timeout=seconds)
        return done[0] if done else None

    def result(self, future: Any) -> list[Verdict]:
        """Return the verdicts. Raises ReplicaLost if the replica died, or the error that the replica raised."""
        try:
            return [Verdict(**values) for values in self.ray.get(future)]
        except self.ray.exceptions.RayTaskError as error:
            raise _own(error) from error
        except self.ray.exceptions.RayError as error:
            raise ReplicaLost(_first_line(error)) from error

    def prepare(self, tasks: Iterable[Task]) -> None:
        """Wait until every replica can score ``tasks``. Raises UserError, or ServiceError if a replica fails."""
        rows = _rows(probes(list(tasks)))
        starts = [handle.prepare.remote(rows) for handle in self.handles]
        done, late = self.ray.wait(starts, num_returns=len(starts), timeout=START_SECONDS)
        for reference in done:
            try:
                self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                raise _own(error) from error
            except self.ray.exceptions.RayError as error:
                raise ServiceError(
                    f"a reward replica could not start: {_first_line(error)}"
                ) from error
        if late:
            raise ServiceError(
                f"{len(late)} of {len(starts)} reward replicas did not start in "
                f"{START_SECONDS:.0f} s: check the nodes' load, or set fewer "
                "openrlhf.reward_replicas"
            )

    def close(self) -> None:
        for handle in self.handles:
            self.ray.kill(handle)


def start_replicas(ray: Any, reward: RewardConfig, replica_places: Sequence[Place]) -> RayReplicas:
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    slots = [
        2 * -(-place.workers // BATCH) for place in replica_places
    ]  # one batch running, one waiting
    handles = [
        ray.remote(RewardReplica)
        .options(
            num_cpus=0,
            max_restarts=-1,
            max_task_retries=0,  # a batch goes to another replica at once
            max_concurrency=room + 2,
            scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(place.node, soft=True),
        )
        .remote(reward, place.workers)
        for place, room in zip(replica_places, slots, strict=True)
    ]
    return RayReplicas(ray, handles, slots)


def places_in_cluster(ray: Any, config: TrainConfig, device: Device, cores: int) -> list[Place]:
    """Return where to start the run's replicas. ``cores`` are this machine's, for runs without GPUs."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    nodes = [
        Node(
            node["NodeID"],
            cores if device == "cpu" else int(node["Resources"].get("CPU", 0)),
            0 if device == "cpu" else int(node["Resources"].get("GPU", 0)),
        )
        for node in alive
    ]
    answers, o = answers_in_a_step(config), config.openrlhf
    return places(nodes, answers, o.reward_replicas, config.reward.workers)


def _rows(items: Sequence[Item]) -> list[Row]:
    return [(text, task.verifier, dict(task.reference)) for text, task in items]


def _items(rows: Sequence[Row]) -> list[Item]:
    return [(text, Task(verifier, reference)) for text, verifier, reference in rows]


def _own(error: Any) -> BaseException:
    cause = error.cause
    return cause if isinstance(cause, ProrlError) else error


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:300]


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    cores: int
    gpus: int

    @property
    def free(self) -> int:
        """Number of cores left for scoring, at least 1."""
        return max(self.cores - CORES_A_GPU * self.gpus, 1)


@dataclass(frozen=True, slots=True)
class Place:
    node: str
    workers: int


def places(nodes: Sequence[Node], answers: int, replicas: int = 0, workers: int = 0) -> list[Place]:
    """Return where to start replicas that score ``answers`` responses per step, mostly on nodes with many free cores.

    If ``replicas`` or ``workers`` (per replica) is 0, the number is chosen. Raises ValueError without a node.
    """
    free = sum(node.free for node in nodes)
    if not free:
        raise ValueError("no node can run a reward replica")
    total = max(min(worker_count(answers), free), LEAST_REPLICAS)
    each = workers or (math.ceil(total / replicas) if replicas else min(total, MOST_WORKERS))
    if not replicas:
        # a replica on every node if each gets a worker; more replicas if one would be too large
        replicas = max(min(len(nodes), total), math.ceil(total / each), LEAST_REPLICAS)
        each = workers or math.ceil(total / replicas)
    taken = dict.fromkeys((node.name for node in nodes), 0)
    cores = {node.name: node.free for node in nodes}
    chosen = []
    for _ in range(replicas):
        name = min(cores, key=lambda n: (taken[n] + each) / cores[n])
        taken[name] += each
        chosen.append(Place(name, each))
    return chosen
