"""The loss of one forward pass, shared by both engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.policy_loss import LOG_RATIO_LIMIT, per_sequence, policy_loss
from prorl_training.config.algorithm import KLConfig, LossConfig, MismatchConfig


class Mismatch(NamedTuple):
    """Importance weights (N,), and the fraction of tokens (or sequences) whose ratio is out of bounds or vetoed."""

    weights: Tensor
    masked_fraction: Tensor


def mismatch_weights(
    trainer_logprobs: Tensor, sampler_logprobs: Tensor, lengths: Tensor, config: MismatchConfig
) -> Mismatch:
    """Return importance weights that correct for the difference between the sampler's and the trainer's log-probs.

    A token's rho is exp(trainer's log-prob before the update - sampler's log-prob). The ratio is rho (``level:
    token``), or the product (``sequence``) or geometric mean (``geometric``) of rho over the sequence.

    - ``tis``: the ratio clamped to [low, high] (truncated importance sampling, Yao et al. 2025).
    - ``icepop``: the ratio, or 0 if it is outside [low, high] (ant-ling 2025).
    - ``sequence_mask``: rho, or 0 if the sequence's geometric mean is outside [low, high] (OpenRLHF 0.11.2, NeMo-RL).

    Sequences with a rho below ``veto`` get weight 0 (Liu, Li et al. 2025, richardli.xyz/rl-collapse). References: verl,
    rollout_corr_helper.py, and TRL, grpo_trainer.py.
    """
    gap = (trainer_logprobs - sampler_logprobs).detach()
    if config.correction == "none":
        return Mismatch(torch.ones_like(gap), gap.new_zeros(()))
    by_sequence = config.correction == "sequence_mask" or config.level != "token"
    rho = ratio = judged = _bounded_exp(gap)
    if by_sequence:
        mean = config.correction == "sequence_mask" or config.level == "geometric"
        judged = _bounded_exp(per_sequence(gap, lengths, mean))
        ratio = rho if config.correction == "sequence_mask" else judged
    outside = (judged < config.low) | (judged > config.high)
    weights = ratio.clamp(config.low, config.high)
    if config.correction != "tis":
        weights = torch.where(outside, torch.zeros_like(ratio), ratio)
    if config.veto:
        by_sequence = True
        vetoed = per_sequence((rho < config.veto).to(rho), lengths, mean=False) > 0
        weights, outside = weights.masked_fill(vetoed, 0.0), outside | vetoed
    if not by_sequence or not len(outside):
        return Mismatch(weights, outside.sum() / max(len(outside), 1))
    sampled = lengths > 0
    first = (lengths.cumsum(0) - lengths).clamp(max=len(outside) - 1)
    return Mismatch(weights, (outside[first] & sampled).sum() / sampled.sum())


def _bounded_exp(gap: Tensor) -> Tensor:
    return gap.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()


class MismatchSize(NamedTuple):
    """How far apart the sampler's and the trainer's probabilities are; rho is their ratio trainer / sampler."""

    kl: float
    """KL(sampler || trainer) in nats per token: the mean of rho - 1 - log rho (Schulman's k3, never negative)."""
    ess: float
    """Effective sample size divided by the number of tokens n (Kish 1965): (sum rho)^2 / (n sum rho^2). It is 1 if
    sampler and trainer agree, and 1 / n if one token has all the weight."""


def mismatch_sums(trainer_logprobs: Tensor, sampler_logprobs: Tensor, counted: Tensor) -> Tensor:
    """Return the sums (4,) of rho - 1 - log rho, rho, rho^2 and 1 over a pass's counted tokens.

    rho is the probability ratio trainer / sampler. All inputs are (N,). ``counted`` is False for stale tokens.
    """
    gap = (trainer_logprobs - sampler_logprobs).detach().float()
    gap = torch.where(counted, gap.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT), gap.new_zeros(()))
    ratio = gap.exp() * counted
    return torch.stack(
        [(gap.expm1() - gap).sum(), ratio.sum(), (ratio * ratio).sum(), counted.sum()]
    )


def mismatch_size(sums: Sequence[float]) -> MismatchSize | None:
    """Return the MismatchSize of a step, given the total of its ``mismatch_sums``, or None if no token was counted."""
    k3, total, squares, count = sums
    if not count:
        return None
    return MismatchSize(kl=k3 / count, ess=total * total / (count * squares))


class Tokens(NamedTuple):
    """The N response tokens of one forward pass: its B trajectories, concatenated.

    All tensors are (N,) float, except ``lengths`` (B,) int. ``old`` are the old log-probs (``loss.old_logprobs``).
    ``weights`` come from ``token_weights`` of the whole mini-batch.
    """

    logprobs: Tensor
    old: Tensor
    sampled: Tensor
    reference: Tensor | None
    advantages: Tensor
    weights: Tensor
    lengths: Tensor


class PassLoss(NamedTuple):
    """One forward pass's contribution to the mini-batch loss. ``loss`` is ``policy_loss`` plus the KL penalty.

    ``kl`` are the KL estimates (N,), or None without a reference. All other fields are scalars.
    """

    loss: Tensor
    policy_loss: Tensor
    kl: Tensor | None
    clipped_fraction: Tensor
    masked_fraction: Tensor


def pass_loss(tokens: Tokens, loss: LossConfig, kl: KLConfig) -> PassLoss:
    """Return the loss of ``tokens``. Raises UnknownNameError, and PluginError if a plug-in returns invalid values."""
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
    """Return the weight (N,) of each token, such that the batch loss is sum(weights * losses).

    - ``token_mean``: 1 / N (DAPO, arXiv 2503.14476, eq. 12).
    - ``sequence_mean``: 1 / (sequence length x number of non-empty sequences) (GRPO, arXiv 2402.03300, eq. 3).
    - ``constant``: 1 / (B max_tokens) (Dr. GRPO, arXiv 2503.20783, section 3.2).
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
        raise ValueError(f"unknown aggregation {aggregation!r}")
    return torch.full((total,), weight, dtype=torch.float32, device=lengths.device)
