"""The loss of one pass over trajectories: policy loss, weights for sampler mismatch, KL, and the weight of each token.

Both engines differentiate what ``pass_loss`` returns, so that the same batch has the same loss and gradient on
either.

vLLM and the trainer give the same weights other probabilities (other kernels, bf16), so the trainer learns from
another policy's samples. With rho = exp(trainer's log-prob before the update - sampler's) at each sampled token,
``mismatch_weights`` corrects for it. Sources: truncated importance sampling (Yao et al. 2025, the post on off-policy
RL by mismatched engines), IcePop (ant-ling 2025), the sequence mask of OpenRLHF 0.11.2 (models/loss.py) and
NeMo-RL's seq-mask-tis; k3 of Schulman 2020; the effective sample size of Kish 1965. Of the token weights: DAPO (arXiv 2503.14476, eq. 12) for the token mean, GRPO (2402.03300, eq. 3) for the
sequence mean, Dr. GRPO (2503.20783, section 3.2) for the constant divisor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

import torch
from torch import Tensor

from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.policy_loss import policy_loss
from prorl_training.config.algorithm import KLConfig, LossConfig, MismatchConfig

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


class Tokens(NamedTuple):
    """The N response tokens of a pass, those of its B trajectories laid end to end; all (N,) float but ``lengths``.

    ``logprobs`` are the policy's, with gradient; ``old`` its own before the update (or, where another policy
    sampled, the sampler's); ``sampled`` the sampler's; ``reference`` None without a reference. ``weights`` are
    ``token_weights`` of the whole mini-batch, so that the passes of one add up. ``lengths`` (B,) int.
    """

    logprobs: Tensor
    old: Tensor
    sampled: Tensor
    reference: Tensor | None
    advantages: Tensor
    weights: Tensor
    lengths: Tensor


class PassLoss(NamedTuple):
    """A pass's part of a mini-batch's loss; scalars but ``kl``, the estimate (N,) or None without a reference.

    ``loss`` is to be differentiated: ``policy_loss`` plus the KL coefficient times the weighted sum of ``kl``.
    """

    loss: Tensor
    policy_loss: Tensor
    kl: Tensor | None
    clipped_fraction: Tensor
    masked_fraction: Tensor


def pass_loss(tokens: Tokens, loss: LossConfig, kl: KLConfig) -> PassLoss:
    """Return the loss of ``tokens``. Raises UnknownNameError and PluginError as the named parts do."""
    policy = policy_loss(tokens.logprobs, tokens.old, tokens.advantages, tokens.lengths, loss)
    mismatch = mismatch_weights(tokens.old, tokens.sampled, tokens.lengths, loss.mismatch)
    surrogate = (policy.per_token * mismatch.weights * tokens.weights).sum()
    total, estimate = surrogate, None
    if tokens.reference is not None:
        estimate = kl_penalty(tokens.logprobs, tokens.reference, kl)
        if kl.coefficient:
            total = surrogate + kl.coefficient * (estimate * tokens.weights).sum()
    return PassLoss(total, surrogate, estimate, policy.clipped_fraction, mismatch.masked_fraction)


def token_weights(lengths: Tensor, aggregation: str, max_tokens: int) -> Tensor:
    """Return the weight (N,) float32 of each token; sum(weights * losses) is the batch loss.

    ``lengths`` (B,) int tokens of each trajectory. ``token_mean``: 1 / N. ``sequence_mean``: a
    trajectory with tokens weighs 1 / (number of such trajectories), shared among its tokens.
    ``constant``: 1 / (B max_tokens). Raises ValueError for another name.
    """
    total = int(lengths.sum())
    if aggregation == "token_mean":
        weight = 1.0 / max(total, 1)
    elif aggregation == "constant":
        weight = 1.0 / max(len(lengths) * max_tokens, 1)
    elif aggregation == "sequence_mean":
        count = (lengths > 0).sum().clamp(min=1)
        return (1.0 / (lengths.double().clamp(min=1) * count)).float().repeat_interleave(lengths)
    else:
        raise ValueError(f"aggregation {aggregation!r}: token_mean, sequence_mean or constant")
    return torch.full((total,), weight, dtype=torch.float32, device=lengths.device)
