"""How large the reward tier is, from the cores of the nodes and the answers of a step, and on which node each replica lies.

The aim is that checking is done soon after sampling: most answers are checked while others are still sampled, and
what is left waits for nobody's GPU. Leaves out: starting the replicas (``replicas``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from prorl_training.rollout.reward_workers import wanted_workers

CORES_A_GPU = 2
"""Cores left to the processes of a GPU: policy, reference and vLLM take turns on it, each with a busy host thread."""
MOST_WORKERS = 16
"""Of one replica: a single Python thread hands out its items."""
LEAST_REPLICAS = 2
"""So that one may die."""


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
    given = dict.fromkeys((node.name for node in nodes), 0)
    cores = {node.name: node.free for node in nodes}
    found = []
    for _ in range(replicas):
        name = min(cores, key=lambda n: (given[n] + each) / cores[n])
        given[name] += each
        found.append(Place(name, each))
    return found
