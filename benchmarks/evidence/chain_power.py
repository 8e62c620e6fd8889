"""How often docs/evidence/boundary-study.md's primary claim would be made, by simulation before the runs.

    python benchmarks/evidence/chain_power.py --outside 150      # prints the protocol's table

A seed's mean over the outside items is the truth times a log-normal factor of median 1; an item's pass rate in a
seed is a mixture of what the item is in all seeds and of what it is in this one; right answers are
binomial. Leaves out: the claim itself (``chain_stats``).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from chain_stats import PRIMARY_LEVEL, Floats, gained, typical
from chain_study import EVAL_SAMPLES

ROUNDS = 2000
TRUTHS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)


@dataclass(frozen=True, slots=True)
class World:
    """What is assumed: items, seeds, how far seeds lie apart and how much items differ."""

    items: int
    seeds: int
    spread: float
    """Standard deviation between the logarithms of the seeds' means."""
    alpha: float = 0.3
    """First shape of the items' Beta distribution: below 1, most are near 0 and a few near 1."""


def draw(world: World, truth: float, rng: np.random.Generator) -> Floats:
    """Return one simulated arm's pass@1, [seeds, items], when the typical seed's pass rate is ``truth``."""
    if truth == 0:
        return np.zeros((world.seeds, world.items))
    factors = np.exp(rng.normal(0.0, world.spread, world.seeds))
    means = np.minimum(truth * factors, 0.95)
    shared = rng.random(world.items)
    rates = np.empty((world.seeds, world.items))
    for i, mean in enumerate(means):
        sorted_rates = np.sort(rng.beta(world.alpha, world.alpha * (1 - mean) / mean, world.items))
        own = 0.7 * shared + 0.3 * rng.random(world.items)
        rates[i, np.argsort(own)] = sorted_rates
    return rng.binomial(EVAL_SAMPLES, rates) / EVAL_SAMPLES


def claims(world: World, truth: float, rounds: int = ROUNDS, seed: int = 0) -> dict[str, float]:
    """Return how often each claim is made when the typical seed's pass rate is ``truth``."""
    rng = np.random.default_rng(seed)
    groups = ["outside"] * world.items
    made = [gained(typical(draw(world, truth, rng), groups, PRIMARY_LEVEL)) for _ in range(rounds)]
    return {claim: made.count(claim) / rounds for claim in ("yes", "no", "undecided")}


def table(items: int) -> str:
    """Return the shares of yes and no by truth, seeds and spread between seeds, as Markdown."""
    worlds = [World(items, seeds, spread) for seeds in (5, 3) for spread in (0.3, 0.6)]
    heads = [f"{w.seeds} seeds, spread {w.spread:g}: yes; no" for w in worlds]
    lines = ["| true pass@1 | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
    for truth in TRUTHS:
        cells = []
        for world in worlds:
            found = claims(world, truth)
            cells.append(f"{100 * found['yes']:.1f} %; {100 * found['no']:.1f} %")
        lines.append(f"| {100 * truth:g} % | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--outside", type=int, default=150, help="items outside the boundary")
    print(table(parser.parse_args().outside))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
