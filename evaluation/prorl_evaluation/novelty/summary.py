"""Summarises novelty by model and group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from prorl_common import derive_seed
from prorl_evaluation.novelty.coverage import Novelty
from prorl_evaluation.stats.intervals import (
    Interval,
    Resampling,
    Units,
    bounded_columns,
    paired_columns,
)
from prorl_evaluation.tables import TextTable
from prorl_evaluation.types import OVERALL, finite


@dataclass(frozen=True, slots=True)
class GroupNovelty:
    """One model's novelty in one group; ``short`` responses have too few words to be measured."""

    label: str
    group: str
    problems: int
    responses: int
    short: int
    words: float
    creativity: Interval
    uniqueness: Mapping[int, Interval]


@dataclass(frozen=True, slots=True)
class NoveltyChange:
    """The paired difference of the creativity index, ``b`` minus ``a``."""

    a: str
    b: str
    group: str
    interval: Interval


def summarise(
    label: str,
    rows: Sequence[Novelty],
    lengths: Sequence[int],
    resampling: Resampling | None = None,
) -> list[GroupNovelty]:
    """Return the model's novelty over all responses, then in each group if there are several."""
    resampling = resampling or Resampling()
    groups = list(dict.fromkeys(r.group for r in rows))
    result = [_group(label, OVERALL, rows, lengths, resampling)]
    if len(groups) > 1:
        result += [
            _group(label, g, [r for r in rows if r.group == g], lengths, resampling) for g in groups
        ]
    return result


def _group(
    label: str, name: str, rows: Sequence[Novelty], lengths: Sequence[int], resampling: Resampling
) -> GroupNovelty:
    problems = _by_problem(rows)
    values = [_means(members, len(lengths)) for members in problems.values()]
    strata = [members[0].group for members in problems.values()]
    seeded = Resampling(
        resampling.level, resampling.draws, derive_seed(resampling.seed, "novelty", name)
    )
    columns = bounded_columns(values, units=Units(strata=strata), how=seeded)
    n = len(lengths)
    return GroupNovelty(
        label=label,
        group=name,
        problems=len(problems),
        responses=len(rows),
        short=sum(math.isnan(r.creativity) for r in rows),
        words=math.fsum(r.words for r in rows) / len(rows) if rows else math.nan,
        creativity=_scaled(columns[0], n),
        uniqueness=dict(zip(lengths, columns[1:], strict=True)),
    )


def _by_problem(rows: Sequence[Novelty]) -> dict[str, list[Novelty]]:
    problems: dict[str, list[Novelty]] = {}
    for row in rows:
        problems.setdefault(row.problem, []).append(row)
    return problems


def _means(rows: Sequence[Novelty], n: int) -> list[float]:
    defined = [r for r in rows if not math.isnan(r.creativity)]
    if not defined:
        return [math.nan] * (1 + n)
    count = len(defined)
    each = [math.fsum(r.uniqueness[i] for r in defined) / count for i in range(n)]
    return [min(1.0, math.fsum(each) / n), *each]


def _scaled(i: Interval, by: float) -> Interval:
    return Interval(i.value * by, i.low * by, i.high * by, i.count, i.undefined)


def changes(
    models: Sequence[tuple[str, Sequence[Novelty]]], lengths: Sequence[int], resampling: Resampling
) -> list[NoveltyChange]:
    """Compare every later model with the first, overall and by group."""
    result = []
    first_label, first = models[0]
    first_problems = _by_problem(first)
    for label, rows in models[1:]:
        problems = _by_problem(rows)
        shared = [p for p in first_problems if p in problems]
        groups = list(dict.fromkeys(first_problems[p][0].group for p in shared))
        for group in [OVERALL, *(groups if len(groups) > 1 else [])]:
            inside = [p for p in shared if group in (OVERALL, first_problems[p][0].group)]
            pairs = [(first_problems[p], problems[p]) for p in inside]
            interval = Interval(math.nan, math.nan, math.nan, 0)
            if pairs:
                n = len(lengths)
                change = [[_means(b, n)[0] - _means(a, n)[0]] for a, b in pairs]
                units = Units(strata=[a[0].group for a, _ in pairs])
                seed = derive_seed(resampling.seed, "novelty change", group)
                seeded = Resampling(resampling.level, resampling.draws, seed)
                interval = _scaled(paired_columns(change, units, seeded)[0][0], n)
            result.append(NoveltyChange(first_label, label, group, interval))
    return result


def novelty_table(groups: Sequence[GroupNovelty], against: str) -> TextTable:
    lengths = sorted(groups[0].uniqueness)
    ends = (lengths[0], lengths[-1])
    head = (
        *("", "group", "problems", "responses", "words", f"index (0-{len(lengths)})"),
        *(f"unique at {n}" for n in ends),
    )
    rows = tuple(
        (
            g.label,
            g.group,
            str(g.problems),
            str(g.responses),
            f"{g.words:.0f}",
            _cell(g.creativity, 2),
            *(_cell(g.uniqueness[n], 3) for n in ends),
        )
        for g in groups
    )
    return TextTable(f"Novelty with respect to {against}", head, rows)


def change_table(differences: Sequence[NoveltyChange]) -> TextTable:
    rows = tuple(
        (f"{c.b} minus {c.a}", c.group, str(c.interval.count), _cell(c.interval, 2, "+"))
        for c in differences
    )
    head = ("", "group", "paired problems", "difference of the index")
    return TextTable("Paired differences", head, rows)


def _cell(i: Interval, digits: int, sign: str = "") -> str:
    if i.count == 0:
        return "-"
    value, low, high = (f"{v:{sign}.{digits}f}" for v in (i.value, i.low, i.high))
    return f"{value} [{low}, {high}]"


def to_json(value: GroupNovelty | NoveltyChange) -> dict[str, Any]:
    plain = finite(asdict(value))
    assert isinstance(plain, dict)
    return plain
