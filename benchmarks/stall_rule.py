"""The stall and degradation rules on simulated validations: false decisions, power, delay.

Protocol, written before the rule it measures:

- A *run* is 3,000 steps of the real ``Controller`` with the default rules and a reset by interval every 300
  steps (as in ``prorl-v2``); it hears a validation every ``every`` steps and nothing else.
- Problem i is solved with probability p_i = sigmoid(m + ``spread`` z_i), z_i standard normal; m makes the mean
  over all z the level L. ``spread`` says how unlike the problems are (3.4: 250 problems with one answer each have
  noise 0.02 whatever the level between 0.4 and 0.6; 7: nearly all are always or never solved; 0: all alike). A
  ``concentrated`` drop falls on a fifth of the problems alone. (The first version moved p_i by a share of
  1 - p_i, which let the noise grow from 0.020 to 0.027 over a healthy run; ``problems 150`` is that noise now.)
- A validation asks every problem ``samples`` times. ``held``: with this probability an answer's random number
  is the one of the validation before (the same seeds, a policy that hardly moved). ``wobble``: the level itself
  wanders, an AR(1) of this standard deviation and 0.8 from one validation to the next: a real
  change of the policy that no error between problems can know of.
- *Paths* of the level: ``healthy`` climbs by 0.20 in a straight line, ``root`` by 0.20 as a square root,
  ``saturating`` by 0.20 as 1 - exp(-3 t), ``slow`` by 0.10; ``flat``; ``plateau`` climbs by 0.15 to step 1,500
  and stays; ``drop-D`` is healthy to a step drawn evenly from 1,000-2,000, falls there by D and stays;
  ``slide`` falls by 0.05 over the 500 steps after it instead.
- *False decisions* a run: findings ``stalled_validation`` and ``degraded_validation`` on ``healthy`` (every
  one that the controller names, also those of a second rule). On ``root``, ``saturating`` and ``slow`` the
  count is shown too; ``saturating`` ends at 0.018 per 1,000 steps, where a stall may be right.
- *Found* within d steps of a drop: share of runs with ``degraded_validation`` in (s, s + d]; runs with a
  false one before s stay in. *Delay* of a stall on ``plateau``: first stall after 1,500, median and 90th
  percentile over the runs (a run without one counts as the longest).
- Goal, in the cell ``base`` (250 problems, one answer, every 20 steps, noise 0.02): under 0.3 false decisions a
  run on ``healthy``, ``drop-0.05`` found within 200 steps in 95 %.
- One thing is changed at a time from ``base``. Seeds are ``--seed`` + run. The rule's form and defaults were chosen on a
  cruder model (normal noise on the mean alone) and on looks at ``base`` with seeds from 1,000,000; published is
  ``base`` with seeds from 2,000,000, which nothing was chosen on, and every other cell as first run.

    python benchmarks/stall_rule.py --cells base --runs 400 --out stall.json
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prorl_training.config import ControllerConfig, TrainConfig
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.validation_history import (
    Comparison,
    ValidationHistory,
    ValidationResult,
)

STEPS, START = 3000, 0.4
Level = Callable[[float], float]


@dataclass(frozen=True)
class Cell:
    """How validations are made."""

    problems: int = 250
    samples: int = 1
    every: int = 20
    spread: float = 3.4
    held: float = 0.0
    wobble: float = 0.0
    concentrated: bool = False


CELLS = {
    "base": Cell(),
    "problems 60": Cell(problems=60),
    "problems 150": Cell(problems=150),
    "problems 500": Cell(problems=500),
    "problems 1000": Cell(problems=1000),
    "samples 4": Cell(samples=4),
    "every 10": Cell(every=10),
    "every 50": Cell(every=50),
    "problems nearly decided (spread 7)": Cell(spread=7.0),
    "problems all alike (spread 0)": Cell(spread=0.0),
    "answers held 0.5": Cell(held=0.5),
    "answers held 0.8": Cell(held=0.8),
    "wobble 0.005": Cell(wobble=0.005),
    "wobble 0.01": Cell(wobble=0.01),
    "drop on a fifth": Cell(concentrated=True),
    "every 10, samples 4": Cell(every=10, samples=4),
}

PATHS: dict[str, Level] = {
    "healthy": lambda t: START + 0.20 * t / STEPS,
    "root": lambda t: START + 0.20 * math.sqrt(t / STEPS),
    "saturating": lambda t: START + 0.20 * (1 - math.exp(-3 * t / STEPS)) / (1 - math.exp(-3)),
    "slow": lambda t: START + 0.10 * t / STEPS,
    "flat": lambda t: START,
    "plateau": lambda t: START + 0.15 * min(t / 1500, 1.0),
}
FALLS = {
    "drop-0.03": (0.03, 0),
    "drop-0.05": (0.05, 0),
    "drop-0.08": (0.08, 0),
    "slide": (0.05, 500),
}


@functools.cache
def shift(spread: float, level: float) -> float:
    """Return m, for which sigmoid(m + spread z) has the mean ``level`` over a standard normal z."""
    low, high = -40.0, 40.0
    z = np.linspace(-6, 6, 1201)
    density = np.exp(-z * z / 2)
    for _ in range(40):
        middle = (low + high) / 2
        mean = (density / (1 + np.exp(-middle - spread * z))).sum() / density.sum()
        low, high = (middle, high) if mean < level else (low, middle)
    return low


def chances(cell: Cell, z: Any, level: float) -> Any:
    """Return every problem's chance where the mean level is ``level`` (to 0.0005)."""
    m = shift(cell.spread, round(min(max(level, 0.005), 0.995), 3))
    return 1 / (1 + np.exp(-m - cell.spread * z))


def validations(cell: Cell, path: str, rng: Any) -> tuple[list[tuple[int, Any]], int]:
    """Return [(step, rewards (problems,))] of one run and the step of its fall (0: none)."""
    z = rng.standard_normal(cell.problems)
    fifth = rng.random(cell.problems) < 0.2
    size, over = FALLS.get(path, (0.0, 0))
    fall = int(rng.integers(1000, 2001)) if size else 0
    last = min(STEPS, fall + 800) if fall else STEPS
    draws, wander, found = rng.random((cell.problems, cell.samples)), 0.0, []
    for step in range(cell.every, last + 1, cell.every):
        new = rng.random(draws.shape)
        draws = np.where(rng.random(draws.shape) < cell.held, draws, new)
        wander = 0.8 * wander + 0.6 * cell.wobble * rng.standard_normal()
        level = PATHS[path](step) if not fall else PATHS["healthy"](min(step, fall))
        lost = size * (min((step - fall) / over, 1.0) if over else 1.0) if step > fall > 0 else 0.0
        p = chances(cell, z, level + wander - (0.0 if cell.concentrated else lost))
        if cell.concentrated and lost:
            p = np.where(fifth, chances(cell, z, level + wander - 5 * lost), p)
        found.append((step, (draws < p[:, None]).mean(1)))
    return found, fall


class FastHistory(ValidationHistory):
    """The rule's history with the comparison in numpy; ``measure`` holds it to the rule's own answers."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: list[Any] = []

    def add(self, step: int, result: ValidationResult, config: ControllerConfig) -> None:
        """Take a validation; all problems have a verdict here."""
        super().add(step, result, config)
        self.arrays = [*self.arrays, np.asarray(result.rewards)][-len(self.rewards) :]

    def _compare(self, start: int, middle: int, due: float) -> Iterator[Comparison]:
        before, after = self.arrays[start:middle], self.arrays[middle:]
        first = functools.reduce(np.add, before) / len(before)
        gains = functools.reduce(np.add, after) / len(after) - first
        n, gain, level = len(gains), float(gains.mean()), float(first.mean())
        least = math.sqrt(0.5 / min(len(before), len(after))) / n
        error = max(float(gains.std(ddof=1)) / math.sqrt(n), least)
        p = 0.5 * math.erfc((due - gain) / error / math.sqrt(2))
        yield Comparison(level, level + gain, gain, error, n, "", "", due, p)


def decided(
    cell: Cell, path: str, seed: int, history: type[ValidationHistory] = FastHistory
) -> tuple[list[tuple[int, str]], int]:
    """Return [(step, rule)] of what the controller found in one run, and the step of its fall."""
    rng = np.random.default_rng(seed)
    rows, fall = validations(cell, path, rng)
    controller, found = Controller(TrainConfig()), []
    controller.validations = history()
    for step, rewards in rows:
        error = float(rewards.std(ddof=1)) / math.sqrt(cell.problems)
        result = ValidationResult(float(rewards.mean()), error, tuple(rewards.tolist()))
        for d in controller.end_step(step, Measured(None, None, result)):
            rules = (d.evidence["rule"], *d.evidence.get("also", []))
            found += [(step, r.removesuffix("_validation")) for r in rules if r != "interval"]
    return found, fall


def measure(cell: Cell, path: str, runs: int, seed: int) -> dict[str, float]:
    """Return what the protocol asks of one path in one cell."""
    results = [decided(cell, path, seed + run) for run in range(runs)]
    if decided(cell, path, seed, ValidationHistory) != results[0]:
        raise RuntimeError(f"numpy and the rule itself differ on {path}")
    counted = {
        rule: sum(r == rule for found, _ in results for _, r in found) / runs
        for rule in ("stalled", "degraded")
    }
    if path in FALLS:
        return {
            f"found in {d}": sum(
                any(r == "degraded" and fall < s <= fall + d for s, r in found)
                for found, fall in results
            )
            / runs
            for d in (100, 200, 800)
        }
    row = {**counted, "runs with a false degraded": 0.0}
    row["runs with a false degraded"] = (
        sum(any(r == "degraded" for _, r in found) for found, _ in results) / runs
    )
    if path in ("plateau", "flat"):
        since = 1500 if path == "plateau" else 0
        delays = sorted(
            min((s - since for s, r in found if r == "stalled" and s > since), default=STEPS)
            for found, _ in results
        )
        row["delay median"] = statistics.median(delays)
        row["delay 90 %"] = delays[int(0.9 * (runs - 1))]
    return row


def table(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the Markdown table of the docs."""
    head = (
        "| cell | false on healthy | root / saturating / slow | flat: false degraded "
        "| plateau: stall after (median, 90 %) | drop 0.03 / 0.05 / 0.08 in 200 | slide in 800 |"
    )
    lines = [head, "|---|---|---|---|---|---|---|"]
    for cell, paths in found.items():

        def total(path: str, paths: dict[str, dict[str, float]] = paths) -> str:
            return f"{paths[path]['stalled'] + paths[path]['degraded']:.2f}"

        drops = " / ".join(
            f"{paths[f'drop-{d}']['found in 200']:.0%}" for d in ("0.03", "0.05", "0.08")
        )
        delay = f"{paths['plateau']['delay median']:.0f}, {paths['plateau']['delay 90 %']:.0f}"
        lines.append(
            f"| {cell} | {total('healthy')} | {total('root')} / {total('saturating')} / "
            f"{total('slow')} | {paths['flat']['degraded']:.2f} | {delay} | {drops} | "
            f"{paths['slide']['found in 800']:.0%} |"
        )
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    """Simulate the cells that are asked for, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cells", nargs="*", default=list(CELLS), choices=list(CELLS))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=2_000_000)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(words)
    found = {
        name: {path: measure(CELLS[name], path, args.runs, args.seed) for path in (*PATHS, *FALLS)}
        for name in args.cells
    }
    print(table(found))
    if args.out:
        cells = {name: asdict(CELLS[name]) for name in found}
        text = json.dumps(
            {"runs": args.runs, "seed": args.seed, "cells": cells, "found": found}, indent=1
        )
        args.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
