"""How often does a table of models claim a difference that is not there? A seeded simulation with known truths.

    python benchmarks/table_claims.py [--rounds 2000] [--out FILE] [--docs FILE.md]

Protocol, written before the first run. A round is one table: a baseline and M other models, three benchmarks of equal
size and all problems together, pass@1 and pass@8 from n = 16 samples, 95 % population intervals of 1,000 draws. A
problem's success rate under the baseline is Beta(0.4, 0.8). Truths:

- *same*: every model has the baseline's rates.
- *moved*: every model's rates of 30 % of the problems are drawn anew from the same Beta: problems change, means do not.
- *half better*: half of the models (rounded down) are *moved* and every rate p of theirs becomes 1 - (1 - p)^1.5; the
  other half are *moved* only. Only their differences can be false.

A claim is false if the true mean difference over the population is 0. Counted: tables with any false claim, after the
correction (``model_table.two_sided``, ``holm``: what ``prorl eval table`` does) and with each difference tested alone
at alpha; and the share of the true differences that are claimed. Goal: at most alpha = 5 % of the tables. Seeds: of the
cell alone. A cell that FILE has with as many rounds is not made again. --docs writes the table between the marks of
that file. Leaves out: models that learned from the same data, whose errors go together (Holm holds then too).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cells import measured
from docs_table import write_table
from numpy.typing import NDArray

from prorl_common import derive_seed
from prorl_evaluation.metrics.passk import pass_at_k
from prorl_evaluation.model_table.table import two_sided
from prorl_evaluation.stats.bounded_mean import Units, paired_columns
from prorl_evaluation.stats.distributions import holm
from prorl_evaluation.stats.intervals import Resampling

Floats = NDArray[np.float64]
A, B, N, KS, ALPHA, DRAWS = 0.4, 0.8, 16, (1, 8), 0.05, 1000
BENCHMARKS, MOVED, POWER, BLOCK = 3, 0.3, 1.5, 100


@dataclass(frozen=True)
class Cell:
    """``size`` problems a benchmark, ``models`` beside the baseline."""

    truth: str
    size: int
    models: int

    @property
    def name(self) -> str:
        """A key for the JSON."""
        return f"{self.truth}, {BENCHMARKS} x {self.size} problems, {self.models} models"


def cells() -> list[Cell]:
    """Return the protocol's cells."""
    return [
        Cell(truth, size, models)
        for truth in ("same", "moved", "half better")
        for size in (15, 40, 100)
        for models in (2, 8)
    ]


def measure(cell: Cell, rounds: int) -> dict[str, Any]:
    """Return how many tables held a false claim, and the share of true differences claimed."""
    rng = np.random.default_rng(derive_seed(0, "table claims", cell.name))
    table = np.array([[pass_at_k(N, c, k) for k in KS] for c in range(N + 1)])
    false = uncorrected = seen = real = 0
    for start in range(0, rounds, BLOCK):
        for values, truly in _rounds(cell, min(BLOCK, rounds - start), rng, table):
            corrected = holm(values)
            pairs = list(zip(values, corrected, truly, strict=True))
            false += any(p <= ALPHA and not t for _, p, t in pairs)
            uncorrected += any(p <= ALPHA and not t for p, _, t in pairs)
            seen += sum(p <= ALPHA and t for _, p, t in pairs)
            real += sum(truly)
    share = false / rounds
    return {
        **asdict(cell),
        "rounds": rounds,
        "tests": cell.models * (BENCHMARKS + 1) * len(KS),
        "false": share,
        "standard error": math.sqrt(share * (1 - share) / rounds),
        "false uncorrected": uncorrected / rounds,
        "power": seen / real if real else None,
    }


def _rounds(
    cell: Cell, rounds: int, rng: np.random.Generator, table: Floats
) -> Iterator[tuple[list[float], list[bool]]]:
    """Yield, for each table, the p-values of all differences and whether each is real."""
    problems = BENCHMARKS * cell.size
    base = rng.beta(A, B, (problems, rounds))
    seen = table[rng.binomial(N, base)]
    better = cell.models // 2 if cell.truth == "half better" else 0
    columns = []
    for model in range(cell.models):
        rates = base
        if cell.truth != "same":
            anew = rng.random(base.shape) < MOVED
            rates = np.where(anew, rng.beta(A, B, base.shape), base)
        if model < better:
            rates = 1 - (1 - rates) ** POWER
        columns.append(table[rng.binomial(N, rates)] - seen)
    # [problems, rounds, models, ks]
    changes = np.stack(columns, axis=2).reshape(problems, -1)
    strata = [f"b{i // cell.size}" for i in range(problems)]
    groups = [(slice(None), Units(strata=strata))]
    for i in range(BENCHMARKS):
        groups.append((slice(i * cell.size, (i + 1) * cell.size), Units()))
    found = []
    for rows, units in groups:
        drawn = paired_columns(changes[rows], units, Resampling(0.95, DRAWS, 1))[1]
        found.append(np.array(two_sided(drawn)).reshape(rounds, -1))
    truly = [model < better for model in range(cell.models) for _ in KS] * len(groups)
    for row in np.hstack(found):
        yield list(map(float, row)), truly


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of the docs."""
    lines = [
        "| truth | problems | models | tests | tables with a false claim | each tested alone | true differences claimed |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        power = "-" if r["power"] is None else f"{100 * r['power']:.0f}%"
        lines.append(
            f"| {r['truth']} | {BENCHMARKS} x {r['size']} | {r['models']} | {r['tests']} | "
            f"{100 * r['false']:.1f}% | {100 * r['false uncorrected']:.1f}% | {power} |"
        )
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    """Make the cells that are missing, print the table, write it where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--docs", type=Path)
    args = parser.parse_args(words)
    rows = measured(cells(), measure, "rounds", args.rounds, args.out)
    table = markdown(rows)
    print(table)
    worst = max(rows, key=lambda row: row["false"])
    print(f"worst: {100 * worst['false']:.1f} % of the tables")
    if args.docs:
        write_table(args.docs, "model table", table)


if __name__ == "__main__":
    main()
