"""From a step's groups to what the policy update takes: advantages, mini-batches, old log-probs.

Leaves out: filtering (``collector``), the formulas (``objectives``, ``shaping``) and the update (``policy``).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch

from prorl_common import derive_seed
from prorl_datasets import Sample
from prorl_training.algorithm import compute_advantages
from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.stats import UpdateBatch
from prorl_training.rollout.types import Group, Trajectory


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
    rows = _Rows()
    packed: list[PromptGroup] = []
    for number, group in enumerate(groups):
        kept = [(rows.add(t, number, stale=group.step != step), t) for t in group.scored]
        trained = [(index, t) for index, t in kept if t.trains]
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
        advantages=rows.advantages(config),
        sampler_logprobs=rows.logprobs,
        stale=frozenset(rows.stale),
        config=config,
        measure_kl_share=bool(every) and (step == 1 or step % every == 0),
    )


class _Rows:
    """The scored trajectories of all groups, numbered as they come."""

    def __init__(self) -> None:
        self.rewards: list[float] = []
        self.groups: list[int] = []
        self.logprobs: list[Sequence[float]] = []
        self.stale: set[int] = set()

    def add(self, trajectory: Trajectory, group: int, stale: bool) -> int:
        """Take a trajectory of group number ``group``; return its index in the batch."""
        index = len(self.rewards)
        self.rewards.append(trajectory.shaped)
        self.groups.append(group)
        self.logprobs.append(trajectory.completion.logprobs)
        if stale:
            self.stale.add(index)
        return index

    def advantages(self, config: TrainConfig) -> torch.Tensor:
        """Return the advantage of each trajectory."""
        lengths = torch.tensor([len(x) for x in self.logprobs])
        return compute_advantages(
            torch.tensor(self.rewards), torch.tensor(self.groups), lengths, config.advantage
        )
