"""Pass@k training: what a response adds to the best of k (Chen et al., arXiv 2508.10751, analytic form).

The paper deals a group's n responses into every subset of k, rewards each subset with its best response, takes
(R - mean) / std over the subsets, and gives a response the mean over the subsets it is in. For right and wrong
answers it has closed forms (its code is RUCAIBox/Passk_Training, passk_adv.py); with c = C(wrong, k) / C(n, k):

    mean = 1 - c    std = sqrt(mean * c)    right: c / std    wrong: (c - C(wrong - 1, k - 1) / C(n - 1, k - 1)) / std

Here the same mean over subsets is taken for any rewards, from their order alone, so that a length penalty or partial
credit has its say; on rewards of 0 and 1 it is the paper's to rounding. k = 1 is GRPO with the population's std.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import torch
from torch import Tensor

from prorl_training.algorithm.advantages import divisor
from prorl_training.config.algorithm import AdvantageConfig
from prorl_training.spec import AdvantageSpec


def pass_at_k(rewards: Tensor, groups: Tensor, lengths: Tensor, config: AdvantageConfig) -> Tensor:
    """Return (mean of the best over the k-subsets with this response - mean over all) / their std.

    0 where all subsets are worth the same: with fewer than k wrong answers, and in a group of no more than k.
    """
    del lengths
    found = torch.zeros_like(rewards)
    for group in range(int(groups.max()) + 1 if groups.numel() else 0):
        rows = (groups == group).nonzero().flatten()
        if len(rows) > config.k:
            found[rows] = _of_group(rewards[rows], config)
    return found


def _of_group(rewards: Tensor, config: AdvantageConfig) -> Tensor:
    """Return the advantages (n,) of one group of n > k."""
    n, k = len(rewards), config.k
    best, alone, above = (rewards.new_tensor(w) for w in _weights(n, k))
    values, order = rewards.sort(stable=True)
    values = values - values[-1]  # the best is 0: equal subsets have no spread to the last bit
    mean = (best * values).sum()
    variance = (best * (values - mean) ** 2).sum()
    if variance == 0:
        return torch.zeros_like(rewards)
    better = (above * values).flip(0).cumsum(0).flip(0)  # at j: of j and all above it
    including = alone * values + better - above * values
    return torch.empty_like(rewards).scatter_(
        0, order, (including - mean) / divisor(variance, config)
    )


@lru_cache(maxsize=64)
def _weights(n: int, k: int) -> tuple[list[float], list[float], list[float]]:
    """Return for each place in rising order the share of k-subsets (n,) whose best it is: of all of them; of those
    that contain it; of those that contain a given lower place."""
    every, others = comb(n, k), comb(n - 1, k - 1)
    best = [comb(j, k - 1) / every for j in range(n)]
    alone = [comb(j, k - 1) / others for j in range(n)]
    above = [comb(j - 1, k - 2) / others if j and k > 1 else 0.0 for j in range(n)]
    return best, alone, above


SPEC = AdvantageSpec(
    name="pass_at_k",
    advantages=pass_at_k,
    keys=("advantage.k", "advantage.eps", "advantage.eps_in"),
)
