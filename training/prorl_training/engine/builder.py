"""Build the training loop of a new or resumed run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from prorl_common import Progress, UserError
from prorl_datasets import Sample
from prorl_inference import Generator, encode_prompt
from prorl_inference.tokens import rewritten_history
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import Parts, TrainedPolicy, TrainingLoop
from prorl_training.rollout.item_records import read_ratings
from prorl_training.rollout.prompts import PromptSource, check_context
from prorl_training.run.checkpoint import has_checkpoint, open_checkpoint
from prorl_training.run.folder import RunFolder
from prorl_training.run.lineage import first_legs, next_leg, next_phase
from prorl_training.types import Decision, Scorer
from prorl_verifiers import VERIFIERS

FIRST_LOOK = 256
"""Number of prompts, spread evenly over the dataset, whose lengths are checked at the start."""


@dataclass(frozen=True, slots=True)
class Machinery:
    """An engine's policy, sampler and scorer. ``context`` is the model's maximum sequence length in tokens."""

    policy: TrainedPolicy
    tokenizer: Any
    context: int | None
    open_generator: Callable[[], Generator]
    """Opens the sampler. It is called once, after checks of prompts and config."""
    scorer: Scorer


class Engine(Protocol):
    """The interface of the local and the OpenRLHF engine."""

    def load(self, checkpoint: Path | None) -> Machinery:
        """Load the model of a new run (``checkpoint`` is None), or of a checkpoint to restore."""

    def begin(self, machinery: Machinery, again: bool) -> list[Decision]:
        """Create a new run's folder and prepare its policy; return the decisions made, such as a warm start.

        ``again`` means that an earlier start of the run wrote no checkpoint.
        """

    def check_resumable(self) -> None:
        """Raise ResumeError if data, model or plug-ins have changed."""

    def restore(
        self, machinery: Machinery, checkpoint: Path, state: Mapping[str, Any]
    ) -> list[Decision]:
        """Restore a checkpoint; return decisions that record how this machine differs from the checkpoint's."""

    def begin_stage(
        self, machinery: Machinery, checkpoint: Path, state: Mapping[str, Any]
    ) -> list[Decision]:
        """Load only a checkpoint's weights, which either engine may have written. Returns decisions like
        ``restore``.
        """

    def change_config(self, step: int) -> None:
        """Write the changed config, which applies after ``step``, before its decisions are logged."""

    def recorded(self) -> None:
        """Called when all decisions made at the start have been logged."""


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds a run's training loop. ``samples`` are (train, validation). ``beat`` resets the watchdog."""

    engine: Engine
    config: TrainConfig
    folder: RunFolder
    samples: tuple[Sequence[Sample], Sequence[Sample]]
    progress: Progress
    beat: Callable[[], None]

    def build(self, resume: bool, decisions: Sequence[Decision]) -> TrainingLoop:
        """Log ``decisions``; return a new loop, or with ``resume`` one restored from the newest intact checkpoint."""
        if resume:
            self.engine.check_resumable()
            if has_checkpoint(self.folder.checkpoints):
                return self._resumed(decisions)
        ratings = {}
        if (rated := self.config.data.pass_rates) is not None:
            ratings = read_ratings(Path(rated).expanduser(), {s.id for s in self.samples[0]})
        machinery = self.engine.load(None)
        loop = self._loop(machinery, 0)
        loop.parts.prompts.records.add_ratings(ratings)
        changes = self.engine.begin(machinery, again=resume)
        self.folder.truncate_after(-1)
        loop.lineage = first_legs(self.config, self.folder.identity())
        loop.start([*decisions, *changes])
        self.engine.recorded()
        return loop

    def _resumed(self, decisions: Sequence[Decision]) -> TrainingLoop:
        path, state, fallbacks = open_checkpoint(self.folder.checkpoints)
        step = int(state["step"])
        phase, begins_stage = next_phase(self.config, state)
        machinery = self.engine.load(path)
        take_over = self.engine.begin_stage if begins_stage else self.engine.restore
        environment = take_over(machinery, path, state)
        self.folder.truncate_after(step)
        loop = self._loop(machinery, step)
        loop.restore(state, path)
        loop.lineage = list(state.get("lineage", first_legs(self.config, self.folder.identity())))
        if begins_stage:
            loop.lineage.append(next_leg(self.config, phase, path, step))
        decisions = [replace(d, step=step) for d in decisions]
        if decisions:
            self.engine.change_config(step)
        records = [*decisions, *fallbacks, *environment]
        self.folder.log_decisions(records)
        self.engine.recorded()
        for d in records:
            self.progress.message(f"{d.kind.replace('_', ' ')}: {d.reason}")
        self.progress.message(f"resuming {self.folder.name} after step {step}")
        return loop

    def _loop(self, machinery: Machinery, last_step: int) -> TrainingLoop:
        check_context(self.config, machinery.context)
        train, validation = self.samples
        prompts = PromptSource(
            train, lambda s: encode_prompt(machinery.tokenizer, s.prompt), machinery.context
        )
        prompts.check(self.config)
        verifiers = {s.task.verifier for split in self.samples for s in split}
        if converses := any(VERIFIERS.get(name).is_environment for name in verifiers):
            check_history(self.config, machinery.tokenizer)
        generator = machinery.open_generator()
        if converses and not hasattr(generator, "stream"):
            raise UserError(
                "this sampler cannot continue a conversation: use rollout.backend=transformers or vllm for environments"
            )
        for line in start_notes(prompts, self.config, bool(validation)):
            self.progress.message(line)
        parts = Parts(
            prompts=prompts,
            validation=validation,
            policy=machinery.policy,
            tokenizer=machinery.tokenizer,
            generator=generator,
            scorer=machinery.scorer,
            folder=self.folder,
            progress=self.progress,
            beat=self.beat,
        )
        return TrainingLoop(self.config, parts, last_step)


def check_history(config: TrainConfig, tokenizer: Any) -> None:
    """Raise UserError if the chat template changes earlier turns and ``rollout.history`` forbids this in a phase."""
    if any(settings.rollout.history == "template" for settings in config.phase_configs):
        trouble = rewritten_history(tokenizer)
        if trouble is not None:
            raise UserError(
                f"the model's chat template does not fit environments, because {trouble}: set rollout.history=kept to "
                "train on the turns as they are sampled"
            )


def start_notes(
    prompts: PromptSource, config: TrainConfig, has_validation: bool = True
) -> list[str]:
    """Return notes for the user about long prompts, repeated data and missing validation."""
    notes: list[str] = []
    worst = 0.0
    for number, settings in enumerate(config.phase_configs):
        every = prompts.eligible(settings)
        look = every[:: -(-len(every) // FIRST_LOOK) or 1]
        lost = sum(not prompts.fits(sample, settings) for sample in look)
        if lost and lost / len(look) > worst:
            worst = lost / len(look)
            where = f" in phase {config.phases[number].name}" if config.phases else ""
            found = (
                f"{lost} of {len(look)} prompts checked have more than the {prompts.limit(settings):.0f} "
                f"tokens that fit{where}: such prompts are left out, prompts_too_long counts them"
            )
            notes = [found]
    first = config.in_phase(0)
    count, batch = len(prompts.eligible(first)), first.rollout.prompts
    if config.steps * batch > count:
        often = "step" if count <= batch else f"{count / batch:.3g} steps"
        if prompts.by_weight(first):
            notes.append(f"{count} prompts, drawn by weight, one dataset's worth every {often}")
        else:
            notes.append(f"{count} prompts, one pass every {often}")
    if config.validation.every and not has_validation:
        notes.append(
            "the dataset has no validation split: the run has no validation, no best checkpoint, "
            "and no reset or phase that depends on validation"
        )
    return notes
