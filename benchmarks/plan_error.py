"""How wrong `prorl plan` is where it can be measured: steps of three random models on this CPU, stage by stage.

The command's own model of time (operations and bytes over shares of a measured peak), with the shares taken from the two
other models, so that no stage is predicted from itself. Peaks are measured in the same run. Sampling is the
local engine's Transformers sampler, the update two mini-batches with a reference. One thread, and CPU time instead of
wall time, as other work on the machine disturbs it less. Also said: the error where one takes the whole peak. Nothing is
asserted.

    python benchmarks/plan_error.py --out plan_error.json
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from prorl_inference import Request, SamplingParams, TransformersGenerator
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import Policy, UpdateBatch
from prorl_training.sizing.cards import Card
from prorl_training.sizing.decoding import Sampler
from prorl_training.sizing.probe import (
    PassTimes,
    SampleTimes,
    measured_card,
    time_passes,
    time_sampling,
)
from prorl_training.sizing.ratios import stated_ratios
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.work import OPTIMIZER_BYTES

SIZES = ((192, 6), (384, 8), (640, 10))
"""Hidden size and layers."""
STAGES = ("sampling", "reference", "gradients", "optimizer")


@dataclass(frozen=True)
class Measured:
    """One model's shape and times."""

    shape: ModelShape
    sampling: SampleTimes
    passes: PassTimes

    def seconds(self) -> dict[str, float]:
        """Return stage -> measured seconds."""
        p = self.passes
        values = (self.sampling.seconds, p.score_seconds, p.update_seconds, p.optimizer_seconds)
        return dict(zip(STAGES, values, strict=True))


@dataclass(frozen=True)
class Shares:
    """What was learned of the machine; ``layer`` are seconds of a layer in one decoding iteration."""

    decode: float
    layer: float
    score: float
    update: float
    optimizer: float


def measure(hidden: int, layers: int, args: argparse.Namespace) -> Measured:
    """Run one model."""
    model = tiny_model(seed=0, hidden=hidden, layers=layers, vocab=args.vocab)
    shape = ModelShape.from_config(model.config.to_dict())
    config = TrainConfig.model_validate(
        {
            "rollout": {"temperature": 1.0, "prompts": args.prompts, "samples": args.samples},
            "loss": {"mini_batches": 2, "pack_tokens": 1024},
            "kl": {"coefficient": 0.1},
            "optimizer": {"lr": 1e-7},
            "model": {"dtype": "fp32"},
        }
    )
    tokenizer, rows = byte_tokenizer(), args.prompts * args.samples
    requests = [
        Request(({"role": "user", "content": f"{i:03d}" * 16},), tuple(range(args.samples)))
        for i in range(args.prompts)
    ]
    generator = TransformersGenerator(model, tokenizer, batch_size=rows)
    params = SamplingParams(1.0, 1.0, args.tokens)
    device = torch.device("cpu")
    sampling = time_sampling(generator, requests, params, shape, rows, 4, device)
    draw = random.Random(0)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(draw.randrange(args.vocab) for _ in range(count))

    groups = [
        PromptGroup(
            ids(50),
            tuple(ids(args.tokens) for _ in range(args.samples)),
            tuple(range(i * args.samples, (i + 1) * args.samples)),
        )
        for i in range(args.prompts)
    ]
    sampled = [[0.0] * args.tokens for _ in range(rows)]
    batch = UpdateBatch([groups[::2], groups[1::2]], torch.randn(rows), sampled, config)
    passes = time_passes(Policy(model, config, torch.float32), batch, shape, args.repeats)
    return Measured(shape, sampling, passes)


def learn(seen: Sequence[Measured], card: Card) -> Shares:
    """Return the shares that fit two models: decoding's by solving for both its numbers, the others' by their mean."""
    one, two = seen
    a, b = (m.sampling.flops / card.flops for m in seen)
    c, d = (m.sampling.iterations * m.shape.layers for m in seen)
    s, t = one.sampling.seconds, two.sampling.seconds
    inverse, layer = (s * d - t * c) / (a * d - b * c), (a * t - b * s) / (a * d - b * c)
    if inverse <= 0 or layer < 0:  # the two do not tell the parts from each other
        inverse, layer = (s + t) / (a + b), 0.0

    def mean(values: Sequence[float]) -> float:
        return math.exp(sum(map(math.log, values)) / len(values))

    passes = [m.passes for m in seen]
    moved = [
        m.shape.parameters
        * OPTIMIZER_BYTES
        * m.passes.optimizer_updates
        / m.passes.optimizer_seconds
        for m in seen
    ]
    return Shares(
        decode=1 / inverse,
        layer=layer,
        score=mean([p.ratios(card)["score_flops"] for p in passes]),
        update=mean([p.ratios(card)["update_flops"] for p in passes]),
        optimizer=mean(moved) / card.bandwidth,
    )


def predict(m: Measured, shares: Shares, card: Card) -> dict[str, float]:
    """Return stage -> predicted seconds, as the plan reckons them."""
    sampling, passes = m.sampling, m.passes
    own = {
        "decode_flops": shares.decode,
        "decode_bandwidth": 1.0,
        "layer_seconds": shares.layer,
        "iteration_seconds": 0.0,
        "row_seconds": 0.0,
    }
    ratios = stated_ratios().taking(own, "learned from the other models")
    decoding = Sampler(m.shape, card, ratios, sampling.rows, width=4)
    moved = m.shape.parameters * OPTIMIZER_BYTES * passes.optimizer_updates
    values = (
        decoding.seconds(sampling.lengths, sampling.prompt)
        + sampling.prompt_flops / (card.flops * shares.score),
        passes.score_flops / (card.flops * shares.score),
        passes.update_flops / (card.flops * shares.update),
        moved / (card.bandwidth * shares.optimizer),
    )
    return dict(zip(STAGES, values, strict=True))


def report(found: Sequence[Measured], card: Card) -> list[dict[str, object]]:
    """Print a table of errors and return its rows."""
    rows: list[dict[str, object]] = []
    print(f"peak {card.flops / 1e9:.1f} GFLOP/s, {card.bandwidth / 1e9:.1f} GB/s ({card.source})")
    print(
        f"{'parameters':>12} {'stage':<10} {'measured s':>11} {'predicted s':>12} {'error':>7} {'at peak':>8}"
    )
    peak = Shares(1.0, 0.0, 1.0, 1.0, 1.0)
    for number, m in enumerate(found):
        others = [other for i, other in enumerate(found) if i != number]
        measured = m.seconds()
        guessed = predict(m, learn(others, card), card)
        least = predict(m, peak, card)
        for stage in (*STAGES, "step"):
            triple = [
                sum(part.values()) if stage == "step" else part[stage]
                for part in (measured, guessed, least)
            ]
            error, bare = (value / triple[0] - 1 for value in triple[1:])
            print(
                f"{m.shape.parameters:>12,} {stage:<10} {triple[0]:>11.3f} {triple[1]:>12.3f} {error:>+7.0%} {bare:>+8.0%}"
            )
            rows.append(
                {
                    "parameters": m.shape.parameters,
                    "stage": stage,
                    "measured": triple[0],
                    "predicted": triple[1],
                    "error": error,
                    "error_at_peak": bare,
                }
            )
    return rows


def main() -> None:
    """Measure, predict and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=64, help="tokens of a response")
    parser.add_argument("--vocab", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    card = measured_card(torch.device("cpu"), torch.float32, "this CPU, one thread")
    found = [measure(hidden, layers, args) for hidden, layers in SIZES]
    rows = report(found, card)
    if args.out:
        settings = {k: v for k, v in vars(args).items() if k != "out"}
        result = {"settings": settings, "card": card.model_dump(), "rows": rows}
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
