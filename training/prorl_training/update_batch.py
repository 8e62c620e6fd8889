"""From a step's groups to what the policy update takes: advantages, mini-batches, old log-probs.

Leaves out: filtering (``collector``), the formulas (``objectives``, ``shaping``) and the update (``policy``).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch

from prorl_common import derive_seed
from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.objectives import compute_advantages
from prorl_training.packing import PromptGroup
from prorl_training.rollout import Group
from prorl_training.update_stats import UpdateBatch


def build_update(
    groups: Sequence[Group],
    step: int,
    config: TrainConfig,
    encode: Callable[[Sample], tuple[int, ...]],
) -> UpdateBatch | None:
    """Return the update of ``step`` on shaped ``groups``, or None when no response may be trained on.

    Advantages come from all scored responses; those with ``trains`` False are left out of the loss.
    Groups are shuffled by (seed, step) and dealt into ``loss.mini_batches`` parts, whole groups each.
    """
    rewards: list[float] = []
    group_of: list[int] = []
    sampled: list[Sequence[float]] = []
    stale: set[int] = set()
    packed: list[PromptGroup] = []
    for number, group in enumerate(groups):
        kept: list[int] = []
        for t in group.scored:
            index = len(rewards)
            rewards.append(t.shaped)
            group_of.append(number)
            sampled.append(t.completion.logprobs)
            if group.step != step:
                stale.add(index)
            if t.trains:
                kept.append(index)
        answers = tuple(t.completion.token_ids for t in group.scored if t.trains)
        if kept:
            packed.append(PromptGroup(encode(group.sample), answers, tuple(kept)))
    if not packed:
        return None
    lengths = torch.tensor([len(x) for x in sampled])
    advantages = compute_advantages(
        torch.tensor(rewards), torch.tensor(group_of), lengths, config.advantage
    )
    random.Random(derive_seed(config.seed, "mini_batches", step)).shuffle(packed)
    count = min(config.loss.mini_batches, len(packed))
    every = config.kl.measure_share_every
    return UpdateBatch(
        mini_batches=[packed[i::count] for i in range(count)],
        advantages=advantages,
        sampler_logprobs=sampled,
        stale=frozenset(stale),
        config=config,
        measure_kl_share=bool(every) and (step == 1 or step % every == 0),
    )
