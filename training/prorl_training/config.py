"""The config tree of a training run: one pydantic model, every key with its meaning and unit.

Leaves out: where values come from (``config_loading``) and what they do (the modules that read them).
Source of the defaults: the ProRL v2 post of 2025-08 where it states a value; the rest is ours.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from prorl_common import UserError


class Section(BaseModel):
    """Base of every section: immutable, unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class ModelConfig(Section):
    """Which policy is trained, and where."""

    path: str = "smollm2-135m"
    """A cached name, a local folder, or a hub id."""
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    """Compute type; master weights are always float32."""


class DataConfig(Section):
    """What is trained on."""

    path: str | None = None
    """Dataset folder; None takes the newest one under ./data."""
    domain_weights: dict[str, float] = Field(default_factory=dict)
    """Relative weight of each domain among the drawn prompts; empty: as in the dataset."""


class RolloutConfig(Section):
    """How responses are sampled."""

    prompts: int = Field(default=256, ge=1)
    """Prompt groups in one step's batch."""
    samples: int = Field(default=16, ge=2)
    """Responses a prompt (n)."""
    temperature: float = Field(default=1.2, gt=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=8192, ge=1)
    """Response limit in tokens, the end token included; also T of the length penalty."""
    batch_rows: int = Field(default=64, ge=1)
    """Responses decoded together; a matter of memory and speed only."""


class DynamicSamplingConfig(Section):
    """Prompts whose raw rewards have no spread teach nothing: drop them and draw others."""

    enabled: bool = True
    max_rounds: int = Field(default=4, ge=1)
    """Rounds of drawing before the step goes on with what it has."""
    tolerance: float = Field(default=1e-6, ge=0)
    """A group is dropped when max - min of its raw rewards is at most this."""


class AdvantageConfig(Section):
    """From rewards to advantages."""

    estimator: Literal["reinforce_baseline", "grpo"] = "reinforce_baseline"
    """REINFORCE++-baseline (group mean, batch std) or GRPO (group mean, group std)."""
    normalise: Literal["trajectory", "token"] = "trajectory"
    """Whether a trajectory counts once or once a token in the batch statistics (PRORL v2 post: once)."""
    sign: Literal[1, -1] = 1
    """-1 trains the model away on purpose; only a test of the tests wants it."""


class LossConfig(Section):
    """The clipped policy loss."""

    clip_low: float = Field(default=0.2, gt=0, lt=1)
    clip_high: float = Field(default=0.28, gt=0)
    mini_batches: int = Field(default=4, ge=1)
    """Gradient updates a step; 1 is exactly on-policy."""
    aggregation: Literal["token_mean", "sequence_mean"] = "token_mean"
    pack_tokens: int = Field(default=1024, ge=1)
    """Tokens in one forward pass; a matter of memory and speed only."""


class KLConfig(Section):
    """The penalty that ties the policy to the reference."""

    coefficient: float = Field(default=1e-4, ge=0)
    estimator: Literal["k1", "k2", "k3"] = "k2"
    clamp: Literal["input", "output", "none"] = "input"
    """``input``: the log-ratio is clamped (post); ``output``: the estimate is (OpenRLHF, NeMo-RL)."""
    clamp_value: float = Field(default=10.0, gt=0)


class LengthPenaltyConfig(Section):
    """The cosine length reward and its on/off schedule, in steps."""

    form: Literal["printed", "correctness_aware"] = "printed"
    """``printed``: eta(t) as in the ProRL v2 post; ``correctness_aware``: Yeo et al., 2502.03373."""
    weight: float = Field(default=1.0, ge=0)
    """lambda_len; unpublished, ours."""
    eta_max: float = 0.0
    """Value at length 0 (printed form); unpublished, ours."""
    eta_min: float = -0.5
    """Value at the token limit (printed form); unpublished, ours."""
    correct_short: float = 1.0
    correct_long: float = 0.5
    wrong_short: float = -1.0
    wrong_long: float = -0.5
    exceed: float = -1.0
    """Correctness-aware form: the four corner values and the value at the limit (TRL's defaults)."""
    steps_on: int = Field(default=100, ge=0)
    steps_off: int = Field(default=500, ge=0)
    start_step: int = Field(default=501, ge=1)
    """First step of the first window."""


class ControllerConfig(Section):
    """When the reference is reset."""

    reset_interval: int = Field(default=300, ge=0)
    """Steps between resets; 0 switches the rule off."""
    kl_threshold: float = Field(default=0.0, ge=0)
    """Reset when a step's mean KL exceeds this; 0 switches the rule off."""
    kl_zscore: float = Field(default=8.0, ge=0)
    """Reset when KL exceeds median + this many robust standard deviations; 0 switches it off."""
    kl_window: int = Field(default=50, ge=3)
    """Steps that the median and the MAD are taken over."""
    stall_validations: int = Field(default=5, ge=0)
    """Reset when this many validations in a row bring no new best; 0 switches the rule off."""
    stall_min_delta: float = Field(default=0.0, ge=0)
    """What a new best must add to the mean validation reward."""
    cool_down: int = Field(default=50, ge=0)
    """Steps after a reset in which neither KL nor validation may trigger the next one."""
    optimizer: Literal["keep", "clear"] = "keep"
    """What a reset does to the optimiser state (v2 keeps, v1 clears)."""


class OptimizerConfig(Section):
    """AdamW with a constant learning rate after a linear warm-up."""

    lr: float = Field(default=2e-6, gt=0)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.95, ge=0, lt=1)
    eps: float = Field(default=1e-8, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    grad_clip: float = Field(default=1.0, gt=0)
    warmup_updates: int = Field(default=0, ge=0)


class ValidationConfig(Section):
    """Watching the validation split; never the test split."""

    every: int = Field(default=20, ge=0)
    """Steps between validations; 0 switches them off."""
    problems: int = Field(default=250, ge=1)
    """How many problems are watched, the same ones every time, spread evenly over the domains."""
    samples: int = Field(default=1, ge=1)
    temperature: float = Field(default=0.6, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)


class CheckpointConfig(Section):
    """What is kept on disk."""

    every: int = Field(default=50, ge=1)
    keep: int = Field(default=2, ge=1)


class WarmStartConfig(Section):
    """Supervised steps on gold-format answers before step 1; recorded as a decision."""

    examples: int = Field(default=0, ge=0)
    """Training samples shown in one epoch; 0 switches the warm start off."""
    epochs: int = Field(default=1, ge=1)
    batch: int = Field(default=8, ge=1)
    lr: float = Field(default=5e-5, gt=0)


FAITHFUL_MODES = {"math": "either", "logic": "reference"}
"""What the paper says of its graders (arXiv 2505.24864, appendix D)."""


class RewardConfig(Section):
    """Who checks the answers."""

    workers: int = Field(default=2, ge=1)
    timeout_seconds: float = Field(default=10.0, gt=0)
    backend: str = Field(default="local", pattern=r"^(local|docker(:\w[\w.-]*)?)$")
    """``local``, ``docker``, or ``docker:RUNTIME`` for one of the engine's runtimes, like ``runsc``."""
    allow_weak: bool = False
    """Run code without full isolation; recorded in every verdict."""
    faithful: bool = False
    """Reward as ProRL did where ours differs: math by either of two graders, logic by the upstream scorers."""
    modes: dict[str, str] = Field(default_factory=dict)
    """Verifier -> its mode, for those that are not to work in their default one; goes before ``faithful``."""

    @field_validator("modes")
    @classmethod
    def _modes_exist(cls, modes: dict[str, str]) -> dict[str, str]:
        from prorl_verifiers import check_modes

        try:
            check_modes(modes)
        except UserError as error:
            raise ValueError(str(error)) from error
        return modes

    def verifier_modes(self) -> dict[str, str]:
        """Return the mode of each verifier that does not work in its default one."""
        return (FAITHFUL_MODES if self.faithful else {}) | self.modes


class TrainConfig(Section):
    """Everything a run depends on; saved resolved as ``config.yaml``."""

    preset: str = "prorl-v2"
    steps: int = Field(default=3000, ge=1)
    seed: int = 0
    engine: Literal["local", "openrlhf"] = "local"
    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    rollout: RolloutConfig = RolloutConfig()
    dynamic_sampling: DynamicSamplingConfig = DynamicSamplingConfig()
    advantage: AdvantageConfig = AdvantageConfig()
    loss: LossConfig = LossConfig()
    kl: KLConfig = KLConfig()
    length_penalty: LengthPenaltyConfig = LengthPenaltyConfig()
    controller: ControllerConfig = ControllerConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    validation: ValidationConfig = ValidationConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    warm_start: WarmStartConfig = WarmStartConfig()
    reward: RewardConfig = RewardConfig()

    @model_validator(mode="after")
    def _mini_batches_fit(self) -> TrainConfig:
        if self.loss.mini_batches > self.rollout.prompts:
            raise ValueError(
                f"loss.mini_batches ({self.loss.mini_batches}) is larger than rollout.prompts "
                f"({self.rollout.prompts}); each mini-batch needs at least one prompt group"
            )
        return self
