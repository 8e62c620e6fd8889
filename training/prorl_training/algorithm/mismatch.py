"""Importance weights for the gap between the sampler's log-probs and the trainer's.

Sources: truncated importance sampling (Yao et al. 2025, the post on off-policy RL by mismatched
engines), IcePop (ant-ling 2025), the sequence mask of OpenRLHF 0.11.2 (models/loss.py) and NeMo-RL's
seq-mask-tis.
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

import torch
from torch import Tensor

from prorl_training.config import MismatchConfig

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

    ``trainer_logprobs`` (N,) from the trainer before the update, ``rollout.sampler_logprobs`` (N,) as sampled,
    ``lengths`` (B,) int. With rho = exp(trainer - sampler), bounds included in what is kept:

    - ``tis``: rho held within [low, high] (low 0: truncation from above alone, as first published).
    - ``icepop``: rho where low <= rho <= high, else 0.
    - ``sequence_mask``: rho where low <= geometric mean of the sequence's rho <= high, else 0.
    """
    gap = (trainer_logprobs - sampler_logprobs).detach()
    if config.correction == "none":
        return Mismatch(torch.ones_like(gap), gap.new_zeros(()))
    ratio = gap.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()
    by_sequence = config.correction == "sequence_mask"
    judged = _sequence_means(gap, lengths).exp() if by_sequence else ratio
    outside = (judged < config.low) | (judged > config.high)
    counted = outside[lengths > 0] if by_sequence else outside
    share = counted.to(gap.dtype).sum() / max(counted.numel(), 1)
    match config.correction:
        case "tis":
            return Mismatch(ratio.clamp(config.low, config.high), share)
        case "icepop":
            dropped = outside
        case "sequence_mask":
            dropped = outside.repeat_interleave(lengths)
        case _:
            assert_never(config.correction)
    return Mismatch(torch.where(dropped, torch.zeros_like(ratio), ratio), share)


def _sequence_means(values: Tensor, lengths: Tensor) -> Tensor:
    """Return the mean (B,) of each sequence's ``values`` (N,); 0 for an empty one."""
    owner = torch.arange(len(lengths), device=values.device).repeat_interleave(lengths)
    total = torch.zeros(len(lengths), dtype=values.dtype, device=values.device)
    return total.index_add_(0, owner, values) / lengths.to(values.dtype).clamp(min=1)
