"""The local engine: ProRL's loop on one machine, with the model in this process.

A step: open or close the penalty window, sample and score, drop groups without spread, advantages,
update, validate, let the controller decide, write everything down, checkpoint. A step is done whole or
not at all: whatever stops the process, the run goes on from its last checkpoint and repeats the rest.
Leaves out: what each part computes (its own module) and several machines.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from prorl_common import Progress, derive_seed
from prorl_datasets import Sample
from prorl_inference import Generator, Request, SamplingParams
from prorl_training.checkpoint import prune_checkpoints, save_checkpoint
from prorl_training.config import TrainConfig
from prorl_training.controller import Controller, Decision
from prorl_training.metrics import step_metrics
from prorl_training.objectives import grpo_advantages, reinforce_baseline_advantages
from prorl_training.packing import PromptGroup
from prorl_training.policy import Policy, UpdateStats
from prorl_training.prompt_order import item_order, step_order, weighted_order
from prorl_training.rollout import FULL_MARKS, Batch, Collector, Group, Scorer
from prorl_training.run_folder import RunFolder
from prorl_training.scalar_log import ScalarLog
from prorl_training.validation import watched
from prorl_training.warm_start import choose_examples, warm_start


@dataclass(frozen=True, slots=True)
class Parts:
    """What the engine works with: data, model, sampler, checker, folder and progress."""

    train: Sequence[Sample]
    validation: Sequence[Sample]
    policy: Policy
    tokenizer: Any
    generator: Generator
    scorer: Scorer
    folder: RunFolder
    progress: Progress
    encode_prompt: Callable[[Any, Any], list[int]]


class LocalEngine:
    """Runs steps ``first_step`` .. ``config.steps``.

    ``first_step`` None is a new run (warm start, checkpoint 0); a number goes on from a checkpoint.
    """

    def __init__(self, config: TrainConfig, parts: Parts, first_step: int | None = None) -> None:
        self.config = config
        self.parts = parts
        self.controller = Controller(config.controller, config.length_penalty)
        self.collector = Collector(config, parts.generator, parts.scorer)
        self.scalars = ScalarLog(parts.folder.path / "tensorboard", first_step or 1)
        self.fresh = first_step is None
        self.first_step = first_step or 1
        self.stop_requested = False

    def run(self) -> int:
        """Train to the last step or until ``stop_requested``; return the last finished step."""
        p = self.parts
        if self.fresh:
            self._warm_start()
        step = self.first_step - 1
        p.progress.start("train", self.config.steps)
        p.progress.advance(step)
        while step < self.config.steps and not self.stop_requested:
            step += 1
            row = self.step(step)
            p.progress.advance(1, **progress_fields(row, self.controller.state.last_reset))
            last = step == self.config.steps or self.stop_requested
            if last or step % self.config.checkpoint.every == 0:
                self.checkpoint(step)
        p.progress.finish()
        self.scalars.close()
        return step

    def step(self, step: int) -> dict[str, Any]:
        """Do one step whole and return its metrics, which are also in ``metrics.jsonl``."""
        started = time.perf_counter()
        p = self.parts
        decisions = self.controller.begin_step(step)
        penalty = self.controller.penalty_active(step)
        with p.policy.compute():
            batch = self.collector.collect(self._prompts(step), step, penalty, self._on_round)
        update, trouble = self._update(step, batch)
        decisions += trouble
        row = step_metrics(step, batch, update, penalty, time.perf_counter() - started)
        validation = self._validate(step, row)
        kl = update.kl if update is not None else None
        resets = self.controller.end_step(step, kl, validation)
        for _ in resets:
            p.policy.reset_reference(clear_optimizer=self.config.controller.optimizer == "clear")
        self._record(step, batch, row, decisions + resets)
        return row

    def checkpoint(self, step: int) -> None:
        """Save everything and drop old checkpoints."""
        p = self.parts
        state = {"controller": self.controller.to_json(), "seed": self.config.seed}
        save_checkpoint(p.folder.checkpoints, step, p.policy, p.tokenizer, state)
        prune_checkpoints(p.folder.checkpoints, self.config.checkpoint.keep)

    def _record(
        self, step: int, batch: Batch, row: dict[str, Any], decisions: Sequence[Decision]
    ) -> None:
        folder = self.parts.folder
        folder.write_rollouts(step, batch.sampled, batch.kept)
        folder.log_decisions(decisions)
        folder.log_metrics(row)
        self.scalars.write(step, row)
        for d in decisions:
            self.parts.progress.message(f"step {d.step}: {d.kind.replace('_', ' ')} ({d.reason})")

    def _warm_start(self) -> None:
        p = self.parts
        decisions: list[Decision] = []
        if self.config.warm_start.examples:
            examples = choose_examples(p.train, self.config)
            p.progress.start("warm start", len(examples) * self.config.warm_start.epochs)
            decision = warm_start(
                p.policy,
                examples,
                self._gold_group,
                lambda count, loss: p.progress.advance(count, loss=f"{loss:.3f}"),
            )
            p.progress.finish()
            decisions.append(decision)
        p.policy.reset_reference(clear_optimizer=True)
        p.folder.log_decisions(decisions)
        self.checkpoint(0)

    def _gold_group(self, sample: Sample) -> PromptGroup:
        p = self.parts
        prompt = tuple(p.encode_prompt(p.tokenizer, sample.prompt))
        gold = p.tokenizer.encode(str(sample.metadata["gold_response"]), add_special_tokens=False)
        return PromptGroup(prompt, ((*gold, p.tokenizer.eos_token_id),), (0,))

    def _prompts(self, step: int) -> Iterator[Sample]:
        train, c = self.parts.train, self.config
        if c.data.domain_weights:
            domains = [s.domain for s in train]
            order = weighted_order(domains, c.data.domain_weights, c.seed, step)
        elif len(set(weights := [float(s.metadata.get("weight", 1.0)) for s in train])) > 1:
            order = item_order(weights, c.seed, step)
        else:
            order = step_order(len(train), c.seed, step, c.rollout.prompts)
        return (train[i] for i in order)

    def _on_round(self, batch: Batch) -> None:
        if batch.rounds > 1:
            kept, wanted = len(batch.kept), self.config.rollout.prompts
            self.parts.progress.advance(0, refill=f"round {batch.rounds}, {kept}/{wanted} groups")

    def _update(self, step: int, batch: Batch) -> tuple[UpdateStats | None, list[Decision]]:
        wanted, kept = self.config.rollout.prompts, len(batch.kept)
        evidence = {"groups_kept": kept, "groups_wanted": wanted, "rounds": batch.rounds}
        if not batch.kept:
            reason = f"no group had any spread in its rewards after {batch.rounds} rounds"
            return None, [Decision(step, "step_skipped", reason, evidence)]
        decisions = []
        if batch.gave_up and self.config.dynamic_sampling.enabled:
            reason = f"went on with {kept} of {wanted} groups after {batch.rounds} rounds"
            decisions.append(Decision(step, "refill_gave_up", reason, evidence))
        stats = self._train_on(step, batch.kept)
        if stats.skipped:
            reason = f"{stats.skipped} updates dropped: the gradient was not finite"
            decisions.append(Decision(step, "step_skipped", reason, {"updates": stats.skipped}))
        return stats, decisions

    def _train_on(self, step: int, groups: Sequence[Group]) -> UpdateStats:
        p = self.parts
        rewards: list[float] = []
        group_of: list[int] = []
        sampled: list[Sequence[float]] = []
        packed: list[PromptGroup] = []
        for number, group in enumerate(groups):
            first = len(rewards)
            for t in group.scored:
                rewards.append(t.shaped)
                group_of.append(number)
                sampled.append(t.completion.logprobs)
            prompt = tuple(p.encode_prompt(p.tokenizer, group.sample.prompt))
            answers = tuple(t.completion.token_ids for t in group.scored)
            packed.append(PromptGroup(prompt, answers, tuple(range(first, len(rewards)))))
        lengths = torch.tensor([len(x) for x in sampled])
        advantages = self._advantages(torch.tensor(rewards), torch.tensor(group_of), lengths)
        random.Random(derive_seed(self.config.seed, "mini_batches", step)).shuffle(packed)
        count = min(self.config.loss.mini_batches, len(packed))
        mini_batches = [packed[i::count] for i in range(count)]
        return p.policy.update(mini_batches, advantages, sampled)

    def _advantages(
        self, rewards: torch.Tensor, groups: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        a = self.config.advantage
        if a.estimator == "grpo":
            return a.sign * grpo_advantages(rewards, groups)
        weights = lengths if a.normalise == "token" else None
        return a.sign * reinforce_baseline_advantages(rewards, groups, weights)

    def _validate(self, step: int, row: dict[str, Any]) -> float | None:
        v, p = self.config.validation, self.parts
        if not v.every or step % v.every or not p.validation:
            return None
        started = time.perf_counter()
        chosen = watched(p.validation, v.problems)
        requests = [
            Request(
                s.prompt,
                tuple(
                    derive_seed(self.config.seed, "validation", s.id, i) for i in range(v.samples)
                ),
            )
            for s in chosen
        ]
        params = SamplingParams(v.temperature, v.top_p, self.config.rollout.max_tokens)
        with p.policy.compute():
            answers = p.generator.generate(requests, params)
        pairs = zip(chosen, answers, strict=True)
        verdicts = p.scorer.score([(c.text, s.task) for s, cs in pairs for c in cs])
        rewards = [x.reward for x in verdicts if x.reward is not None]
        mean = sum(rewards) / len(rewards) if rewards else math.nan
        row["validation_reward"] = mean
        row["validation_pass_rate"] = sum(r >= FULL_MARKS for r in rewards) / max(len(rewards), 1)
        row["validation_infra_errors"] = len(verdicts) - len(rewards)
        row["validation_seconds"] = round(time.perf_counter() - started, 3)
        p.progress.message(f"step {step}: validation reward {mean:.3f} on {len(chosen)} problems")
        return mean


def progress_fields(row: dict[str, Any], last_reset: int) -> dict[str, str]:
    """Return the short facts shown beside the bar for one step's metrics."""
    fields = {"reward": f"{row['reward_mean']:.3f}", "pass": f"{row['pass_rate']:.3f}"}
    if "kl" in row:
        fields |= {"KL": f"{row['kl']:.2g}", "entropy": f"{row['entropy']:.2f}"}
    fields["length"] = f"{row['response_length_mean']:.0f}"
    fields["tok/s"] = f"{row['tokens_per_second']:.0f}"
    fields["window"] = "penalty on" if row["length_penalty_active"] else "penalty off"
    fields["reset"] = f"step {last_reset}" if last_reset else "none yet"
    return fields
