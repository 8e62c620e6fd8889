"""Replicas of the checker as Ray actors, spread over the nodes of the cluster.

The trainer's process makes them and they end with it. Ray starts one that died again, on its node or, where that is
gone, on another. Each is a ``VerifierPool`` in a process of its own; none reserves CPUs with Ray, which would keep
OpenRLHF's actors waiting: ``size`` leaves cores to them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from prorl_common import ProrlError, ServiceError
from prorl_training.config import TrainConfig
from prorl_training.config.runtime import RewardConfig
from prorl_training.engine.openrlhf.launch.layout import Device
from prorl_training.engine.openrlhf.rewards.size import Node, Place, places
from prorl_training.engine.openrlhf.rewards.tier import BATCH, ReplicaLost, Row, items_of
from prorl_training.rollout.reward_workers import answers_in_a_step
from prorl_verifiers import Task, Verdict, VerifierPool, runs_programs, tasks_in

START_SECONDS = 300.0
"""For all replicas to start and open their sandboxes; a new node may have to read everything from a shared disk."""
PROGRAM = "```python\nprint(2)\n```"


class RewardReplica:
    """The actor's class: one pool."""

    def __init__(self, reward: RewardConfig, workers: int) -> None:
        self._pool = VerifierPool(
            workers,
            reward.backend,
            allow_weak=reward.allow_weak,
            timeout_seconds=reward.timeout_seconds,
            allow_judged=reward.judge is not None,
        )

    def prepare(self, rows: Sequence[Row]) -> None:
        """See that such tasks can be scored on this node: environments, judges, and a sandbox for programs.

        Raises UserError with the cure, ServiceError where the sandbox does not work.
        """
        tasks = [task for _, task in items_of(rows)]
        self._pool.require(tasks)
        programs = [task for task in tasks if runs_programs(task)][:1]
        for verdict in self._pool.score([(PROGRAM, task) for task in programs]):
            if verdict.is_infra_error:
                raise ServiceError(f"the sandbox does not work: {verdict.reason}")

    def score(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return the verdicts of the rows as plain values, in order."""
        return [asdict(verdict) for verdict in self._pool.score(items_of(rows))]


@dataclass(frozen=True, slots=True)
class RayReplicas:
    """The actors ``handles``; implements ``Replicas``. ``ray`` is the module, or what has its names."""

    ray: Any
    handles: Sequence[Any]
    slots: Sequence[int]

    def ask(self, replica: int, rows: Sequence[Row]) -> Any:
        """Return Ray's reference of the verdicts."""
        return self.handles[replica].score.remote(rows)

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
        parts = (part for task in tasks for part in tasks_in(task))
        kinds = {(part.verifier, part.reference.get("environment")): part for part in parts}
        rows: list[Row] = [("", task.verifier, dict(task.reference)) for task in kinds.values()]
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


def _own(error: Any) -> BaseException:
    """Return what a replica raised: Ray wraps it."""
    cause = error.cause
    return cause if isinstance(cause, ProrlError) else error


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:300]
