"""One step's updates on a rank: stands between OpenRLHF's training step and DeepSpeed.

OpenRLHF 0.11.2 splits a mini-batch into micro-batches by tokens ("dynamic batch") and tells DeepSpeed that every
one of them is a whole batch. ZeRO-1 and 2 then keep the gradient of the last one only (runtime/zero/
stage_1_and_2.py, ``independent_gradient_partition_epilogue``), so the boundary is set by hand here. Its status is
a mean of values that are each divided by the whole mini-batch already, so the means are taken here as well.
Leaves out: the loss and the passes, which are OpenRLHF's (trainer/ray/ppo_actor.py).
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Self

import torch
from openrlhf.trainer.ray import ppo_actor

from prorl_training.algorithm import kl_penalty
from prorl_training.engine.openrlhf.stack.gradient_gate import GradientGate
from prorl_training.engine.openrlhf.step_plan import StepPlan, StepReport, UpdateReport

SUMS = {"policy_loss": "policy_loss", "kl": "kl", "entropy_loss": "entropy"}
"""OpenRLHF's metrics that add up to a mini-batch's mean over its micro-batches -> ours."""
SHARES = {"ppo_clip_ratio": "clipped", "is_filter_ratio": "masked"}
"""OpenRLHF's metrics that are means over a micro-batch's tokens -> ours."""


class Updates:
    """Carries out ``plan`` inside OpenRLHF's trainer of a rank (``actor``) and keeps what was measured."""

    def __init__(self, actor: Any, plan: StepPlan, gate: GradientGate) -> None:
        self._trainer = actor.trainer
        self._strategy = actor.strategy
        self._engine = actor.actor.model
        self._plan = plan
        self._gate = gate
        gate.limit = plan.norm_limit
        self._training_step = self._trainer.training_step
        self._optimizer_step = self._strategy.optimizer_step
        self._sums: list[defaultdict[str, float]] = [defaultdict(float)]
        self._steps: list[tuple[float, bool]] = []
        self._shares: defaultdict[str, float] = defaultdict(float)

    @contextlib.contextmanager
    def in_place(self) -> Iterator[Self]:
        """Stand in OpenRLHF's way for the block."""
        self._trainer.training_step = self.training_step
        self._strategy.optimizer_step = self.step
        ppo_actor.compute_approx_kl = self.kl
        try:
            yield self
        finally:
            self._trainer.training_step = self._training_step
            self._strategy.optimizer_step = self._optimizer_step

    def training_step(self, experience: Any, kl_ctl: float, step: int, info: Any = None) -> Any:
        """Run OpenRLHF's on micro-batch ``step``; only a mini-batch's last one is a boundary for DeepSpeed."""
        last = bool(self._trainer.replay_buffer.dynamic_optimizer_step[step])
        self._engine.set_gradient_accumulation_boundary(last)
        status = self._training_step(experience, kl_ctl, step, info)
        self._count(status["metrics"], float(status["num_action_tokens"]))
        if last:
            self._sums.append(defaultdict(float))
        return status

    def kl(self, log_probs: Any, base: Any, **options: Any) -> Any:
        """Return the KL estimate of the plan in the place of OpenRLHF's ``compute_approx_kl``."""
        del options  # estimator and clamp are the plan's
        return kl_penalty(log_probs.float(), base.float(), self._plan.kl)

    def step(self, optimizer: Any, model: Any, scheduler: Any, name: str = "model") -> None:
        """Have the gradients applied at the plan's learning rate, unless the gate drops them."""
        rate = self._plan.learning_rates[len(self._steps)]
        for group in self._engine.optimizer.param_groups:
            group["lr"] = rate
        self._optimizer_step(optimizer, model, scheduler, name=name)
        self._steps.append((self._gate.norm, self._gate.applied))

    def report(self) -> StepReport:
        """Return the step's numbers, the same on every rank. Raises RuntimeError when updates are missing."""
        count = len(self._plan.learning_rates)
        if len(self._steps) != count:
            raise RuntimeError(f"{len(self._steps)} updates were made, {count} planned")
        names = [*SUMS.values()]
        means = self._mean([[sums[name] for name in names] for sums in self._sums[:count]])
        updates = []
        for values, (norm, applied) in zip(means, self._steps, strict=True):
            found = dict(zip(names, values, strict=True))
            updates.append(UpdateReport(**found, grad_norm=norm, applied=applied))
        shares = [self._shares[name] for name in (*SHARES.values(), "tokens")]
        clipped, masked, tokens = self._mean([shares])[0]
        return StepReport(tuple(updates), clipped / max(tokens, 1), masked / max(tokens, 1))

    def _mean(self, rows: list[list[float]]) -> list[list[float]]:
        """Return the mean of ``rows`` over the ranks."""
        table = torch.tensor(rows, dtype=torch.float64)
        found: list[list[float]] = self._strategy.all_reduce(table, "mean").tolist()
        return found

    def _count(self, metrics: Mapping[str, Any], tokens: float) -> None:
        for name, ours in SUMS.items():
            if name in metrics:
                self._sums[-1][ours] += float(metrics[name])
        if not tokens:  # filling rows only: a share of nothing is nan
            return
        self._shares["tokens"] += tokens
        for name, ours in SHARES.items():
            if name in metrics:
                self._shares[ours] += float(metrics[name]) * tokens
