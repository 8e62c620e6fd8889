"""Opens the reward tier that a run's config asks for, in the trainer's process."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, assert_never

from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.launch.layout import Device
from prorl_training.engine.openrlhf.rewards.replicas import places_in_cluster, start_replicas
from prorl_training.engine.openrlhf.rewards.services import ServiceReplicas
from prorl_training.engine.openrlhf.rewards.tier import Replicas, RewardTier
from prorl_verifiers import Task


@contextlib.contextmanager
def reward_tier(
    config: TrainConfig, device: Device, tasks: Iterable[Task], say: Callable[[str], None]
) -> Iterator[RewardTier]:
    """Give the tier for the block, ready for such ``tasks``.

    Raises UserError where a node cannot score them (no isolation for programs, for one), ServiceError for replicas
    that do not start.
    """
    replicas: Replicas
    match config.openrlhf.reward:
        case "service":
            replicas = ServiceReplicas(config.openrlhf.reward_urls)
        case "ray":
            ray: Any = importlib.import_module("ray")
            where = places_in_cluster(ray, config, device, os.cpu_count() or 1)
            nodes, workers = len({p.node for p in where}), sum(p.workers for p in where)
            say(f"starting {len(where)} reward replicas of {workers} workers on {nodes} node(s)")
            actors = start_replicas(ray, config.reward, where)
            actors.prepare(tasks)
            replicas = actors
        case _:
            assert_never(config.openrlhf.reward)
    tier = RewardTier(replicas, say)
    try:
        yield tier
    finally:
        tier.close()
