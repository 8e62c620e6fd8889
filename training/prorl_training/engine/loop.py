"""ProRL's loop, the same for both engines, and what it is made of (``engine.builder`` puts it together).

A step: phase and penalty window, sample and score, drop groups without spread, advantages, update,
validate, let controller and guard decide, write everything down, checkpoint. A step is done whole or
not at all: whatever stops the process, the run goes on from its last checkpoint and repeats the rest.
Leaves out: what each part computes (its own module) and where policy, generator and scorer live.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from prorl_common import Progress
from prorl_datasets import Sample
from prorl_inference import Generator
from prorl_training.config import TrainConfig
from prorl_training.policy.update import UpdateBatch, UpdateJudge, UpdateStats, build_update
from prorl_training.rollout.collector import Collector, StepGivenUp
from prorl_training.rollout.levels import levels_changed
from prorl_training.rollout.prompts import PromptSource
from prorl_training.rollout.types import Batch, Carried, Group, Scorer, still_fitting
from prorl_training.run.checkpoint import load_buffer, save_checkpoint
from prorl_training.run.checkpoint_store import (
    best_checkpoint,
    checkpoint_steps,
    mark_best,
    prune_checkpoints,
)
from prorl_training.run.folder import RunFolder
from prorl_training.run.loggers import Loggers
from prorl_training.run.metrics import (
    batch_metrics,
    domain_metrics,
    progress_fields,
    staleness_metrics,
    task_metrics,
    timing_metrics,
    update_metrics,
)
from prorl_training.run.rollouts import Learned, write_rollouts
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.decisions import Decision
from prorl_training.schedule.forecast.forecasting import forecast, told
from prorl_training.schedule.outlook import Outlook
from prorl_training.schedule.safety import (
    EVERY_STEP,
    Guard,
    batch_evidence,
    best_lost,
    too_few_groups,
    validation_outage,
)
from prorl_training.schedule.validation import validate, watched
from prorl_training.schedule.validation_history import ValidationResult


class TrainedPolicy(Protocol):
    """A policy in training with its reference and optimiser, wherever they live.

    ``model`` is what the generator is told to take its weights from.
    """

    @property
    def model(self) -> Any:
        """The model to sample from."""
        ...

    def compute(self) -> AbstractContextManager[None]:
        """Return the context in which the policy samples."""
        ...

    def update(
        self, batch: UpdateBatch, judge: UpdateJudge | None = None, lr_scale: float = 1.0
    ) -> UpdateStats:
        """Do one gradient update a mini-batch."""
        ...

    def reset_reference(self, clear_optimizer: bool) -> None:
        """Make the reference the policy as it is now."""
        ...

    def reset_to_checkpoint(self, clear_optimizer: bool, path: Path) -> None:
        """Make the reference the policy of the checkpoint in the folder ``path``; the policy stays as it is."""
        ...

    def load_checkpoint_policy(self, path: Path) -> None:
        """Take over the weights of the checkpoint in the folder ``path``."""
        ...

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        """Write model, tokenizer, reference and optimiser into ``work``; return entries for state.json."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What the loop works with: prompts, model, sampler, checker, folder and progress.

    ``beat`` tells a watchdog that something moved; ``sleep`` waits for a reward service that is away.
    """

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
    """Runs steps after ``last_step`` up to ``config.steps``.

    A new run begins with ``start``; a resumed one with ``restore``. ``stop_reason`` says why a run ended
    before its last step, None when it did not or was interrupted. ``lineage`` is where the weights came from
    (``run.lineage``), for the checkpoints. A stage ends with a checkpoint, from which another loop begins the next.
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
            parts.generator, parts.scorer, self.guard, parts.beat, parts.sleep
        )
        self.loggers = Loggers(parts.folder.path, config.logging, last_step + 1)
        self.watched = watched(parts.validation, config.validation.problems)
        self.carried = Carried()
        self.tokens_total = 0
        self.stop_requested = False
        self._told_once: set[str] = set()
        self.stop_reason: str | None = None

    def start(self, decisions: Sequence[Decision] = ()) -> None:
        """Begin a new run: the policy as it is becomes the reference and checkpoint 0."""
        p = self.parts
        p.policy.reset_reference(clear_optimizer=True)
        p.generator.sync_weights(p.policy.model)
        self._log(decisions)
        self.checkpoint(0)

    def restore(self, state: Mapping[str, Any], checkpoint: Path) -> None:
        """Take the engine's part of the folder ``checkpoint``; the policy has been restored already."""
        prompts = self.parts.prompts
        self._take_back(state, load_buffer(checkpoint, {s.id: s for s in prompts.samples}))
        prompts.records.restore(checkpoint)
        best = self.controller.best_step if self.config.checkpoint.best else None
        if best is not None and best in checkpoint_steps(root := self.parts.folder.checkpoints):
            mark_best(root, best)  # a kill may have come just before it was marked
        self.parts.generator.sync_weights(self.parts.policy.model)

    def run(self) -> int:
        """Train until the last step, the end of a stage, ``stop_requested`` or a reason to stop; return the
        last step done."""
        p = self.parts
        p.progress.start("train", self.config.steps)
        p.progress.advance(self.last_step)
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
            if self.last_step % self.config.checkpoint.every == 0:
                self.checkpoint(self.last_step)
        self.checkpoint(self.last_step)
        p.progress.finish()
        self.loggers.close()
        p.folder.sync()
        return self.last_step

    def step(self, step: int) -> dict[str, Any]:
        """Do one step whole and return its metrics, which are also in ``metrics.jsonl``."""
        started = time.perf_counter()
        self.guard.begin_step(step)
        before = self.controller.settings
        levels = self.parts.prompts.open_levels(before)
        decisions = self._carry_out(self.controller.begin_step(step))
        settings = self.controller.settings
        penalty = self.controller.penalty_active(step)
        batch = self._collect(step, before, settings)
        trained = [g.shaped_for(settings, penalty) for g in batch.kept]
        update, learned, update_seconds = self._update(step, trained, settings)
        row: dict[str, Any] = {"step": step, "phase": self.controller.phase}
        row |= batch_metrics(batch, trained) | staleness_metrics(trained, step)
        row |= {"prompts_too_long": self.parts.prompts.passed_over}
        row |= {"length_penalty_active": penalty, "tokens_total": self.tokens_total}
        row |= update_metrics(update)
        decisions += self._levels(step, row, levels, settings)
        coverage = self.parts.prompts.records.coverage(step, self.config.logging.solved_steps)
        row |= coverage.pop("")
        decisions += self._judge(step, row, update, batch)
        row["domains"] = domain_metrics(batch, row.pop("domains", {}), coverage)
        row["tasks"] = task_metrics(batch.sampled)
        row |= timing_metrics(batch, time.perf_counter() - started, update_seconds)
        self._record(step, batch, learned, row, decisions)
        if "validation_reward" in row and self.controller.best_step == step:
            self._save_best(step)
        return row

    def checkpoint(self, step: int) -> None:
        """Save everything and drop old checkpoints, unless this step's is there already."""
        if step == self._saved:
            return
        p, c = self.parts, self.config.checkpoint
        root = p.folder.checkpoints
        p.folder.check_there()
        p.folder.sync()
        save_checkpoint(
            root, step, p.policy, p.tokenizer, self._state(), self.carried, p.prompts.records
        )
        origins = {0, *(leg["after_step"] for leg in self.lineage if "run" not in leg)}
        prune_checkpoints(root, c.keep, c.best, origins)
        p.beat()  # a slow file system is no standstill
        self._saved = step

    def _ended(self) -> bool:
        budget = self.config.token_budget
        spent = bool(budget) and self.tokens_total >= budget
        last = self.last_step
        stage_over = last > self._began_after and self.controller.begins_stage(last + 1)
        stopped = self.stop_requested or self.stop_reason is not None or self.controller.ended
        return stopped or spent or stage_over

    def _state(self) -> dict[str, Any]:
        return {
            "controller": self.controller.to_json(),
            "guard": self.guard.to_json(),
            "seed": self.config.seed,
            "tokens_total": self.tokens_total,
            "usable_rate": self.collector.usable_rate,
            "lineage": self.lineage,
        }

    def _take_back(self, state: Mapping[str, Any], carried: Carried) -> None:
        self.controller.restore(state["controller"])
        self.guard.restore(state["guard"])
        self.tokens_total = int(state["tokens_total"])
        self.collector.usable_rate = float(state["usable_rate"])
        self.carried = carried

    def _collect(self, step: int, before: TrainConfig, settings: TrainConfig) -> Batch:
        p = self.parts
        waiting, in_vain = still_fitting(self.carried, before, settings)
        with p.policy.compute():
            batch = self.collector.collect(
                p.prompts.draw(step, settings), step, settings, waiting, self._on_progress
            )
        batch.discard(in_vain, settings.dynamic_sampling.surplus == "carry")
        p.prompts.records.record(step, batch.sampled, settings.data.half_life)
        self.carried = batch.carried
        self.tokens_total += batch.tokens
        return batch

    def _levels(
        self, step: int, row: dict[str, Any], before: Sequence[int], settings: TrainConfig
    ) -> list[Decision]:
        """Note how many levels of generated items are open now that the step's verdicts are known, and how many are
        closed: what the next step draws from, and whether the controller may open more. Return what differs from ``before``."""
        prompts = self.parts.prompts
        if settings.data.levels == "all":
            return []
        row["levels_open"], row["levels_closed"] = prompts.levels(settings)
        return levels_changed(step, prompts.level_changes(before, settings), settings.data.open_at)

    def _on_progress(self, batch: Batch) -> None:
        self.parts.beat()
        shown = f"{len(batch.kept)}/{batch.wanted} groups, {batch.drawn} drawn"
        self.parts.progress.advance(0, refill=shown)

    def _update(
        self, step: int, trained: Sequence[Group], settings: TrainConfig
    ) -> tuple[UpdateStats | None, Learned, float]:
        """Update the policy; return its numbers (None: nothing to learn from), what it made of each response and the
        seconds it took."""
        p = self.parts
        update = build_update(trained, step, settings, p.prompts.encode) if trained else None
        if update is None:
            return None, Learned(trained), 0.0
        started = time.perf_counter()
        stats = p.policy.update(update, self.guard, self.guard.lr_scale())
        p.generator.sync_weights(p.policy.model)
        p.beat()
        seconds = time.perf_counter() - started
        advantages = update.advantages.tolist()
        return stats, Learned(trained, advantages, stats.trainer_logprobs), seconds

    def _judge(
        self, step: int, row: dict[str, Any], update: UpdateStats | None, batch: Batch
    ) -> list[Decision]:
        """Validate when it is time, hear controller and guard, and do what they say."""
        validation = self._validate(step, row)
        kl = update.kl if update is not None else None
        entropy = update.entropy if update is not None else None
        settings = self.controller.settings
        evidence = batch_evidence(batch, settings)
        decisions = self.guard.end_step(entropy, update is None, evidence)
        if update is not None:
            decisions += too_few_groups(step, batch, settings)
        decisions += validation_outage(step, row, len(self.watched), settings)
        rows = self.parts.folder.metrics
        outlook = Outlook(lambda: [*rows(), row], step, self.config.steps, self.config.seed)
        seen = Measured(kl, entropy, validation, row.get("levels_closed"), outlook)
        found = self.controller.end_step(step, seen)
        decisions += self._carry_out(found)
        self.stop_reason = self.guard.stop_reason
        return decisions

    def _carry_out(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Act on the resets of reference and records among ``decisions``; return the decisions as they came out."""
        done: list[Decision] = []
        for d in decisions:
            if d.kind == "items_rerated":
                self.parts.prompts.records.forget()
            done += self._reset(d) if d.kind == "reference_reset" else [d]
        return done

    def _reset(self, decided: Decision) -> list[Decision]:
        """Reset the reference, to the policy as it is where the best checkpoint is lost: then say why."""
        p, to = self.parts, decided.evidence["reset_to"]
        clear = decided.evidence["optimizer"] == "clear"
        best, trouble = (None, "") if to == "current" else best_checkpoint(p.folder.checkpoints)
        if best is not None and to == "best_reference":
            p.policy.reset_to_checkpoint(clear, best)
            return [decided]
        if best is not None:
            p.policy.load_checkpoint_policy(best)
            p.generator.sync_weights(p.policy.model)
        p.policy.reset_reference(clear)
        return best_lost(decided, trouble) if trouble else [decided]

    def _save_best(self, step: int) -> None:
        if self.config.checkpoint.best:
            self.checkpoint(step)
            mark_best(self.parts.folder.checkpoints, step)

    def _validate(self, step: int, row: dict[str, Any]) -> ValidationResult | None:
        every, p = self.config.validation.every, self.parts
        if not every or step % every or not self.watched:
            return None
        with p.policy.compute():
            result, measured = validate(
                self.watched, self.controller.settings, p.generator, p.scorer, p.beat
            )
        p.beat()
        row |= measured
        if result is not None:
            shown = f"{result.mean:.3f} ± {result.standard_error:.3f}"
            p.progress.message(
                f"step {step}: validation reward {shown} on {result.problems} problems"
            )
        return result

    def _record(
        self,
        step: int,
        batch: Batch,
        learned: Learned,
        row: dict[str, Any],
        decisions: Sequence[Decision],
    ) -> None:
        folder, logging = self.parts.folder, self.config.logging
        started = time.perf_counter()
        if logging.rollouts_every and step % logging.rollouts_every == 0:
            write_rollouts(folder, step, batch.sampled, learned, logging.rollouts)
        row["rollouts_seconds"] = round(time.perf_counter() - started, 4)
        self._log(decisions)
        folder.log_metrics(row)
        self.loggers.write(step, row)
        due = logging.forecast * self.config.validation.every
        if due and step % due == 0 and step < self.config.steps and "validation_reward" in row:
            said = told(forecast(folder.metrics(), self.config.steps, seed=self.config.seed))
            self.parts.progress.message(f"step {step}: {said}")

    def _log(self, decisions: Sequence[Decision]) -> None:
        self.parts.folder.log_decisions(decisions)
        for d in decisions:
            if d.kind in self._told_once:
                continue
            if d.kind in EVERY_STEP:
                self._told_once.add(d.kind)
            self.parts.progress.message(f"step {d.step}: {d.kind.replace('_', ' ')} ({d.reason})")

    def _stop_before(
        self, step: int, reason: str, before: Mapping[str, Any], carried: Carried
    ) -> None:
        """Give up ``step``: put back what it had changed, so that a resumed run does it whole."""
        seen = [d for d in self.guard.end_step(None, False) if d.kind == "outage"]
        self._take_back(before, carried)
        self.stop_reason = reason
        stopped = Decision(step, "run_stopped", reason)
        evidence = {"in_step": step}
        self._log(
            [
                replace(d, step=step - 1, evidence={**d.evidence, **evidence})
                for d in (*seen, stopped)
            ]
        )
