"""A rank of the policy: OpenRLHF's, trained by a plan that comes with every step.

What is different from OpenRLHF 0.11.2's ``PolicyModelActor`` (trainer/ray/ppo_actor.py): loss, KL and
learning rate follow the plan, updates that DeepSpeed dropped are counted, the optimiser can be cleared, and a checkpoint is written where and when the trainer says. Leaves out: the training step
itself, which is OpenRLHF's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from openrlhf.models import PolicyLoss
from openrlhf.trainer.ray import ppo_actor

from prorl_training.objectives import kl_penalty
from prorl_training.openrlhf.events import report_failure
from prorl_training.openrlhf.spec import current_spec
from prorl_training.openrlhf.stack.finite_gradients import always_check_gradients
from prorl_training.openrlhf.stack.raw import raw_class
from prorl_training.openrlhf.stack.weights import checksum, whole_state
from prorl_training.openrlhf.step_plan import StepPlan

_Base: Any = raw_class(ppo_actor.PolicyModelActor)
TAG = "state"
"""DeepSpeed's name for the one checkpoint in a folder."""


class PolicyActor(_Base):  # type: ignore[misc]
    """One rank of the policy."""

    def init_model_from_pretrained(self, *args: Any, **options: Any) -> None:
        """Load the model as OpenRLHF does; a failure is reported before the others wait for it."""
        try:
            super().init_model_from_pretrained(*args, **options)
        except Exception as error:
            report_failure(current_spec().folder, "the policy", error)
            raise
        always_check_gradients(self._engine.optimizer)

    @property
    def _stage(self) -> int:
        return int(self.strategy.args.ds.zero_stage)

    @property
    def _engine(self) -> Any:
        return self.actor.model

    def fit_plan(self, plan: StepPlan, coefficient: float) -> dict[str, Any]:
        """Train on the rows that were appended, as ``plan`` says; return OpenRLHF's status.

        ``coefficient`` is the KL's. ``updates_skipped`` counts updates that were not applied.
        """
        updates = _Updates(self, plan)
        args = self.strategy.args
        args.train.batch_size = plan.rows
        args.rollout.batch_size = plan.rows * len(plan.learning_rates)
        args.rollout.n_samples_per_prompt = 1
        self.actor.temperature = plan.temperature
        self.trainer.actor_loss_fn = PolicyLoss(**plan.loss)
        ppo_actor.compute_approx_kl = updates.kl
        step = self.strategy.optimizer_step
        self.strategy.optimizer_step = updates.step
        try:
            status: dict[str, Any] = self.fit(coefficient)
        finally:
            self.strategy.optimizer_step = step
        if updates.applied + updates.skipped != len(plan.learning_rates):
            raise RuntimeError(
                f"{updates.applied + updates.skipped} updates were made, {len(plan.learning_rates)} planned"
            )
        return {**status, "updates_skipped": updates.skipped}

    def set_temperature(self, temperature: float) -> None:
        """Score at this sampling temperature from now on."""
        self.actor.temperature = temperature

    def weights_checksum(self) -> dict[str, float]:
        """Return the checksum of the weights."""
        return checksum(self._engine.module.named_parameters(), self._stage)

    def whole_weights(self) -> dict[str, torch.Tensor] | None:
        """Return the weights by parameter name on rank 0, None elsewhere."""
        return whole_state(self._engine, self._stage)

    @torch.no_grad()
    def clear_optimizer(self) -> None:
        """Set AdamW's moments and step counts to zero, in place: ZeRO holds on to the tensors."""
        for state in _inner_optimizer(self._engine).state.values():
            for name, value in state.items():
                if torch.is_tensor(value):
                    value.zero_()
                elif name == "step":
                    state[name] = 0

    def write_to(self, folder: str) -> None:
        """Write ``policy`` (Hugging Face) and ``deepspeed`` into ``folder``; every rank writes its part."""
        target = Path(folder)
        self.strategy.save_model(self.actor, self.tokenizer, str(target / "policy"))
        self._engine.save_checkpoint(str(target / "deepspeed"), tag=TAG, client_state={})
        ppo_actor.torch_dist_barrier_and_cuda_sync()

    def read_from(self, folder: str, optimizer: bool) -> dict[str, float]:
        """Take over what ``write_to`` wrote, with the optimiser or without; return the checksum."""
        loaded, _ = self._engine.load_checkpoint(
            str(Path(folder) / "deepspeed"),
            tag=TAG,
            load_optimizer_states=optimizer,
            load_lr_scheduler_states=optimizer,
        )
        if loaded is None:
            raise RuntimeError(f"DeepSpeed found no checkpoint in {folder}")
        return self.weights_checksum()

    def save_model(self) -> None:
        """Write nothing at the end of OpenRLHF's script: the last checkpoint holds the policy."""


class _Updates:
    """Stands between OpenRLHF's training step and DeepSpeed for one step's updates."""

    def __init__(self, actor: PolicyActor, plan: StepPlan) -> None:
        self._actor = actor
        self._plan = plan
        self._step = actor.strategy.optimizer_step
        self.applied = self.skipped = 0

    def kl(self, log_probs: Any, base: Any, **options: Any) -> Any:
        """Return the KL estimate of the plan in the place of OpenRLHF's ``compute_approx_kl``."""
        del options  # estimator and clamp are the plan's
        return kl_penalty(log_probs.float(), base.float(), self._plan.kl)

    def step(self, optimizer: Any, model: Any, scheduler: Any, name: str = "model") -> None:
        """Apply the gradients at the plan's learning rate; DeepSpeed drops those that are not finite.

        It does so on all ranks alike (``finite_gradients``).
        """
        engine = self._actor._engine
        rate = self._plan.learning_rates[self.applied + self.skipped]
        for group in engine.optimizer.param_groups:
            group["lr"], group["eps"] = rate, self._plan.eps
            group["betas"] = self._plan.betas
            if group["weight_decay"]:
                group["weight_decay"] = self._plan.weight_decay
        self._step(optimizer, model, scheduler, name=name)
        if engine.optimizer.overflow:
            self.skipped += 1
        else:
            self.applied += 1


def _inner_optimizer(engine: Any) -> Any:
    """Return the AdamW under ZeRO's wrapper."""
    return engine.optimizer.optimizer
