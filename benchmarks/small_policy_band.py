"""Say whether the validation curve of a run lies within the band of a study's arm.

    python benchmarks/small_policy_band.py RUN [--study FILE.yaml] [--arm ARM] [--picture FILE.svg]

RUN is a run folder or the record of a run. A curve is the mean validation pass rate in each of PARTS equal parts of the
budget of sampled tokens. The band is mean +- t s sqrt(1 + 1/n) over the arm's n seeds, with their standard deviation s
and Student's t at 5 % divided by PARTS. So a new run of the same program lies inside it with a probability of at least
95 %, if pass rates are normal. Exits with 1 for a run outside the band.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pictures import Panel, write_picture
from small_policy_base import ROOT
from small_policy_records import read_records, validation_curve
from small_policy_study import read_study

from prorl_common import UserError
from prorl_evaluation.stats.distributions import t_quantile
from prorl_training.run.folder import RunFolder

PARTS, LEVEL = 4, 0.95
Curve = Sequence[tuple[int, int, float]]
"""(step, sampled tokens so far, pass rate) of each validation."""
Floats = NDArray[np.float64]


def parts(curve: Curve, budget: int) -> Floats:
    """Return the mean pass rate in each part of the budget (PARTS,). Raises UserError if a part has no validation."""
    rates: list[list[float]] = [[] for _ in range(PARTS)]
    for _, tokens, rate in curve:
        rates[min(PARTS * tokens // budget, PARTS - 1)].append(rate)
    if not all(rates):
        raise UserError(
            f"the run has no validation in a part of its {budget:,} tokens: train longer"
        )
    return np.array([sum(part) / len(part) for part in rates])


def band(curves: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper limits (PARTS,) for a new run, from the curves of n seeds (n, PARTS)."""
    n = len(curves)
    if n < 3:
        raise UserError(f"a band needs 3 finished runs of the arm, and there are {n}")
    t = t_quantile((1 - LEVEL) / 2 / curves.shape[1], n - 1)
    half = t * math.sqrt(1 + 1 / n) * curves.std(axis=0, ddof=1)
    mean = curves.mean(axis=0)
    return np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0)


def main() -> int:
    """Print the run's curve beside the band; return 0 if it lies inside, else 1."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, help="run folder, or a run's record (JSON)")
    studies = ROOT / "benchmarks" / "studies"
    parser.add_argument("--study", type=Path, default=studies / "boundary_gate.yaml")
    parser.add_argument("--arm", default="v2")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture of both")
    args = parser.parse_args()
    study = read_study(args.study)
    budget = int(study.settings["token_budget"])
    records = read_records(study)
    if args.arm not in records:
        raise UserError(f"{args.study} has no arm {args.arm}: it has {', '.join(records)}")
    seeds = np.array([parts(record["validation"], budget) for record in records[args.arm]])
    if args.run.is_dir():
        curve = validation_curve(RunFolder(args.run).metrics())
    else:
        curve = json.loads(args.run.read_text(encoding="utf-8"))["validation"]
    values, (low, high) = parts(curve, budget), band(seeds)
    print("| part of the budget | run | band |", "|---|---|---|", sep="\n")
    for i, value in enumerate(values):
        print(f"| {i + 1} of {PARTS} | {value:.3f} | {low[i]:.3f} to {high[i]:.3f} |")
    inside = bool(((values >= low) & (values <= high)).all())
    print(f"The run lies {'inside' if inside else 'outside'} the band of {len(seeds)} seeds.")
    if args.picture:
        places = [float(i + 1) for i in range(PARTS)]
        panel = Panel(1, PARTS, [(x, f"{x:g}") for x in places], "quarter of the budget", "pass@1")
        panel.band(list(zip(places, low.tolist(), high.tolist(), strict=True)), 1)
        for seed in seeds:
            panel.line(zip(places, seed.tolist(), strict=True), 1)
        panel.line(zip(places, values.tolist(), strict=True), 0)
        write_picture(args.picture, f"{args.arm}: validation", [args.run.stem, "seeds"], [panel])
    return 0 if inside else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
