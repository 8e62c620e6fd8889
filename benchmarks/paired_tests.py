"""Which interval for a mean paired difference on a small set? Candidates side by side, with known truths.

    python benchmarks/paired_tests.py [--trials 1000] [--json FILE] [--docs FILE.md]

Protocol: 24, 40 and 100 problems; rates before are Beta(0.05, 2.45), Beta(0.3, 1.2) or Beta(0.5, 0.5). *No change*: every
rate as before, n 16, k 1. *Changed*: log odds 1 higher with a spread of 1, (n, k) of (16, 1), (16, 8), (256, 128): the mean
changes and its differences are skewed. Shown for each candidate: how often the 95% interval leaves out the truth, over
both sides where nothing changed (nominal 5%), and on the worse side, in the worst setting, where something did (nominal
2.5%). A candidate is taken that is nearest to 5% at 24 problems with at most 5% on the worse side. Candidates: *t*;
*sign flips*: the permutation test, 1,000 flips; *bootstrap-t*: studentised; *BCa* (Efron 1987); *half-problems
that stay* at the size of a change either way (0.2.0); *quarters that stay*; *ours*: half a problem that moves towards
the mean as more problems change (``bounded_mean.paired_columns``). Leaves out: clusters and strata.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from docs_table import write_table
from numpy.typing import NDArray

from prorl_common import atomic_write_text, derive_seed
from prorl_evaluation.metrics.passk import pass_at_k
from prorl_evaluation.stats import bounded_mean
from prorl_evaluation.stats.intervals import Resampling

Floats = NDArray[np.float64]
Sides = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Whether each column's interval lies above, and below, the truth."""
DRAWS, TAIL = 1000, 0.025
SHAPES = ((0.05, 2.45), (0.3, 1.2), (0.5, 0.5))
SIZES = (24, 40, 100)


def student(x: Floats, truth: float, rng: np.random.Generator) -> Sides:
    """Student's t."""
    from scipy import stats

    error = x.std(axis=0, ddof=1) / np.sqrt(len(x))
    half = stats.t.ppf(1 - TAIL, len(x) - 1) * error
    mean = x.mean(axis=0)
    return mean - half > truth + 1e-12, mean + half < truth - 1e-12


def sign_flips(x: Floats, truth: float, rng: np.random.Generator) -> Sides:
    """The permutation test of symmetry about the truth."""
    d = x - truth
    seen, flipped = d.mean(axis=0), rng.choice([-1.0, 1.0], (DRAWS, len(x))) @ d / len(x)
    above = (1 + (flipped >= seen - 1e-12).sum(axis=0)) / (DRAWS + 1)
    below = (1 + (flipped <= seen + 1e-12).sum(axis=0)) / (DRAWS + 1)
    return above <= TAIL, below <= TAIL


def bootstrap_t(x: Floats, truth: float, rng: np.random.Generator) -> Sides:
    """The studentised bootstrap."""
    weights = rng.multinomial(len(x), [1 / len(x)] * len(x), DRAWS) / len(x)
    means = weights @ x
    spreads = np.sqrt(np.maximum(weights @ (x * x) - means**2, 1e-12))
    mean, spread = x.mean(axis=0), np.sqrt(np.maximum(x.var(axis=0), 1e-12))
    low, high = np.quantile((means - mean) / spreads, [TAIL, 1 - TAIL], axis=0)
    return mean - high * spread > truth + 1e-12, mean - low * spread < truth - 1e-12


def bca(x: Floats, truth: float, rng: np.random.Generator) -> Sides:
    """The bias-corrected and accelerated bootstrap."""
    from scipy import stats

    weights = rng.multinomial(len(x), [1 / len(x)] * len(x), DRAWS) / len(x)
    means, mean = weights @ x, x.mean(axis=0)
    share = (means < mean).mean(axis=0) + (means == mean).mean(axis=0) / 2
    bias = stats.norm.ppf(np.clip(share, 1 / DRAWS, 1 - 1 / DRAWS))
    d = mean - x
    skew = (d**3).sum(axis=0) / (6 * np.maximum((d**2).sum(axis=0), 1e-12) ** 1.5)
    ends = []
    for z in (stats.norm.ppf(TAIL), stats.norm.ppf(1 - TAIL)):
        at = stats.norm.cdf(bias + (bias + z) / (1 - skew * (bias + z)))
        ends.append(np.array([np.quantile(means[:, j], at[j]) for j in range(x.shape[1])]))
    return ends[0] > truth + 1e-12, ends[1] < truth - 1e-12


def pseudo(weight: float, moving: bool) -> Callable[[Floats, float, np.random.Generator], Sides]:
    """``paired_columns`` with so many pseudo-problems either way, which move or stay."""

    def interval(x: Floats, truth: float, rng: np.random.Generator) -> Sides:
        kept = bounded_mean.PSEUDO, bounded_mean.FEW, bounded_mean.MANY
        bounded_mean.PSEUDO = weight
        if not moving:
            bounded_mean.FEW, bounded_mean.MANY = 1e9, 2e9
        try:
            found, _ = bounded_mean.paired_columns(x, how=Resampling(1 - 2 * TAIL, DRAWS, 1))
        finally:
            bounded_mean.PSEUDO, bounded_mean.FEW, bounded_mean.MANY = kept
        low, high = (np.array([getattr(i, end) for i in found]) for end in ("low", "high"))
        return low > truth, high < truth

    return interval


CANDIDATES = {
    "t": student,
    "sign flips": sign_flips,
    "bootstrap-t": bootstrap_t,
    "BCa": bca,
    "half-problems that stay": pseudo(0.5, False),
    "quarters that stay": pseudo(0.25, False),
    "ours": pseudo(0.5, True),
}


def seen(rates: Floats, n: int, k: int, rng: np.random.Generator) -> Floats:
    """Return estimates of pass@k."""
    table = np.array([pass_at_k(n, c, k) for c in range(n + 1)])
    return np.asarray(table[rng.binomial(n, rates)])


def later(rates: Floats, rng: np.random.Generator) -> Floats:
    """Return the changed rates."""
    safe = np.clip(rates, 1e-12, 1 - 1e-12)
    odds = np.log(safe / (1 - safe)) + 1 + rng.standard_normal(safe.shape)
    return np.asarray(1 / (1 + np.exp(-odds)))


def measure(size: int, trials: int) -> dict[str, dict[str, list[list[float]]]]:
    """Return, for each candidate, [above, below] of every setting without and with a change."""
    found: dict[str, dict[str, list[list[float]]]] = {
        name: {"no change": [], "changed": []} for name in CANDIDATES
    }
    for a, b in SHAPES:
        for kind, n, k in (
            ("no change", 16, 1),
            ("changed", 16, 1),
            ("changed", 16, 8),
            ("changed", 256, 128),
        ):
            rng = np.random.default_rng(
                derive_seed(0, "paired tests", repr((size, a, b, kind, n, k)))
            )
            before = rng.beta(a, b, (size, trials))
            after, truth = before, 0.0
            if kind == "changed":
                after, many = later(before, rng), rng.beta(a, b, 400_000)
                truth = float(np.mean((1 - many) ** k - (1 - later(many, rng)) ** k))
            x = seen(after, n, k, rng) - seen(before, n, k, rng)
            for name, interval in CANDIDATES.items():
                above, below = interval(x, truth, rng)
                found[name][kind].append([float(above.mean()), float(below.mean())])
    return found


def main() -> None:
    """Run all sizes, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", type=Path)
    args = parser.parse_args()
    found = {size: measure(size, args.trials) for size in SIZES}
    head = "| interval | " + " | ".join(f"{s} problems: no change; worst" for s in SIZES) + " |"
    lines = [head, "|---" * (len(SIZES) + 1) + "|"]
    for name in CANDIDATES:
        cells = []
        for size in SIZES:
            none = [100 * (up + down) for up, down in found[size][name]["no change"]]
            worst = 100 * max(max(sides) for sides in found[size][name]["changed"])
            cells.append(f"{', '.join(f'{v:.1f}' for v in none)}; {worst:.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    print("\n".join(lines))
    if args.docs:
        write_table(args.docs, "paired tests", "\n".join(lines))
    if args.json:
        value = {"trials": args.trials, "found": {str(s): f for s, f in found.items()}}
        atomic_write_text(args.json, json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    main()
