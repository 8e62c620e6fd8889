"""OpenRLHF 0.11.2's policy actor (trainer/ray/ppo_actor.py) on one rank, changed to train by a ``StepPlan``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from openrlhf.trainer.ray import ppo_actor

from prorl_inference.tokens import set_template_options
from prorl_training.engine.openrlhf.actors import raw_class
from prorl_training.engine.openrlhf.actors.gradient_gate import GradientGate
from prorl_training.engine.openrlhf.actors.scoring import TokenScoring
from prorl_training.engine.openrlhf.actors.updates import Updates
from prorl_training.engine.openrlhf.actors.weights import model_checksum, whole_state
from prorl_training.engine.openrlhf.events import report_failures
from prorl_training.engine.openrlhf.spec import current_spec
from prorl_training.engine.openrlhf.step import Checksum, FitReport, StepPlan
from prorl_training.run.resume import parts_in_use

_Base: Any = raw_class(ppo_actor.PolicyModelActor)
TAG = "state"
"""DeepSpeed's name for the only checkpoint in a folder."""


class PolicyActor(_Base):  # type: ignore[misc]
    def init_model_from_pretrained(self, *args: Any, **options: Any) -> None:
        with report_failures("the policy"):
            parts_in_use(current_spec().config())  # this node needs the same plug-ins
            super().init_model_from_pretrained(*args, **options)
            config = current_spec().config()
            set_template_options(self.tokenizer, config.data.template_options)
            TokenScoring(self.actor, config.model.liger).install()
        self._gate = GradientGate(self._engine.optimizer)

    @property
    def _stage(self) -> int:
        return int(self.strategy.args.ds.zero_stage)

    @property
    def _engine(self) -> Any:
        return self.actor.model

    def fit_plan(self, plan: StepPlan) -> FitReport:
        args = self.strategy.args
        args.train.batch_size = plan.rows
        args.rollout.batch_size = plan.rows * len(plan.learning_rates)
        args.rollout.n_samples_per_prompt = 1
        self.actor.temperature = plan.temperature
        ranks = torch.distributed.get_world_size(self.strategy.ds_device_mesh["dp"].get_group())
        with Updates(self, plan, self._gate, ranks).in_place() as updates:
            self.fit()
        return updates.report()

    def set_temperature(self, temperature: float) -> None:
        self.actor.temperature = temperature

    def weights_checksum(self) -> Checksum:
        return model_checksum(self._engine.module, self._stage)

    def whole_weights(self) -> dict[str, torch.Tensor] | None:
        return whole_state(self._engine, self._stage)

    @torch.no_grad()
    def clear_optimizer(self) -> None:
        """Zero AdamW's state in place, because ZeRO keeps references to it."""
        adamw = self._engine.optimizer.optimizer  # under ZeRO's wrapper
        for state in adamw.state.values():
            for name, value in state.items():
                if torch.is_tensor(value):
                    value.zero_()
                elif name == "step":
                    state[name] = 0

    def write_to(self, folder: str) -> None:
        """Write the folders ``policy`` (Hugging Face) and ``deepspeed``. Must be called on every rank."""
        target = Path(folder)
        self.strategy.save_model(self.actor, self.tokenizer, str(target / "policy"))
        self._engine.save_checkpoint(str(target / "deepspeed"), tag=TAG, client_state={})
        ppo_actor.torch_dist_barrier_and_cuda_sync()

    def read_from(self, folder: str, optimizer: bool) -> Checksum:
        loaded, _ = self._engine.load_checkpoint(
            str(Path(folder) / "deepspeed"),
            tag=TAG,
            load_optimizer_states=optimizer,
            load_lr_scheduler_states=optimizer,
        )
        if loaded is None:
            raise RuntimeError(f"DeepSpeed found no checkpoint in {folder}")
        return self.weights_checksum()

    def save_model(self) -> None: ...  # the last checkpoint holds the policy
