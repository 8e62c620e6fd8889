"""Computes pass rates by row and group, and suggests problem sizes of suitable difficulty."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from prorl_common import atomic_write_text, derive_seed
from prorl_datasets import PASS_RATES, Sample, prompt_key
from prorl_evaluation.rating.store import RowSamples
from prorl_evaluation.stats.distributions import jeffreys
from prorl_evaluation.stats.intervals import Interval, Resampling, bounded_columns
from prorl_evaluation.tables import TextTable, bracket, rate
from prorl_evaluation.types import OVERALL

DRAWS = 2000
"""Number of bootstrap draws per group."""


@dataclass(frozen=True, slots=True)
class RowRate:
    sample: Sample
    n: int
    passes: int

    @property
    def rate(self) -> float:
        return self.passes / self.n


@dataclass(frozen=True, slots=True)
class GroupRate:
    """A group's mean pass rate, and how many of its rows passed never, sometimes (``mixed``) and always."""

    name: tuple[str, ...]
    rows: int
    samples: int
    rate: Interval
    never: int
    mixed: int
    always: int

    def as_json(self) -> dict[str, Any]:
        numbers = {"pass_rate": self.rate.value, "low": self.rate.low, "high": self.rate.high}
        counts = {"never": self.never, "mixed": self.mixed, "always": self.always}
        return (
            {"name": list(self.name), "rows": self.rows, "samples": self.samples} | numbers | counts
        )


def row_rates(samples: Sequence[Sample], rated: Mapping[str, RowSamples]) -> list[RowRate]:
    pairs = ((sample, rated.get(sample.id, RowSamples())) for sample in samples)
    return [
        RowRate(sample, row_samples.n, len(row_samples.passed))
        for sample, row_samples in pairs
        if row_samples.n
    ]


def group_rates(rows: Sequence[RowRate], by: str) -> list[GroupRate]:
    """Return the pass rate of each group; ``by`` is "all", "domain", "family" or "level"."""
    groups: dict[tuple[str, ...], list[RowRate]] = {}
    for row in rows:
        domain = row.sample.domain
        names = {
            "all": (OVERALL,),
            "domain": (domain,),
            "family": (domain, row.sample.family),
            "level": (domain, row.sample.family, row.sample.rung),
        }
        groups.setdefault(names[by], []).append(row)
    result = []
    for name, members in groups.items():
        rates = [row.rate for row in members]
        how = Resampling(draws=DRAWS, seed=derive_seed(0, "rating", *name))
        never, always = rates.count(0.0), rates.count(1.0)
        result.append(
            GroupRate(
                name=name,
                rows=len(members),
                samples=sum(row.n for row in members),
                rate=bounded_columns([[r] for r in rates], how=how)[0],
                never=never,
                mixed=len(rates) - never - always,
                always=always,
            )
        )
    return result


def rate_table(groups: Sequence[GroupRate], title: str) -> TextTable:
    rows = tuple(
        (
            " / ".join(group.name),
            f"{group.rows:,}",
            f"{group.samples:,}",
            bracket(group.rate),
            *(rate(part / group.rows) for part in (group.never, group.mixed, group.always)),
        )
        for group in groups
    )
    return TextTable(title, ("", "rows", "samples", "pass rate", "0", "(0, 1)", "1"), rows)


def write_pass_rates(rows: Sequence[RowRate], folder: Path) -> Path:
    """Write ``pass_rates.jsonl`` to ``folder`` and return its path.

    ``low`` and ``high`` are the 95% interval. ``prompt_key`` identifies a row whose id changes later.
    """
    lines = []
    for row in rows:
        low, high = jeffreys(row.passes, row.n)
        lines.append(
            {
                "id": row.sample.id,
                "pass_rate": round(row.rate, 6),
                "n": row.n,
                "low": round(low, 4),
                "high": round(high, 4),
                "prompt_key": prompt_key(row.sample.prompt),
            }
        )
    path = folder / PASS_RATES
    atomic_write_text(path, "".join(json.dumps(line) + "\n" for line in lines))
    return path


Finding = Literal["take", "too hard", "too easy", "undecided"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The sizes of one problem family, and those with a suitable pass rate (``take``).

    ``finding`` is "undecided" if the intervals do not show whether the family is too hard or too easy.
    """

    domain: str
    family: str
    rungs: tuple[GroupRate, ...]
    take: tuple[str, ...]
    finding: Finding

    def as_json(self) -> dict[str, Any]:
        rungs = [rung.as_json() for rung in self.rungs]
        about = {"domain": self.domain, "family": self.family, "finding": self.finding}
        return {**about, "take": list(self.take), "rungs": rungs}


def suggest(rows: Sequence[RowRate], band: tuple[float, float]) -> list[Suggestion]:
    """Return which sizes of each problem family have a pass rate in ``band`` (low, high)."""
    families: dict[tuple[str, str], list[GroupRate]] = {}
    for group in group_rates([row for row in rows if row.sample.rung], "level"):
        families.setdefault((group.name[0], group.name[1]), []).append(group)
    low, high = band
    suggestions = []
    for (domain, family), rungs in families.items():
        take = tuple(g.name[2] for g in rungs if low <= g.rate.value <= high)
        finding: Finding = "undecided"
        if take:
            finding = "take"
        elif all(g.rate.high < low for g in rungs):
            finding = "too hard"
        elif all(g.rate.low > high for g in rungs):
            finding = "too easy"
        suggestions.append(Suggestion(domain, family, tuple(rungs), take, finding))
    return suggestions


def entries_in_band(rows: Sequence[RowRate], band: tuple[float, float]) -> list[str]:
    """Return the recipe entries whose mean pass rate is in ``band`` (low, high)."""
    rates: dict[str, list[float]] = {}
    for row in rows:
        rates.setdefault(row.sample.id.rsplit("-", 2)[0], []).append(row.rate)
    low, high = band
    return [name for name, values in rates.items() if low <= sum(values) / len(values) <= high]


def suggestion_table(suggestions: Sequence[Suggestion], band: tuple[float, float]) -> TextTable:
    rows = []
    for one in suggestions:
        for rung in one.rungs:
            taken = rung.name[2] in one.take
            word = "take" if taken else "" if one.finding == "take" else one.finding
            rows.append((f"{one.family} {rung.name[2]}", str(rung.rows), bracket(rung.rate), word))
    title = f"Sizes for a pass rate from {band[0]:g} to {band[1]:g}"
    return TextTable(title, ("family and size", "rows", "pass rate", "finding"), tuple(rows))
