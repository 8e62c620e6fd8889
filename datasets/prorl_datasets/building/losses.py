"""Stop a build whose generated rows fail their checks: a fault of a generator, not bad luck.

Counted are rows that could not be made, whose gold was refused, or that repeat a benchmark; items
drawn twice are not, they only cost another draw. Leaves out: files, whose losses are what they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from prorl_datasets.building.choose import Tally
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.types import DatasetError

COUNTED = ("made", "gold", "decontamination")
ENOUGH = 200
"""Candidates of a domain before its losses are judged."""


def check_losses(recipe: Recipe, tallies: Mapping[str, Tally]) -> None:
    """Raise DatasetError with the ten commonest reasons where a generated domain lost too much."""
    candidates: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {}
    for entry in recipe.entries:
        tally = tallies.get(entry.name)
        if tally is None or not entry.generated:
            continue
        candidates[entry.domain] += tally.candidates
        for stage in COUNTED:
            for reason, count in tally.drops.get(stage, {}).items():
                reasons.setdefault(entry.domain, Counter())[f"{entry.name}: {reason}"] += count
    for domain, lost in reasons.items():
        total = candidates[domain]
        if total >= ENOUGH and lost.total() > recipe.max_loss * total:
            ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))[:10]
            worst = "; ".join(f"{reason} ({count})" for reason, count in ordered)
            raise DatasetError(
                f"domain {domain} lost {lost.total()} of {total} generated rows to its checks, more "
                f"than {recipe.max_loss:.0%} (max_loss): {worst}; finished parts are kept"
            )
