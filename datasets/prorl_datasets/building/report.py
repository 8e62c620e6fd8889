"""Collects a build's results by entry and stage, for the report and the manifest.

Manifests contain no times and no local paths, so that equal builds give equal manifests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_datasets.candidate import STAGES
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.parts import package_versions
from prorl_datasets.spec import ADAPTERS, EMBEDDERS, FUNCTIONS, SOURCES
from prorl_datasets.types import SPLITS, Split
from prorl_sandbox import LANGUAGES
from prorl_verifiers import VERIFIERS

MAX_UNTYPED = 200
"""Maximum number of untyped gold answers of an entry that the manifest lists."""


@dataclass(slots=True)
class EntryResult:
    """Results of one recipe entry."""

    entry: Entry
    weight: float = 1.0
    candidates: int = 0
    drops: dict[str, Counter[str]] = field(default_factory=dict)
    surplus: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, str]] = field(default_factory=list)
    checks: Counter[str] = field(default_factory=Counter)
    golds: Counter[str] = field(default_factory=Counter)
    """Number of gold answers by type, as classified by the verifiers."""
    untyped: list[list[str]] = field(default_factory=list)
    """(row id, gold answer) of at most MAX_UNTYPED answers that can only be compared as strings."""
    answers: Counter[int] = field(default_factory=Counter)
    isolation: set[str] = field(default_factory=set)
    left_out: bool = False
    skipped: bool = False
    """Whether the user left the entry out with ``--only`` or ``--skip``."""
    failed: str = ""
    """Why the source was unavailable or unreadable, else ""."""
    taken: Mapping[str, Any] = field(default_factory=dict)
    """Files that the source chose."""
    tests_left_out: Counter[str] = field(default_factory=Counter)
    """Number of omitted tests by reason."""

    def commonest_answer_share(self) -> float | None:
        """Return the fraction of rows with the most common answer, or None without answers."""
        total = sum(self.answers.values())
        return round(self.answers.most_common(1)[0][1] / total, 4) if total else None

    def reasons(self) -> Counter[str]:
        return sum(self.drops.values(), Counter())

    def short(self) -> list[str]:
        """Return "SPLIT KEPT/TARGET" for each split with fewer rows than its target."""
        if self.left_out or self.skipped or self.failed:
            return []
        targets = {s: self.entry.count.of(s) for s in SPLITS}
        return [f"{s} {self.kept[s]}/{t}" for s, t in targets.items() if t and self.kept[s] < t]

    def share(self) -> float:
        """Return the number of kept rows divided by the target."""
        if not self.short():
            return 1.0
        targets = {s: self.entry.count.of(s) or 0 for s in SPLITS}
        return sum(self.kept[s] for s in SPLITS if targets[s]) / sum(targets.values())

    def as_json(self) -> dict[str, Any]:
        entry = self.entry
        return {
            "name": entry.name,
            "domain": entry.domain,
            "source": entry.spec.source_name(entry.source),
            "licence": entry.licence,
            "weight": self.weight,
            "left_out": self.left_out,
            **({"skipped": True} if self.skipped else {}),
            **({"failed": True} if self.failed else {}),
            **({"taken": dict(self.taken)} if self.taken else {}),
            **({"tests_left_out": dict(self.tests_left_out)} if self.tests_left_out else {}),
            "splits": {
                s: {
                    "target": entry.count.written(s),
                    "kept": self.kept[s],
                }
                for s in SPLITS
            },
            "candidates": self.candidates,
            "stages": {s: sum(self.drops.get(s, Counter()).values()) for s in STAGES},
            "surplus": self.surplus,
            "drops": dict(sorted(self.reasons().items())),
            "verify_fraction": entry.verify_fraction,
            "full_path_fraction": entry.full_path_fraction,
            "gold_check": dict(sorted(self.checks.items())),
            "commonest_answer_share": self.commonest_answer_share(),
            "gold_types": dict(self.golds.most_common()),
        }


@dataclass(frozen=True, slots=True)
class BuildReport:
    """Result of a build. ``reused`` is True if ``path`` already contained the dataset."""

    path: Path
    manifest: Mapping[str, Any]
    reused: bool = False
    failed: Mapping[str, str] = field(default_factory=dict)
    """Maps each entry that is missing, because its source was unavailable or unreadable, to the reason."""

    @property
    def recipe(self) -> str:
        return str(self.manifest["recipe"])

    @property
    def short(self) -> Mapping[str, list[str]]:
        """Maps each entry with too few rows to "SPLIT KEPT/TARGET" for each incomplete split."""
        short: Mapping[str, list[str]] = self.manifest["short"]
        return short

    @property
    def too_short(self) -> list[str]:
        """Names of the entries that kept less than ``min_share`` of their target."""
        too_short: list[str] = self.manifest["too_short"]
        return too_short


@dataclass(frozen=True, slots=True)
class Facts:
    """The manifest's data about the whole dataset."""

    seed: int
    fingerprint: str
    isolated: bool
    sources: Mapping[str, str]
    decontamination: Mapping[str, Any]
    files: Mapping[str, Mapping[str, Any]]
    licences: Mapping[str, int]
    parts: Sequence[Mapping[str, str]]
    limit: int | None = None


def parts_in_use(recipe: Recipe) -> list[dict[str, str]]:
    """Return the records of all third-party plug-ins that the recipe names."""
    adapters: set[Any] = {getattr(entry.source, "adapter", None) for entry in recipe.entries}
    conditions = (getattr(entry.source, "where", None) for entry in recipe.entries)
    functions = {where for where in conditions if isinstance(where, str)}
    return [
        *SOURCES.records(entry.source.kind for entry in recipe.entries),
        *FUNCTIONS.records(functions),
        *ADAPTERS.records(adapters & {*ADAPTERS.names()}),  # check_sources reports unknown adapters
        *EMBEDDERS.records(filter(None, [recipe.decontamination.embedding])),
        *VERIFIERS.records(entry.scored_by for entry in recipe.entries),
    ]


def parts_that_count(recipe: Recipe) -> list[dict[str, str]]:
    """Return the records of all third-party plug-ins that may affect a build, even if only rows name them."""
    parts = parts_in_use(recipe)
    verifiers = {entry.scored_by for entry in recipe.entries}
    rows_name_verifiers = any(part["group"] == SOURCES.group for part in parts)
    if rows_name_verifiers or any(VERIFIERS.get(name).compose for name in verifiers):
        verifiers.update(VERIFIERS.names())
        parts += [p for p in VERIFIERS.records(verifiers) if p not in parts]
    if any(VERIFIERS.get(name).needs is not None for name in verifiers):
        parts += LANGUAGES.records(LANGUAGES.names())
    return parts


def stage_table(results: list[EntryResult]) -> dict[str, dict[str, int]]:
    """Return {domain: {stage: number of rows}}, from candidates to kept rows."""
    table: dict[str, dict[str, int]] = {}
    for result in results:
        row = table.setdefault(
            result.entry.domain, dict.fromkeys(("candidates", *STAGES, "surplus", "kept"), 0)
        )
        row["candidates"] += result.candidates
        for stage, reasons in result.drops.items():
            row[stage] += sum(reasons.values())
        row["surplus"] += result.surplus
        row["kept"] += result.kept.total()
    return table


def make_manifest(recipe: Recipe, results: list[EntryResult], facts: Facts) -> dict[str, Any]:
    drops = sum((r.reasons() for r in results), Counter())
    left_out = sorted({r.entry.scored_by for r in results if r.left_out})
    return {
        "format": 2,
        "recipe": recipe.name,
        "description": recipe.description,
        "recipe_sha256": recipe.digest(),
        "resolved_recipe": recipe.resolved(),
        "seed": facts.seed,
        "fingerprint": facts.fingerprint,
        **({"limit": facts.limit} if facts.limit is not None else {}),
        "isolated": facts.isolated,
        "isolation": sorted({level for r in results for level in r.isolation if level}),
        "left_out": dict.fromkeys(left_out, "this machine cannot isolate untrusted code"),
        "counts": _by(results, lambda r, s: r.kept[s]),
        "targets": _by(
            results, lambda r, s: 0 if r.left_out or r.skipped else r.entry.count.of(s) or 0
        ),
        "sources": _by(results, lambda r, s: r.kept[s], lambda e: e.spec.source_name(e.source)),
        "licences": dict(sorted(facts.licences.items())),
        "gold_types": dict(sum((r.golds for r in results), Counter()).most_common()),
        "untyped_golds": [
            {"id": identity, "gold": gold} for r in results for identity, gold in r.untyped
        ],
        "gold_check": dict(sorted(sum((r.checks for r in results), Counter()).items())),
        "stages": stage_table(results),
        "drops": dict(sorted(drops.items(), key=lambda item: (-item[1], item[0]))),
        "decontamination": dict(facts.decontamination),
        "short": {r.entry.name: r.short() for r in results if r.short()},
        "too_short": [r.entry.name for r in results if r.share() < recipe.min_share_of(r.entry)],
        "skipped": [r.entry.name for r in results if r.skipped],
        "failed": [r.entry.name for r in results if r.failed],
        "entries": [result.as_json() for result in results],
        "source_files": dict(sorted(facts.sources.items())),
        "files": dict(facts.files),
        "versions": package_versions(),
        **({"parts": list(facts.parts)} if facts.parts else {}),
    }


def _by(
    results: list[EntryResult],
    value: Callable[[EntryResult, Split], int],
    key: Callable[[Entry], str] = lambda entry: entry.domain,
) -> dict[str, dict[str, int]]:
    """Return {split: {key(entry): sum of value(result, split)}}, omitting zeros."""
    counts: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
    for result in results:
        for split in SPLITS:
            if number := value(result, split):
                counts[split][key(result.entry)] += number
    return {split: dict(sorted(count.items())) for split, count in counts.items()}
