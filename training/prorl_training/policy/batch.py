"""From a step's groups to what the policy update takes: advantages, mini-batches, old log-probs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from prorl_common import derive_seed
from prorl_datasets import Sample
from prorl_training.algorithm import compute_advantages
from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup
from prorl_training.rollout.types import Group, Trajectory


@dataclass(frozen=True, slots=True)
class UpdateBatch:
    """One step's B trajectories, divided into mini-batches of whole prompt groups.

    ``advantages`` (B,) and ``sampler_logprobs`` (a sequence of one float a token each) go by trajectory
    index, the one in ``PromptGroup.indices``. The old log-probs of a trajectory are the trainer's own from
    before the first update; those of the trajectories in ``stale``, which an earlier policy sampled, are
    its sampler's. ``config`` holds in this phase. ``measure_kl_share`` fills ``kl_gradient_share``.
    """

    mini_batches: Sequence[Sequence[PromptGroup]]
    advantages: Tensor
    sampler_logprobs: Sequence[Sequence[float]]
    config: TrainConfig
    stale: frozenset[int] = frozenset()
    measure_kl_share: bool = False


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
    scored: list[tuple[int, Trajectory]] = []  # group number, trajectory; the place is its index
    packed: list[PromptGroup] = []
    for number, group in enumerate(groups):
        trained = [(i, t) for i, t in enumerate(group.scored, len(scored)) if t.trains]
        scored += [(number, t) for t in group.scored]
        if trained:
            answers = tuple(t.completion.token_ids for _, t in trained)
            indices = tuple(index for index, _ in trained)
            packed.append(PromptGroup(encode(group.sample), answers, indices))
    if not packed:
        return None
    random.Random(derive_seed(config.seed, "mini_batches", step)).shuffle(packed)
    count = min(config.loss.mini_batches, len(packed))
    every = config.kl.measure_share_every
    return UpdateBatch(
        mini_batches=[packed[i::count] for i in range(count)],
        advantages=compute_advantages(
            torch.tensor([t.shaped for _, t in scored]),
            torch.tensor([number for number, _ in scored]),
            torch.tensor([len(t.completion.logprobs) for _, t in scored]),
            config.advantage,
        ),
        sampler_logprobs=[t.completion.logprobs for _, t in scored],
        stale=frozenset(i for i, (number, _) in enumerate(scored) if groups[number].step != step),
        config=config,
        measure_kl_share=bool(every) and (step == 1 or step % every == 0),
    )
