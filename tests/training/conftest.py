"""Builders for training tests: a tiny model on disk and the digit task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_common import NullProgress
from prorl_datasets import Sample
from prorl_inference import TransformersGenerator, load_model
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_inference.tokens import encode_prompt
from prorl_training.config import TrainConfig
from prorl_training.config.loading import check_config
from prorl_training.config.presets import load_preset
from prorl_training.config.tree import merge
from prorl_training.engine.loop import Parts, TrainingLoop
from prorl_training.policy.files import restore_checkpoint
from prorl_training.policy.update import Policy
from prorl_training.policy.warm_start import warm_start_if_configured
from prorl_training.rollout.prompts import PromptSource
from prorl_training.run.checkpoint import checkpoint_path, verify_checkpoint
from prorl_training.run.folder import RunFolder
from prorl_training.types import Scorer
from prorl_verifiers import Task, Verdict


class BoxedDigitScorer:
    """A fake verifier in this process: 1 if the text is exactly the boxed gold digit."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        return [self._judge(text, task) for text, task in items]

    def _judge(self, text: str, task: Task) -> Verdict:
        if not (text.startswith("\\boxed{") and text.endswith("}")):
            return Verdict(0.0, "unparsable", "no box")
        right = text == f"\\boxed{{{task.reference['answer']}}}"
        return Verdict(float(right), "scored", "exact")


def digit_samples(split: str = "train", right_gold: bool = False) -> list[Sample]:
    """Return 64 samples of eight prompts with answers (digit * 3 + 1) mod 8.

    Unless ``right_gold``, gold responses hold each digit once.
    """
    samples = []
    for digit in range(8):
        answer = (digit * 3 + 1) % 8
        for shown in range(8):
            text = f"\\boxed{{{answer if right_gold else shown}}}"
            samples.append(
                Sample(
                    id=f"{split}-{digit}-{shown}",
                    domain="math",
                    prompt=({"role": "user", "content": f"{digit}?"},),
                    task=Task("math", {"answer": str(answer)}),
                    source="test",
                    licence="none",
                    split=split,  # type: ignore[arg-type]
                    metadata={"gold_response": text},
                )
            )
    return samples


def tiny_config(**over: Any) -> TrainConfig:
    toy = {
        "steps": 4,
        "model": {"path": "tiny", "device": "cpu", "dtype": "fp32"},
        "rollout": {"prompts": 4, "samples": 4, "temperature": 1.0, "max_tokens": 12},
        "loss": {"mini_batches": 2, "pack_tokens": 512},
        "length_penalty": {"steps_on": 1, "steps_off": 2, "start_step": 2, "weight": 0.1},
        "controller": {"reset_interval": 3},
        "optimizer": {"lr": 1e-3},
        "validation": {"every": 2, "problems": 4},
        "checkpoint": {"every": 1},
        "warm_start": {"examples": 20, "lr": 1e-3},
    }
    return check_config(merge(merge(load_preset("prorl-v2"), toy), over))


def build_engine(
    config: TrainConfig, run: Path, scorer: Scorer | None = None, hidden: int = 32
) -> TrainingLoop:
    torch.manual_seed(0)
    model, tokenizer = tiny_model(seed=0, hidden=hidden), byte_tokenizer()
    policy = Policy(
        model, config, torch.bfloat16 if config.model.dtype == "bf16" else torch.float32
    )
    folder = RunFolder(run)
    folder.create(config)
    engine = TrainingLoop(config, parts_of(policy, tokenizer, folder, scorer))
    engine.start(warm_start_if_configured(policy, digit_samples(), tokenizer, NullProgress()))
    return engine


def parts_of(
    policy: Policy, tokenizer: Any, folder: RunFolder, scorer: Scorer | None = None
) -> Parts:
    """Return an engine's parts around a policy: the digit task, a fake scorer, no waiting."""
    return Parts(
        prompts=PromptSource(digit_samples(), lambda s: encode_prompt(tokenizer, s.prompt), 512),
        validation=digit_samples("validation"),
        policy=policy,
        tokenizer=tokenizer,
        generator=sampler_of(policy.model, tokenizer),
        scorer=scorer or BoxedDigitScorer(),
        folder=folder,
        progress=NullProgress(),
        sleep=lambda seconds: None,
    )


@pytest.fixture
def make_engine() -> Iterator[Callable[..., TrainingLoop]]:
    """Return the builder of engines on the tiny model; their folders are closed afterwards."""
    made: list[TrainingLoop] = []

    def build(*args: Any, **options: Any) -> TrainingLoop:
        made.append(build_engine(*args, **options))
        return made[-1]

    yield build
    for engine in made:
        engine.loggers.close()


@pytest.fixture
def make_config() -> Callable[..., TrainConfig]:
    return tiny_config


def sampler_of(model: Any, tokenizer: Any) -> TransformersGenerator:
    return TransformersGenerator(model, tokenizer, batch_size=256)


@pytest.fixture
def go_on() -> Callable[..., TrainingLoop]:
    """Return a function that finishes a run from a step's checkpoint as a new process does."""

    def again(engine: TrainingLoop, step: int, sampler: Any = sampler_of) -> TrainingLoop:
        folder = RunFolder(engine.parts.folder.path)
        path = checkpoint_path(folder.checkpoints, step)
        state = verify_checkpoint(path)
        model, tokenizer = load_model(path / "policy", "cpu", torch.float32)
        policy = Policy(model, engine.config, torch.float32)
        restore_checkpoint(path, policy, state)
        folder.truncate_after(step)
        prompts = engine.parts.prompts
        own: Any = {
            "policy": policy,
            "folder": folder,
            "generator": sampler(policy.model, tokenizer),
            "prompts": PromptSource(prompts.samples, prompts.encode, prompts.context),
        }
        loop = TrainingLoop(engine.config, replace(engine.parts, **own), step)
        loop.restore(state, path)
        assert loop.run() == engine.config.steps
        loop.loggers.close()
        return loop

    return again


@pytest.fixture(scope="session")
def digit_task() -> tuple[tuple[list[Sample], list[Sample]], Scorer]:
    """The digit task's (train, validation) samples with right gold responses, and its scorer."""
    samples = (digit_samples(right_gold=True), digit_samples("validation"))
    return samples, BoxedDigitScorer()


@pytest.fixture(scope="session")
def math_pool() -> Iterator[Any]:
    from prorl_verifiers import VerifierPool

    with VerifierPool(workers=2) as pool:
        yield pool
