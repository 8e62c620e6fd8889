"""Which sizes of a generator to take for a model: those whose pass rate lies in a band.

A group whose rows all pass or all fail teaches nothing (training drops it), so a size is worth taking where the mean
pass rate is inside. Leaves out: rating (``rate``) and making the sizes (``prorl data ladder``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prorl_evaluation.rating.summary import GroupRate, RowRate, group_rates
from prorl_evaluation.tables import TextTable, bracket

Finding = Literal["take", "too hard", "too easy", "undecided"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What ratings say of one family: ``rungs`` with their rates, ``take`` the names of those inside the band.

    ``too hard`` and ``too easy``: every rung's whole interval lies beyond the band. ``undecided``: no mean is inside,
    and some interval reaches in: rate more rows.
    """

    domain: str
    family: str
    rungs: tuple[GroupRate, ...]
    take: tuple[str, ...]
    finding: Finding

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        rungs = [rung.as_json() for rung in self.rungs]
        about = {"domain": self.domain, "family": self.family, "finding": self.finding}
        return {**about, "take": list(self.take), "rungs": rungs}


def suggest(rows: Sequence[RowRate], band: tuple[float, float]) -> list[Suggestion]:
    """Return what the ratings say of each family whose rows have sizes (``Sample.rung``), for a band [low, high]."""
    families: dict[tuple[str, str], list[GroupRate]] = {}
    for group in group_rates([row for row in rows if row.sample.rung], "level"):
        families.setdefault((group.name[0], group.name[1]), []).append(group)
    low, high = band
    found = []
    for (domain, family), rungs in families.items():
        take = tuple(g.name[2] for g in rungs if low <= g.rate.value <= high)
        finding: Finding = "undecided"
        if take:
            finding = "take"
        elif all(g.rate.high < low for g in rungs):
            finding = "too hard"
        elif all(g.rate.low > high for g in rungs):
            finding = "too easy"
        found.append(Suggestion(domain, family, tuple(rungs), take, finding))
    return found


def entries_in_band(rows: Sequence[RowRate], band: tuple[float, float]) -> list[str]:
    """Return the recipe entries, those that named the rows, whose mean pass rate is in a band [low, high]."""
    rates: dict[str, list[float]] = {}
    for row in rows:
        rates.setdefault(row.sample.id.rsplit("-", 2)[0], []).append(row.rate)
    low, high = band
    return [name for name, own in rates.items() if low <= sum(own) / len(own) <= high]


def suggestion_table(found: Sequence[Suggestion], band: tuple[float, float]) -> TextTable:
    """Return a row for each size of each family, with what to do."""
    rows = []
    for one in found:
        for rung in one.rungs:
            taken = rung.name[2] in one.take
            word = "take" if taken else "" if one.finding == "take" else one.finding
            rows.append((f"{one.family} {rung.name[2]}", str(rung.rows), bracket(rung.rate), word))
    title = f"Sizes for a pass rate from {band[0]:g} to {band[1]:g}"
    return TextTable(title, ("family and size", "rows", "pass rate", "finding"), tuple(rows))
