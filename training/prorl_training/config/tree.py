"""The whole config of a run and its phases."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from prorl_common import config
from prorl_common.config import Section
from prorl_common.seeds import MOST_SEED, MOST_STEPS, MOST_TOKENS_IN_ALL
from prorl_training.config.algorithm import AdvantageConfig, KLConfig, LossConfig, OptimizerConfig
from prorl_training.config.runtime import (
    CheckpointConfig,
    LoggingConfig,
    ModelConfig,
    OpenRLHFConfig,
    RewardConfig,
    ValidationConfig,
    WarmStartConfig,
)
from prorl_training.config.sampling import (
    DataConfig,
    DynamicSamplingConfig,
    LengthPenaltyConfig,
    OverlongConfig,
    RolloutConfig,
    StopProperlyConfig,
)
from prorl_training.config.schedule import (
    FIXED_IN_A_RUN,
    PHASE_SECTIONS,
    ControllerConfig,
    PhaseConfig,
    SafetyConfig,
    StageConfig,
)
from prorl_training.spec import PENALTIES, check_part_name, check_part_options


class TrainConfig(Section):
    """All settings of a run. The resolved settings are saved as ``config.yaml``."""

    preset: str = "prorl-v2"
    """Preset that the config came from; chosen with ``--preset`` or in the file."""
    steps: int = Field(default=3000, ge=1, le=MOST_STEPS)
    """Length of the run in steps."""
    token_budget: int = Field(default=0, ge=0, le=MOST_TOKENS_IN_ALL)
    """Stop after the step in which the run has sampled this many response tokens, including dropped groups; 0: off."""
    seed: int = Field(default=0, ge=0, le=MOST_SEED)
    """Seed of all random draws."""
    plugins: tuple[str, ...] = ()
    """Paths of plug-in files, loaded before names are looked up. Files given with ``--plugin`` are added."""
    engine: Literal["local", "openrlhf"] = "local"
    """``local`` trains in this process, ``openrlhf`` on a cluster."""
    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    rollout: RolloutConfig = RolloutConfig()
    dynamic_sampling: DynamicSamplingConfig = DynamicSamplingConfig()
    length_penalty: LengthPenaltyConfig = LengthPenaltyConfig()
    overlong: OverlongConfig = OverlongConfig()
    stop_properly: StopProperlyConfig = StopProperlyConfig()
    penalties: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Penalties of plug-ins that are always added to the reward: name of the PenaltySpec -> its options."""
    advantage: AdvantageConfig = AdvantageConfig()
    loss: LossConfig = LossConfig()
    kl: KLConfig = KLConfig()
    controller: ControllerConfig = ControllerConfig()
    phases: tuple[PhaseConfig, ...] = ()
    """Parts of the run, in order, each with its own settings; see below."""
    stages: tuple[StageConfig, ...] = ()
    """Parts of the run, in order, each with its own preset and phases; see below."""
    optimizer: OptimizerConfig = OptimizerConfig()
    safety: SafetyConfig = SafetyConfig()
    validation: ValidationConfig = ValidationConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    logging: LoggingConfig = LoggingConfig()
    warm_start: WarmStartConfig = WarmStartConfig()
    reward: RewardConfig = RewardConfig()
    openrlhf: OpenRLHFConfig = OpenRLHFConfig()

    @field_validator("penalties")
    @classmethod
    def _penalties_exist(cls, penalties: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for name, options in penalties.items():
            check_part_options(PENALTIES, check_part_name(PENALTIES, name), options)
        return penalties

    @model_validator(mode="after")
    def _mini_batches_fit(self) -> TrainConfig:
        if self.loss.mini_batches > self.rollout.prompts:
            raise ValueError(
                f"loss.mini_batches ({self.loss.mini_batches}) is larger than rollout.prompts "
                f"({self.rollout.prompts}); each mini-batch needs at least one prompt group"
            )
        return self

    @model_validator(mode="after")
    def _advantages_have_what_they_need(self) -> TrainConfig:
        a = self.advantage
        if a.estimator == "pass_at_k" and a.k >= self.rollout.samples:
            raise ValueError(
                f"advantage.k ({a.k}) must be below rollout.samples ({self.rollout.samples}), because a "
                "group has only one subset of its own size"
            )
        if a.estimator == "maxrl" and (below := self._takes_below_zero()):
            raise ValueError(
                f"advantage.estimator=maxrl divides by the mean reward, which {below} can make "
                "negative: switch that off (for the length penalty, set "
                "length_penalty.form=proportional), or use another estimator"
            )
        return self

    def _takes_below_zero(self) -> str:
        p, cut = self.length_penalty, self.stop_properly
        if p.weight and p.steps_on and p.form != "proportional":
            return f"length_penalty.form={p.form}"
        if self.overlong.buffer_tokens and self.overlong.factor:
            return "overlong"
        if cut.mode == "fixed" and cut.value < 0:
            return "stop_properly"
        return "penalties" if self.penalties else ""

    @model_validator(mode="after")
    def _one_rule_for_cut_responses(self) -> TrainConfig:
        if self.overlong.buffer_tokens and self.stop_properly.mode in ("scale", "fixed"):
            raise ValueError(
                "overlong and stop_properly both penalise a response that was cut at the limit: "
                "use only one"
            )
        if self.overlong.buffer_tokens > self.rollout.max_tokens:
            raise ValueError(
                f"overlong.buffer_tokens ({self.overlong.buffer_tokens}) is larger than "
                f"rollout.max_tokens ({self.rollout.max_tokens})"
            )
        return self

    @model_validator(mode="after")
    def _best_is_kept(self) -> TrainConfig:
        to = self.controller.reset_to
        if not self.phases and to != "current" and not self.checkpoint.best:
            raise ValueError(
                f"controller.reset_to={to} needs a checkpoint that checkpoint.best=false does "
                "not keep: set checkpoint.best=true, or controller.reset_to=current"
            )
        return self

    @model_validator(mode="after")
    def _stall_actions_have_what_they_need(self) -> TrainConfig:
        if self.phases:
            return self
        actions, data, c = self.controller.on_stall, self.data, self.controller
        if actions and not (self.validation.every and c.stall_validations):
            off = "controller.stall_validations" if self.validation.every else "validation.every"
            raise ValueError(
                f"controller.on_stall needs tests for a stall, which {off}=0 turns off: set {off} "
                "above 0, or controller.on_stall=[]"
            )
        if c.end_gain and "end" not in actions:
            raise ValueError(
                "controller.end_gain is a condition of the action end, which controller.on_stall does not contain: "
                "add end, or set controller.end_gain=0"
            )
        if "raise_difficulty" in actions and data.levels == "all":
            raise ValueError(
                "controller.on_stall=raise_difficulty opens levels, but data.levels=all opens "
                "all of them at the start: set data.levels=ladder"
            )
        if "rerate" in actions and data.sampling == "uniform" and data.levels == "all":
            raise ValueError(
                "controller.on_stall=rerate clears the items' records, which this run does not use: "
                "set data.sampling=posterior"
            )
        return self

    @model_validator(mode="after")
    def _a_forecast_has_validations(self) -> TrainConfig:
        if self.logging.forecast and not self.validation.every:
            raise ValueError(
                "logging.forecast forecasts validation, but validation.every=0 turns validation off: "
                "set validation.every, or logging.forecast=0"
            )
        return self

    @model_validator(mode="after")
    def _every_stage_has_its_phases(self) -> TrainConfig:
        stages = [stage.name for stage in self.stages]
        if len(set(stages)) < len(stages):
            raise ValueError(f"two stages have the same name, rename one: {', '.join(stages)}")
        named = list(dict.fromkeys(phase.stage for phase in self.phases))
        runs = [name for name, _ in groupby(phase.stage for phase in self.phases)]
        if (stages or any(named)) and (named != stages or runs != stages):
            raise ValueError(
                f"the stages are {', '.join(stages) or 'none'}, but the phases in order name the stages "
                f"{', '.join(n or 'none' for n in runs)}: give both in the same order"
            )
        return self

    @model_validator(mode="after")
    def _phases_are_whole_configs(self) -> TrainConfig:
        names = [phase.name for phase in self.phases]
        if len(set(names)) < len(names):
            raise ValueError(f"two phases have the same name, rename one: {', '.join(names)}")
        parts: Mapping[str, tuple[StageConfig | PhaseConfig, ...]] = {
            "stages": self.stages,
            "phases": self.phases,
        }
        for kind, every in parts.items():
            for number, part in enumerate(every):
                for path in phase_keys(part.set):
                    if path[0] not in PHASE_SECTIONS or path[:2] in FIXED_IN_A_RUN:
                        raise ValueError(
                            f"{kind}.{number} ({part.name}) sets {'.'.join(path)}, which cannot change during "
                            f"a run; it may set {', '.join(PHASE_SECTIONS)}"
                        )
        for number in range(len(self.phases)):
            self.in_phase(number)
        return self

    def stage_of(self, number: int) -> StageConfig | None:
        if not self.stages:
            return None
        return next(s for s in self.stages if s.name == self.phases[number].stage)

    def begins_stage(self, number: int) -> bool:
        """Return whether phase ``number`` begins a stage other than the first."""
        phases = self.phases
        return 0 < number < len(phases) and phases[number].stage != phases[number - 1].stage

    def first_of_stage(self, number: int) -> int:
        while number and not self.begins_stage(number):
            number -= 1
        return number

    @property
    def phase_configs(self) -> tuple[TrainConfig, ...]:
        """The config of each phase. Without phases, the tuple holds only the config itself."""
        return tuple(self.in_phase(number) for number in range(max(len(self.phases), 1)))

    @property
    def planned_updates(self) -> int:
        """Number of gradient updates planned for the run, if every phase has its maximum length."""
        if not self.phases:
            return self.steps * self.loss.mini_batches
        total, remaining = 0, self.steps
        for number, phase in enumerate(self.phases):
            last = number == len(self.phases) - 1
            steps = remaining if last else min(phase.steps, remaining)
            total += steps * self.in_phase(number).loss.mini_batches
            remaining -= steps
        return total

    def in_phase(self, number: int) -> TrainConfig:
        """Return the config of phase ``number`` (from 0), or the config itself in a run without phases.

        Raises ValidationError if the phase's settings do not fit.
        """
        if not self.phases:
            return self
        values = self.model_dump(exclude={"phases", "stages"})
        stage = self.stage_of(number)
        if stage is not None:
            values = merge(values, stage.set)
            values["engine"] = stage.engine or self.engine
        return TrainConfig.model_validate(merge(values, self.phases[number].set))


def phase_keys(values: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the path of each setting in ``values``: section and key, or a top-level key alone."""
    keys: list[tuple[str, ...]] = []
    for key, value in values.items():
        path = (*prefix, str(key))
        if isinstance(value, Mapping) and len(path) < 2:
            keys += phase_keys(value, path)
        else:
            keys.append(path)
    return keys


def all_keys() -> list[str]:
    return config.all_keys(TrainConfig)


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` overridden by ``over``. Sections are merged key by key; other values are replaced."""
    return config.merge(TrainConfig, base, over)
