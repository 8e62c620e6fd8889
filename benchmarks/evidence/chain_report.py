"""Write the results into docs/evidence/boundary-study.md from the runs' data files.

    python benchmarks/evidence/chain_report.py

Replaces what stands between the two result markers; the protocol above them is left alone. Leaves out: the
runs (``small_run``) and the statistics (``chain_stats``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from chain_stats import (
    GAIN_MARGIN,
    LEVEL,
    LOSS_MARGIN,
    PRIMARY_LEVEL,
    Estimate,
    Groups,
    Place,
    difference,
    gained,
    good,
    kept,
    outside,
    ratio,
    typical,
    values,
)
from chain_study import EVAL_SAMPLES, FORM_RUNGS, OUTSIDE_SAMPLES, PRIMARY, STUDY, K
from chain_tasks import CHAINS, RUNGS
from small_report import (
    Runs,
    accounts_table,
    of,
    partial_note,
    read_results,
    remarks,
    write_between,
)

from prorl_common import UserError


def main() -> int:
    """Write the tables; return 0. Raises UserError when there is nothing to report."""
    base, runs = read_results(STUDY)
    again = STUDY.result_path("base-again")
    if base is None or not again.exists():
        raise UserError("no results yet: run benchmarks/evidence/small_run.py first")
    control: Groups = json.loads(again.read_text(encoding="utf-8"))["groups"]
    write_between(STUDY.document, "\n\n".join(sections(base, control, runs)))
    return 0


def sections(base: Groups, control: Groups, runs: Runs) -> list[str]:
    """Return the results as Markdown, a part each; no claim while a run is missing."""
    out, well = outside(base), good(base)
    done, wanted = sum(len(found) for found in runs.values()), len(STUDY.run_names())
    parts = [] if done == wanted else [partial_note(STUDY, runs)]
    parts += [f"{done} of {wanted} runs are there.", *remarks(STUDY, runs)]
    parts += ["### The base", base_table(base, control, out, well)]
    if done == wanted:
        parts += ["### Outside the base's boundary (primary)", outside_table(runs, out)]
        far = [place for place in out if int(place.group.split("/")[1]) in FORM_RUNGS[1:]]
        parts += [f"### Rungs {FORM_RUNGS[1]} to {RUNGS[-1]} alone (secondary)"]
        parts += [outside_table(runs, far)]
        parts += ["### Where the base was good (secondary)", good_table(control, runs, well)]
    if any(runs.values()):
        for k in (1, K):
            parts += [f"### pass@{k} by rung, in %, mean over seeds and families"]
            parts += [rungs_table(control, runs, k)]
        parts += ["### Accounts", accounts_table(runs)]
    return parts


def base_table(base: Groups, control: Groups, out: Sequence[Place], well: Sequence[Place]) -> str:
    """Return how many items of each rung lie outside and how many the base was good at."""
    lines = [
        "| rung | pass@1 of the base, % | items | outside | good | pass@1 outside, sampled again, % |",
        "|---" * 6 + "|",
    ]
    for rung in RUNGS:
        names = _of_rung(rung)
        counts = [c for name in names for c in base[name]["correct"]]
        outer = [p for p in out if p.group in names]
        again = f"{100 * values([control], outer, 1).mean():.3f}" if outer else "-"
        solved = 100 * sum(counts) / len(counts) / OUTSIDE_SAMPLES
        inner = sum(p.group in names for p in well)
        lines.append(
            f"| {rung} | {solved:.3g} | {len(counts)} | {len(outer)} | {inner} | {again} |"
        )
    return "\n".join(lines)


def outside_table(runs: Runs, out: Sequence[Place]) -> str:
    """Return each arm's pass@1 outside the boundary, whether it moved, and how it compares with v2."""
    groups = [place.group for place in out]
    made = {arm: values(of(found), out, 1) for arm, found in runs.items()}
    lines = [
        f"| arm | pass@1, % | moved (above {100 * GAIN_MARGIN:g} %) | times v2 | solved in {EVAL_SAMPLES}, % |",
        "|---" * 5 + "|",
    ]
    for arm, found in made.items():
        level = PRIMARY_LEVEL if arm in PRIMARY else LEVEL
        estimate = typical(found, groups, level)
        times = "" if arm == "v2" else _range(ratio(found, made["v2"], groups, LEVEL), 1, "")
        solved = 100 * float((found > 0).mean())
        shown = f"{_range(estimate, 100, '')} ({100 * level:g} %)"
        lines.append(f"| {arm} | {shown} | {gained(estimate)} | {times} | {solved:.1f} |")
    return "\n".join(lines)


def good_table(control: Groups, runs: Runs, well: Sequence[Place]) -> str:
    """Return the change of pass@K against the base where it was good, and pass@1 there."""
    groups = [place.group for place in well]
    lines = [
        f"| arm | change of pass@{K}, points | by {100 * LOSS_MARGIN:g} points | change of pass@1, points |",
        "|---" * 4 + "|",
    ]
    for arm, found in runs.items():
        broad, narrow = (
            difference(values(of(found), well, k), values([control], well, k), groups, LEVEL)
            for k in (K, 1)
        )
        cells = (_range(broad, 100, "+"), kept(broad), _range(narrow, 100, "+"))
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def rungs_table(control: Groups, runs: Runs, k: int) -> str:
    """Return pass@k of the base and of every arm by rung."""
    arms = {"base": [control]} | {arm: of(found) for arm, found in runs.items() if found}
    lines = ["| rung | " + " | ".join(arms) + " |", "|---" * (1 + len(arms)) + "|"]
    for rung in RUNGS:
        names = _of_rung(rung)
        places = [Place(n, i) for n in names for i in range(len(control[n]["correct"]))]
        cells = [f"{100 * values(seeds, places, k).mean():.2f}" for seeds in arms.values()]
        lines.append(f"| {rung} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _of_rung(rung: int) -> list[str]:
    return [f"{name}/{rung}" for name in CHAINS]


def _range(found: Estimate, scale: float, sign: str) -> str:
    shown = [f"{scale * x:{sign}.3g}" for x in (found.value, found.low, found.high)]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
