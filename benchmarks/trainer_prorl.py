"""A child of ``trainer.py`` that runs this project's local engine on the workload.

    python benchmarks/trainer_prorl.py WORKLOAD.json

Like ``prorl train``, it writes journals and rollout files. The config is GRPO with one update per step, as for TRL.
Both trainers share the reward function, and end tokens do not end a completion, so that all have the same length. The
last printed line is JSON.
"""

from __future__ import annotations

import copy
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trainer_workload import Workload, questions, read_workload, result, reward

from prorl_common import NullProgress
from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_verifiers import Task, Verdict


class SameReward:
    """A scorer that returns the workload's reward."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict per item, in order."""
        return [Verdict(reward=reward(text), status="scored", reason="") for text, _ in items]


def config_of(workload: Workload) -> TrainConfig:
    """Return the run's config: GRPO, one mini-batch, no filtering, no schedule."""
    return load_config(
        "cpu",
        None,
        [
            f"model.path={workload.model}",
            f"model.device={workload.device}",
            f"model.dtype={workload.dtype}",
            f"steps={workload.warmup + workload.steps + workload.staleness}",
            f"rollout.staleness={workload.staleness}",
            f"rollout.prompts={workload.prompts}",
            f"rollout.samples={workload.samples}",
            f"rollout.max_tokens={workload.tokens}",
            f"rollout.batch_rows={workload.completions}",
            "rollout.backend=transformers",
            "dynamic_sampling.enabled=false",
            "length_penalty.weight=0",
            "advantage.estimator=grpo",
            "advantage.std=sample",
            "loss.clip_high=0.2",
            "loss.mini_batches=1",
            f"loss.pack_tokens={workload.pack_tokens}",
            f"kl.coefficient={workload.beta}",
            "kl.estimator=k3",
            "kl.measure_share_every=0",
            "controller.reset_interval=0",
            f"optimizer.lr={workload.lr}",
            "optimizer.beta2=0.999",
            "warm_start.examples=0",
            "validation.every=0",
            f"checkpoint.every={workload.warmup + workload.steps + 1}",
        ],
    )


def samples(workload: Workload) -> list[Sample]:
    """Return the workload's questions as training samples."""
    return [
        Sample(
            id=f"question-{i:04d}",
            domain="math",
            prompt=({"role": "user", "content": text},),
            task=Task("math", {"answer": "0"}),
            source="benchmark",
            licence="none",
        )
        for i, text in enumerate(questions(workload))
    ]


def rows_of(engine: Any, workload: Workload) -> list[dict[str, Any]]:
    """Run the engine's steps and return a row for each."""
    rows = []
    for step in range(1, workload.warmup + workload.steps + 1):
        started, cpu = time.perf_counter(), time.process_time()
        row = engine.step(step)
        rows.append(
            {
                "seconds": time.perf_counter() - started,
                "cpu_seconds": time.process_time() - cpu,
                "generate_seconds": row["sample_seconds"],
                "update_seconds": row["update_seconds"],
                "score_seconds": row["score_seconds"],
                "tokens": round(row["response_length_mean"] * workload.completions),
                "reward": row["reward_mean"],
            }
        )
    if engine.ahead is not None:
        engine.ahead.close()
    return rows


def least_cpu_seconds(workload: Workload, prompts: Any, parameters: int) -> float:
    """Return a step's arithmetic in CPU seconds at the best speed of a few matrix products; 0 on a GPU.

    It counts 2 operations per parameter and token of a forward pass, 4 of a backward pass, and each prompt once.
    """
    import torch

    lengths = [len(prompts.encode(sample)) for sample in prompts.samples]
    responses = workload.completions * workload.tokens
    tokens = responses + workload.prompts * sum(lengths) / len(lengths)
    passes = 1 + 3 + (workload.beta > 0)  # sampling, the policy with its gradient, the reference
    dtype = torch.bfloat16 if workload.dtype == "bf16" else torch.float32
    side, fastest = 2048, float("inf")
    matrix = torch.ones(side, side, dtype=dtype)
    for _ in range(8 if workload.device == "cpu" else 0):
        started = time.process_time()
        torch.mm(matrix, matrix)
        fastest = min(fastest, time.process_time() - started)
    least = 2 * parameters * tokens * passes * fastest / (2 * side**3)
    return least if workload.device == "cpu" else 0.0


def build(workload: Workload, folder: Path) -> Any:
    """Return the engine, ready for step 1."""
    from prorl_inference import (
        TransformersGenerator,
        encode_prompt,
        load_model,
        pick_dtype,
    )
    from prorl_training.engine.loop import Parts, TrainingLoop
    from prorl_training.policy.update import Policy
    from prorl_training.rollout.prompts import PromptSource
    from prorl_training.run.folder import RunFolder

    config = config_of(workload)
    path = Path(workload.model)
    model, tokenizer = load_model(path, workload.device, pick_dtype(workload.device, "fp32"))
    policy = Policy(model, config, pick_dtype(workload.device, workload.dtype))
    generator: Any = TransformersGenerator(
        copy.deepcopy(model) if workload.staleness else policy.model,
        tokenizer,
        batch_size=config.rollout.batch_rows,
        model_id=str(path),
    )
    generator.stop_ids = frozenset()
    run = RunFolder(folder / "run")
    run.create(config)
    prompts = PromptSource(samples(workload), lambda s: encode_prompt(tokenizer, s.prompt), None)
    parts = Parts(prompts, [], policy, tokenizer, generator, SameReward(), run, NullProgress())
    engine = TrainingLoop(config, parts)
    policy.reset_reference(clear_optimizer=True)
    return engine


def main(finish: Callable[[str], None] = print) -> None:
    """Train for the workload's steps and print their times as JSON."""
    workload = read_workload(Path(sys.argv[1]))
    import torch

    torch.set_num_threads(workload.threads)
    with tempfile.TemporaryDirectory() as folder:
        engine = build(workload, Path(folder))
        rows = rows_of(engine, workload)
    parameters = sum(p.numel() for p in engine.parts.policy.model.parameters())
    least = least_cpu_seconds(workload, engine.parts.prompts, parameters)
    finish(result(workload, "prorl", "", [row | {"least_cpu_seconds": least} for row in rows]))


if __name__ == "__main__":
    main()
