"""The algorithm's settings: advantages, clipped loss, sampler mismatch, KL, optimiser.

Every place where the published formula and the official code differ is a named value here; a preset
picks one. Sources: ProRL v1 (arXiv 2505.24864), the ProRL v2 post (2025-08-11), OpenRLHF 0.11.2 and
NeMo-RL's prorlv2 recipe.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from prorl_common.config import Section
from prorl_training.spec import ADVANTAGES, KL_ESTIMATORS, POLICY_LOSSES, known_name, known_options


class AdvantageConfig(Section):
    """From rewards to advantages."""

    estimator: str = "reinforce_baseline"
    """``reinforce_baseline`` (REINFORCE++: group mean, batch std of what is left), ``grpo`` (group mean, group
    std), ``batch_std`` (group mean, batch std of the raw rewards: TRL's scale_rewards="batch"), ``dr_grpo``
    (mean only), ``pass_at_k`` (the best of ``k``, arXiv 2508.10751), ``maxrl`` (divided by the group mean, arXiv
    2602.02710), or a plug-in's AdvantageSpec by its name."""
    k: int = Field(default=4, ge=1)
    """Of ``pass_at_k``: how many responses try together; 1 is ``grpo``."""
    normalise: Literal["trajectory", "token"] = "trajectory"
    """Statistics of ``reinforce_baseline``: a trajectory counts once (ProRL v2 post) or once a token (OpenRLHF, NeMo-RL, verl)."""
    std: Literal["population", "sample"] = "population"
    """Divisor n or n - 1 in the standard deviation (TRL and verl divide GRPO's by n - 1)."""
    eps: float = Field(default=1e-8, gt=0)
    """Keeps the divisor above 0; where it is added, ``eps_in`` says."""
    eps_in: Literal["std", "variance"] = "std"
    """Divide by std + eps, or by sqrt(variance + eps) (verl's whitening over a batch)."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the estimator's own, where it has any."""

    @field_validator("estimator")
    @classmethod
    def _estimator_exists(cls, name: str) -> str:
        return known_name(ADVANTAGES, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> AdvantageConfig:
        known_options(ADVANTAGES, self.estimator, self.options)
        return self


class MismatchConfig(Section):
    """Importance weights for the gap between the sampler's log-probs and the trainer's.

    The ratio is exp(trainer's log-prob before the update - sampler's log-prob), without gradient.
    """

    correction: Literal["none", "tis", "icepop", "sequence_mask"] = "none"
    """``tis``: token ratio held within [low, high]; ``icepop``: 0 outside it; ``sequence_mask``: sequences
    whose geometric mean ratio is outside are dropped, the others keep their token ratios."""
    low: float = Field(default=0.5, ge=0)
    """Lower bound of the ratio."""
    high: float = Field(default=5.0, gt=0)
    """Upper bound of the ratio."""

    @model_validator(mode="after")
    def _low_is_below_high(self) -> MismatchConfig:
        if self.low >= self.high:
            raise ValueError(f"low ({self.low}) must be less than high ({self.high})")
        return self


class LossConfig(Section):
    """The policy loss and its update."""

    name: str = "clip"
    """``clip``: PPO's with separate bounds; or a plug-in's PolicyLossSpec by its name."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the loss's own, where it has any."""
    clip_low: float = Field(default=0.2, gt=0, lt=1)
    """The ratio is clipped at 1 - this."""
    clip_high: float = Field(default=0.28, gt=0)
    """The ratio is clipped at 1 + this."""
    dual_clip: float = Field(default=0.0, ge=0)
    """For negative advantages the loss is at most this times |A| (Ye et al., arXiv 1912.09729); 0: off."""
    on_policy_ratio: bool = False
    """Take the ratio as 1 whatever the update has done already (ProRL v2.1's force_on_policy_ratio)."""
    mini_batches: int = Field(default=4, ge=1)
    """Gradient updates a step; 1 is exactly on-policy."""
    aggregation: Literal["token_mean", "sequence_mean", "constant"] = "token_mean"
    """Every token the same; every sequence the same; or a sum over B x max_tokens (Dr. GRPO)."""
    pack_tokens: int = Field(default=1024, ge=1)
    """Tokens in one forward pass; gradients of a mini-batch's passes are accumulated exactly, so this is a
    matter of memory and speed only."""
    mismatch: MismatchConfig = MismatchConfig()

    @field_validator("name")
    @classmethod
    def _loss_exists(cls, name: str) -> str:
        return known_name(POLICY_LOSSES, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> LossConfig:
        known_options(POLICY_LOSSES, self.name, self.options)
        return self

    @model_validator(mode="after")
    def _dual_clip_is_beyond_the_clip(self) -> LossConfig:
        if 0 < self.dual_clip <= 1:
            raise ValueError(f"dual_clip ({self.dual_clip}) must be 0 (off) or more than 1")
        return self


class KLConfig(Section):
    """The penalty that ties the policy to the reference."""

    coefficient: float = Field(default=1e-4, ge=0)
    """beta; 0: no penalty and no reference model."""
    estimator: str = "k2"
    """``k1``: log-ratio, ``k2``: half its square, ``k3``: exp - 1 - log-ratio (Schulman 2020), or a plug-in's
    KLSpec by its name."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the estimator's own, where it has any."""
    clamp: Literal["input", "output", "both", "none"] = "input"
    """``input``: the log-ratio is clamped (post); ``output``: the estimate is (OpenRLHF); ``both``: NeMo-RL."""
    clamp_value: float = Field(default=10.0, gt=0)
    """Bound of the log-ratio (``input``) or of the estimate (``output``, ``both``)."""
    input_clamp_value: float = Field(default=20.0, gt=0)
    """Bound of the log-ratio with ``both`` (NeMo-RL's 20)."""
    measure_share_every: int = Field(default=50, ge=0)
    """Every so many steps the share of the KL term in the gradient is measured, at the cost of one more
    backward pass over a mini-batch; 0: never."""

    @field_validator("estimator")
    @classmethod
    def _estimator_exists(cls, name: str) -> str:
        return known_name(KL_ESTIMATORS, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> KLConfig:
        known_options(KL_ESTIMATORS, self.estimator, self.options)
        return self


class OptimizerConfig(Section):
    """AdamW and its learning rate."""

    lr: float = Field(default=2e-6, gt=0)
    """Learning rate."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """After the warm-up: hold, or fall to ``min_ratio`` of lr over ``decay_updates``."""
    warmup_updates: int = Field(default=0, ge=0)
    """Gradient updates over which lr rises linearly from 0."""
    decay_updates: int = Field(default=0, ge=0)
    """Length of the fall, warm-up not included; 0 takes what is left of the run's planned updates."""
    min_ratio: float = Field(default=0.0, ge=0, le=1)
    """What ``linear`` and ``cosine`` end at, as a share of lr."""
    beta1: float = Field(default=0.9, ge=0, lt=1)
    """AdamW: decay of the mean."""
    beta2: float = Field(default=0.95, ge=0, lt=1)
    """AdamW: decay of the square."""
    eps: float = Field(default=1e-8, gt=0)
    """AdamW: added to the root of the square."""
    weight_decay: float = Field(default=0.0, ge=0)
    """AdamW: decoupled weight decay."""
    grad_clip: float = Field(default=1.0, gt=0)
    """Largest norm of an update's gradient."""
