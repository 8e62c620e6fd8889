"""What the study with and without the plateau loop can see: its claims, its difference and its stalls, by simulation.

    python benchmarks/evidence/smollm_loop_power.py [--trials 400]    # of stalls a quarter

Prints the tables of docs/evidence/smollm2-loop.md. Claims: the worlds of ``benchmarks/claims.py`` at this study's items,
answers, K and level. Difference: prorl's own power of a paired comparison. Stalls: the study's controller on
validations of its size; problems as in ``benchmarks/stall_rule.py``, levels over its steps that are written below.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from smollm_loop import ALPHA, SCALE, STEPS, STUDY, UPPER, K

from prorl_evaluation.stats.power import Rates, power
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.validation_history import ValidationResult

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ITEMS = SCALE.held_out * len(STUDY.tasks)
CLAIMED = SCALE.held_out * sum((t.level or 0) >= UPPER for t in STUDY.tasks)
"""Held-out items in all, and those of the claims."""
BASE = Rates(0.06, 0.8)
"""Rates of the held-out items before RL, about as in the pilots: most near 0, a few high."""
UPPER_BASE = Rates(0.02, 0.5)
"""Of those that the claims are of."""
GAINS = (0.0, 0.02, 0.05, 0.1, 0.2)
SPREAD = 3.4
"""How unlike the problems are (``stall_rule``)."""
PATHS: dict[str, Callable[[float], float]] = {
    "climbs by 0.20 in a straight line": lambda t: 0.06 + 0.2 * t / STEPS,
    "climbs by 0.20 to step 120, then flat": lambda t: 0.06 + 0.2 * min(t / 120, 1),
    "climbs by 0.05 in a straight line": lambda t: 0.06 + 0.05 * t / STEPS,
    "flat": lambda t: 0.06,
}


def claims_table(trials: int) -> str:
    """Return how often each claim is made of an arm at true changes of pass@1 and pass@K."""
    import claims

    claims.A = UPPER_BASE.mean * UPPER_BASE.concentration
    claims.B = (1 - UPPER_BASE.mean) * UPPER_BASE.concentration
    claims.N, claims.K, claims.ALPHA = SCALE.samples, K, ALPHA
    names = ("sustained", "sharpened only", "fell", "undecided")
    lines = [f"| true d1 | true d{K} | {' | '.join(names)} |", "|---" * 6 + "|"]
    for sharpened, change in [(True, c) for c in (-0.1, 0.0, 0.1, 0.2)] + [(False, 0.0)]:
        row = claims.measure(claims.Cell(CLAIMED, 2, sharpened, change), trials)
        said = " | ".join(f"{row['said'][name]:.1%}" for name in names)
        lines.append(f"| {row['d1']:+.3f} | {row['dK']:+.3f} | {said} |")
    return "\n".join(lines)


def difference_table(trials: int) -> str:
    """Return how often the interval of the difference, with minus without, lies above 0, at true differences of pass@1."""
    found = [power(ITEMS, SCALE.samples, gain, BASE, trials=trials) for gain in GAINS]
    head = " | ".join(f"{gain:+.2f}" for gain in GAINS)
    lines = [f"| true difference of pass@1 | {head} |", "|---" * (len(GAINS) + 1) + "|"]
    return "\n".join([*lines, f"| seen | {' | '.join(f'{p:.1%}' for p in found)} |"])


def stalls_table(trials: int) -> str:
    """Return how many stalls and degradations the loop finds on average, and in how many runs any stall."""
    lines = ["| validation | stalls a run | runs with a stall | degraded a run |", "|---" * 4 + "|"]
    for name, level in PATHS.items():
        counts = np.array([_decided(level, seed) for seed in range(trials)])
        stalls, degraded = counts.mean(0)
        lines.append(
            f"| {name} | {stalls:.2f} | {(counts[:, 0] > 0).mean():.0%} | {degraded:.2f} |"
        )
    return "\n".join(lines)


def _decided(level: Callable[[float], float], seed: int) -> tuple[int, int]:
    """Return how often one simulated run's validation is found stalled and degraded."""
    from stall_rule import Cell, chances

    config = STUDY.train_config("with", Path("data"), SCALE)
    v, rng = config.validation, np.random.default_rng(seed)
    z, controller, rules = rng.standard_normal(v.problems), Controller(config), []
    for step in range(1, config.steps + 1):
        rules += [d.evidence.get("rule") for d in controller.begin_step(step)]
        if step % v.every:
            continue
        p = chances(Cell(spread=SPREAD), z, level(step))
        rewards = (rng.random((v.samples, len(p))) < p).mean(0)
        result = ValidationResult(float(rewards.mean()), 0.0, tuple(rewards.tolist()))
        decisions = controller.end_step(step, Measured(None, None, result))
        rules += [r for d in decisions for r in (d.evidence["rule"], *d.evidence.get("also", []))]
    return rules.count("stalled_validation"), rules.count("degraded_validation")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=400)
    trials = parser.parse_args().trials
    print(claims_table(trials), difference_table(trials), sep="\n\n", end="\n\n", flush=True)
    print(stalls_table(trials // 4))


if __name__ == "__main__":
    main()
