"""Who scores a cluster run: the reward servers of the config, else replicas of the verifiers as Ray actors on all nodes.

The trainer's process starts the actors and they end with it; Ray starts one that died again. None reserves CPUs with Ray,
which would keep OpenRLHF's actors waiting: ``places`` leaves cores to them. Scoring should end soon after sampling.
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
from prorl_training.rollout.scoring import answers_in_a_step, wanted_workers
from prorl_training.types import Scorer
from prorl_verifiers import RemotePool, Task, Verdict, VerifierPool, runs_programs
from prorl_verifiers.replicas import BATCH, Item, ReplicaLost, ReplicaPool, probes

START_SECONDS = 300.0
"""For all replicas to start and open their sandboxes; a new node may have to read everything from a shared disk."""
CORES_A_GPU = 2
"""Cores left to the processes of a GPU: policy, reference and vLLM take turns on it, each with a busy host thread."""
MOST_WORKERS = 16
"""Of one replica: a single Python thread hands out its items."""
LEAST_REPLICAS = 2
"""So that one may die."""
Row = tuple[str, str, dict[str, Any]]
"""Response, verifier, reference: an item as it is sent to an actor."""


@contextlib.contextmanager
def open_scorer(
    config: TrainConfig, device: Device, tasks: Iterable[Task], say: Callable[[str], None]
) -> Iterator[Scorer]:
    """Give what scores the run for the block, ready for such ``tasks``.

    Raises UserError where they cannot be scored (no isolation for programs, for one), ServiceError for replicas that do
    not start and servers that do not answer.
    """
    if config.reward.servers:
        with RemotePool(config.reward.servers, modes={}, say=say) as pool:
            pool.require(tasks)
            yield pool
        return
    ray: Any = importlib.import_module("ray")
    where = places_in_cluster(ray, config, device, os.cpu_count() or 1)
    nodes, workers = len({p.node for p in where}), sum(p.workers for p in where)
    say(f"starting {len(where)} reward replicas of {workers} workers on {nodes} node(s)")
    replicas = start_replicas(ray, config.reward, where)
    replicas.prepare(tasks)
    scorer = ReplicaPool(replicas, say)
    try:
        yield scorer
    finally:
        scorer.close()


class RewardReplica:
    """The actor's class: one pool."""

    def __init__(self, reward: RewardConfig, workers: int) -> None:
        self._pool = VerifierPool(
            workers,
            reward.backend,
            allow_weak=reward.allow_weak,
            timeout_seconds=reward.timeout_seconds,
        )

    def prepare(self, rows: Sequence[Row]) -> None:
        """Check that such tasks can be scored on this node: environments, and a sandbox for programs.

        Raises UserError with the cure, ServiceError where the sandbox does not work.
        """
        items = _items(rows)
        self._pool.require(task for _, task in items)
        for verdict in self._pool.score([item for item in items if runs_programs(item[1])]):
            if verdict.is_infra_error:
                raise ServiceError(f"the sandbox does not work: {verdict.reason}")

    def score(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return the verdicts of the rows as plain values, in order."""
        return [asdict(verdict) for verdict in self._pool.score(_items(rows))]


@dataclass(frozen=True, slots=True)
class RayReplicas:
    """The actors ``handles``; implements ``Replicas``. ``ray`` is the module, or what has its names."""

    ray: Any
    handles: Sequence[Any]
    slots: Sequence[int]

    @property
    def names(self) -> Sequence[str]:
        """Return the replicas' names in messages."""
        return [f"reward replica {number}" for number in range(len(self.handles))]

    def ask(self, replica: int, items: Sequence[Item]) -> Any:
        """Return Ray's reference of the verdicts."""
        return self.handles[replica].score.remote(_rows(items))

    def first_done(self, futures: Sequence[Any], seconds: float) -> Any:
        """Return a reference that is there, or of an actor that is gone."""
        done, _ = self.ray.wait(list(futures), num_returns=1, timeout=seconds)
        return done[0] if done else None

    def result(self, future: Any) -> list[Verdict]:
        """Return the verdicts. Raises ReplicaLost where process or node died, and what the replica itself raised."""
        try:
            return [Verdict(**values) for values in self.ray.get(future)]
        except self.ray.exceptions.RayTaskError as error:
            raise _own(error) from error
        except self.ray.exceptions.RayError as error:
            raise ReplicaLost(_first_line(error)) from error

    def prepare(self, tasks: Iterable[Task]) -> None:
        """Wait until every replica has started and can score such tasks.

        Raises UserError for a node that lacks what they need, ServiceError for one that does not start.
        """
        rows = _rows(probes(list(tasks)))
        asked = [handle.prepare.remote(rows) for handle in self.handles]
        done, late = self.ray.wait(asked, num_returns=len(asked), timeout=START_SECONDS)
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
                f"{len(late)} of {len(asked)} reward replicas did not start in {START_SECONDS:.0f} s: look at the "
                "nodes' load, or set fewer openrlhf.reward_replicas"
            )

    def close(self) -> None:
        """End the actors."""
        for handle in self.handles:
            self.ray.kill(handle)


def start_replicas(ray: Any, reward: RewardConfig, where: Sequence[Place]) -> RayReplicas:
    """Start an actor at each place; it is there when ``RayReplicas.prepare`` returns."""
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    slots = [2 * -(-place.workers // BATCH) for place in where]  # one batch in work, one at hand
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
        for place, room in zip(where, slots, strict=True)
    ]
    return RayReplicas(ray, handles, slots)


def places_in_cluster(ray: Any, config: TrainConfig, device: Device, cores: int) -> list[Place]:
    """Return where the run's replicas go.

    Without GPUs Ray counts CPUs and GPUs that are made up, and there is one machine: ``cores`` are its own.
    """
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
    """Return what a replica raised: Ray wraps it."""
    cause = error.cause
    return cause if isinstance(cause, ProrlError) else error


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:300]


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster: Ray's id of it, its cores and GPUs."""

    name: str
    cores: int
    gpus: int

    @property
    def free(self) -> int:
        """Return the cores that may check answers; 1 where the GPUs leave none."""
        return max(self.cores - CORES_A_GPU * self.gpus, 1)


@dataclass(frozen=True, slots=True)
class Place:
    """One replica: the node it is put on and its workers."""

    node: str
    workers: int


def places(nodes: Sequence[Node], answers: int, replicas: int = 0, workers: int = 0) -> list[Place]:
    """Return the replicas for ``answers`` a step, spread over the nodes by their free cores.

    ``replicas`` (in all) and ``workers`` (of each) are taken as they are given; 0 leaves the number to this
    function: workers enough for the answers as far as there are free cores, at least two replicas. Raises ValueError
    without a node.
    """
    free = sum(node.free for node in nodes)
    if not free:
        raise ValueError("no node to put a reward replica on")
    total = max(min(wanted_workers(answers), free), LEAST_REPLICAS)
    each = workers or (math.ceil(total / replicas) if replicas else min(total, MOST_WORKERS))
    if not replicas:
        # a replica on every node, as long as each gets a worker; more where one would be too large
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
