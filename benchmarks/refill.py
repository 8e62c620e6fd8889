"""How long GPUs wait while a step is sampled: the collector on a simulated cluster, against the rounds it replaced.

    python benchmarks/refill.py [--rates 0.25 0.4] [--gpus 8 512] [--steps N] [--json FILE]
    python benchmarks/refill.py --rates 0.25 --short 60       # without a clock: which steps are short

The collector is the real one; sampler, scorer and clock are those of ``refill_cluster.py``. The one before it, which
awaited whole rounds, is read from git (commit ``ROUNDS``) and runs on the same problems, lengths and verdicts with its
own defaults. Leaves out the update, moving weights, and what staleness does to learning.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from refill_cluster import (
    LIMIT,
    SAMPLES,
    VERDICT,
    Clock,
    Cluster,
    InstantSampler,
    SimulatedSampler,
    SimulatedScorer,
)

from prorl_datasets import Sample
from prorl_training.config import SafetyConfig, TrainConfig
from prorl_training.rollout.collector import Collector
from prorl_training.rollout.types import Batch, Carried
from prorl_training.schedule.safety import Guard
from prorl_training.testing import named_sample

ROUNDS = "5ab0ce1"
"""The last commit whose collector awaited rounds."""
ARMS = ("rounds", "wait", "cancel", "carry")
"""The rounds, then the values of ``dynamic_sampling.late``."""
PROMPTS = 256
WARM_UP = 3
"""Steps that are not counted: the rate is learned and the buffer fills."""
Collect = Callable[[int, Carried], Batch]


@dataclass(frozen=True, slots=True)
class Result:
    """One arm at one usable rate on so many GPUs, means over the steps; times in seconds, shares of 1."""

    arm: str
    rate: float
    gpus: int
    step_seconds: float
    places_idle: float
    gpus_idle: float
    short_steps: int
    steps: int
    sampled_per_kept: float
    tokens_thrown_away: float
    stale_groups: float
    oldest: int
    length_trained: float


@dataclass
class RoundBatch(Batch):
    """A batch that counts its rounds, as ``ROUNDS`` did."""

    rounds: int = 0


def config_of(arm: str) -> TrainConfig:
    """Return prorl-v2's sizes with one way of treating late groups."""
    return TrainConfig.model_validate(
        {
            "rollout": {"prompts": PROMPTS, "samples": SAMPLES, "max_tokens": LIMIT},
            "dynamic_sampling": {} if arm == "rounds" else {"late": arm},
            "reward": {"overlap": False},
        }
    )


def problems(step: int) -> Iterator[Sample]:
    """Yield the step's problems, as many as are asked for."""
    return (named_sample(f"{step}.{i}") for i in itertools.count())


def rounds_of(sampler: Any, scorer: Any, guard: Guard, config: TrainConfig) -> Collect:
    """Return the collector of ``ROUNDS`` with its own default of four rounds."""
    path = f"{ROUNDS}:training/prorl_training/rollout/collector.py"
    asked = ["git", "show", path]
    found = subprocess.run(asked, cwd=Path(__file__).parent, check=True, capture_output=True)
    module: Any = types.ModuleType("round_collector")
    sys.modules[module.__name__] = module
    exec(compile(found.stdout, path, "exec"), module.__dict__)  # noqa: S102 - this repository's history
    module.Batch = RoundBatch
    old = module.Collector(sampler, scorer, guard)
    own: Any = SimpleNamespace(
        dynamic_sampling=SimpleNamespace(**config.dynamic_sampling.model_dump(), max_rounds=4),
        rollout=config.rollout,
        reward=config.reward,
        seed=config.seed,
    )

    def collect(step: int, carried: Carried) -> Batch:
        batch: Batch = old.collect(problems(step), step, own, carried.groups)
        return batch

    return collect


def collector_of(
    arm: str, sampler: Any, scorer: Any, guard: Guard, config: TrainConfig, clock: Clock
) -> Collect:
    """Return the collector of an arm."""
    if arm == "rounds":
        return rounds_of(sampler, scorer, guard, config)
    new = Collector(sampler, scorer, guard, clock=clock)
    return lambda step, carried: new.collect(problems(step), step, config, carried)


def simulate(arm: str, rate: float, gpus: int, steps: int, seed: int = 1) -> Result:
    """Run one arm for ``steps`` steps after the warm-up."""
    clock = Clock()
    cluster = Cluster(gpus, clock)
    sampler, scorer = SimulatedSampler(cluster, seed), SimulatedScorer(seed, rate)
    guard, config = Guard(SafetyConfig()), config_of(arm)
    collect = collector_of(arm, sampler, scorer, guard, config, clock)
    carried = Carried()
    seconds: list[float] = []
    idle: list[tuple[float, float]] = []
    batches: list[Batch] = []
    for step in range(1, WARM_UP + steps + 1):
        cluster.begin()
        began = clock.now
        batch = collect(step, carried)
        carried = batch.carried
        if step > WARM_UP:
            seconds.append(clock.now - began)
            idle.append(cluster.idle())
            batches.append(batch)
    kept = [(step, g) for step, b in enumerate(batches, WARM_UP + 1) for g in b.kept]
    thrown = sum(g.tokens for b in batches for g in b.cancelled)
    places, empty = (
        sum(x * s for x, s in zip(part, seconds, strict=True)) / sum(seconds)
        for part in zip(*idle, strict=True)
    )
    return Result(
        arm=arm,
        rate=rate,
        gpus=gpus,
        step_seconds=fmean(seconds),
        places_idle=places,
        gpus_idle=empty,
        short_steps=sum(b.gave_up for b in batches),
        steps=steps,
        sampled_per_kept=sum(len(b.sampled) for b in batches) / max(len(kept), 1),
        tokens_thrown_away=thrown / sum(b.tokens for b in batches),
        stale_groups=fmean(g.step != step for step, g in kept),
        oldest=max(step - g.step for step, g in kept),
        length_trained=fmean(g.tokens / SAMPLES for _, g in kept),
    )


def short_steps(arm: str, rate: float, steps: int, seed: int = 1) -> int:
    """Return how many of ``steps`` steps after the warm-up have fewer groups than they want: no clock, two samples."""
    small = config_of(arm)
    small = small.model_copy(update={"rollout": small.rollout.model_copy(update={"samples": 2})})
    generator, scorer = InstantSampler(), SimulatedScorer(seed, rate)
    collect = collector_of(arm, generator, scorer, Guard(SafetyConfig()), small, Clock())
    carried, short = Carried(), 0
    for step in range(1, WARM_UP + steps + 1):
        batch = collect(step, carried)
        carried = batch.carried
        short += step > WARM_UP and batch.gave_up
    return short


def table(results: list[Result]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        (
            "| usable | GPUs | late groups | s a step | places idle | GPUs idle | short steps | sampled for each kept | "
            "tokens thrown away | begun earlier | oldest | mean length trained on |"
        ),
        "|" + "---|" * 12,
    ]
    lines += [
        f"| {r.rate:g} | {r.gpus} | {r.arm} | {r.step_seconds:.0f} | {r.places_idle:.1%} | {r.gpus_idle:.1%} | "
        f"{r.short_steps} of {r.steps} | {r.sampled_per_kept:.2f} | {r.tokens_thrown_away:.1%} | {r.stale_groups:.0%} | "
        f"{r.oldest} | {r.length_trained:.0f} |"
        for r in results
    ]
    return "\n".join(lines)


def main() -> None:
    """Simulate every setting and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rates", type=float, nargs="+", default=[0.1, 0.25, 0.4, 0.6, 0.9])
    parser.add_argument("--gpus", type=int, nargs="+", default=[8, 32, 128, 512])
    parser.add_argument("--arms", nargs="+", default=ARMS, choices=ARMS)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument(
        "--short", type=int, metavar="STEPS", help="count short steps and do nothing else"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.short:
        for rate, arm in itertools.product(options.rates, options.arms):
            found = short_steps(arm, rate, options.short)
            print(f"usable {rate:g}, {arm}: {found} of {options.short} steps short")
        return
    results = []
    for rate, gpus, arm in itertools.product(options.rates, options.gpus, options.arms):
        results.append(simulate(arm, rate, gpus, options.steps))
        print(f"{arm} {rate:g} {gpus}: {results[-1]}", file=sys.stderr, flush=True)
    print(f"Verdicts come {VERDICT:g} s after a group is whole.\n\n{table(results)}")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")


if __name__ == "__main__":
    main()
