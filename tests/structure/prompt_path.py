"""The files that a prompt passes in one training step of the local engine, counted while it happens.

Prints them, one a line. Trains a tiny random model for two steps on arithmetic prompts and profiles the second one, an
ordinary step: take prompts, render and tokenise, generate, score, shape, advantages, pack, loss and update, record. A
file of the packages counts when a function of it runs, in any thread of this process, between the call of
``TrainingLoop.step`` and its return.

Not counted: start-up and lazy imports (step 1 has done them); the checkpoint, validation, the length penalty, a
reference reset and TensorBoard (the config has none in this step); what a verifier does in the pool's worker process;
modules that only hold types and names.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Self

ROOT = Path(__file__).resolve().parents[2]


def files_of_a_step(run: Path) -> set[str]:
    """Return the project's files entered in step 2 of a small run in the folder ``run``."""
    import torch

    from prorl_common import NullProgress
    from prorl_datasets import Sample
    from prorl_inference import TransformersGenerator, encode_prompt
    from prorl_inference.testing import byte_tokenizer, tiny_model
    from prorl_training.config.loading import check_config
    from prorl_training.config.presets import load_preset
    from prorl_training.config.tree import merge
    from prorl_training.engine.loop import Parts, TrainingLoop
    from prorl_training.policy.update import Policy
    from prorl_training.rollout.prompts import PromptSource
    from prorl_training.run.folder import RunFolder
    from prorl_verifiers import Task, VerifierPool

    torch.manual_seed(0)
    over = {
        "steps": 2,
        "model": {"device": "cpu", "dtype": "fp32"},
        "rollout": {"prompts": 2, "samples": 4, "max_tokens": 8},
        # a random model scores 0: every group is trained on all the same
        "dynamic_sampling": {"enabled": False},
        "loss": {"mini_batches": 1},
        "validation": {"every": 0},
        "logging": {"tensorboard": False},
    }
    config = check_config(merge(load_preset("cpu"), over))
    samples = [
        Sample(
            id=f"sum-{i}",
            domain="math",
            prompt=({"role": "user", "content": f"{i} + 1 = ?"},),
            task=Task("math", {"answer": str(i + 1)}),
            source="benchmark",
            licence="none",
            split="train",
            metadata={},
        )
        for i in range(8)
    ]
    tokenizer = byte_tokenizer()
    policy = Policy(tiny_model(seed=0), config, torch.float32)
    folder = RunFolder(run)
    folder.create(config)
    with FilesEntered() as entered, VerifierPool(workers=1) as pool:
        parts = Parts(
            prompts=PromptSource(samples, lambda s: encode_prompt(tokenizer, s.prompt), 512),
            validation=[],
            policy=policy,
            tokenizer=tokenizer,
            generator=TransformersGenerator(policy.model, tokenizer),
            scorer=pool,
            folder=folder,
            progress=NullProgress(),
        )
        loop = TrainingLoop(config, parts)
        loop.start()
        loop.step(1)
        entered.open = True
        loop.step(2)
        entered.open = False
        loop.loggers.close()
    return entered.files()


class FilesEntered:
    """The project's files in which a function runs while ``open``, in this thread and in those begun after it."""

    def __init__(self) -> None:
        self.open = False
        self.found: set[str] = set()

    def __enter__(self) -> Self:
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _enter(self, frame: FrameType, event: str, argument: object) -> None:
        del argument
        if self.open and event == "call" and frame.f_code.co_name != "<module>":
            self.found.add(frame.f_code.co_filename)

    def files(self) -> set[str]:
        """Return the paths from the root of the repository, files of the packages alone."""
        inside = [Path(name) for name in self.found if name.startswith(str(ROOT))]
        packages = [file.relative_to(ROOT) for file in inside]
        return {str(file) for file in packages if file.parts[1].startswith("prorl_")}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        print(*sorted(files_of_a_step(Path(temporary) / "run")), sep="\n")
