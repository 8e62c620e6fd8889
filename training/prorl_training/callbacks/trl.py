"""ProRL in TRL's GRPOTrainer, checked with TRL 1.16."""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from prorl_common import UserError
from prorl_training.callbacks.controlled import ControlledRun, scale_learning_rate, trainer_config
from prorl_training.run.folder import RunFolder
from prorl_training.types import Decision

RewardFunction = Callable[..., list[float | None]]
KEYS = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "lr",
    "kl": "kl",
    "entropy": "entropy",
    "reward": "shaped_reward_mean",
    "rewards/raw_reward/mean": "reward_mean",
    "frac_reward_zero_std": "filter_rate",
    "completions/mean_length": "response_length_mean",
    "completions/clipped_ratio": "truncated_rate",
    "sampling/sampling_logp_difference/mean": "sampler_gap",
}
"""Name of a metric in TRL's logs -> its name in ``metrics.jsonl``."""


class ProRLCallback(TrainerCallback):
    """Applies ProRL's controller and guard to a GRPOTrainer, and writes a run folder.

    Create the trainer with ``reward_funcs=callback.rewards(...)``, then call ``attach``. A step is an optimiser step.
    """

    run: ControlledRun

    def __init__(
        self, run: str | Path, preset: str = "prorl-v2", settings: Sequence[str] = ()
    ) -> None:
        """``settings`` are as for ``prorl train --set``. GRPOConfig's values override them."""
        self.folder = RunFolder(Path(run))
        self._preset, self._settings = preset, settings
        self._trainer: Any = None
        self._facts: dict[str, Any] = {}
        self._raw: list[float | None] = []
        self._validation: list[tuple[str, float | None]] = []
        self._row: dict[str, Any] | None = None

    def rewards(self, reward: RewardFunction) -> list[RewardFunction]:
        """Return the list for ``reward_funcs``: ``reward`` (not async) and a function for ProRL's penalties."""

        def raw_reward(prompts: Sequence[Any], **columns: Any) -> list[float | None]:
            if self._trainer is None:
                raise UserError("call ProRLCallback.attach(trainer) before trainer.train()")
            self._raw = list(reward(prompts=prompts, **columns))
            if not self._trainer.model.training:
                self._validation += zip(map(repr, prompts), self._raw, strict=True)
            return self._raw

        def prorl_shaping(completion_ids: Sequence[Any], **columns: Any) -> list[float | None]:
            added, trainer = [None if raw is None else 0.0 for raw in self._raw], self._trainer
            for i, (raw, ids) in enumerate(zip(self._raw, completion_ids, strict=True)):
                if raw is not None and trainer.model.training:
                    full = len(ids) >= trainer.max_completion_length
                    cut = full and ids[-1] not in trainer.eos_token_ids
                    added[i] = self.run.shaping(raw, len(ids), cut)
            return added

        return [raw_reward, prorl_shaping]

    def attach(self, trainer: Any) -> None:
        """Add the callback to ``trainer`` before training. Raises UserError for unsupported arguments."""
        args, evaluates = trainer.args, trainer.args.eval_strategy.value
        cures = {
            "logging_steps=1": args.logging_strategy.value != "steps" or args.logging_steps != 1,
            "eval_strategy='steps'": evaluates == "epoch",
            "sync_ref_model=False": args.sync_ref_model,
            "deepspeed=None": bool(args.deepspeed),  # it updates before a callback could stop it
        }
        for cure in (cure for cure, needed in cures.items() if needed):
            raise UserError(f"ProRLCallback needs GRPOConfig({cure})")
        self._facts = {
            "model.path": trainer.model.config._name_or_path or "model",
            "rollout.prompts": args.generation_batch_size // args.num_generations,
            "rollout.samples": args.num_generations,
            "rollout.max_tokens": args.max_completion_length,
            "rollout.temperature": args.temperature,
            "optimizer.lr": args.learning_rate,
            "validation.every": int(args.eval_steps) if evaluates == "steps" else 0,
        }
        beta = trainer_config(self._preset, self._settings, self._facts).kl.coefficient
        if (beta or args.beta) and trainer.ref_model is None:
            raise UserError(
                "GRPOTrainer has no reference to reset with beta=0 or LoRA: train all weights with "
                "beta above 0, or use beta=0 and settings=['kl.coefficient=0']"
            )
        self._facts["kl.coefficient"] = args.beta
        self._trainer, clip = trainer, trainer.accelerator.clip_grad_norm_
        trainer.add_callback(self)

        def clip_and_check(*arguments: Any, **options: Any) -> Any:
            norm = clip(*arguments, **options)
            limit = self.run.guard.norm_limit()
            if norm is not None and not (math.isfinite(norm) and norm <= limit):
                trainer.optimizer.zero_grad()  # AdamW passes over parameters without gradients
            return norm

        trainer.accelerator.clip_grad_norm_ = clip_and_check

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        from accelerate.utils import broadcast_object_list

        self._facts["steps"] = state.max_steps
        config = trainer_config(self._preset, self._settings, self._facts)
        folder = self.folder if state.is_world_process_zero else None
        self.run = ControlledRun(config, folder)
        if state.global_step:
            (rows,) = broadcast_object_list([[] if folder is None else folder.metrics()])
            self._apply(self.run.resume(rows, state.global_step))
        else:
            self.run.begin(f"trl {importlib.metadata.version('trl')}")
        optimizer = self._trainer.optimizer  # Accelerate wraps it
        scale_learning_rate(getattr(optimizer, "optimizer", optimizer), self.run.guard.lr_scale)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._validation = []
        self._apply(self.run.begin_step(state.global_step + 1))

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if not logs or "loss" not in logs:  # of an evaluation
            return
        self._row = {KEYS[name]: v for name, v in logs.items() if name in KEYS and v is not None}
        if (flat := self._row.get("filter_rate")) is not None:
            groups = args.generation_batch_size // args.num_generations
            self._row["groups_kept"] = round(groups * (1 - flat))
        if not control.should_evaluate:
            self._end_step(control)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._end_step(control)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.run.close()

    def _end_step(self, control: Any) -> None:
        from accelerate.utils import gather_object

        validation: dict[str, list[float | None]] = {}
        for prompt, raw in gather_object(self._validation):  # of all processes
            validation.setdefault(prompt, []).append(raw)
        if self._row is not None:  # else an evaluation outside a step
            row, self._row = self._row, None
            self._apply(self.run.end_step(row, validation))
            control.should_training_stop |= self.run.ended

    def _apply(self, decisions: Sequence[Decision]) -> None:
        trainer = self._trainer
        for decision in (d for d in decisions if d.kind == "reference_reset"):
            if trainer.ref_model is not None:
                policy = trainer.accelerator.unwrap_model(trainer.model).parameters()
                for ours, theirs in zip(policy, trainer.ref_model.parameters(), strict=True):
                    theirs.data.copy_(ours.data)
            if decision.evidence["optimizer"] == "clear":
                trainer.optimizer.state.clear()
