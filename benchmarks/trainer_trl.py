"""A child of ``trainer.py`` that runs TRL's GRPOTrainer on the workload, in an environment with TRL.

    python benchmarks/trainer_trl.py WORKLOAD.json

The settings are the fastest that need no code changes: no gradient checkpointing (on by default), logging, saving or
progress bar, batches in order, fused AdamW, and one on-policy update per generation, which skips the pass for old
log-probs. ``min_new_tokens`` forces the completion length. The last printed line is JSON.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from trainer_workload import Workload, questions, read_workload, result, reward


def settings(trl: Any, workload: Workload, folder: str) -> Any:
    """Return the GRPOConfig, with one optimiser step per generation of all completions."""
    return trl.GRPOConfig(
        output_dir=folder,
        use_cpu=workload.device == "cpu",
        bf16=workload.dtype == "bf16",
        per_device_train_batch_size=workload.micro_batch,
        gradient_accumulation_steps=workload.completions // workload.micro_batch,
        num_generations=workload.samples,
        max_steps=workload.warmup + workload.steps,
        max_completion_length=workload.tokens,
        generation_kwargs={"min_new_tokens": workload.tokens},
        temperature=1.0,
        top_p=1.0,
        top_k=0,
        beta=workload.beta,
        learning_rate=workload.lr,
        lr_scheduler_type="constant",
        max_grad_norm=1.0,
        epsilon=0.2,
        num_iterations=1,
        scale_rewards="group",
        loss_type="dapo",
        gradient_checkpointing=False,
        shuffle_dataset=False,
        dataloader_pin_memory=workload.device != "cpu",
        logging_strategy="no",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=workload.seed,
        model_init_kwargs={"dtype": "float32"},
    )


def main() -> None:
    """Train for the workload's steps and print their times as JSON."""
    workload = read_workload(Path(sys.argv[1]))
    import torch

    torch.set_num_threads(workload.threads)
    trl = importlib.import_module("trl")
    datasets = importlib.import_module("datasets")
    prompts = [{"prompt": [{"role": "user", "content": q}]} for q in questions(workload)]
    with tempfile.TemporaryDirectory() as folder:
        trainer = build(trl, datasets.Dataset.from_list(prompts), workload, folder)
        trainer.train()
    print(
        result(
            workload, "TRL GRPOTrainer", trl.__version__, trainer.rows[: trainer.state.max_steps]
        )
    )


def timed_class(trl: Any) -> Any:
    """Return GRPOTrainer with only its sampler timed."""

    class Timed(trl.GRPOTrainer):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.rows: list[dict[str, Any]] = []
            self.generate_seconds = 0.0
            self.generated = 0

        def _generate_single_turn(self, *args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            answer = super()._generate_single_turn(*args, **kwargs)
            self.generate_seconds += time.perf_counter() - started
            self.generated += sum(len(ids) for ids in answer[0])
            return answer

    return Timed


def build(trl: Any, dataset: Any, workload: Workload, folder: str) -> Any:
    """Return a trainer that collects one row per step in its ``rows``."""
    from transformers import TrainerCallback

    rewards: list[float] = []

    def score(completions: list[list[dict[str, str]]], **_: Any) -> list[float]:
        values = [reward(messages[0]["content"]) for messages in completions]
        rewards.append(sum(values) / len(values))
        return values

    class Clock(TrainerCallback):
        def on_step_begin(self, *_: Any, **__: Any) -> None:
            trainer.generate_seconds, trainer.generated = 0.0, 0
            self.started, self.cpu = time.perf_counter(), time.process_time()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            row = {"seconds": time.perf_counter() - self.started}
            row |= {"cpu_seconds": time.process_time() - self.cpu}
            row |= {"generate_seconds": trainer.generate_seconds, "tokens": trainer.generated}
            trainer.rows.append({**row, "reward": rewards[-1]})

    trainer = timed_class(trl)(
        model=workload.model,
        reward_funcs=score,
        args=settings(trl, workload, folder),
        train_dataset=dataset,
        callbacks=[Clock()],
    )
    return trainer


if __name__ == "__main__":
    main()
