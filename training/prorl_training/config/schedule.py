"""Settings that change during a run."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from prorl_common.config import Section
from prorl_common.seeds import MOST_STEPS

StallAction = Literal["reset", "raise_samples", "raise_difficulty", "rerate", "end"]


class ControllerConfig(Section):
    """Rules that reset the reference, and actions to take when validation stops improving."""

    reset_interval: int = Field(default=300, ge=0)
    """Steps between resets; 0 switches the rule off."""
    kl_threshold: float = Field(default=0.0, ge=0)
    """Reset when a step's mean KL exceeds this; 0 switches the rule off."""
    kl_zscore: float = Field(default=8.0, ge=0)
    """Reset when log-KL is this many robust standard deviations above a line fitted to recent steps; 0: off."""
    kl_window: int = Field(default=50, ge=3)
    """Maximum number of recent steps since the last reset to which that line is fitted."""
    stall_validations: int = Field(default=5, ge=0)
    """K: degradation is tested on the newest K and the newest 2 K validations, a stall on the newest 4 K to 8 K. 0
    turns both tests off."""
    stall_gain: float = Field(default=0.02, ge=0)
    """Gain in validation reward per 1,000 steps that counts as progress."""
    stall_alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """The run counts as stalled if a one-sided test rejects a gain of ``stall_gain`` at this significance level."""
    degrade_alpha: float = Field(default=0.002, gt=0, lt=0.5)
    """Significance level of the one-sided test that the newest validations are worse than earlier validations."""
    on_stall: list[StallAction] = Field(default_factory=list)
    """Actions at the first, second, ... stall; the last one is repeated. Empty: a reset. ``reset``;
    ``raise_samples``: multiply n by ``samples_factor`` (BroRL); ``raise_difficulty``: open another level
    (``data.levels=ladder``); ``rerate``: clear the items' records; ``end``: end the run (``schedule.plateau``)."""
    end_gain: float = Field(default=0.0, ge=0)
    """Take the action ``end`` only if the 95 % interval of the forecast gain in validation reward up to the last
    step is below this; otherwise, or without a forecast, skip it. 0: ignore the forecast."""
    samples_factor: int = Field(default=2, ge=2)
    """``raise_samples`` multiplies n by this."""
    samples_most: int = Field(default=512, ge=2)
    """Upper limit of n for ``raise_samples`` (BroRL's N)."""
    cool_down: int = Field(default=50, ge=0)
    """Steps after a reset during which the KL cannot trigger another reset."""
    optimizer: Literal["keep", "clear"] = "keep"
    """Whether a reset keeps or clears the optimiser state (v2 keeps, v1 clears)."""
    reset_to: Literal["current", "best_reference", "best"] = "current"
    """New weights of the reference. ``current``: the policy's (as in the v2 post's text). ``best_reference``: those of
    the checkpoint with the best validation reward; the policy keeps its weights (as NVIDIA's blog lists it). ``best``:
    policy and reference both return to the best checkpoint (ours)."""


class PhaseConfig(Section):
    """A part of the run with its own settings."""

    name: str
    """Name of the phase in decisions and in ``--set phases.NAME...``."""
    stage: str = ""
    """Stage that the phase belongs to, in a run with ``stages``."""
    steps: int = Field(ge=1, le=MOST_STEPS)
    """Length in steps; with ``until: stall``, the maximum. The last phase lasts until the run ends."""
    until: Literal["steps", "stall"] = "steps"
    """``stall``: the next phase begins as soon as validation stalls or degrades."""
    reset: bool = False
    """Reset the reference when the phase begins (and the optimiser if ``controller.optimizer`` is ``clear``)."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Settings of this phase, which override the run's and the stage's. Allowed: sections of ``PHASE_SECTIONS``."""


class StageConfig(Section):
    """A stage of the run, with its own preset. It consists of the phases that have its name as ``stage``.

    A stage starts from the weights of the last checkpoint, which also become the reference, with a new optimiser.
    """

    name: str
    """Name of the stage in its phases, in decisions and in ``--set stages.NAME...``."""
    preset: str
    """Preset that the stage's settings and phases come from."""
    engine: Literal["local", "openrlhf"] | None = None
    """Engine that trains the stage; null: the run's ``engine``."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Settings of this stage, which override the run's settings. Allowed: sections of ``PHASE_SECTIONS``."""


PHASE_SECTIONS = (
    "data",
    "rollout",
    "dynamic_sampling",
    "length_penalty",
    "overlong",
    "stop_properly",
    "penalties",
    "advantage",
    "loss",
    "kl",
    "controller",
    "optimizer",
)
"""Sections that a phase or a stage may change, except for ``FIXED_IN_A_RUN``."""

FIXED_IN_A_RUN = frozenset(
    {
        ("data", "path"),
        ("data", "pass_rates"),
        ("rollout", "backend"),
        ("rollout", "batch_rows"),
        ("rollout", "batching"),
        ("rollout", "vllm_memory"),
        ("rollout", "vllm_context"),
    }
)
"""Settings that a phase or stage may not change, because dataset and sampler are set up only once per run."""


class SafetyConfig(Section):
    """Reactions to bad updates, collapse and outages. Each is recorded as a decision with its evidence."""

    bad_updates: int = Field(default=3, ge=1)
    """Updates whose loss or gradient is not finite are skipped. After this many skipped updates in a row the run stops
    with its last good checkpoint."""
    explode_factor: float = Field(default=20.0, ge=0)
    """An update is skipped, and the learning rate reduced (``back_off``), if its gradient norm is above this many times
    the median of recent norms; 0: off."""
    explode_window: int = Field(default=50, ge=5)
    """Number of recent updates in the median. Before there are this many, no update counts as exploding."""
    back_off: float = Field(default=0.5, gt=0, lt=1)
    """Factor by which the learning rate is multiplied for ``back_off_steps`` steps."""
    back_off_steps: int = Field(default=50, ge=1)
    """Length of the back-off in steps."""
    entropy_floor: float = Field(default=0.01, ge=0)
    """Mean entropy in nats per token below which a step counts as collapsed (ours); 0: off."""
    entropy_steps: int = Field(default=20, ge=1)
    """Number of steps in a row below ``entropy_floor`` before the reaction."""
    entropy_reaction: Literal["log", "back_off", "stop"] = "back_off"
    """Reaction to a collapse."""
    mismatch_limit: float = Field(default=0.0, ge=0)
    """Mismatch of sampler and trainer (``mismatch_kl``; in TRL ``sampler_gap``) in nats per token that leads to
    ``back_off`` after ``mismatch_steps`` steps in a row; 0: off."""
    mismatch_steps: int = Field(default=5, ge=1)
    """Number of steps in a row above ``mismatch_limit`` before the reaction."""
    empty_steps: int = Field(default=10, ge=1)
    """Batches with nothing to learn from are skipped. After this many such batches in a row the run stops."""
    infra_rate: float = Field(default=0.5, gt=0, le=1)
    """If at least this share of responses has no verdict, the reward service counts as out of order."""
    outage_retries: int = Field(default=5, ge=0)
    """Number of scoring retries, after 1, 2, 4, ... seconds (at most 60), before the run stops with a checkpoint."""
    watchdog_seconds: float = Field(default=1800.0, ge=0)
    """Time without progress after which every thread's stack is written to ``stacks.txt``; 0: off."""
