"""Run one rank of prorl's policy and reference actors over gloo, without Ray and vLLM.

python ranks_program.py RUN MODEL RANK RANKS PORT SETTING... writes the whole weights after each stage
(RUN/NAME.safetensors, by rank 0) and RUN/RANK.json: stage -> report of the rank.
"""

from __future__ import annotations

import json
import math
import os
import runpy
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import openrlhf.utils
import ray
import torch
import torch.distributed as dist
from openrlhf.models import Actor
from openrlhf.utils import get_strategy
from parity_program import BASE, batch_of
from transformers import AutoModelForCausalLM

from prorl_training.config.loading import load_config, save_config
from prorl_training.engine.openrlhf.actors.experiences import blank_experience, trained_experience
from prorl_training.engine.openrlhf.actors.policy import PolicyActor
from prorl_training.engine.openrlhf.actors.reference import ReferenceActor
from prorl_training.engine.openrlhf.actors.weights import write_tensors
from prorl_training.engine.openrlhf.launch.arguments import Places, argument_list
from prorl_training.engine.openrlhf.launch.process import SCRIPT
from prorl_training.engine.openrlhf.spec import VARIABLE, Spec
from prorl_training.engine.openrlhf.step import TrainingRow, deal, mini_batch_rows, step_plan

LEARNING_RATE = 3e-5


class Parsed(Exception):
    """Raised to get OpenRLHF's arguments out of its script."""


def parsed(words: list[str]) -> Any:
    """Return OpenRLHF's arguments as its script checks them and passes them to its actors."""

    def stop(args: Any) -> None:
        raise Parsed(args)

    ray.is_initialized = lambda: True
    openrlhf.utils.get_strategy = stop
    sys.argv = [SCRIPT, *words]
    try:
        runpy.run_module(SCRIPT, run_name="__main__", alter_sys=True)
    except Parsed as found:
        return found.args[0]
    raise AssertionError("OpenRLHF's script went on without a strategy")


class Rank:
    """The policy and reference of one rank, and the rows that all ranks share."""

    def __init__(
        self, run: Path, model: Path, rank: int, ranks: int, port: int, settings: list[str]
    ) -> None:
        self.run, self.rank, self.ranks = run, rank, ranks
        path = f"model.path={model}"
        self.config = load_config(
            "prorl-v2",
            None,
            [*BASE, path, "model.device=cpu", f"openrlhf.cpu_ranks={ranks}", *settings],
        )
        if rank == 0:
            save_config(self.config, run / "config.yaml")
        places = Places(str(model), "none", "none", "none", ("http://none",), "cpu", 512)
        words = argument_list(self.config, places)
        spec = Spec(str(run), False, "cpu", tuple(words), ())
        os.environ[VARIABLE] = str(spec.write())
        strategy = get_strategy(parsed(words))
        self.policy = PolicyActor(ranks, rank, "127.0.0.1", port)
        self.reference = ReferenceActor(ranks, rank, "127.0.0.1", port)
        self.policy._setup_distributed(strategy)
        dist.barrier()  # until rank 0 has written the config
        self.policy.init_model_from_pretrained(strategy, str(model), 100, None)
        self.reference.init_model_from_pretrained(strategy, str(model))
        plain = Actor(AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32))
        plain.packing_samples = False
        self.rows = mini_batch_rows(batch_of(self.config, plain))
        self.rows[-1].pop()
        self.found: dict[str, Any] = {}

    def step(
        self, name: str, rows: list[list[TrainingRow]] | None = None, limit: float = math.inf
    ) -> None:
        """Train one step and store its result under ``name``."""
        share = deal(rows or self.rows, self.ranks)[self.rank]
        for row in (row for part in share for row in part):
            blank = blank_experience(row, 0)
            seen = [
                model.forward(blank.sequences, blank.action_mask, blank.attention_mask)[0]
                for model in (self.policy, self.reference)
            ]
            self.policy.append(trained_experience(row, (seen[0], seen[1]), 0))
        plan = step_plan(
            self.config, len(share[0]) * self.ranks, (LEARNING_RATE,) * len(share), limit
        )
        self.found[name] = {
            **asdict(self.policy.fit_plan(plan)),
            "passes": len(self.policy.trainer.replay_buffer.dynamic_indices),
        }
        self.keep(name)

    def keep(self, name: str) -> None:
        weights = self.policy.whole_weights()
        if weights is not None:
            write_tensors(weights, self.run / f"{name}.safetensors")

    def reset(self) -> None:
        """Make the reference the policy and clear the optimizer's moments, as the trainer does."""
        weights: list[Any] = [self.policy.whole_weights()]
        dist.broadcast_object_list(weights, 0)  # as Ray passes rank 0's weights to the reference
        reference = self.reference.take_weights(weights[0])
        self.found["reset"] = {"policy": self.policy.weights_checksum(), "reference": reference}
        self.policy.clear_optimizer()


def spoilt(rows: list[list[TrainingRow]]) -> list[list[TrainingRow]]:
    """Return the mini-batches with a NaN advantage in one row of the first, which goes to one rank."""
    first = [replace(rows[0][0], advantage=math.nan), *rows[0][1:]]
    return [first, *rows[1:]]


def main(words: list[str]) -> None:
    run = Path(words[0])
    rank = Rank(run, Path(words[1]), int(words[2]), int(words[3]), int(words[4]), words[5:])
    rank.step("trained")
    rank.step("limited", limit=1e-9)
    rank.step("spoilt", spoilt(rank.rows))
    rank.reset()
    rank.step("cleared")
    checkpoint = str(run / "checkpoint")
    rank.policy.write_to(checkpoint)
    rank.step("on")
    rank.found["restored"] = rank.policy.read_from(checkpoint, True)
    rank.keep("restored")
    rank.step("again")
    if rank.config.openrlhf.zero_stage == 2:
        rank.found["rolled back"] = rank.policy.read_from(checkpoint, False)
        rank.step("moments kept")
    (run / f"{rank.rank}.json").write_text(json.dumps(rank.found))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
