"""Makes a step's gradient updates on one rank, with prorl's loss.

With OpenRLHF 0.11.2's dynamic batches, ZeRO-1 and 2 would keep only the last micro-batch's gradient
(runtime/zero/stage_1_and_2.py), so the accumulation boundary is set here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Self

import torch

from prorl_training.algorithm.objective import pass_loss
from prorl_training.engine.openrlhf.actors.experiences import response_tokens
from prorl_training.engine.openrlhf.actors.gradient_gate import GradientGate
from prorl_training.engine.openrlhf.step import FitReport, StepPlan, UpdateReport

KL, ENTROPY, CLIPPED, MASKED, TOKENS = range(5)
"""Indices into the sums over a step's response tokens."""


class Updates:
    """Makes a step's gradient updates on this rank, one of ``ranks``."""

    def __init__(self, actor: Any, plan: StepPlan, gate: GradientGate, ranks: int) -> None:
        self._trainer = actor.trainer
        self._strategy = actor.strategy
        self._engine = actor.actor.model
        self._plan = plan
        self._gate = gate
        gate.limit = plan.norm_limit
        self._ranks = ranks
        self._losses: list[list[float]] = [[0.0, 0.0]]
        self._sums = [0.0] * (TOKENS + 1)
        self._has_reference = False
        self._steps: list[tuple[float, bool]] = []

    @contextlib.contextmanager
    def in_place(self) -> Iterator[Self]:
        """Replace OpenRLHF's ``training_step`` inside the block."""
        original = self._trainer.training_step
        self._trainer.training_step = self.training_step
        try:
            yield self
        finally:
            self._trainer.training_step = original

    def training_step(self, experience: Any, kl_ctl: float, step: int, info: Any = None) -> Any:
        """Add the gradient of micro-batch ``step``. The last micro-batch of a mini-batch also updates the weights."""
        del kl_ctl, info  # both are in the plan and the rows
        trainer = self._trainer
        last = bool(trainer.replay_buffer.dynamic_optimizer_step[step])
        self._engine.set_gradient_accumulation_boundary(last)
        trainer.actor.train()
        logprobs, output = trainer.actor(
            experience.sequences,
            experience.action_mask,
            attention_mask=experience.attention_mask,
            return_output=True,
            ring_attn_group=self._strategy.ring_attn_group,
            return_entropy=True,
        )
        tokens = response_tokens(experience, logprobs)
        count = len(tokens.logprobs)
        loss = tokens.logprobs.sum()  # 0 if all rows are filler; DeepSpeed waits for a gradient
        if count:
            result = pass_loss(tokens, self._plan.loss, self._plan.kl)
            loss = result.loss
            self._losses[-1][0] += float(result.loss.detach())
            self._losses[-1][1] += float(result.policy_loss.detach())
            if result.kl is not None:
                self._sums[KL] += float(result.kl.detach().sum())
            entropy = output.entropy[:, -experience.action_mask.shape[1] :]
            self._sums[ENTROPY] += float(entropy[experience.action_mask.bool()].detach().sum())
            self._sums[CLIPPED] += float(result.clipped_fraction) * count
            self._sums[MASKED] += float(result.masked_fraction) * count
            self._sums[TOKENS] += count
        self._has_reference = tokens.reference is not None
        self._strategy.backward(loss * self._ranks, trainer.actor, trainer.actor_optim)
        if last:
            self._apply()
            self._losses.append([0.0, 0.0])
        # OpenRLHF logs a mean of these; the step's statistics are in ``report``.
        return {
            "metrics": {"policy_loss": loss.detach()},
            "weights": {"policy_loss": "sample"},
            "num_samples": float(len(experience.sequences)),
            "num_action_tokens": float(max(count, 1)),
        }

    def _apply(self) -> None:
        trainer = self._trainer
        for group in self._engine.optimizer.param_groups:
            group["lr"] = self._plan.learning_rates[len(self._steps)]
        self._strategy.optimizer_step(
            trainer.actor_optim, trainer.actor, trainer.actor_scheduler, name="actor"
        )
        self._steps.append((self._gate.norm, self._gate.applied))

    def report(self) -> FitReport:
        """Return the step's statistics over all ranks. Raises RuntimeError if updates are missing."""
        count = len(self._plan.learning_rates)
        if len(self._steps) != count:
            raise RuntimeError(f"{len(self._steps)} updates were made instead of {count}")
        losses = self._over_ranks(self._losses[:count])
        sums = self._over_ranks([self._sums])[0]
        kl, entropy, clipped, masked = (value / max(sums[TOKENS], 1) for value in sums[:TOKENS])
        updates = tuple(
            UpdateReport(loss, policy_loss, norm, applied)
            for (loss, policy_loss), (norm, applied) in zip(losses, self._steps, strict=True)
        )
        return FitReport(updates, kl if self._has_reference else None, entropy, clipped, masked)

    def _over_ranks(self, rows: list[list[float]]) -> list[list[float]]:
        table = torch.tensor(rows, dtype=torch.float64)
        sums: list[list[float]] = self._strategy.all_reduce(table, "sum").tolist()
        return sums
