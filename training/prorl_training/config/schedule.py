"""The settings of what changes over a run: resets, phases, and the reactions to trouble."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from prorl_common.config import Section
from prorl_common.seeds import MOST_STEPS

StallAction = Literal["reset", "raise_samples", "raise_difficulty", "rerate", "end"]


class ControllerConfig(Section):
    """When the reference is reset, and to what; what else a stall leads to."""

    reset_interval: int = Field(default=300, ge=0)
    """Steps between resets; 0 switches the rule off."""
    kl_threshold: float = Field(default=0.0, ge=0)
    """Reset when a step's mean KL exceeds this; 0 switches the rule off."""
    kl_zscore: float = Field(default=8.0, ge=0)
    """Reset when log-KL is so many robust standard deviations above its own line (``schedule.rules``); 0: off."""
    kl_window: int = Field(default=50, ge=3)
    """Steps since the reset that the line and its spread are taken from."""
    stall_validations: int = Field(default=5, ge=0)
    """K of the tests on validation (``schedule.validation``): degraded are the newest K or 2 K, stalled the
    newest 4 K to 8 K; 0: both off."""
    stall_gain: float = Field(default=0.02, ge=0)
    """Climb in validation reward per 1,000 steps that counts as progress."""
    stall_alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """One-sided level at which a climb of ``stall_gain`` is refused and the run called stalled."""
    degrade_alpha: float = Field(default=0.002, gt=0, lt=0.5)
    """One-sided level at which the newest validations are worse than those before them."""
    on_stall: list[StallAction] = Field(default_factory=list)
    """What a stall leads to (empty: a reset), one after the other, the last again and again: ``reset``; ``raise_samples``, n times
    ``samples_factor`` (BroRL); ``raise_difficulty``, another open level (``data.levels=ladder``); ``rerate``, the items'
    records are forgotten; ``end``, the run is over (``schedule.plateau``)."""
    end_gain: float = Field(default=0.0, ge=0)
    """``end`` only where the run's forecast says that validation reward climbs by less than this until the last step: its whole
    95 % interval below it; where it says more, or nothing, ``end`` is passed over. 0: the forecast is not read."""
    samples_factor: int = Field(default=2, ge=2)
    """What ``raise_samples`` multiplies n by."""
    samples_most: int = Field(default=512, ge=2)
    """n is not raised above this (BroRL's N)."""
    cool_down: int = Field(default=50, ge=0)
    """Steps after a reset in which the KL may not trigger the next one."""
    optimizer: Literal["keep", "clear"] = "keep"
    """What a reset does to the optimiser state (v2 keeps, v1 clears)."""
    reset_to: Literal["current", "best_reference", "best"] = "current"
    """The weights the reference takes. ``current``: the policy's own (the post's text). ``best_reference``: those
    of the checkpoint with the best validation, and the policy keeps its own (the list in NVIDIA's blog).
    ``best``: the same, and the policy goes back to them (ours)."""


class PhaseConfig(Section):
    """A stretch of the run with settings of its own."""

    name: str
    """What decisions and ``--set phases.NAME...`` call it."""
    stage: str = ""
    """The stage that it is part of, in a run of ``stages``."""
    steps: int = Field(ge=1, le=MOST_STEPS)
    """Its length; with ``until`` = stall, the most it may take. The last phase goes on to the run's end."""
    until: Literal["steps", "stall"] = "steps"
    """``stall``: the next phase begins as soon as validation stalls or degrades."""
    reset: bool = False
    """Reset the reference (and the optimiser, as ``controller.optimizer`` says) on entering."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Settings that hold in this phase, laid over the run's own: sections of ``PHASE_SECTIONS``."""


class StageConfig(Section):
    """One of several recipes that a run goes through: the phases that name it in their ``stage``.

    It begins as a run does: from the weights of the last checkpoint, which are the reference, with a new optimiser.
    """

    name: str
    """What phases, decisions and ``--set stages.NAME...`` call it."""
    preset: str
    """The preset that its settings and phases come from."""
    engine: Literal["local", "openrlhf"] | None = None
    """Who trains it; None: the run's ``engine``."""
    set: dict[str, Any] = Field(default_factory=dict)
    """In what it differs from the run's own settings: sections of ``PHASE_SECTIONS``; its phases' go on top."""


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
"""What a phase or a stage may change, but for what ``FIXED_IN_A_RUN`` names."""

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
"""Settings of ``PHASE_SECTIONS`` that neither may change: the sampler is built from them once."""


class SafetyConfig(Section):
    """The reaction to each kind of trouble. Every one is a decision with its evidence."""

    bad_updates: int = Field(default=3, ge=1)
    """A loss or gradient that is not finite: the update is skipped; after this many in a row the run stops
    with its last good checkpoint."""
    explode_factor: float = Field(default=20.0, ge=0)
    """A gradient norm above this many times the median of recent ones: the update is skipped and the
    learning rate backs off; 0: off."""
    explode_window: int = Field(default=50, ge=5)
    """Updates that the median is taken over; nothing counts as exploding before so many."""
    back_off: float = Field(default=0.5, gt=0, lt=1)
    """What the learning rate is multiplied by for ``back_off_steps`` steps."""
    back_off_steps: int = Field(default=50, ge=1)
    """Length of the back-off."""
    entropy_floor: float = Field(default=0.01, ge=0)
    """Mean entropy in nats a token that counts as collapsed when a step is below it; ours; 0: off."""
    entropy_steps: int = Field(default=20, ge=1)
    """Steps in a row below the floor before the reaction."""
    entropy_reaction: Literal["log", "back_off", "stop"] = "back_off"
    """What is done about a collapse."""
    empty_steps: int = Field(default=10, ge=1)
    """Batches with nothing to learn from are skipped; after this many in a row the run stops."""
    infra_rate: float = Field(default=0.5, gt=0, le=1)
    """Share of a round's responses without a verdict that counts as an outage of the reward service."""
    outage_retries: int = Field(default=5, ge=0)
    """Times the round is scored again, after 1, 2, 4, ... seconds (at most 60), before the run stops with a
    checkpoint."""
    watchdog_seconds: float = Field(default=1800.0, ge=0)
    """Without any progress for so long, every thread's stack is written to ``stacks.txt``; 0: off."""
