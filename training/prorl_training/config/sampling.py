"""Settings of a step's batch."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from prorl_common import UserError
from prorl_common.config import Section
from prorl_common.seeds import MOST_TEMPERATURE, TURNS
from prorl_training.spec import PENALTIES, check_part_name, check_part_options


class DataConfig(Section):
    """Training data and how prompts are drawn from it."""

    path: str | None = None
    """Dataset folder; null: the newest one under ./data."""
    domain_weights: dict[str, float] = Field(default_factory=dict)
    """Relative weight of each domain among the drawn prompts; 0 excludes it. Empty: as in the dataset."""
    sampling: Literal["uniform", "posterior"] = "uniform"
    """``uniform`` draws all items with equal probability, apart from domain and item weights. ``posterior`` prefers
    items whose next group is unlikely to be all right or all wrong, judged by their rollouts so far."""
    floor: float = Field(default=0.2, gt=0, le=1)
    """``posterior``: minimum probability of drawing an item, as a fraction of its probability under ``uniform``. With M
    items, an item is expected at least once in M / floor draws."""
    half_life: float = Field(default=100.0, gt=0)
    """``posterior``: number of steps after which a response counts half in an item's pass rate."""
    levels: Literal["all", "ladder"] = "all"
    """For generated items with difficulty levels. ``all`` draws from every level. ``ladder`` draws from a level only
    while the level below has a pass rate of at least ``open_at``."""
    open_at: float = Field(default=0.5, gt=0, lt=1)
    """``ladder``: pass rate at which the next level opens; below it, that level closes again."""
    levels_ahead: int = Field(default=0, ge=0)
    """``ladder``: number of levels to open beyond those that ``open_at`` opens."""
    pass_rates: str | None = None
    """A ``pass_rates.jsonl`` from ``prorl data rate``, for ``posterior`` and ``ladder``. Its samples count as responses
    sampled before step 1."""

    template_options: dict[str, bool | int | float | str] = Field(default_factory=dict)
    """Variables of the model's chat template, for example ``{enable_thinking: false}``. The policy is saved with them."""

    @field_validator("domain_weights")
    @classmethod
    def _weights_draw_something(cls, weights: dict[str, float]) -> dict[str, float]:
        if any(not 0 <= w < math.inf for w in weights.values()):
            raise ValueError("a weight must be a number of at least 0")
        if weights and not any(weights.values()):
            raise ValueError("all weights are 0: set at least one above 0")
        return weights


class RolloutConfig(Section):
    """How responses are sampled."""

    prompts: int = Field(default=256, ge=1)
    """Number of prompt groups in a step's batch."""
    samples: int = Field(default=16, ge=2)
    """Responses per prompt (n)."""
    temperature: float = Field(default=1.2, gt=0, le=MOST_TEMPERATURE)
    """Sampling temperature of the rollouts."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Nucleus sampling threshold of the rollouts; 1 keeps all tokens."""
    max_tokens: int = Field(default=8192, ge=1)
    """Maximum response length in tokens, including the end token; also the limit for the length penalty. For an
    environment, this limits the whole conversation after the prompt."""
    turns: int = Field(default=TURNS, ge=1)
    """Environments: maximum number of responses in a conversation."""
    history: Literal["template", "kept"] = "template"
    """Environments: ``template`` refuses a chat template that changes earlier turns, for example by leaving out their
    thinking. ``kept`` allows this: the policy is trained on turns as they were sampled."""
    batch_rows: int = Field(default=64, ge=1)
    """Number of responses decoded together. Affects memory, speed, and which groups are unfinished at a step's end."""
    staleness: int = Field(default=0, ge=0)
    """How many policy versions the sampler may be behind the trainer. 0: they take turns. Above 0: during the update
    a thread samples the next batches from a copy of the weights, and the old log-probs are the sampler's. With 1 and
    a repeatable sampler a run can be repeated bit for bit."""
    new_weights: Literal["batch", "request", "token"] = "batch"
    """When a sampler that runs ahead (``staleness`` above 0) loads new weights. ``batch``: before the next batch.
    ``request``: when no response is in progress, so that one policy samples each response. ``token``: between two
    tokens; responses continue with their key-value cache (vLLM recomputes it). With ``request`` or ``token`` a run
    cannot be repeated exactly."""
    device: str = ""
    """Device of the sampler, for example ``cuda:1``; empty: ``model.device``."""
    backend: str = "auto"
    """The sampler: ``transformers``, ``vllm``, ``vllm-server`` or a plug-in's backend. ``auto`` is vLLM if it is installed and the
    device is a GPU, else Transformers."""
    servers: list[str] = Field(default_factory=list)
    """``vllm-server``: addresses of ``vllm serve`` processes, which take new weights between requests."""
    weights_folder: str = ""
    """``vllm-server``: folder that the servers can read, for the policy's weights; empty: in the run's folder."""
    vllm_memory: float = Field(default=0.3, gt=0, lt=1)
    """vLLM: fraction of the GPU's memory for its weights and cache; the trainer needs the rest."""
    vllm_context: int = Field(default=0, ge=0)
    """vLLM: maximum length of prompt and response in tokens; 0: the model's context."""
    request_seeds: Literal["auto", "always", "never"] = "auto"
    """vLLM: whether each response has its own seed; ``auto``: only on a CPU. On GPUs seeded requests are slow, because
    vLLM samples them one by one, and are not bitwise repeatable either."""
    batching: Literal["fixed", "refill"] = "fixed"
    """Transformers: decode ``fixed`` batches (bitwise repeatable), or ``refill`` rows as they become free (faster when
    lengths differ widely)."""
    overlong_prompts: Literal["drop", "error"] = "drop"
    """What to do with prompts that leave no room for ``max_tokens`` in the model's context or exceed
    ``max_prompt_tokens``."""
    max_prompt_tokens: int = Field(default=0, ge=0)
    """Maximum prompt length in tokens; 0: limited by the context only."""

    def seeds_on(self, device: str) -> bool:
        """Return whether vLLM gets a seed for each response on ``device``."""
        if self.request_seeds == "auto":
            return not device.startswith("cuda")
        return self.request_seeds == "always"

    @model_validator(mode="after")
    def _new_weights_come_in_flight(self) -> RolloutConfig:
        if self.new_weights != "batch" and not self.staleness:
            raise ValueError(
                f"new_weights={self.new_weights} has no effect without staleness: set staleness=1 or more, or "
                "new_weights=batch"
            )
        return self

    @model_validator(mode="after")
    def _servers_have_their_backend(self) -> RolloutConfig:
        if bool(self.servers) != (self.backend == "vllm-server") or (self.servers and self.device):
            raise ValueError("set backend=vllm-server and servers together, without device")
        return self

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
    """Drop prompts whose responses all have the same raw reward, since they teach nothing, and draw other prompts."""

    enabled: bool = True
    """Drop groups that teach nothing."""
    rule: Literal["spread", "open_interval", "correct_count", "boundary"] = "spread"
    """Which groups are kept. ``spread``: max - min of the raw rewards is above ``tolerance``. ``open_interval``:
    their mean is strictly between 0 and 1 (OpenRLHF), so a group with 0.5 for all is kept. ``correct_count``: some
    but not all have reward 1 (BroRL), so a group of 0.3 and 0.5 is dropped. ``boundary``: as ``spread``, but without
    items that the policy solves within ``boundary_k`` responses with probability ``boundary_probability``."""
    boundary_k: int = Field(default=128, ge=1)
    """``boundary``: number of responses within which an item counts as solvable."""
    boundary_probability: float = Field(default=0.95, gt=0, lt=1)
    """``boundary``: groups are dropped if the posterior probability that the item is solvable is at least this."""
    tolerance: float = Field(default=1e-6, ge=0)
    """``spread``: a difference of rewards up to this counts as zero."""
    max_batches: int = Field(default=10, ge=1)
    """Maximum number of batches of prompts drawn in a step (max_num_gen_batches=10 in verl's DAPO recipe). After that,
    ``exhausted`` applies."""
    exhausted: Literal["continue", "stop"] = "continue"
    """What to do when no more prompts may be drawn: continue with the groups so far, or stop the run (NeMo-RL's
    error)."""
    oversample: float = Field(default=1.0, ge=1)
    """Minimum number of groups in progress per group that the batch still needs (NeMo-RL's batch_multiplier, slime's
    over_sampling_batch_size)."""
    refill: Literal["missing", "expected"] = "expected"
    """How many groups are sampled at a time. ``missing``: as many as the batch still needs (OpenRLHF). ``expected``:
    more, so that at the recent rate enough of them are usable."""
    late: Literal["carry", "cancel", "wait"] = "carry"
    """What to do with unfinished groups when the batch is full. ``carry`` resumes them in the next step, and their
    tokens keep the sampler's log-probs (partial rollouts: Kimi k1.5, slime). ``cancel`` discards them, which leaves out
    long responses (default of slime and ROLL). ``wait`` ends the step when all are finished (OpenRLHF)."""
    late_steps: int = Field(default=4, ge=1)
    """A group begun this many steps ago is not carried again: the step waits until it is finished. (AReaL, arXiv
    2505.24298, finds no loss up to a staleness of 4 to 8; prime-rl's max_off_policy_steps is 8.)"""
    surplus: Literal["carry", "drop"] = "carry"
    """What to do with usable groups beyond the batch: keep them in the rollout buffer for the next step, or discard
    them."""


class LengthPenaltyConfig(Section):
    """The cosine length reward and its on/off schedule, in steps."""

    form: str = "proportional"
    """``proportional``: the ProRL v2 post's eta(t) times the raw reward (ours: a wrong answer never ends above a
    partly right one); ``printed``: eta(t), for right and wrong answers alike; ``correctness_aware``: Yeo et al.,
    arXiv 2502.03373; or the name of a plug-in's PenaltySpec."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of a plug-in's form; the built-in forms use the settings below."""
    weight: float = Field(default=1.0, ge=0)
    """Weight of the length reward (lambda_len); not published, our value. 0 switches the penalty off."""
    eta_max: float = 0.0
    """``printed`` and ``proportional``: eta at length 0; not published, our value."""
    eta_min: float = -0.5
    """``printed`` and ``proportional``: eta at the token limit; not published, our value."""
    correct_short: float = 1.0
    """``correctness_aware``: reward of a right answer at length 0. This and the next three defaults are TRL's."""
    correct_long: float = 0.5
    """``correctness_aware``: reward of a right answer near the token limit."""
    wrong_short: float = -1.0
    """``correctness_aware``: reward of a wrong answer at length 0."""
    wrong_long: float = -0.5
    """``correctness_aware``: reward of a wrong answer near the token limit."""
    exceed: float = -1.0
    """``correctness_aware``: reward of any response that reaches the limit (Yeo et al.)."""
    steps_on: int = Field(default=100, ge=0)
    """Length of a window with the penalty on; 0: never on."""
    steps_off: int = Field(default=500, ge=0)
    """Number of steps between two windows."""
    start_step: int = Field(default=501, ge=1)
    """First step of the first window; in a phase that sets it, counted from the phase's first step."""

    @field_validator("form")
    @classmethod
    def _form_exists(cls, name: str) -> str:
        return check_part_name(PENALTIES, name)

    @model_validator(mode="after")
    def _options_are_known(self) -> LengthPenaltyConfig:
        check_part_options(PENALTIES, self.form, self.options)
        return self

    @model_validator(mode="after")
    def _partly_right_stays_above_wrong(self) -> LengthPenaltyConfig:
        lowest = self.weight * min(self.eta_min, self.eta_max)
        if self.form == "proportional" and lowest <= -1:
            raise ValueError(
                f"weight x eta is as low as {lowest:g}, but must be above -1, so that a right answer gets more "
                "reward than a wrong one: lower weight, or raise eta_min and eta_max"
            )
        return self


class OverlongConfig(Section):
    """DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13), linear over the last tokens before the limit."""

    buffer_tokens: int = Field(default=0, ge=0)
    """Number of tokens before ``max_tokens`` over which the penalty grows; 0: off."""
    factor: float = Field(default=1.0, ge=0)
    """Penalty at the limit."""


class StopProperlyConfig(Section):
    """Treatment of responses truncated by the token limit (ProRL v1 runs 4-5, DLER, OpenRLHF)."""

    mode: Literal["off", "scale", "fixed", "mask"] = "off"
    """``scale``: reward x value; ``fixed``: reward = value; ``mask``: excluded from the loss."""
    value: float = 0.0
    """Factor (``scale``, 0 to 1) or reward (``fixed``)."""

    @model_validator(mode="after")
    def _scale_shrinks(self) -> StopProperlyConfig:
        if self.mode == "scale" and not 0 <= self.value <= 1:
            raise ValueError(f"value ({self.value}) must be between 0 and 1 with mode=scale")
        return self
