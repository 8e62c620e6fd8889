"""How often is each claim about the boundary made, and how often wrongly? A seeded simulation with known truths.

    python benchmarks/claims.py [--trials 1000] [--out FILE] [--docs FILE.md]

Protocol, written before the first run. A problem's success rate under the base is Beta(0.3, 1.2). A checkpoint changes
rates in two steps: where asked, every rate above 0.2 is *sharpened* to p + (1 - p) / 2, which leaves pass@32 where it
is; then a share of the problems, drawn at random, is *gained* (rate 0.3) and another is *lost* (rate 0). 3 % of the
problems are gained without need and as many lost as undo that in pass@32 (*churn*); more gains or losses make the true
change of pass@32 what the cell says. n = 64 samples a problem and checkpoint, K = 32, margin 0.05, alpha 0.05, 60 and
240 problems, one group. The claim is made by ``boundary.claims.judge`` itself. Truths are exact means over the
population.

- Two results: base and one checkpoint, true dK of -0.10, -0.05, -0.025, 0, 0.025, 0.05, 0.10; pass@1 sharpened or not.
- Three results: a first checkpoint, sharpened, with dK = 0.15, and a last one with true eK of -0.05, -0.025, 0, 0.025,
  0.05, 0.10.
- *No change*: every rate as before.

A claim is wrong if: *fell* and dK >= 0; *sustained* and dK <= 0 or (three results) eK <= 0; *plateau* and dK <= 0 or
|eK| >= 0.05; *sharpened only* and d1 <= 0 or |dK| >= 0.05. Goal: at half a margin (0.025 either way) no more
than 2.5 % wrong; in any cell no more than alpha. Seeds: of cell and script alone. A cell that FILE already has with as many trials
is not made again, so a killed run goes on. --docs writes the table between the marks of that file. Leaves out: several
groups (Holm then asks for more), real models.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
from cells import measured
from docs_table import write_table
from numpy.typing import NDArray

from prorl_common import derive_seed
from prorl_evaluation.boundary.claims import Evidence, judge
from prorl_evaluation.boundary.types import Regime
from prorl_evaluation.metrics.passk import pass_at_k
from prorl_evaluation.stats.bounded_mean import Drawn, paired_columns
from prorl_evaluation.stats.intervals import Resampling

Floats = NDArray[np.float64]
A, B, N, K, MARGIN, ALPHA, DRAWS = 0.3, 1.2, 64, 32, 0.05, 0.05, 1000
ABOVE, GAINED, CHURN, FIRST = 0.2, 0.3, 0.03, 0.15


@dataclass(frozen=True)
class Cell:
    """``change`` is the true dK of two results, the true eK of three; None: no rate changes at all."""

    problems: int
    results: int
    sharpened: bool
    change: float | None

    @property
    def name(self) -> str:
        """A key for the JSON."""
        change = "none" if self.change is None else f"{self.change:+g}"
        return f"{self.results} results, {self.problems} problems, {change}" + (
            ", sharpened" if self.sharpened else ""
        )


def cells() -> list[Cell]:
    """Return the protocol's cells."""
    found = []
    for problems in (60, 240):
        found.append(Cell(problems, 2, False, None))
        for sharpened in (True, False):
            for change in (-0.10, -0.05, -0.025, 0.0, 0.025, 0.05, 0.10):
                found.append(Cell(problems, 2, sharpened, change))
        found += [
            Cell(problems, 3, True, change) for change in (-0.05, -0.025, 0.0, 0.025, 0.05, 0.10)
        ]
    return found


def any_of_k(rate: Floats | float) -> Any:
    """Return the true pass@K of a rate."""
    return 1.0 - (1.0 - np.asarray(rate)) ** K


@dataclass(frozen=True)
class Step:
    """What one checkpoint does to the rates."""

    sharpened: bool
    gained: float
    lost: float

    def apply(self, rates: Floats, rng: np.random.Generator) -> Floats:
        """Return the rates after it."""
        if self.sharpened:
            rates = np.where(rates > ABOVE, rates + (1 - rates) / 2, rates)
        dice = rng.random(rates.shape)
        rates = np.where(dice < self.gained, GAINED, rates)
        return np.where(dice > 1 - self.lost, 0.0, rates)

    def means(self, first: float, last: float) -> tuple[float, float]:
        """Return the mean pass@1 and pass@K after it, from those after any sharpening."""
        kept = 1 - self.gained - self.lost
        return kept * first + self.gained * GAINED, kept * last + self.gained * any_of_k(GAINED)


def step(change: float, last: float, sharpened: bool) -> Step:
    """Return the step that changes a mean pass@K of ``last`` by ``change``."""
    room = float(any_of_k(GAINED)) - last
    return Step(sharpened, CHURN + max(change, 0) / room, (CHURN * room + max(-change, 0)) / last)


@lru_cache
def base_means(sharpened: bool) -> tuple[float, float]:
    """Return the population's mean pass@1 and pass@K, on 400,000 quantiles of the Beta distribution."""
    from scipy import stats

    rates = stats.beta.ppf((np.arange(400_000) + 0.5) / 400_000, A, B)
    if sharpened:
        rates = np.where(rates > ABOVE, rates + (1 - rates) / 2, rates)
    return float(rates.mean()), float(any_of_k(rates).mean())


def measure(cell: Cell, trials: int) -> dict[str, Any]:
    """Return the cell's truths, how often each claim was made, and how often wrongly."""
    rng = np.random.default_rng(derive_seed(0, "claims", cell.name))
    base = rng.beta(A, B, (cell.problems, trials))
    means = [base_means(False)]
    after = base_means(cell.sharpened)
    rates = [base]
    if cell.change is None:
        rates.append(base)
        means.append(means[0])
    else:
        changes = [cell.change] if cell.results == 2 else [FIRST, cell.change]
        for i, change in enumerate(changes):
            # what sharpening itself adds to pass@K is taken off the change
            extra = after[1] - means[0][1] if i == 0 else 0.0
            made = step(change - extra, after[1], cell.sharpened and i == 0)
            rates.append(made.apply(rates[-1], rng))
            after = made.means(*after)
            means.append(after)
    table = np.array([[pass_at_k(N, c, k) for k in (1, K)] for c in range(N + 1)])
    seen = [table[rng.binomial(N, r)] for r in rates]  # [problems, trials, (1, K)]
    since_base = _drawn(seen[-1] - seen[0])
    since_before = _drawn(seen[-1] - seen[-2]) if cell.results == 3 else None
    made_counts: dict[str, int] = dict.fromkeys(get_args(Regime), 0)
    for j in range(trials):
        own = slice(2 * j, 2 * j + 2)
        before = since_before.columns(own) if since_before is not None else None
        of_base = float(seen[0][:, j, 1].mean())
        evidence = Evidence(
            "overall", "", "", K, since_base.columns(own), before, 0, 1, "", of_base
        )
        (claim,), _ = judge([evidence], ALPHA, MARGIN)
        made_counts[claim.regime] += 1
    d1, dk = (means[-1][i] - means[0][i] for i in (0, 1))
    ek = means[-1][1] - means[-2][1] if cell.results == 3 else math.nan
    wrong = wrong_claims(d1, dk, ek)
    return {
        **asdict(cell),
        "trials": trials,
        "d1": round(d1, 6),
        "dK": round(dk, 6),
        "eK": None if math.isnan(ek) else round(ek, 6),
        "said": {name: count / trials for name, count in made_counts.items()},
        "wrong": sorted(wrong),
        "wrong share": sum(made_counts[name] for name in wrong) / trials,
    }


def wrong_claims(d1: float, dk: float, ek: float) -> set[Regime]:
    """Return the claims that these true changes make wrong; ``ek`` is NaN without a checkpoint before."""
    zero = 1e-9
    found: set[Regime] = set()
    if dk > -zero:
        found.add("fell")
    if dk < zero or ek < zero:
        found.add("sustained")
    if dk < zero or math.isnan(ek) or abs(ek) > MARGIN - zero:
        found.add("plateau")
    if d1 < zero or abs(dk) > MARGIN - zero:
        found.add("sharpened only")
    return found


def _drawn(differences: Floats) -> Drawn:
    flat = differences.reshape(len(differences), -1)
    return paired_columns(flat, how=Resampling(0.95, DRAWS, 1))[1]


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of the docs: one row a truth, both numbers of problems in a cell."""
    names = [n for n in get_args(Regime) if n != "undecided"]
    lines = [
        "| results | true d1 | true dK | true eK | " + " | ".join(names) + " | wrong |",
        "|---|" + "---|" * (len(names) + 4),
    ]
    pairs: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        pairs.setdefault((row["results"], row["sharpened"], row["change"]), []).append(row)
    for (results, _, change), own in pairs.items():
        first = own[0]
        ek = "-" if first["eK"] is None else f"{first['eK']:+.3f}"
        shown = []
        for name in names:
            text = ", ".join(f"{100 * r['said'][name]:.1f}" for r in own)
            shown.append(f"*{text}*" if name in first["wrong"] else text)
        wrong = ", ".join(f"{100 * r['wrong share']:.1f}" for r in own)
        d1, dk = ("none", "none") if change is None else (f"{first[n]:+.3f}" for n in ("d1", "dK"))
        lines.append(f"| {results} | {d1} | {dk} | {ek} | {' | '.join(shown)} | {wrong} |")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    """Make the cells that are missing, print the table, write it where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--docs", type=Path)
    args = parser.parse_args(words)
    started = time.perf_counter()
    rows = measured(cells(), measure, "trials", args.trials, args.out)
    table = markdown(rows)
    print(table)
    worst = max(rows, key=lambda row: row["wrong share"])
    print(f"worst: {100 * worst['wrong share']:.1f} %; {time.perf_counter() - started:.0f} s")
    if args.docs:
        write_table(args.docs, "claims", table)


if __name__ == "__main__":
    main()
