"""How often the intervals of ``prorl train forecast`` hold the truth, on simulated runs whose truth is known.

Protocol, written before the runs it describes:

- A *run* has ``validations`` validations at even steps up to compute 1, and is asked for its value at compute 1.5.
- *Shapes* (R0 0.20): ``sigmoid`` A 0.60, C_mid 0.4, B 2; ``slow`` A 0.60, C_mid 0.3, B 1.2; ``exponential`` A 0.55, 1 - exp(-C / 0.25);
  ``broken`` A 0.50, a straight line to 0.5, then level; ``logistic`` A 0.55, a logistic curve of C itself (middle 0.35,
  width 0.12), which is in none of the fitted families. ``flat``: 0.30 throughout, to count how often movement is seen.
- *Noise*: ``problems`` problems, the same every time, one answer each: problem j is solved with probability
  logistic(m_t + 2.5 z_j), z_j fixed for the run, m_t such that the mean over z is the curve plus the path. *Path*: AR(1) of
  standard deviation ``path`` and ``rho`` from one validation to the next: the policy wandering around its own trend.
- The *truth* is the mean over the run's own problems, path left out: for the value at the step asked for, for the ceiling at
  C = infinity (both by m of the curve there). So that the problems drawn do not count as an error.
- The forecast sees only rows as a run writes them; compute in steps. Counted: does the interval of the ceiling, of the value, of
  the gain (value less the curve at compute 1) hold the truth; the same for ``measured`` and a value drawn at 1.5 with path and
  answers; how many are ``identified`` (ceiling, value) and the share of right ones among those alone; how wide they are.
- A forecast whose path wanders as the fit allows most, rho 0.85, is not promised; cells go to 0.7.
- What the method was chosen on: looser trials (normal noise, seeds below 10,000), where the usual threshold of the profile
  likelihood covered 58-98 %; then two runs of this protocol. Seeds from 20,000: ceiling 96 %, value 98 %, but the gain of
  ``logistic`` down to 27 % in a cell, for want of a curve that ends fast: the family ``saturating`` came in. Seeds from 30,000: 98 %,
  since noise of the answers alone was never thought likely: it weighs half now.
- Published are seeds from 40,000 and from 50,000, which nothing of the intervals was chosen on. In between, ``identified`` was
  tried with the 99 % interval, for of those identified fewer hold the truth (narrow by luck): that answered 43 instead of 62 %
  of the runs and was right no more often, so it went again. A run's flags follow from its ``moved`` and widths.
- *Goal*: 93-97 % over all runs for ceiling and value, every cell shown with its own standard error. Nothing is tuned to
  the result; where it misses, the table says so.
- Seeds: ``--seed`` (40,000) + run, the same for every cell. Run 0 of every cell comes first, then run 1: wherever it is
  stopped, all cells have about as many. Every run is kept in ``--journal``; a second call goes on, and writes the summary anew.

    python benchmarks/forecast_coverage.py --runs 30 --seconds 280 --journal coverage.jsonl     # and --seed 50000
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_common import Journal, atomic_write_text
from prorl_training.schedule.forecast.forecasting import forecast

Array = NDArray[np.float64]
RECORD = (
    Path(__file__).resolve().parents[1]
    / "docs"
    / "evidence"
    / "data"
    / "forecast"
    / "coverage.json"
)
R0, ASKED, GAP, SPREAD = 0.20, 1.5, 20, 2.5
SHAPES: dict[str, tuple[float, Callable[[float], float]]] = {
    "sigmoid": (0.60, lambda c: 1 / (1 + (0.4 / max(c, 1e-9)) ** 2)),
    "slow": (0.60, lambda c: 1 / (1 + (0.3 / max(c, 1e-9)) ** 1.2)),
    "exponential": (0.55, lambda c: 1 - math.exp(-c / 0.25)),
    "broken": (0.50, lambda c: min(c / 0.5, 1.0)),
    "logistic": (0.55, lambda c: _logistic_share(c)),
    "flat": (0.30, lambda c: 1.0),
}
NOISES = {
    "250 problems": (250, 0.0, 0.0),
    "1,000 problems": (1000, 0.0, 0.0),
    "250, path 0.015, rho 0.4": (250, 0.015, 0.4),
    "1,000, path 0.015, rho 0.7": (1000, 0.015, 0.7),
}
VALIDATIONS = (12, 40)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-min(max(x, -700.0), 700.0)))


def _logistic_share(c: float) -> float:
    start = _logistic(-0.35 / 0.12)
    return (_logistic((c - 0.35) / 0.12) - start) / (1 - start)


class Cell(NamedTuple):
    """One place of the grid."""

    shape: str
    noise: str
    validations: int

    @property
    def name(self) -> str:
        """What the record calls it."""
        return f"{self.shape} | {self.noise} | {self.validations}"

    def level(self, compute: float) -> float:
        """Return the curve."""
        ceiling, share = SHAPES[self.shape]
        return R0 + (ceiling - R0) * share(compute) if self.shape != "flat" else ceiling


_LEVELS = np.linspace(-14, 14, 1121)
_NODES = np.polynomial.hermite_e.hermegauss(41)
_MEANS = ((1 / (1 + np.exp(-(_LEVELS[:, None] + SPREAD * _NODES[0][None])))) * _NODES[1]).sum(
    axis=1
) / _NODES[1].sum()


def run_of(cell: Cell, seed: int) -> dict[str, Any]:
    """Simulate one run, forecast it, and return what is counted."""
    random = np.random.default_rng(seed)
    problems, path, rho = NOISES[cell.noise]
    z = random.standard_normal(problems)
    count = cell.validations
    computes = np.arange(1, count + 1) / count
    wander = 0.0
    rows = []

    def solved(level: float) -> Array:
        m = float(np.interp(level, _MEANS, _LEVELS))
        return np.asarray(1 / (1 + np.exp(-(m + SPREAD * z))))

    def step_of_path(before: float) -> float:
        return rho * before + path * math.sqrt(1 - rho * rho) * random.standard_normal()

    wander = path * random.standard_normal()
    for place, compute in enumerate(computes, 1):
        rewards = (random.random(problems) < solved(cell.level(float(compute)) + wander)) * 1.0
        rows.append(
            {
                "step": place * GAP,
                "validation_reward": float(rewards.mean()),
                "validation_rewards": rewards.tolist(),
            }
        )
        wander = step_of_path(wander)
    to_step = round(ASKED * count * GAP)
    found = forecast(rows, to_step, unit="steps", seed=seed)
    truth = {
        "ceiling": float(solved(cell.level(1e9)).mean()),
        "value": float(solved(cell.level(ASKED)).mean()),
        "gain": float((solved(cell.level(ASKED)) - solved(cell.level(1.0))).mean()),
    }
    later = cell.level(ASKED) + path * random.standard_normal()
    truth["measured"] = float((random.random(problems) < solved(later)).mean())
    counted: dict[str, Any] = {"moved": (found.no_movement_p or 0.0) <= 0.05}
    for what, value in truth.items():
        interval = getattr(found, what)
        counted[what] = bool(interval.low - 1e-9 <= value <= interval.high + 1e-9)
        counted[f"{what}_width"] = interval.high - interval.low
        counted[f"{what}_identified"] = interval.identified
        counted[f"{what}_error"] = interval.value - value
    return counted


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a cell's shares and widths."""
    made: dict[str, Any] = {"runs": len(runs), "moved": sum(r["moved"] for r in runs)}
    for what in ("ceiling", "value", "gain", "measured"):
        sure = [r for r in runs if r[f"{what}_identified"]]
        made[what] = {
            "covered": sum(r[what] for r in runs),
            "identified": len(sure),
            "covered_identified": sum(r[what] for r in sure),
            "median_width": float(np.median([r[f"{what}_width"] for r in runs])),
            "rms_error": float(np.sqrt(np.mean([r[f"{what}_error"] ** 2 for r in runs]))),
        }
    return made


def main() -> None:
    """Simulate what is not in the journal yet, for as long as allowed, and write the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=100, help="of each cell")
    parser.add_argument("--seed", type=int, default=40_000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after these")
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=RECORD)
    given = parser.parse_args()
    cells = [Cell(*place) for place in itertools.product(SHAPES, NOISES, VALIDATIONS)]
    started = time.monotonic()
    with Journal(given.journal, fsync=False) as journal:
        done = {(r["cell"], r["seed"]): r for r in journal.rows()}
        for number, cell in itertools.product(range(given.runs), cells):
            seed = given.seed + number
            if (cell.name, seed) in done:
                continue
            if time.monotonic() - started > given.seconds:
                break
            done[cell.name, seed] = {"cell": cell.name, "seed": seed, **run_of(cell, seed)}
            journal.append(done[cell.name, seed])
    found = {c.name: [r for (name, _), r in done.items() if name == c.name] for c in cells}
    bases = sorted({seed // 1000 * 1000 for _, seed in done})
    record = {"seeds": bases, "cells": {n: summary(runs) for n, runs in found.items() if runs}}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    atomic_write_text(given.out, json.dumps(record, indent=1) + "\n")
    print(f"{sum(map(len, found.values()))} runs")


if __name__ == "__main__":
    main()
