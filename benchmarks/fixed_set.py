"""How often do the intervals for these very problems hold what more samples would show? A seeded simulation.

    python benchmarks/fixed_set.py [--trials 1000] [--out FILE] [--docs FILE.md]

Protocol: rates are Beta(0.05, 2.45), Beta(0.3, 1.2) or Beta(0.5, 0.5); 8, 30 (an AIME) or 100 problems; n and k of
(1, 1), (4, 1), (16, 1), (16, 8), (64, 32), (64, 64). Each trial draws problems once and samples them; the truth is these
problems' own mean of 1 - (1 - p)^k. For the change the second model's log odds are 1 higher, with a spread of 1. Shown:
the share of 95% intervals that hold it, the lowest and highest over the three shapes. Nominal 95%; where 2k > n more is
expected, as the variance is a bound there.
"""

from __future__ import annotations

import argparse
import json
from collections import namedtuple
from pathlib import Path

import numpy as np
from docs_table import write_table

from prorl_common import atomic_write_text, derive_seed
from prorl_evaluation.stats.fixed_set import fixed_change, fixed_interval

Problem = namedtuple("Problem", "n c")
SHAPES = ((0.05, 2.45), (0.3, 1.2), (0.5, 0.5))
SIZES = (8, 30, 100)
DESIGNS = ((1, 1), (4, 1), (16, 1), (16, 8), (64, 32), (64, 64))


def covered(shape: tuple[float, float], size: int, n: int, k: int, trials: int) -> list[float]:
    """Return the coverage of the level and of the change."""
    rng = np.random.default_rng(derive_seed(0, "fixed set", repr((shape, size, n, k))))
    hits = np.zeros(2)
    for _ in range(trials):
        p = np.clip(rng.beta(*shape, size), 1e-12, 1 - 1e-12)
        odds = np.log(p / (1 - p)) + 1 + rng.standard_normal(size)
        q = 1 / (1 + np.exp(-odds))
        truths = [float(np.mean(1 - (1 - r) ** k)) for r in (p, q)]
        a, b = ([Problem(n, int(c)) for c in rng.binomial(n, r)] for r in (p, q))
        level, change = fixed_interval(a, k), fixed_change(list(zip(a, b, strict=True)), k)
        hits[0] += level.low <= truths[0] <= level.high
        hits[1] += change.low <= truths[1] - truths[0] <= change.high
    return [float(h) for h in hits / trials]


def main() -> None:
    """Run all settings, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--docs", type=Path)
    args = parser.parse_args()
    found: dict[str, dict[str, list[float]]] = {}
    head = "| n, k | " + " | ".join(f"{size} problems: rate; change" for size in SIZES) + " |"
    lines = [head, "|---" * (len(SIZES) + 1) + "|"]
    for n, k in DESIGNS:
        cells = []
        for size in SIZES:
            own = {repr(s): covered(s, size, n, k, args.trials) for s in SHAPES}
            found[f"n {n}, k {k}, {size} problems"] = own
            spans = [[row[i] for row in own.values()] for i in (0, 1)]
            cells.append("; ".join(f"{100 * min(s):.1f}-{100 * max(s):.1f}%" for s in spans))
        lines.append(f"| {n}, {k} | {' | '.join(cells)} |")
    print("\n".join(lines))
    if args.docs:
        write_table(args.docs, "fixed set", "\n".join(lines))
    if args.out:
        text = json.dumps({"trials": args.trials, "coverage": found}, indent=1)
        atomic_write_text(args.out, text + "\n")


if __name__ == "__main__":
    main()
