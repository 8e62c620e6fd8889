"""The settings of a step's batch: data, rollouts, filtering, and what is added to a raw reward."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from prorl_common import UserError
from prorl_common.config import Section
from prorl_common.seeds import MOST_TEMPERATURE
from prorl_training.spec import PENALTIES, known_name, known_options


class DataConfig(Section):
    """What is trained on."""

    path: str | None = None
    """Dataset folder; None takes the newest one under ./data."""
    domain_weights: dict[str, float] = Field(default_factory=dict)
    """Relative weight of each domain among the drawn prompts (0: left out); empty: as in the dataset."""
    sampling: Literal["uniform", "posterior"] = "uniform"
    """Who is drawn: all alike (but for the weights of domains and items), or ``posterior``: those whose next group
    has the best chance to be neither all right nor all wrong, by what their rollouts have said so far."""
    floor: float = Field(default=0.2, gt=0, le=1)
    """``posterior``: the least share of its even chance that an item keeps. Of M items each is drawn at least every
    M / floor draws in expectation."""
    half_life: float = Field(default=100.0, gt=0)
    """``posterior``: steps after which a response counts half, since the policy is another."""
    levels: Literal["all", "ladder"] = "all"
    """Generated items of a family with levels: all may be drawn, or ``ladder``: those of a level while the level
    below it has a pass rate of ``open_at`` (``rollout.item_records``)."""
    open_at: float = Field(default=0.5, gt=0, lt=1)
    """``ladder``: the pass rate at which the next level opens, and below which it closes."""
    levels_ahead: int = Field(default=0, ge=0)
    """``ladder``: so many levels more are open."""
    pass_rates: str | None = None
    """A ``pass_rates.jsonl`` of ``prorl data rate``, for ``posterior`` and ``ladder``: taken as responses from before step 1."""

    @field_validator("domain_weights")
    @classmethod
    def _weights_draw_something(cls, weights: dict[str, float]) -> dict[str, float]:
        if any(not 0 <= w < math.inf for w in weights.values()):
            raise ValueError("a weight is a number of at least 0")
        if weights and not any(weights.values()):
            raise ValueError("all weights are 0: nothing could be drawn")
        return weights


class RolloutConfig(Section):
    """How responses are sampled."""

    prompts: int = Field(default=256, ge=1)
    """Prompt groups in one step's batch."""
    samples: int = Field(default=16, ge=2)
    """Responses a prompt (n)."""
    temperature: float = Field(default=1.2, gt=0, le=MOST_TEMPERATURE)
    """Sampling temperature of the rollouts."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus of the rollouts; 1: all tokens."""
    max_tokens: int = Field(default=8192, ge=1)
    """Response limit in tokens, the end token included; also T of the length penalty."""
    batch_rows: int = Field(default=64, ge=1)
    """Responses decoded together; a matter of memory and speed, and of which groups are late."""
    backend: str = "auto"
    """Who samples: ``transformers``, ``vllm`` or a plug-in's backend; ``auto``: vLLM where it is installed and the
    device is a GPU, else Transformers."""
    vllm_memory: float = Field(default=0.3, gt=0, lt=1)
    """vLLM: the part of the GPU's memory for its weights and cache; the trainer needs the rest."""
    vllm_context: int = Field(default=0, ge=0)
    """vLLM: longest sequence in tokens, prompt and response; 0: the model's own context."""
    request_seeds: Literal["auto", "always", "never"] = "auto"
    """vLLM: whether each response has a seed of its own; ``auto``: on a CPU. On GPUs vLLM serves seeded requests one
    by one in its sampler, and a seed gives no bitwise repeat there anyway."""
    batching: Literal["fixed", "refill"] = "fixed"
    """Transformers: decode fixed batches (bitwise repeatable), or fill freed rows at once (faster when
    lengths differ widely)."""
    overlong_prompts: Literal["drop", "error"] = "drop"
    """Prompts that leave no room for ``max_tokens`` in the model's context, or exceed ``max_prompt_tokens``."""
    max_prompt_tokens: int = Field(default=0, ge=0)
    """Longest prompt that is used; 0: as long as the context allows."""

    def seeds_on(self, device: str) -> bool:
        """Return whether vLLM is told each response's seed on ``device``."""
        if self.request_seeds == "auto":
            return not device.startswith("cuda")
        return self.request_seeds == "always"

    @field_validator("backend")
    @classmethod
    def _backend_is_known(cls, name: str) -> str:
        from prorl_inference import BACKENDS

        try:
            if name != "auto":
                BACKENDS.get(name)
        except UserError as error:
            raise ValueError(str(error)) from error
        return name


class DynamicSamplingConfig(Section):
    """Prompts whose raw rewards have no spread teach nothing: drop them and draw others."""

    enabled: bool = True
    """Drop groups that teach nothing."""
    rule: Literal["spread", "open_interval", "correct_count"] = "spread"
    """``spread``: max - min of the raw rewards above ``tolerance``; ``open_interval``: their mean strictly
    between 0 and 1 (OpenRLHF), which lets a group of equal 0.5 through; ``correct_count``: some but not all
    with full marks (BroRL), which drops a group of 0.3 and 0.5."""
    tolerance: float = Field(default=1e-6, ge=0)
    """Least spread of rewards that counts as one."""
    max_batches: int = Field(default=10, ge=1)
    """Prompts drawn in a step, in whole batches, before it goes on with what it has, or the run stops (verl's
    DAPO recipe: max_num_gen_batches=10)."""
    exhausted: Literal["continue", "stop"] = "continue"
    """After the last prompt: go on with the groups there are, or stop the run (NeMo-RL's error)."""
    oversample: float = Field(default=1.0, ge=1)
    """At least so many groups are under way for each that is missing (NeMo-RL's batch_multiplier, slime's
    over_sampling_batch_size)."""
    refill: Literal["missing", "expected"] = "expected"
    """How many groups are under way: one for each that is missing (OpenRLHF: one new prompt for each that is
    dropped), or as many as the rate of usable groups (of the last steps and this one) says it takes."""
    late: Literal["carry", "cancel", "wait"] = "carry"
    """Groups that are not whole when the batch is full: ``carry`` goes on with them in the next step, the tokens they
    have keep their sampler's log-probs (partial rollouts: Kimi k1.5, slime); ``cancel`` throws them away, which
    leaves out long responses (slime's and ROLL's default); ``wait`` ends the step when all are whole (OpenRLHF)."""
    late_steps: int = Field(default=4, ge=1)
    """A group that was begun so many steps ago is waited for (AReaL, arXiv 2505.24298: no loss up to a
    staleness of 4 to 8; prime-rl's max_off_policy_steps is 8)."""
    surplus: Literal["carry", "drop"] = "carry"
    """Usable groups beyond the batch wait in the rollout buffer for the next step, or are thrown away."""


class LengthPenaltyConfig(Section):
    """The cosine length reward and its on/off schedule, in steps."""

    form: str = "proportional"
    """``proportional``: the post's eta(t) times the raw reward (ours: a wrong answer never ends above a partly right
    one); ``printed``: eta(t) as in the ProRL v2 post, the same for all; ``correctness_aware``: Yeo et al.,
    2502.03373; or a plug-in's PenaltySpec by its name."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of a plug-in's form; those of ours are the keys below."""
    weight: float = Field(default=1.0, ge=0)
    """lambda_len; unpublished, ours. 0 switches the penalty off."""
    eta_max: float = 0.0
    """eta at length 0 (printed and proportional form); unpublished, ours."""
    eta_min: float = -0.5
    """eta at the token limit (printed and proportional form); unpublished, ours."""
    correct_short: float = 1.0
    """Correctness-aware form: reward of a right answer of no length (this and the next three: TRL's defaults)."""
    correct_long: float = 0.5
    """Of a right answer towards the token limit."""
    wrong_short: float = -1.0
    """Reward of a wrong answer of no length."""
    wrong_long: float = -0.5
    """Of a wrong answer towards the token limit."""
    exceed: float = -1.0
    """Correctness-aware form: reward of any response that reaches the limit (Yeo et al.)."""
    steps_on: int = Field(default=100, ge=0)
    """Length of a window with the penalty; 0: never on."""
    steps_off: int = Field(default=500, ge=0)
    """Length of the pause between two windows."""
    start_step: int = Field(default=501, ge=1)
    """First step of the first window; in a phase that sets it, counted from the phase's first step."""

    @field_validator("form")
    @classmethod
    def _form_exists(cls, name: str) -> str:
        return known_name(PENALTIES, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> LengthPenaltyConfig:
        known_options(PENALTIES, self.form, self.options)
        return self

    @model_validator(mode="after")
    def _partly_right_stays_above_wrong(self) -> LengthPenaltyConfig:
        lowest = self.weight * min(self.eta_min, self.eta_max)
        if self.form == "proportional" and lowest <= -1:
            raise ValueError(
                f"form=proportional with weight x eta at {lowest:g} would leave a right answer no more than a wrong "
                "one has: keep it above -1"
            )
        return self


class OverlongConfig(Section):
    """DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13): linear over the last tokens."""

    buffer_tokens: int = Field(default=0, ge=0)
    """Length of the stretch before ``max_tokens`` over which the penalty grows; 0: off."""
    factor: float = Field(default=1.0, ge=0)
    """The penalty at the limit."""


class StopProperlyConfig(Section):
    """What happens to a response that the token limit cut (ProRL v1 runs 4-5, DLER, OpenRLHF)."""

    mode: Literal["off", "scale", "fixed", "mask"] = "off"
    """``scale``: reward x value; ``fixed``: reward = value; ``mask``: no part in the loss."""
    value: float = 0.0
    """The factor (``scale``, 0 to 1) or the reward (``fixed``)."""

    @model_validator(mode="after")
    def _scale_shrinks(self) -> StopProperlyConfig:
        if self.mode == "scale" and not 0 <= self.value <= 1:
            raise ValueError(f"value ({self.value}) must be between 0 and 1 with mode=scale")
        return self
