"""ProRL inside verl 0.9.1: a subclass of its PPO trainer. docs/guides/trainer-adapters.md says how to use it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_training.callbacks.controlled import ControlledRun, scale_learning_rate, trainer_config
from prorl_training.config import TrainConfig
from prorl_training.run.folder import RunFolder
from prorl_training.types import Decision

KEYS = {
    "actor/pg_loss": "loss",
    "actor/grad_norm": "grad_norm",
    "actor/lr": "lr",
    "actor/kl_loss": "kl",
    "actor/reward_kl_penalty": "kl",
    "actor/entropy": "entropy",
    "actor/pg_clipfrac": "clipped_fraction",
    "critic/score/mean": "shaped_reward_mean",
    "response_length/mean": "response_length_mean",
    "response_length/clip_ratio": "truncated_rate",
    "rollout_corr/k3_kl": "mismatch_kl",
    "rollout_corr/rollout_is_eff_sample_size": "mismatch_ess",
    "perf/time_per_step": "seconds",
}
"""Names in verl's logs, and in ``metrics.jsonl``."""


def register(
    run: str | Path, preset: str = "prorl-v2", settings: Sequence[str] = (), mode: str = "sync"
) -> None:
    """Register ``trainer.v1.trainer_mode=prorl_MODE``: verl's ``mode`` with ProRL's controller and guard.

    Call it in a module that VERL_USE_EXTERNAL_MODULES names. ``settings`` are those of ``prorl train --set``. The
    values of verl's config override them.
    """
    from verl.trainer.ppo.v1.trainer_base import get_trainer_cls, register_trainer

    folder, base = RunFolder(Path(run)), get_trainer_cls(mode)
    register_trainer(f"prorl_{mode}")(controlled(base, mode, folder, preset, settings))


def controlled(
    base: type[Any], mode: str, folder: RunFolder, preset: str, settings: Sequence[str]
) -> type[Any]:
    """Return a subclass of a verl trainer that follows ProRL's decisions."""

    class ProRLTrainer(base):  # type: ignore[misc]
        prorl: ControlledRun

        def __init__(self, config: Any) -> None:
            verl_config(config, preset, settings)  # so that mistakes show before workers start
            config.trainer.v1.trainer_mode = mode
            super().__init__(config)
            self._raw: dict[str, list[float]] = {}
            self._validation: dict[str, list[float]] = {}

        def _init_resource_pool_mgr(self) -> None:
            import ray

            super()._init_resource_pool_mgr()
            workers = self.role_worker_mapping
            role = next(role for role in workers if str(role).startswith("actor"))
            if self.use_reference_policy and not str(role).endswith("ref"):
                raise UserError(
                    "a reset needs actor and reference in the same workers, which this trainer mode and LoRA lack"
                )
            workers[role] = ray.remote(resetting(workers[role].__ray_actor_class__))

        def on_train_begin(self) -> None:
            super().on_train_begin()
            config = verl_config(self.config, preset, settings)
            config = config.model_copy(update={"steps": self.total_training_steps})
            self.prorl = ControlledRun(config, folder)
            if step := self.global_steps - 1:
                self._apply(self.prorl.resume(folder.metrics(), step))
            else:
                self.prorl.begin(f"verl {importlib.metadata.version('verl')}")

        def on_step_begin(self) -> None:
            super().on_step_begin()
            self._raw = {}
            self._apply(self.prorl.begin_step(self.global_steps))
            self.actor_rollout_wg.scale_learning_rate(self.prorl.guard.lr_scale())

        def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:
            """Add the penalties to the scores, which hold a response's reward at its last token."""
            import torch
            import transfer_queue
            from tensordict import TensorDict

            rows = {"keys": batch.keys, "partition_id": batch.partition_id}
            data = transfer_queue.kv_batch_get(select_fields=["rm_scores", "responses"], **rows)
            scores = [score.clone() for score in data["rm_scores"].unbind()]
            limit, end = self.config.data.max_response_length, self.tokenizer.eos_token_id
            for key, tag, score, ids in zip(
                batch.keys, batch.tags, scores, data["responses"].unbind(), strict=True
            ):
                if not tag.get("is_padding", False):
                    raw = float(score.sum())
                    self._raw.setdefault(key.rsplit("_", 2)[0], []).append(raw)
                    cut = len(ids) >= limit and int(ids[-1]) != end
                    score[-1] += self.prorl.shaping(raw, len(ids), cut)
            nested = torch.nested.as_nested_tensor(scores, layout=torch.jagged)
            fields = TensorDict({"rm_scores": nested}, batch_size=len(scores))
            transfer_queue.kv_batch_put(fields=fields, **rows)
            return super()._compute_advantage(batch, metrics)

        def _maybe_log_val_generations(self, inputs: Any, outputs: Any, scores: Any) -> None:
            super()._maybe_log_val_generations(inputs=inputs, outputs=outputs, scores=scores)
            self._validation = {}
            for prompt, score in zip(inputs, scores, strict=True):
                self._validation.setdefault(prompt, []).append(float(score))

        def _compute_metrics(
            self, batch: Any, metrics: dict[str, Any], *args: Any, **kw: Any
        ) -> None:
            super()._compute_metrics(batch, metrics, *args, **kw)
            row = {KEYS[name]: float(v) for name, v in metrics.items() if name in KEYS}
            raw = [reward for group in self._raw.values() for reward in group]
            unequal = sum(max(group) > min(group) for group in self._raw.values())
            row["reward_mean"] = sum(raw) / len(raw)
            row["groups_kept"], row["filter_rate"] = unequal, 1 - unequal / len(self._raw)
            self._apply(self.prorl.end_step(row, self._validation))
            self._validation = {}
            if self.prorl.ended:
                self.total_training_steps = self.global_steps
            if self.global_steps >= self.total_training_steps:
                self.prorl.close()

        def _apply(self, decisions: Sequence[Decision]) -> None:
            for decision in (d for d in decisions if d.kind == "reference_reset"):
                clear = decision.evidence["optimizer"] == "clear"
                self.actor_rollout_wg.reset_reference(self.use_reference_policy, clear)

    return ProRLTrainer


def resetting(base: type[Any]) -> type[Any]:
    """Return a verl worker of actor and reference that can reset the reference and scale the learning rate."""
    from verl.single_controller.base.decorator import Dispatch, register

    class ProRLWorker(base):  # type: ignore[misc]
        def reset_reference(self, has_reference: bool, clear_optimizer: bool) -> None:
            if has_reference:
                # both engines shard alike
                actor, reference = (
                    [getattr(p, "_local_tensor", p).detach() for p in w.engine.module.parameters()]
                    for w in (self.actor, self.ref)
                )
                for source, target in zip(actor, reference, strict=True):
                    if source.shape != target.shape:
                        raise UserError("actor and reference must be sharded alike to be reset")
                    target.copy_(source)
            if clear_optimizer:
                self.actor.engine.optimizer.state.clear()

        def scale_learning_rate(self, scale: float) -> None:
            if not hasattr(self, "_scale"):
                scale_learning_rate(self.actor.engine.optimizer, lambda: self._scale)
            self._scale = scale

    for name in ("reset_reference", "scale_learning_rate"):
        method = getattr(ProRLWorker, name)
        setattr(ProRLWorker, name, register(dispatch_mode=Dispatch.ONE_TO_ALL)(method))
    return ProRLWorker


def verl_config(config: Any, preset: str, settings: Sequence[str]) -> TrainConfig:
    """Return the run's config. Raises UserError for a verl config with which ProRL cannot work."""
    models, in_reward = config.actor_rollout_ref, config.algorithm.use_kl_in_reward
    beta = config.algorithm.kl_ctrl.kl_coef if in_reward else models.actor.kl_loss_coef
    keeps_reference = in_reward or models.actor.use_kl_loss
    facts: dict[str, Any] = {
        "model.path": models.model.path,
        "rollout.prompts": config.data.train_batch_size,
        "rollout.samples": models.rollout.n,
        "rollout.max_tokens": config.data.max_response_length,
        "rollout.temperature": models.rollout.temperature,
        "optimizer.lr": models.actor.optim.lr,
        "safety.explode_factor": 0.0,  # verl updates before prorl sees the norm
        "validation.every": max(config.trainer.test_freq, 0),
    }
    if trainer_config(preset, settings, facts).kl.coefficient and not keeps_reference:
        raise UserError(
            "verl keeps no reference that could be reset: set actor_rollout_ref.actor.use_kl_loss=true, "
            "or settings=['kl.coefficient=0']"
        )
    facts["kl.coefficient"] = float(beta) if keeps_reference else 0.0
    return trainer_config(preset, settings, facts)
