"""Sampling by the posterior of the pass rate against uniform sampling, on a simulated policy: tokens to a reward.

Protocol, written before the first run:

- *World*: 2,000 training items in 40 families and 400 held-out ones. An item's pass rate is sigmoid(u + v - d): u its
  family's skill, v what was learnt of the item alone, d its difficulty, drawn from N(2, 3^2), so that of the items at
  the start about a third are nearly always wrong and a tenth nearly always right (n = 16). u and v begin at 0.
- *Learning*: a usable group whose share of right answers is q has the signal g = 4 q (1 - q), the gradient's size on a
  logit. Its item's v rises by ``ITEM`` g, its family's u by ``FAMILY`` g / (groups in the step's batch). *Forgetting*:
  after every step u and v are multiplied by 1 - ``forgetting``.
- *Step*: the real ``PromptSource`` (n = 16, 32 groups) and ``ItemRecords``. Groups are drawn one by one until 32 are
  usable or 10 x 32 were drawn (dynamic sampling as ``prorl-v2`` has it, without running ahead); a response costs one
  unit of tokens, dropped ones too.
- *Validation*, every 20 steps: the mean pass rate of the held-out items (sigmoid(u - d)), without noise. Targets:
  0.10 and 0.20 above the start, named before any result. A run is 3,000 steps; one that does not come there counts
  as not reached.
- *Printed*: tokens to both targets, as a ratio of posterior to uniform on the same seed, median and range over the
  seeds; usable share of drawn groups; validation at 3,000 steps and its tokens; the fewest draws that an item had, and
  what the floor promises (draws x floor / items). Seed = world and run, both arms on the same.
- *Cells*, one thing changed at a time: ``base`` (forgetting 0.002), ``no forgetting``, ``fast forgetting`` (0.01),
  ``items alone`` (nothing is shared by a family; then the held-out set learns nothing, and the mean pass rate of the
  training items is the validation), ``no filter`` (dynamic sampling off: 32 groups are drawn, usable or not), and
  floors and half-lives other than the defaults (0.2, 100).

What it cannot say: whether skill is shared like this in a language model, and what other lengths of responses would
do to tokens (a hard item's are longer).

    python benchmarks/posterior_sampling.py --cells base --seeds 5 --out posterior.json
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.config import TrainConfig
from prorl_training.rollout.prompts import PromptSource
from prorl_training.rollout.types import Group, Trajectory
from prorl_verifiers import Task, Verdict

STEPS, EVERY, GROUPS, SAMPLES, MOST = 3000, 20, 32, 16, 10
ITEMS, FAMILIES, HELD_OUT = 2000, 40, 400
ITEM, FAMILY = 0.2, 0.3
TARGETS = (0.10, 0.20)
TRIED = tuple(
    Trajectory(0, Completion("", (1,), (0.0,), "stop"), Verdict(reward, "scored", ""), reward)
    for reward in (0.0, 1.0)
)


@dataclass(frozen=True)
class Cell:
    """What is changed from ``base``."""

    forgetting: float = 0.002
    shared: bool = True
    filtered: bool = True
    data: Mapping[str, Any] = field(default_factory=dict)


CELLS = {
    "base": Cell(),
    "no forgetting": Cell(forgetting=0.0),
    "fast forgetting": Cell(forgetting=0.01),
    "items alone": Cell(shared=False),
    "no filter": Cell(filtered=False),
    "floor 0.05": Cell(data={"floor": 0.05}),
    "floor 0.5": Cell(data={"floor": 0.5}),
    "half-life 30": Cell(data={"half_life": 30.0}),
    "half-life 300": Cell(data={"half_life": 300.0}),
}


@dataclass
class Outcome:
    """One run: tokens (responses) at each target, None where it was not reached."""

    to_target: list[int | None]
    tokens: int
    usable_share: float
    end: float
    start: float
    fewest_draws: int
    promised_draws: float


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def run(cell: Cell, sampling: str, seed: int, steps: int) -> Outcome:
    """Simulate one run."""
    world, luck = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    difficulty = world.normal(2, 3, ITEMS)
    family = world.integers(FAMILIES, size=ITEMS)
    held_difficulty, held_family = (
        world.normal(2, 3, HELD_OUT),
        world.integers(FAMILIES, size=HELD_OUT),
    )
    u, v = np.zeros(FAMILIES), np.zeros(ITEMS)
    samples = _samples()
    source = PromptSource(samples, lambda s: [0], None)
    config = _config(cell, sampling, seed)
    place = {s.id: i for i, s in enumerate(samples)}
    draws = np.zeros(ITEMS, dtype=np.int64)
    tokens, usable_all, curve = 0, 0, [(0, 0.0)]

    def validation() -> float:
        if cell.shared:
            return float(sigmoid(u[held_family] - held_difficulty).mean())
        return float(sigmoid(v - difficulty).mean())

    start = validation()
    reached: list[int | None] = [None, None]
    for step in range(1, steps + 1):
        sampled, learnt = [], []
        for number, sample in enumerate(source.draw(step, config), 1):
            i = place[sample.id]
            draws[i] += 1
            right = int(luck.binomial(SAMPLES, sigmoid(u[family[i]] + v[i] - difficulty[i])))
            sampled.append(Group(sample, (TRIED[1],) * right + (TRIED[0],) * (SAMPLES - right)))
            if 0 < right < SAMPLES:
                learnt.append((i, 4 * right / SAMPLES * (1 - right / SAMPLES)))
            enough = len(learnt) == GROUPS or number == MOST * GROUPS
            if enough or (not cell.filtered and number == GROUPS):
                break
        source.records.record(step, sampled, config.data.half_life)
        tokens += len(sampled) * SAMPLES
        usable_all += len(learnt)
        for i, signal in learnt:
            v[i] += ITEM * signal
            if cell.shared:
                u[family[i]] += FAMILY * signal / GROUPS
        u *= 1 - cell.forgetting
        v *= 1 - cell.forgetting
        if step % EVERY == 0:
            curve.append((tokens, validation()))
            for number, target in enumerate(TARGETS):
                if reached[number] is None and curve[-1][1] >= start + target:
                    reached[number] = tokens
    drawn = int(draws.sum())
    promised = drawn * config.data.floor / ITEMS
    return Outcome(
        reached,
        tokens,
        usable_all / drawn,
        curve[-1][1],
        start,
        int(draws.min()),
        promised,
    )


def _samples() -> list[Sample]:
    prompt = ({"role": "user", "content": "x"},)
    task = Task("math", {"answer": "1"})
    return [Sample(f"s{i}", "math", prompt, task, "sim", "none", "train") for i in range(ITEMS)]


def _config(cell: Cell, sampling: str, seed: int) -> TrainConfig:
    return TrainConfig.model_validate(
        {
            "seed": seed,
            "rollout": {"prompts": GROUPS, "samples": SAMPLES},
            "data": {"sampling": sampling, **cell.data},
        }
    )


def summary(name: str, pairs: list[tuple[Outcome, Outcome]]) -> str:
    """Return a cell's row of the table; pairs are (uniform, posterior)."""
    parts = [name]
    for number in range(len(TARGETS)):
        both = [
            (a.to_target[number], b.to_target[number])
            for a, b in pairs
            if a.to_target[number] and b.to_target[number]
        ]
        missed = [sum(p[arm].to_target[number] is None for p in pairs) for arm in (0, 1)]
        ratios = sorted(b / a for a, b in both if a and b)
        shown = "-"
        if ratios:
            shown = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        note = f", not reached {missed[0]}/{missed[1]}" if any(missed) else ""
        parts.append(shown + note)

    def median(arm: int, key: str) -> float:
        return statistics.median(float(getattr(p[arm], key)) for p in pairs)

    parts.append(f"{median(0, 'usable_share'):.2f} / {median(1, 'usable_share'):.2f}")
    parts.append(f"{median(0, 'end'):.3f} / {median(1, 'end'):.3f}")
    parts.append(f"{median(1, 'tokens') / median(0, 'tokens'):.2f}")
    fewest = min(p[1].fewest_draws for p in pairs)
    parts.append(f"{fewest} (promised {median(1, 'promised_draws'):.0f})")
    return "| " + " | ".join(parts) + " |"


def main() -> None:
    """Run the cells and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cells", nargs="+", default=["base"], choices=list(CELLS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    targets = " | ".join(f"tokens to +{t:.2f}, posterior / uniform" for t in TARGETS)
    print(f"| cell | {targets} | usable | validation at the end | tokens | fewest draws |")
    print("|---" * (5 + len(TARGETS)) + "|")
    rows = []
    for name in given.cells:
        pairs = []
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            arms = [run(CELLS[name], s, seed, given.steps) for s in ("uniform", "posterior")]
            pairs.append((arms[0], arms[1]))
            rows += [
                {"cell": name, "seed": seed, "sampling": s, **asdict(o)}
                for s, o in zip(("uniform", "posterior"), arms, strict=True)
            ]
        print(summary(name, pairs), flush=True)
        if given.out:
            given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
