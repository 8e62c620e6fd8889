"""ProRL's training loop, used by both engines. ``examples/prorl_in_one_file.py`` shows the algorithm alone."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from prorl_common import Progress
from prorl_datasets import Sample
from prorl_inference import Generator, SleepingGenerator
from prorl_inference.tokens import continuation
from prorl_training.algorithm.advantages import advantages_of
from prorl_training.algorithm.shaping import shape_rewards
from prorl_training.config import TrainConfig
from prorl_training.policy.update import UpdateBatch, UpdateGuard, build_update
from prorl_training.rollout.collector import Collector, StepGivenUp
from prorl_training.rollout.item_records import levels_changed
from prorl_training.rollout.prompts import PromptSource
from prorl_training.rollout.staleness import (
    HAND_OVER_SECONDS,
    SampleAhead,
    SamplerStopped,
    sampling_key,
    still_fitting,
)
from prorl_training.run.checkpoint import (
    best_checkpoint,
    checkpoint_steps,
    load_buffer,
    mark_best,
    prune_checkpoints,
    save_checkpoint,
)
from prorl_training.run.folder import RunFolder
from prorl_training.run.loggers import Loggers
from prorl_training.run.metrics import metrics_row, progress_fields
from prorl_training.run.rollouts import write_rollouts
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.forecast import Outlook, forecast, one_line
from prorl_training.schedule.resets import best_lost
from prorl_training.schedule.safety import (
    EVERY_STEP,
    Guard,
    batch_evidence,
    first_response,
    never_usable,
    too_few_groups,
    validation_outage,
)
from prorl_training.schedule.validation import validate, watched
from prorl_training.types import (
    Batch,
    Carried,
    Decision,
    Group,
    Learned,
    SampledBatch,
    Scorer,
    StepReport,
    UpdateStats,
    Validation,
)

AfterStep = Callable[[Mapping[str, Any]], bool]
"""Called after a step with its metrics. If it returns False, training ends."""


class TrainedPolicy(Protocol):
    """A policy in training, with its reference and optimiser."""

    @property
    def model(self) -> Any: ...

    def compute(self) -> AbstractContextManager[None]:
        """Return the context manager for the model's forward passes, such as autocast."""

    def update(
        self, batch: UpdateBatch, guard: UpdateGuard | None = None, lr_scale: float = 1.0
    ) -> UpdateStats:
        """Do one gradient update per mini-batch."""

    def reset_reference(self, clear_optimizer: bool) -> None: ...

    def reset_to_checkpoint(self, clear_optimizer: bool, path: Path) -> None:
        """Load a checkpoint's policy into the reference; the policy keeps its weights."""

    def load_checkpoint_policy(self, path: Path) -> None: ...

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        """Write the policy, tokenizer, reference and optimiser into ``work``; return entries for state.json."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a ``TrainingLoop`` works with. ``beat`` resets the watchdog; ``sleep`` waits during outages."""

    prompts: PromptSource
    validation: Sequence[Sample]
    policy: TrainedPolicy
    tokenizer: Any
    generator: Generator
    scorer: Scorer
    folder: RunFolder
    progress: Progress
    beat: Callable[[], None] = lambda: None
    sleep: Callable[[float], None] = time.sleep


class TrainingLoop:
    """Runs the steps after ``last_step``, up to the end of the run or of its stage.

    Call ``start`` or ``restore`` first. ``stop_reason`` is the reason if the run ended itself early. ``lineage``
    records where the weights come from (``run.lineage``).
    """

    def __init__(self, config: TrainConfig, parts: Parts, last_step: int = 0) -> None:
        self.config = config
        self.parts = parts
        self.last_step = last_step
        self._began_after = last_step
        self.lineage: list[dict[str, Any]] = []
        self._saved: int | None = last_step or None
        self.controller = Controller(config)
        self.guard = Guard(config.safety)
        self.collector = Collector(
            parts.generator,
            parts.scorer,
            self.guard,
            self._beat_sampler,
            parts.sleep,
            encode_answer=functools.partial(continuation, parts.tokenizer),
            records=parts.prompts.records,
        )
        self.ahead: SampleAhead | None = None
        self._settings_before = self.controller.settings
        self._version = last_step  # the step after which the policy has its present weights
        self.loggers = Loggers(parts.folder.path, config.logging, last_step + 1)
        self.watched = watched(parts.validation, config.validation.problems)
        self.carried = Carried()
        self.queue: Sequence[SampledBatch] = ()
        """Batches from a checkpoint that were sampled but not trained on."""
        self.tokens_total = 0
        self.stop_requested = False
        self._logged_once: set[str] = set()
        self.stop_reason: str | None = None
        self.after_step: AfterStep = lambda row: True
        self._enough = False
        self._first: Group | None = None

    def start(self, decisions: Sequence[Decision] = ()) -> None:
        """Begin a new run: copy the policy to the reference and write checkpoint 0."""
        p = self.parts
        p.policy.reset_reference(clear_optimizer=True)
        p.generator.sync_weights(p.policy.model)
        self._log(decisions)
        self.checkpoint(0)

    def restore(self, state: Mapping[str, Any], checkpoint: Path) -> None:
        """Restore everything from a checkpoint except the policy, which must have been restored before."""
        prompts = self.parts.prompts
        carried, self.queue = load_buffer(checkpoint, {s.id: s for s in prompts.samples})
        self._restore(state, carried)
        self._settings_before = self.controller.settings
        prompts.records.restore(checkpoint)
        best = self.controller.best_step if self.config.checkpoint.best else None
        if best is not None and best in checkpoint_steps(root := self.parts.folder.checkpoints):
            mark_best(root, best)  # the run may have been killed before marking it
        self.parts.generator.sync_weights(self.parts.policy.model)

    def run(self) -> int:
        """Train to the end of the run or stage, or until the run stops early; return the last step."""
        try:
            return self._run()
        finally:
            if self.ahead is not None:
                self.ahead.close()

    def _run(self) -> int:
        p = self.parts
        p.progress.start("train", self.config.steps, self.last_step)
        while self.last_step < self.config.steps and not self._ended():
            before = self._state()
            carried = self.carried
            try:
                row = self.step(self.last_step + 1)
            except StepGivenUp as error:
                self._stop_before(self.last_step + 1, str(error), before, carried)
                break
            self.last_step += 1
            p.beat()
            p.progress.advance(1, **progress_fields(row, self.controller.last_reset))
            self._enough = not self.after_step(row)
            if self.last_step % self.config.checkpoint.every == 0:
                self.checkpoint(self.last_step)
        self.checkpoint(self.last_step)
        p.progress.finish()
        if not self.stop_requested:
            self._stop_if_nothing_was_usable()
        self.loggers.close()
        p.folder.sync()
        return self.last_step

    def step(self, step: int) -> dict[str, Any]:
        p, started = self.parts, time.perf_counter()
        self.guard.begin_step(step)
        open_levels = p.prompts.open_levels(self.controller.settings)
        decisions = self._apply(self.controller.begin_step(step))
        settings = self.controller.settings

        # Sample until enough groups have unequal rewards.
        batch = self._sample(step, settings)
        levels, changed = self._levels(step, open_levels, settings)

        # The length penalty comes after the filter, which uses raw rewards.
        penalty_is_on = self.controller.penalty_is_on(step)
        groups = shape_rewards(batch.kept, settings, penalty_is_on)

        # Advantages, then one gradient update per mini-batch: policy loss and KL to the reference.
        advantages = advantages_of(groups, settings.advantage)
        mini_batches = build_update(groups, advantages, step, settings, p.prompts.encode)
        update, update_seconds = self._update(mini_batches)
        self._version = step
        learned = Learned(groups)
        if update is not None:
            learned = Learned(groups, advantages.tolist(), update.trainer_logprobs)

        validation = self._validate(step, settings)
        report = StepReport(
            step=step,
            phase=self.controller.phase,
            batch=batch,
            learned=learned,
            update=update,
            penalty_is_on=penalty_is_on,
            tokens_total=self.tokens_total,
            levels=levels,
            coverage=p.prompts.records.coverage(step, self.config.logging.solved_steps),
            validation=validation,
            update_seconds=update_seconds,
            seconds=time.perf_counter() - started,
        )

        # Guard and controller decide: reset the reference, end a phase, stop the run.
        decisions += [*changed, *self._decide(report, settings)]
        report = replace(report, seconds=time.perf_counter() - started)
        row = self._record(report, decisions)
        if validation is not None and validation.result is not None:
            self._keep_best(step)
        return row

    def checkpoint(self, step: int) -> None:
        """Save a checkpoint of ``step`` unless it exists, and delete old checkpoints."""
        if step == self._saved:
            return
        p, c = self.parts, self.config.checkpoint
        root = p.folder.checkpoints
        p.folder.check_exists()
        p.folder.sync()
        with self._idle_sampler() as queue:
            state, records = self._state(), p.prompts.records
            save_checkpoint(root, step, p.policy, p.tokenizer, state, self.carried, records, queue)
        origins = {0, *(leg["after_step"] for leg in self.lineage if "run" not in leg)}
        prune_checkpoints(root, c.keep, c.best, origins)
        p.beat()  # a slow file system must not trigger the watchdog
        self._saved = step

    def _ended(self) -> bool:
        budget = self.config.token_budget
        spent = bool(budget) and self.tokens_total >= budget
        last = self.last_step
        stage_over = last > self._began_after and self.controller.begins_stage(last + 1)
        stopped = self.stop_requested or self.stop_reason is not None or self.controller.ended
        return stopped or spent or stage_over or self._enough

    def _state(self) -> dict[str, Any]:
        return {
            "controller": self.controller.to_json(),
            "guard": self.guard.to_json(),
            "seed": self.config.seed,
            "tokens_total": self.tokens_total,
            "usable_rate": self.collector.usable_rate,
            "lineage": self.lineage,
        }

    def _restore(self, state: Mapping[str, Any], carried: Carried) -> None:
        self.controller.restore(state["controller"])
        self.guard.restore(state["guard"])
        self.tokens_total = int(state["tokens_total"])
        self.collector.usable_rate = float(state["usable_rate"])
        self.carried = carried

    def _sample(self, step: int, settings: TrainConfig) -> Batch:
        p = self.parts
        if self.config.rollout.staleness:
            batch = self._sampled_ahead(step, settings)
        else:
            batch = self._collect(p.prompts.draw(step, settings), step, settings, step - 1)
        p.prompts.records.record(step, batch.sampled, settings.data.half_life)
        self.tokens_total += batch.tokens
        self._first = self._first or next(iter(batch.sampled), None)
        return batch

    def _collect(
        self, prompts: Iterator[Sample], step: int, settings: TrainConfig, policy: int
    ) -> Batch:
        """Sample a batch for ``step`` with policy version ``policy``. May run in the thread of ``SampleAhead``."""
        p = self.parts
        waiting, unusable = still_fitting(self.carried, self._settings_before, settings)
        with p.policy.compute():
            batch = self.collector.collect(
                prompts, step, settings, waiting, self._show_progress, policy, self.ahead
            )
        batch.discard(unusable, settings.dynamic_sampling.surplus == "carry")
        batch.prompts_too_long = p.prompts.passed_over
        self.carried, self._settings_before = batch.carried, settings
        return batch

    def _sampled_ahead(self, step: int, settings: TrainConfig) -> Batch:
        """Return the batch of ``step`` from ``SampleAhead``, sampled again if settings or policy are outdated."""
        p = self.parts
        if self.ahead is None:
            self.ahead = SampleAhead(
                self.config.rollout.staleness,
                self.config.steps,
                step - 1,
                self._draw_ahead,
                self._collect,
                lambda: p.generator.sync_weights(p.policy.model),
                self.queue,
                HAND_OVER_SECONDS if self.config.rollout.new_weights == "token" else 0.0,
            )
            self.queue = ()
        sampled = self.ahead.take(step)
        recent = sampled.policy >= step - 1 - self.config.rollout.staleness
        if recent and sampled.sampling == sampling_key(settings):
            return sampled.batch
        with self._idle_sampler():
            dropped = [sampled.batch, *self.ahead.sample_again(step)]
        self.tokens_total += sum(batch.tokens for batch in dropped)
        batch = self.ahead.take(step).batch
        batch.discarded += [group for old in dropped for group in old.sampled]
        return batch

    def _draw_ahead(self, step: int) -> tuple[Iterator[Sample], TrainConfig]:
        """Return the prompts and settings of ``step``, for ``SampleAhead``."""
        settings, prompts = self.controller.settings, self.parts.prompts
        if settings.dynamic_sampling.rule == "boundary":
            self.collector.records = prompts.records.copy()
        return prompts.draw(step, settings), settings

    @contextmanager
    def _idle_sampler(self) -> Iterator[Sequence[SampledBatch]]:
        """Pause ``SampleAhead`` inside the block; yield the batches that are sampled but not yet trained on."""
        if self.ahead is None:
            yield self.queue
            return
        with self.ahead.paused(self._version) as queue:
            yield queue

    def _beat_sampler(self) -> None:
        if self.ahead is not None and self.ahead.ended:
            raise SamplerStopped
        self.parts.beat()

    def _show_progress(self, batch: Batch) -> None:
        self.parts.beat()
        counts = f"{len(batch.kept)}/{batch.target} groups, {batch.drawn} drawn"
        self.parts.progress.advance(0, refill=counts)

    def _levels(
        self, step: int, before: Sequence[int], settings: TrainConfig
    ) -> tuple[tuple[int, int] | None, list[Decision]]:
        prompts = self.parts.prompts
        if settings.data.levels == "all":
            return None, []
        changes = prompts.level_changes(before, settings)
        return prompts.levels(settings), levels_changed(step, changes, settings.data.open_at)

    def _update(self, mini_batches: UpdateBatch | None) -> tuple[UpdateStats | None, float]:
        p = self.parts
        if mini_batches is None:
            return None, 0.0
        started = time.perf_counter()
        if self.ahead is not None:
            self.ahead.begin_update()
        elif isinstance(p.generator, SleepingGenerator):
            p.generator.sleep()
        stats = p.policy.update(mini_batches, self.guard, self.guard.lr_scale())
        if self.ahead is None:
            p.generator.sync_weights(p.policy.model)
        p.beat()
        return stats, time.perf_counter() - started

    def _decide(self, report: StepReport, settings: TrainConfig) -> list[Decision]:
        step, update, validation = report.step, report.update, report.validation
        entropy = update.entropy if update is not None else None
        evidence = batch_evidence(report.batch, settings)
        self.guard.watch_mismatch(update.mismatch_kl if update is not None else None)
        decisions = self.guard.end_step(entropy, update is None, evidence)
        if update is not None:
            decisions += too_few_groups(step, report.batch, settings)
        decisions += validation_outage(step, validation, settings)
        metrics = self.parts.folder.metrics
        measured = Measured(
            kl=update.kl if update is not None else None,
            entropy=entropy,
            validation=validation.result if validation is not None else None,
            levels_closed=report.levels[1] if report.levels is not None else None,
            outlook=Outlook(
                lambda: [*metrics(), metrics_row(report)], step, self.config.steps, self.config.seed
            ),
        )
        decisions += self._apply(self.controller.end_step(step, measured))
        self.stop_reason = self.guard.stop_reason
        return decisions

    def _apply(self, decisions: Sequence[Decision]) -> list[Decision]:
        applied: list[Decision] = []
        for d in decisions:
            if d.kind == "items_rerated":
                self.parts.prompts.records.forget()
            applied += self._reset_reference(d) if d.kind == "reference_reset" else [d]
        return applied

    def _reset_reference(self, decision: Decision) -> list[Decision]:
        p, to = self.parts, decision.evidence["reset_to"]
        clear = decision.evidence["optimizer"] == "clear"
        best, trouble = (None, "") if to == "current" else best_checkpoint(p.folder.checkpoints)
        if best is not None and to == "best_reference":
            p.policy.reset_to_checkpoint(clear, best)
            return [decision]
        if best is not None:
            with self._idle_sampler():
                p.policy.load_checkpoint_policy(best)
                p.generator.sync_weights(p.policy.model)
        p.policy.reset_reference(clear)
        return best_lost(decision, trouble) if trouble else [decision]

    def _keep_best(self, step: int) -> None:
        if self.config.checkpoint.best and self.controller.best_step == step:
            self.checkpoint(step)
            mark_best(self.parts.folder.checkpoints, step)

    def _validate(self, step: int, settings: TrainConfig) -> Validation | None:
        every, p = self.config.validation.every, self.parts
        if not every or step % every or not self.watched:
            return None
        with self._idle_sampler(), p.policy.compute():
            validation = validate(
                self.watched,
                settings,
                p.generator,
                p.scorer,
                p.beat,
                self.collector.encode_answer,
            )
        p.beat()
        if (result := validation.result) is not None:
            p.progress.message(
                f"step {step}: validation reward {result.mean:.3f} ± {result.standard_error:.3f} "
                f"on {result.problems} problems"
            )
        return validation

    def _record(self, report: StepReport, decisions: Sequence[Decision]) -> dict[str, Any]:
        step, folder, logging = report.step, self.parts.folder, self.config.logging
        started = time.perf_counter()
        if logging.rollouts_every and step % logging.rollouts_every == 0:
            write_rollouts(folder, step, report.batch.sampled, report.learned, logging.rollouts)
        row = metrics_row(replace(report, rollouts_seconds=time.perf_counter() - started))
        self._log(decisions)
        folder.log_metrics(row)
        self.loggers.write(step, row)
        due = logging.forecast * self.config.validation.every
        if due and step % due == 0 and step < self.config.steps and "validation_reward" in row:
            line = one_line(forecast(folder.metrics(), self.config.steps, seed=self.config.seed))
            self.parts.progress.message(f"step {step}: {line}")
        return row

    def _log(self, decisions: Sequence[Decision]) -> None:
        self.parts.folder.log_decisions(decisions)
        for d in decisions:
            if d.kind in self._logged_once:
                continue
            if d.kind in EVERY_STEP:
                self._logged_once.add(d.kind)
            self.parts.progress.message(f"step {d.step}: {d.kind.replace('_', ' ')} ({d.reason})")

    def _stop_if_nothing_was_usable(self) -> None:
        decision = never_usable(self.last_step, self.parts.folder.metrics())
        if decision is None:
            return
        if self.stop_reason is None:
            self.stop_reason = decision.reason
            self._log([decision])
        for line in [] if self._first is None else first_response(self._first):
            self.parts.progress.message(line)

    def _stop_before(
        self, step: int, reason: str, before: Mapping[str, Any], carried: Carried
    ) -> None:
        """End the run and undo ``step``, which a resumed run then repeats."""
        outages = [d for d in self.guard.end_step(None, False) if d.kind == "outage"]
        self._restore(before, carried)
        self.stop_reason = reason
        stopped = Decision(step, "run_stopped", reason)
        evidence = {"in_step": step}
        self._log(
            [
                replace(d, step=step - 1, evidence={**d.evidence, **evidence})
                for d in (*outages, stopped)
            ]
        )
