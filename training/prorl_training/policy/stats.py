"""What goes into an update of the policy, who may refuse it, and what is measured in it.

Leaves out: the update itself (``policy.update``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup


@dataclass(frozen=True, slots=True)
class UpdateBatch:
    """One step's B trajectories, divided into mini-batches of whole prompt groups.

    ``advantages`` (B,) and ``rollout.sampler_logprobs`` (a sequence of one float a token each) go by trajectory
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


class UpdateJudge(Protocol):
    """Decides whether a mini-batch's gradient is applied."""

    def judge_update(self, loss: float, grad_norm: float) -> bool:
        """Return True to apply it. Called once a mini-batch, with the norm before clipping."""
        ...

    def norm_limit(self) -> float:
        """Return the largest norm that would be applied now: for one who decides where no judge is."""
        ...

    def hear_update(self, loss: float, grad_norm: float, applied: bool) -> None:
        """Hear of a mini-batch that was decided by ``norm_limit``."""
        ...


class AcceptAll:
    """The judge that refuses nothing; what is not finite is never applied whatever a judge says."""

    def judge_update(self, loss: float, grad_norm: float) -> bool:
        """Return True."""
        del loss, grad_norm
        return True

    def norm_limit(self) -> float:
        """Return infinity."""
        return math.inf

    def hear_update(self, loss: float, grad_norm: float, applied: bool) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class UpdateStats:
    """Means over one step's mini-batches (``loss``, ``policy_loss``, ``grad_norm``) or its tokens.

    Quantities of tokens are taken in the pass that made the gradient, before its optimiser step.
    """

    loss: float
    """Policy loss plus KL coefficient times KL, as aggregated for the gradient."""
    policy_loss: float
    kl: float | None
    """Mean of the configured estimate of KL(policy || reference); None without a reference pass."""
    entropy: float
    """Of the policy at the sampling temperature, in nats."""
    clipped_fraction: float
    masked_fraction: float
    """Share of tokens that the mismatch correction left out of the loss."""
    grad_norm: float
    """Before clipping; mini-batches that were skipped count when their norm is finite, nan without any."""
    sampler_gap: float
    """Mean |sampler's log-prob - trainer's before the update| over tokens that are not stale."""
    lr: float
    """Of the last mini-batch."""
    skipped: int
    """Mini-batches whose gradient was not applied."""
    kl_gradient_share: float | None
    """|beta grad KL| / (|grad policy loss| + |beta grad KL|) in the first mini-batch, 2-norms over all
    trained parameters before clipping; None where it was not measured."""


class PackStats:
    """Running sums over packs, kept on the device so that nothing waits for it; floats at the end."""

    def __init__(self, device: torch.device) -> None:
        self._zero = torch.zeros((), device=device)
        self.loss = self.policy_loss = self.kl = self.entropy = self._zero
        self.clipped = self.masked = self.gap = self._zero
        self.tokens = self.fresh_tokens = self.kl_tokens = 0
        self.mini_batches = self.skipped = 0
        self.norms: list[float] = []
        self.kl_share: float | None = None

    def stats(self, lr: float) -> UpdateStats:
        """Return the means."""
        n, m = max(self.tokens, 1), max(self.mini_batches, 1)
        norms = [x for x in self.norms if math.isfinite(x)]
        return UpdateStats(
            loss=float(self.loss) / m,
            policy_loss=float(self.policy_loss) / m,
            kl=float(self.kl) / self.kl_tokens if self.kl_tokens else None,
            entropy=float(self.entropy) / n,
            clipped_fraction=float(self.clipped) / n,
            masked_fraction=float(self.masked) / n,
            grad_norm=sum(norms) / len(norms) if norms else math.nan,
            sampler_gap=float(self.gap) / max(self.fresh_tokens, 1),
            lr=lr,
            skipped=self.skipped,
            kl_gradient_share=self.kl_share,
        )
