"""Settings of the algorithm. Where ProRL v1 (arXiv 2505.24864), the ProRL v2 post (2025-08-11), OpenRLHF 0.11.2 and
NeMo-RL's prorlv2 recipe differ, each variant is a named value."""

from __future__ import annotations

import math
from typing import Any, Literal, assert_never

from pydantic import Field, field_validator, model_validator

from prorl_common.config import Section
from prorl_training.spec import (
    ADVANTAGES,
    KL_ESTIMATORS,
    POLICY_LOSSES,
    check_part_name,
    check_part_options,
)


class AdvantageConfig(Section):
    """How rewards become advantages."""

    estimator: str = "reinforce_baseline"
    """``reinforce_baseline`` (REINFORCE++: subtract the group mean, divide by the batch std of the results),
    ``grpo`` (group mean and std), ``batch_std`` (group mean, batch std of the raw rewards: TRL's
    scale_rewards="batch"), ``dr_grpo`` (group mean only), ``gdpo`` (several ``rewards``, arXiv 2601.05242),
    ``pass_at_k`` (best of ``k``, arXiv 2508.10751), ``maxrl`` (divided by the group mean, arXiv 2602.02710), or the
    name of a plug-in's AdvantageSpec."""
    rewards: dict[str, float] = Field(default_factory=dict)
    """``gdpo``: reward -> weight. ``raw`` is the verifier's reward, ``shaping`` the shaped minus the raw reward.
    Other names are metrics of the verdict, such as ``part.NAME`` of a composite task (0 if missing). Default:
    ``raw`` and ``shaping``, with weight 1."""
    k: int = Field(default=4, ge=1)
    """``pass_at_k``: number of responses in a subset; 1 is the same as ``grpo``."""
    normalise: Literal["trajectory", "token"] = "trajectory"
    """``reinforce_baseline``: whether each trajectory counts once in the batch statistics (ProRL v2 post), or once per
    token (OpenRLHF, NeMo-RL, verl)."""
    std: Literal["population", "sample"] = "population"
    """Whether the standard deviation divides by n (population) or by n - 1 (sample; TRL and verl for GRPO)."""
    eps: float = Field(default=1e-8, gt=0)
    """Small constant that keeps the divisor above 0; ``eps_in`` says where it is added."""
    eps_in: Literal["std", "variance"] = "std"
    """Whether to divide by std + eps, or by sqrt(variance + eps) (verl's batch whitening)."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the estimator, if it has any."""

    @property
    def reward_weights(self) -> dict[str, float]:
        return self.rewards or {"raw": 1.0, "shaping": 1.0}

    @field_validator("estimator")
    @classmethod
    def _estimator_exists(cls, name: str) -> str:
        return check_part_name(ADVANTAGES, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> AdvantageConfig:
        check_part_options(ADVANTAGES, self.estimator, self.options)
        return self


class MismatchConfig(Section):
    """Importance weights for the difference between the sampler's and the trainer's log-probs.

    The ratio is exp(trainer's log-prob before the update - sampler's log-prob), without gradient.
    """

    correction: Literal["none", "tis", "icepop", "sequence_mask"] = "none"
    """``tis``: clamp the ratio to [low, high]. ``icepop``: set ratios outside [low, high] to 0. ``sequence_mask``:
    drop sequences whose geometric mean ratio is outside [low, high]; other sequences keep their token ratios."""
    level: Literal["token", "sequence", "geometric"] = "token"
    """``tis`` and ``icepop``: use each token's ratio, or the product (``sequence``) or geometric mean (``geometric``)
    of the ratios in its sequence."""
    veto: float = Field(default=0.0, ge=0, lt=1)
    """Drop sequences that have a token with a ratio below this; 0: off."""
    low: float = Field(default=0.5, ge=0)
    """Lower bound of the ratio."""
    high: float = Field(default=5.0, gt=0)
    """Upper bound of the ratio."""

    @model_validator(mode="after")
    def _low_is_below_high(self) -> MismatchConfig:
        if self.low >= self.high:
            raise ValueError(f"low ({self.low}) must be less than high ({self.high})")
        return self

    @model_validator(mode="after")
    def _options_have_an_effect(self) -> MismatchConfig:
        if self.correction == "none" and self.veto:
            raise ValueError("veto needs a correction: set correction=tis, or veto=0")
        if self.correction == "sequence_mask" and self.level != "token":
            raise ValueError(
                f"level={self.level} needs correction=tis or icepop: set one of these, or level=token"
            )
        return self


class LossConfig(Section):
    """The policy loss, and how a step's batch is divided into gradient updates."""

    name: str = "clip"
    """``clip`` (PPO with separate bounds), ``gspo`` (ratio of the sequence, arXiv 2507.18071), ``cispo`` (clipped weight,
    2506.13585), ``dppo_tv`` and ``dppo_kl`` (masked by divergence, 2602.04879), ``sapo`` (soft gate, 2511.20347), or the
    name of a plug-in's PolicyLossSpec."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the loss: ``low``, ``high`` and ``max_ratio`` of ``dppo_tv`` and ``dppo_kl``, ``positive`` and
    ``negative`` of ``sapo``."""
    old_logprobs: Literal["by_age", "trainer", "sampler"] = "by_age"
    """Old log-probs of the ratio. ``trainer``: the trainer's before the update; ``mismatch`` then corrects for
    staleness (decoupled PPO, AReaL, arXiv 2505.24298). ``sampler``: the sampler's, without ``mismatch``. ``by_age``:
    ``sampler`` for stale trajectories, else ``trainer``."""
    clip_low: float = Field(default=0.2, gt=0, lt=1)
    """The ratio is clipped below at 1 - clip_low."""
    clip_high: float = Field(default=0.28, gt=0)
    """The ratio is clipped above at 1 + clip_high."""
    dual_clip: float = Field(default=0.0, ge=0)
    """For negative advantages the loss is at most this times |A| (Ye et al., arXiv 1912.09729); 0: off."""
    on_policy_ratio: bool = False
    """Use a ratio of 1 in every mini-batch (ProRL v2.1's force_on_policy_ratio)."""
    mini_batches: int = Field(default=4, ge=1)
    """Gradient updates per step; 1 is exactly on-policy."""
    aggregation: Literal["token_mean", "sequence_mean", "constant"] = "token_mean"
    """``token_mean`` weights every token equally, ``sequence_mean`` every sequence; ``constant`` divides the sum by B x
    max_tokens (Dr. GRPO)."""
    pack_tokens: int = Field(default=1024, ge=1)
    """Tokens per forward pass. Gradients are accumulated exactly, so this affects memory and speed only."""
    mismatch: MismatchConfig = MismatchConfig()

    @field_validator("name")
    @classmethod
    def _loss_exists(cls, name: str) -> str:
        return check_part_name(POLICY_LOSSES, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> LossConfig:
        check_part_options(POLICY_LOSSES, self.name, self.options)
        return self

    @model_validator(mode="after")
    def _mismatch_has_an_effect(self) -> LossConfig:
        if self.old_logprobs == "sampler" and self.mismatch.correction != "none":
            raise ValueError(
                "old_logprobs=sampler leaves no mismatch to correct: set loss.mismatch.correction=none"
            )
        return self

    @model_validator(mode="after")
    def _dual_clip_is_beyond_the_clip(self) -> LossConfig:
        if 0 < self.dual_clip <= 1:
            raise ValueError(f"dual_clip ({self.dual_clip}) must be 0 (off) or more than 1")
        return self


class KLConfig(Section):
    """The KL penalty that ties the policy to the reference model."""

    coefficient: float = Field(default=1e-4, ge=0)
    """beta; 0 means no penalty and no reference model."""
    estimator: str = "k2"
    """``k1``: log-ratio d; ``k2``: d^2 / 2; ``k3``: exp(-d) - 1 + d (Schulman 2020); or the name of a plug-in's
    KLSpec."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the estimator, if it has any."""
    clamp: Literal["input", "output", "both", "none"] = "input"
    """``input`` clamps the log-ratio (ProRL v2 post), ``output`` the estimate (OpenRLHF), ``both`` both (NeMo-RL)."""
    clamp_value: float = Field(default=10.0, gt=0)
    """Bound of the log-ratio (``input``) or of the estimate (``output``, ``both``)."""
    input_clamp_value: float = Field(default=20.0, gt=0)
    """Bound of the log-ratio with ``both`` (20 in NeMo-RL)."""
    measure_share_every: int = Field(default=50, ge=0)
    """Every N steps, measure the KL term's share of the gradient norm; 0: never. This costs one more backward pass over
    a mini-batch."""

    @field_validator("estimator")
    @classmethod
    def _estimator_exists(cls, name: str) -> str:
        return check_part_name(KL_ESTIMATORS, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> KLConfig:
        check_part_options(KL_ESTIMATORS, self.estimator, self.options)
        return self


class OptimizerConfig(Section):
    """AdamW and its learning rate."""

    lr: float = Field(default=2e-6, gt=0)
    """Learning rate."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """After the warm-up, keep lr constant or decay it to ``min_ratio`` of lr over ``decay_updates``."""
    warmup_updates: int = Field(default=0, ge=0)
    """Gradient updates over which lr rises linearly from 0."""
    decay_updates: int = Field(default=0, ge=0)
    """Length of the decay in updates, after the warm-up; 0: all remaining planned updates."""
    min_ratio: float = Field(default=0.0, ge=0, le=1)
    """Final learning rate of ``linear`` and ``cosine``, as a share of lr."""
    beta1: float = Field(default=0.9, ge=0, lt=1)
    """AdamW: decay of the first moment."""
    beta2: float = Field(default=0.95, ge=0, lt=1)
    """AdamW: decay of the second moment."""
    eps: float = Field(default=1e-8, gt=0)
    """AdamW: added to the root of the second moment."""
    weight_decay: float = Field(default=0.0, ge=0)
    """AdamW: decoupled weight decay."""
    grad_clip: float = Field(default=1.0, gt=0)
    """Maximum norm of an update's gradient."""

    def lr_at(self, update: int, total_updates: int, scale: float = 1.0) -> float:
        """Return the learning rate of gradient update ``update`` (from 1).

        The rate rises linearly to ``lr`` over ``warmup_updates`` and then decays to ``min_ratio`` x lr over
        ``decay_updates`` (0: the rest of ``total_updates``). Raises ValueError if ``update`` is less than 1.
        """
        if update < 1:
            raise ValueError(f"updates are counted from 1, got {update}")
        peak = self.lr * scale
        if update <= self.warmup_updates:
            return peak * update / self.warmup_updates
        span = self.decay_updates or max(total_updates - self.warmup_updates, 1)
        progress = min((update - self.warmup_updates) / span, 1.0)
        match self.schedule:
            case "constant":
                return peak
            case "linear":
                share = 1 - progress
            case "cosine":
                share = 0.5 * (1 + math.cos(math.pi * progress))
            case _:
                assert_never(self.schedule)
        return peak * (self.min_ratio + (1 - self.min_ratio) * share)
