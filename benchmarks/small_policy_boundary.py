"""Compare the arms of a study on chains of operations with their base, outside its boundary and where it was good.

    python benchmarks/small_policy_boundary.py benchmarks/studies/boundary_gate.yaml [--picture FILE.svg]
    python benchmarks/small_policy_boundary.py benchmarks/studies/boundary_gate_2.yaml --base WORK

Reads the study's records and the base's evaluations, and prints a Markdown table. ``--base`` makes these evaluations for
a new base, in the folder of its weights, with the list of the problems on which it is good (under an hour on one core).
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pictures import Panel, write_picture
from small_policy_base import POLICIES, held_out_samples, prepare
from small_policy_records import evaluation, read_records
from small_policy_study import Study, read_study

from prorl_common import atomic_write_text
from prorl_evaluation import pass_at_k
from prorl_evaluation.stats.distributions import t_quantile

Floats = NDArray[np.float64]
Counts = Mapping[str, int]
"""Held-out problem -> number of right answers."""
OUTSIDE_SAMPLES, AGAIN_SAMPLES, K = 1024, 256, 128
"""Samples of each item in the base's two evaluations, and the k of pass@k."""
GOOD = 0.9
"""The base was good where its pass@K is at least this."""
FLOOR = 1e-4
"""Minimum mean of a seed in a logarithm."""
MOVED, LOST = 0.01, 0.02
"""Margins of pass@1 outside the boundary and of the loss of pass@K where the base was good."""


class Estimate(NamedTuple):
    """A mean, difference or ratio with its interval."""

    value: float
    low: float
    high: float

    def text(self, scale: float = 1.0, sign: str = "") -> str:
        value, low, high = (f"{scale * x:{sign}.3g}" for x in self)
        return f"{value} [{low}, {high}]"


def outside_and_good(base: Counts) -> tuple[list[str], list[str]]:
    """Return the problems that the base never solved, and those on which it was good."""
    never = [name for name, right in base.items() if right == 0]
    rates = {name: pass_at_k(OUTSIDE_SAMPLES, right, K) for name, right in base.items()}
    return never, [name for name, rate in rates.items() if rate >= GOOD]


def values(runs: Sequence[tuple[Counts, int]], names: Sequence[str], k: int) -> Floats:
    """Return pass@k of each run and problem, an array [runs, names]. A run is its counts and samples per problem."""
    return np.array([[pass_at_k(n, counts[name], k) for name in names] for counts, n in runs])


def compare(a: Floats, b: Floats, groups: Sequence[str], ratio: bool = False) -> Estimate:
    """Return the difference of two arms' means, or the ratio of their geometric means over seeds, with its interval.

    ``a`` and ``b`` are arrays [seeds, items] of the same items; a base is one row. The interval is 95 %, from Student's
    t, over seeds and over items within their ``groups``. A ratio's is computed on logarithms.
    """
    means = [x.mean(axis=1) for x in (a, b)]
    items = [x.mean(axis=0) for x in (a, b)]
    if ratio:
        items = [x / max(float(x.mean()), FLOOR) for x in items]
        means = [np.log(np.maximum(x, FLOOR)) for x in means]
    variance = sum(float(x.var(ddof=1)) / len(x) for x in means if len(x) > 1)
    variance += _item_variance(items[0] - items[1], groups)
    half = t_quantile(0.025, len(a) + len(b) - 2) * math.sqrt(variance)
    value = float(means[0].mean() - means[1].mean())
    found = (value, value - half, value + half)
    return Estimate(*(math.exp(x) for x in found)) if ratio else Estimate(*found)


def _item_variance(gap: Floats, groups: Sequence[str]) -> float:
    """Return the variance of the mean over items (items,), drawn with replacement within their group."""
    parts = [gap[[g == name for g in groups]] for name in dict.fromkeys(groups)]
    return sum(len(part) * float(part.var()) for part in parts) / len(gap) ** 2


def read_base(study: Study, name: str) -> Counts:
    """Return an evaluation of the study's base: ``base`` or, with other seeds, ``base-again``."""
    path = POLICIES[study.policy or "chains"].weights.with_name(f"{name}.json")
    groups = json.loads(path.read_text(encoding="utf-8"))["groups"]
    counts = {group: iter(content["correct"]) for group, content in groups.items()}
    return {name: next(counts[group]) for name, group in groups_of(study).items()}


def evaluate_base(study: Study, work: Path) -> None:
    """Write the missing evaluations of the study's base, and ``good.json``, beside its weights."""
    from prorl_evaluation.sampling.command import evaluate_models

    model, data = prepare(work, POLICIES[study.policy or "chains"])
    folder = POLICIES[study.policy or "chains"].weights.parent
    for name, n, seed in (("base", OUTSIDE_SAMPLES, 22), ("base-again", AGAIN_SAMPLES, 23)):
        if (folder / f"{name}.json").is_file():
            continue
        how = study.evaluations[0]
        (result,) = evaluate_models(
            str(model),
            dataset=data,
            k=K,
            n=n,
            sampling__temperature=how.temperature,
            sampling__top_p=1.0,
            sampling__max_tokens=how.max_tokens,
            sampling__seed=seed,
            scoring__workers=1,
            output__out=str(work / f"evaluation-{name}"),
        )
        counts = {problem.id: problem.c for problem in result.problems}
        groups: dict[str, dict[str, list[int]]] = {}
        for problem, group in groups_of(study).items():
            groups.setdefault(group, {"correct": []})["correct"].append(counts[problem])
        atomic_write_text(folder / f"{name}.json", json.dumps({"groups": groups}) + "\n")
    _, good = outside_and_good(read_base(study, "base"))
    atomic_write_text(folder / "good.json", json.dumps(good) + "\n")


def groups_of(study: Study) -> dict[str, str]:
    """Return the ``family/rung`` of each held-out problem."""
    samples = held_out_samples(POLICIES[study.policy or "chains"])
    return {s.id: f"{s.metadata['family']}/{s.metadata['level']}" for s in samples}


class Outcomes(NamedTuple):
    """What the study asks of an arm; pass rates are shares of 1, from at least two seeds."""

    outside: Estimate
    """pass@1 on the items outside the base's boundary."""
    times: Estimate
    """The same, as a multiple of the first arm's."""
    good: Estimate
    """Change of pass@K from the base on the items on which it was good."""
    beside: Estimate
    """Difference of that pass@K from the first arm's."""
    sharper: Estimate
    """Change of pass@1 from the base on the same items."""


def outcomes(study: Study) -> Iterator[tuple[str, int, Outcomes | None]]:
    """Yield each arm, its number of finished runs and their outcomes.

    The study's first evaluation has all problems, and its last one those on which the base was good.
    """
    again = [(read_base(study, "base-again"), AGAIN_SAMPLES)]
    outside, good = outside_and_good(read_base(study, "base"))
    group_of = groups_of(study)
    far_groups, good_groups = ([group_of[name] for name in names] for names in (outside, good))
    first: tuple[Floats, Floats] | None = None
    for arm, records in read_records(study).items():
        if len(records) < 2:
            yield arm, len(records), None
            continue
        all_, last = ([evaluation(record, i) for record in records] for i in (0, -1))
        far, broad = values(all_, outside, 1), values(last, good, K)
        first = first or (far, broad)
        found = Outcomes(
            compare(far, np.ones((1, len(outside))), far_groups, ratio=True),
            compare(far, first[0], far_groups, ratio=True),
            compare(broad, values(again, good, K), good_groups),
            compare(broad, first[1], good_groups),
            compare(values(last, good, 1), values(again, good, 1), good_groups),
        )
        yield arm, len(records), found


def verdict(found: Estimate, margin: float) -> str:
    """Return whether the interval lies above ``margin`` (yes), below it (no) or around it."""
    return "yes" if found.low > margin else "no" if found.high < margin else "undecided"


def table(study: Study) -> list[str]:
    """Return the study's Markdown table."""
    good = f"good: pass@{K}, points | kept | minus v2, points | pass@1, points"
    lines = [f"| arm | seeds | pass@1 outside, % | moved | times v2 | {good} |", "|---" * 9 + "|"]
    for arm, seeds, found in outcomes(study):
        cells = [arm, str(seeds), *[""] * 7]
        if found:
            moved, kept = verdict(found.outside, MOVED), verdict(found.good, -LOST)
            cells[2:5] = [found.outside.text(100), moved, found.times.text()]
            cells[5:] = [found.good.text(100, "+"), kept, *(x.text(100, "+") for x in found[3:])]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def draw(study: Study, out: Path) -> None:
    """Draw both primary outcomes of the arms."""
    found = [(arm, outcome) for arm, _, outcome in outcomes(study) if outcome]
    ticks = [(float(i), arm) for i, (arm, _) in enumerate(found)]
    panels = []
    for name, place, levels in (
        ("pass@1 outside the base's boundary, %", 0, (0, 5, 10, 15, 20, 25)),
        (f"change of pass@{K} where the base was good, points", 2, (-20, -15, -10, -5, 0, 5)),
    ):
        panel = Panel(-0.5, len(ticks) - 0.5, ticks, "", name, levels)
        for i, (_, outcome) in enumerate(found):
            value, low, high = (min(max(100 * x, levels[0]), levels[-1]) for x in outcome[place])
            panel.interval(float(i), low, value, high, 1)
        panels.append(panel)
    write_picture(out, "Training with a gate at the boundary", [], panels)


def main() -> None:
    """Print the table, and draw the picture if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("study", type=Path, help="the study's YAML file")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="write a picture of both outcomes"
    )
    parser.add_argument(
        "--base", type=Path, metavar="WORK", help="evaluate the base in this folder"
    )
    args = parser.parse_args()
    study = read_study(args.study)
    if args.base:
        evaluate_base(study, args.base)
        return
    print("\n".join(table(study)))
    if args.picture:
        draw(study, args.picture)


if __name__ == "__main__":
    main()
