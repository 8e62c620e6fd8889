"""The ProRL algorithm as pure functions of tensors: advantages, clipped policy loss, KL estimates.

Sources: ProRL v2 post (2025-08-11), REINFORCE++ (arXiv 2501.03262), PPO (1707.06347), DAPO's
Clip-Higher (2503.14476), Schulman's k1/k2/k3 estimators (2020). Where the published formula and the
official code differ, the difference is an argument. Leaves out: models, batching, schedules.

Shapes: B trajectories, N tokens of all trajectories laid end to end.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

EPS = 1e-8


def group_centred(rewards: Tensor, groups: Tensor) -> Tensor:
    """Return R - mean of its group. ``rewards`` (B,) float, ``groups`` (B,) int ids 0..G-1."""
    count = torch.bincount(groups).to(rewards.dtype)
    total = torch.zeros_like(count).index_add_(0, groups, rewards)
    return rewards - (total / count.clamp(min=1))[groups]


def reinforce_baseline_advantages(
    rewards: Tensor, groups: Tensor, weights: Tensor | None = None
) -> Tensor:
    """REINFORCE++-baseline: (R~ - mu) / sigma with R~ = R - mean_group(R), mu and sigma over the batch.

    ``weights`` (B,) are token counts for the per-token statistics of the official code
    (experience_maker.py, A4b of the fidelity notes); None counts each trajectory once, as published.
    sigma is the population standard deviation. A batch without spread gives zeros. Returns (B,).
    """
    centred = group_centred(rewards, groups)
    w = torch.ones_like(centred) if weights is None else weights.to(centred.dtype)
    mu = (w * centred).sum() / w.sum()
    variance = (w * (centred - mu) ** 2).sum() / w.sum()
    return (centred - mu) / (variance.sqrt() + EPS)


def grpo_advantages(rewards: Tensor, groups: Tensor) -> Tensor:
    """GRPO (arXiv 2402.03300): (R - mean_group) / std_group, population std; zero-spread groups give 0."""
    centred = group_centred(rewards, groups)
    count = torch.bincount(groups).to(rewards.dtype).clamp(min=1)
    square = torch.zeros_like(count).index_add_(0, groups, centred**2)
    std = (square / count).sqrt()[groups]
    return torch.where(std > EPS, centred / (std + EPS), torch.zeros_like(centred))


class PolicyLoss(NamedTuple):
    """Per-token policy loss (N,) and the share of tokens whose gradient the clip removed (scalar)."""

    per_token: Tensor
    clipped_fraction: Tensor


def ppo_clip_loss(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, clip: tuple[float, float]
) -> PolicyLoss:
    """-min(r A, clip(r, 1 - low, 1 + high) A) per token, r = exp(logprobs - old_logprobs).

    All tensors (N,); ``clip`` is (low, high). Clip-Higher is high > low.
    """
    ratio = (logprobs - old_logprobs).exp()
    low, high = clip
    plain = ratio * advantages
    bounded = ratio.clamp(1 - low, 1 + high) * advantages
    clipped = ((ratio > 1 + high) & (advantages > 0)) | ((ratio < 1 - low) & (advantages < 0))
    return PolicyLoss(-torch.minimum(plain, bounded), clipped.to(ratio.dtype).mean())


def kl_estimate(
    logprobs: Tensor,
    ref_logprobs: Tensor,
    estimator: Literal["k1", "k2", "k3"] = "k2",
    clamp: Literal["input", "output", "none"] = "input",
    clamp_value: float = 10.0,
) -> Tensor:
    """Per-token estimate (N,) of KL(pi || pi_ref) from tokens sampled from pi.

    With d = log pi - log pi_ref: k1 = d, k2 = d^2 / 2, k3 = exp(-d) - 1 + d. ``input`` clamps d to
    +-clamp_value (the post: k2 is then at most 50 for 10); ``output`` clamps the estimate to
    +-clamp_value (OpenRLHF: the k2 gradient dies at |d| = sqrt(20)); ``none`` clamps nothing.
    """
    d = logprobs - ref_logprobs
    if clamp == "input":
        d = d.clamp(-clamp_value, clamp_value)
    if estimator == "k1":
        value = d
    elif estimator == "k2":
        value = 0.5 * d**2
    else:
        value = torch.exp(-d) - 1 + d
    return value.clamp(-clamp_value, clamp_value) if clamp == "output" else value


def token_weights(lengths: Tensor, aggregation: Literal["token_mean", "sequence_mean"]) -> Tensor:
    """Return the weight of each token (N,) so that the weighted sum of losses is the batch loss.

    ``lengths`` (B,) tokens a trajectory. ``token_mean``: every token 1/N. ``sequence_mean``: every
    trajectory 1/B, its tokens share it.
    """
    total = int(lengths.sum())
    if aggregation == "token_mean":
        return torch.full((total,), 1.0 / max(total, 1))
    per_sequence = 1.0 / (lengths.to(torch.float32).clamp(min=1) * max(len(lengths), 1))
    return per_sequence.repeat_interleave(lengths)
