"""Sampler against trainer: weights for the gap between their log-probs, and how large the gap is.

vLLM and the trainer give the same weights other probabilities (other kernels, bf16), so the trainer learns from
another policy's samples. With rho = exp(trainer's log-prob before the update - sampler's) at each sampled token,
the weights here correct for it. Sources: truncated importance sampling (Yao et al. 2025, the post on off-policy
RL by mismatched engines), IcePop (ant-ling 2025), the sequence mask of OpenRLHF 0.11.2 (models/loss.py) and
NeMo-RL's seq-mask-tis; k3 of Schulman 2020; the effective sample size of Kish 1965.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

import torch
from torch import Tensor

from prorl_training.config.algorithm import MismatchConfig

LOG_RATIO_LIMIT = 20.0
"""Bound of a weight's logarithm, so that exp cannot overflow (verl's SAFETY_BOUND)."""


class Mismatch(NamedTuple):
    """Weight of each token's loss (N,), no gradient; share out of bounds (scalar).

    The share is of tokens (``tis``: held at a bound; ``icepop``: dropped) or of sequences
    (``sequence_mask``: dropped).
    """

    weights: Tensor
    masked_fraction: Tensor


def mismatch_weights(
    trainer_logprobs: Tensor, sampler_logprobs: Tensor, lengths: Tensor, config: MismatchConfig
) -> Mismatch:
    """Return what each token's policy loss is multiplied by; ones for ``none``.

    ``trainer_logprobs`` (N,) from the trainer before the update, ``sampler_logprobs`` (N,) as sampled,
    ``lengths`` (B,) int. Bounds included in what is kept:

    - ``tis``: rho held within [low, high] (low 0: truncation from above alone, as first published).
    - ``icepop``: rho where low <= rho <= high, else 0.
    - ``sequence_mask``: rho where low <= geometric mean of the sequence's rho <= high, else 0.
    """
    gap = (trainer_logprobs - sampler_logprobs).detach()
    if config.correction == "none":
        return Mismatch(torch.ones_like(gap), gap.new_zeros(()))
    ratio = gap.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()
    by_sequence = config.correction == "sequence_mask"
    judged = ratio
    if by_sequence:  # the mean of each sequence's gaps (B,), 0 for an empty one
        owner = torch.arange(len(lengths), device=gap.device).repeat_interleave(
            lengths, output_size=len(gap)
        )
        total = gap.new_zeros(len(lengths)).index_add_(0, owner, gap)
        judged = (total / lengths.to(gap.dtype).clamp(min=1)).exp()
    outside = (judged < config.low) | (judged > config.high)
    counted = lengths > 0 if by_sequence else torch.ones_like(outside)
    share = (outside & counted).sum() / counted.sum().clamp(min=1)
    match config.correction:
        case "tis":
            return Mismatch(ratio.clamp(config.low, config.high), share)
        case "icepop":
            dropped = outside
        case "sequence_mask":
            dropped = outside.repeat_interleave(lengths, output_size=len(gap))
        case _:
            assert_never(config.correction)
    return Mismatch(torch.where(dropped, torch.zeros_like(ratio), ratio), share)


class MismatchSize(NamedTuple):
    """How far the sampler is from the trainer, over tokens."""

    kl: float
    """KL(sampler || trainer) in nats a token: the mean of rho - 1 - log rho (k3, never negative)."""
    ess: float
    """Effective sample size of the ratios as a share of the tokens, (sum rho)^2 / (n sum rho^2): 1 where sampler
    and trainer agree, 1 / n where one token has all the weight. Of rho itself, whatever the correction."""


def mismatch_sums(trainer_logprobs: Tensor, sampler_logprobs: Tensor, counted: Tensor) -> Tensor:
    """Return what ``mismatch_size`` is made of, (4,) float32, to be added over the passes of a step.

    All (N,); ``counted`` is True for tokens that the policy before the update sampled, not for stale ones.
    """
    gap = (trainer_logprobs - sampler_logprobs).detach().float()
    gap = torch.where(counted, gap.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT), gap.new_zeros(()))
    ratio = gap.exp() * counted
    return torch.stack(
        [(gap.expm1() - gap).sum(), ratio.sum(), (ratio * ratio).sum(), counted.sum()]
    )


def mismatch_size(sums: Sequence[float]) -> MismatchSize | None:
    """Return the figures of a step from its added ``mismatch_sums``; None without tokens."""
    k3, total, squares, count = sums
    if not count:
        return None
    return MismatchSize(kl=k3 / count, ess=total * total / (count * squares))
