"""How many processes check answers, where the config leaves it open: by the answers of a step and the cores.

Leaves out: which nodes of a cluster they are on (``engine.openrlhf.rewards.size``).
"""

from __future__ import annotations

import math
import os

from prorl_training.config import TrainConfig

SECONDS_AN_ANSWER = 0.06
"""Processor time of one answer: three times what benchmarks/reward_tier.py measures on a five-domain mix of easy
answers (0.021 s)."""
WITHIN = 10.0
"""Seconds in which a whole batch could be checked, if all of it came at once; more is drawn than one batch, and most
answers come while others are still sampled."""
LEAST = 2


def answers_in_a_step(config: TrainConfig) -> int:
    """Return the answers of a batch, of the phase with the most."""
    phases = (config.in_phase(number) for number in range(max(len(config.phases), 1)))
    return max(phase.rollout.prompts * phase.rollout.samples for phase in phases)


def wanted_workers(answers: int) -> int:
    """Return the workers that ``answers`` a step ask for, at least ``LEAST``."""
    return max(math.ceil(answers * SECONDS_AN_ANSWER / WITHIN), LEAST)


def workers_here(config: TrainConfig) -> int:
    """Return the workers of a pool on this machine: ``reward.workers``, else as many as the answers ask for and
    the cores allow."""
    cores = len(os.sched_getaffinity(0))
    wanted = wanted_workers(answers_in_a_step(config))
    return config.reward.workers or max(min(wanted, cores), LEAST)
