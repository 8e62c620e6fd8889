"""What a build says of itself: per-entry results, the report object and the manifest.

The manifest holds no times and no paths of the machine, so equal builds give equal manifests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_datasets.parts import Part, package_versions
from prorl_datasets.recipe import Entry, Recipe
from prorl_datasets.types import SPLITS, Split

MAX_EXAMPLES = 20


@dataclass(slots=True)
class EntryResult:
    """Counts of one entry over its splits."""

    entry: Entry
    kept: Counter[str] = field(default_factory=Counter)
    drops: Counter[str] = field(default_factory=Counter)
    examples: list[list[str]] = field(default_factory=list)
    checks: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    isolation: set[str] = field(default_factory=set)
    left_out: bool = False

    def add(self, split: Split, part: Part) -> None:
        """Count one part."""
        self.kept[split] += len(part.rows)
        self.drops.update(part.drops)
        self.examples += part.examples
        self.isolation.update(part.isolation)
        self.checks.update(row["gold_check"] for row in part.rows)
        self.answers.update(row["answer"] for row in part.rows if row["answer"] is not None)

    def commonest_answer_share(self) -> float | None:
        """Return the share of the commonest right answer: what a blind constant answer earns."""
        total = sum(self.answers.values())
        return round(self.answers.most_common(1)[0][1] / total, 4) if total else None

    def short(self) -> list[str]:
        """Return ``split kept/target`` for each split that fell short."""
        if self.left_out:
            return []
        targets = {s: self.entry.count.of(s) for s in SPLITS}
        return [f"{s} {self.kept[s]}/{t}" for s, t in targets.items() if t and self.kept[s] < t]

    def as_json(self) -> dict[str, Any]:
        """Return the manifest's record of this entry."""
        entry = self.entry
        return {
            "name": entry.name,
            "domain": entry.domain,
            "source": source_label(entry),
            "licence": entry.licence,
            "weight": entry.weight,
            "left_out": self.left_out,
            "splits": {
                s: {
                    "target": "all" if entry.count.of(s) is None else entry.count.of(s),
                    "kept": self.kept[s],
                }
                for s in SPLITS
            },
            "drops": dict(sorted(self.drops.items())),
            "verify_fraction": entry.verify_fraction,
            "gold_check": dict(sorted(self.checks.items())),
            "commonest_answer_share": self.commonest_answer_share(),
        }


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build left: ``reused`` when the same dataset was already there. ``manifest`` is the
    file's content.
    """

    path: Path
    manifest: Mapping[str, Any]
    reused: bool = False

    @property
    def recipe(self) -> str:
        """Name of the recipe."""
        return str(self.manifest["recipe"])

    @property
    def short(self) -> Mapping[str, list[str]]:
        """Entries that fell short of their target: name to ``split kept/target``."""
        found: Mapping[str, list[str]] = self.manifest["short"]
        return found


def source_label(entry: Entry) -> str:
    """Return where an entry's rows come from, as in the ``source`` column."""
    source = entry.source
    if source.kind == "reasoning_gym":
        return f"reasoning_gym/{source.task}"
    if source.kind == "procedural":
        return f"procedural/{source.family}"
    return f"file/{Path(source.path).name}"


def make_manifest(
    recipe: Recipe,
    seed: int,
    digest: str,
    results: list[EntryResult],
    files: Mapping[str, Mapping[str, Any]],
    isolated: bool,
) -> dict[str, Any]:
    """Return the manifest of a finished build as JSON-ready values."""
    drops = sum((r.drops for r in results), Counter())
    left_out = sorted({r.entry.domain for r in results if r.left_out})
    examples = [
        {"reason": reason, "item": item, "detail": detail}
        for result in results
        for reason, item, detail in result.examples
    ]
    return {
        "format": 1,
        "recipe": recipe.name,
        "recipe_sha256": recipe.digest(),
        "resolved_recipe": recipe.resolved(),
        "seed": seed,
        "fingerprint": digest,
        "isolated": isolated,
        "isolation": sorted({level for r in results for level in r.isolation if level}),
        "left_out": dict.fromkeys(left_out, "this machine cannot isolate untrusted code"),
        "counts": _kept_by(results, lambda entry: entry.domain),
        "sources": _kept_by(results, source_label),
        "gold_check": dict(sum((r.checks for r in results), Counter())),
        "drops": dict(drops.most_common()),
        "drop_examples": examples[:MAX_EXAMPLES],
        "short": {r.entry.name: r.short() for r in results if r.short()},
        "entries": [result.as_json() for result in results],
        "files": dict(files),
        "versions": package_versions(),
    }


def _kept_by(results: list[EntryResult], key: Callable[[Entry], str]) -> dict[str, dict[str, int]]:
    """Return the rows of each split by ``key`` of their entry, sorted."""
    counts: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
    for result in results:
        for split in SPLITS:
            if result.kept[split]:
                counts[split][key(result.entry)] += result.kept[split]
    return {split: dict(sorted(count.items())) for split, count in counts.items()}
