"""Why rows were dropped: counts by stage and reason from the manifest, examples from the files beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import read_jsonl
from prorl_datasets.building.report import STAGE_NAMES
from prorl_datasets.building.writing import DROPPED, PAIRS, QUARANTINE
from prorl_viewer.datasets.filtering import window
from prorl_viewer.subject import Json, Private, Query

PAIRS_SHOWN = 3
"""Pairs of a benchmark and rule that are shown."""


@dataclass(slots=True)
class Drops:
    """What a dataset folder says of rows that are not there."""

    manifest: Mapping[str, Any]
    examples: list[dict[str, Any]] = field(default_factory=list)
    """Lines of ``dropped.jsonl``."""
    pairs: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    """Matches with benchmarks by benchmark, rule and whether the row was dropped."""
    pair_examples: dict[tuple[str, str, bool], list[dict[str, Any]]] = field(default_factory=dict)
    kept_like: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Row -> matches with benchmarks of rows that stayed (``variants: keep``)."""
    repeated: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Kept row -> examples of rows that repeated it."""

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, Any]) -> Drops:
        """Read the files beside the rows. Raises UserError where one is damaged."""
        found = cls(manifest)
        if (folder / DROPPED).is_file():
            for _, line in read_jsonl(folder / DROPPED):
                found.examples.append(line)
                if isinstance(like := line.get("like"), str):
                    found.repeated.setdefault(like, []).append(line)
        if (folder / PAIRS).is_file():
            for _, line in read_jsonl(folder / PAIRS):
                found._add_pair(line)
        return found

    def _add_pair(self, line: dict[str, Any]) -> None:
        dropped = bool(line.get("dropped", True))
        key = str(line.get("benchmark")), str(line.get("rule")), dropped
        self.pairs[key] += 1
        held = self.pair_examples.setdefault(key, [])
        if len(held) < PAIRS_SHOWN:
            held.append(line)
        if not dropped:
            self.kept_like.setdefault(str(line.get("row")), []).append(line)

    def page(self, query: Query) -> Json:
        """Return the stage table, reasons, and examples of the stage, reason, domain and entry that a query names."""
        manifest = self.manifest
        wanted = {
            key: query[key] for key in ("stage", "reason", "domain", "entry") if query.get(key)
        }
        examples = [e for e in self.examples if all(e.get(k) == v for k, v in wanted.items())]
        first, last = window(query, len(examples))
        stages: Mapping[str, Mapping[str, int]] = manifest.get("stages", {})
        where = {str(e.get("reason")): str(e.get("stage")) for e in self.examples}
        checked = manifest.get("decontamination", {})
        return {
            "stages": [
                {"stage": k, "title": title.removeprefix("- ")} for k, title in STAGE_NAMES.items()
            ],
            "by_domain": [{"domain": domain, **row} for domain, row in stages.items()],
            "reasons": [
                {"reason": reason, "rows": count, "stage": where.get(reason)}
                for reason, count in manifest.get("drops", {}).items()
            ],
            "examples_kept": len(self.examples),
            "examples_total": len(examples),
            "examples": [dropped_line(line) for line in examples[first:last]],
            "bad_rows": manifest.get("files", {}).get(QUARANTINE, {}).get("rows", 0),
            "checked": [
                {"benchmark": b, "items": n} for b, n in sorted(checked.get("checked", {}).items())
            ],
            "not_checked": [
                {"benchmark": b, "why": w}
                for b, w in sorted(checked.get("not_checked", {}).items())
            ],
            "pairs": [
                {
                    "benchmark": benchmark,
                    "rule": rule,
                    "dropped": dropped,
                    "rows": count,
                    "examples": [
                        pair_line(line) for line in self.pair_examples[benchmark, rule, dropped]
                    ],
                }
                for (benchmark, rule, dropped), count in self.pairs.most_common()
            ],
        }

    def entries(self) -> Json:
        """Return what became of each entry of the recipe: its stages, what it fell short of."""
        short: Mapping[str, list[str]] = self.manifest.get("short", {})
        return [
            {
                "entry": entry["name"],
                "domain": entry.get("domain"),
                "source": entry.get("source"),
                "candidates": entry.get("candidates"),
                **entry.get("stages", {}),
                "surplus": entry.get("surplus"),
                "kept": sum(split.get("kept", 0) for split in entry.get("splits", {}).values()),
                "short": ", ".join(short.get(entry["name"], ())),
            }
            for entry in self.manifest.get("entries", ())
        ]


def dropped_line(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of ``dropped.jsonl`` with its texts marked as such."""
    return _told(line, ("row", "stage", "reason", "entry", "domain", "like"))


def pair_line(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of ``decontamination.jsonl`` with its texts marked as such."""
    return _told(line, ("row", "benchmark", "rule", "item"))


def _told(line: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return numbers and ``names``, which are labels and ids, as they are; all else is a text."""
    known = {name: line[name] for name in names if isinstance(line.get(name), str | int)}
    numbers = {k: v for k, v in line.items() if isinstance(v, int | float)}
    texts = {k: Private(str(v)) for k, v in line.items() if k not in {*known, *numbers}}
    return {**known, **numbers, **texts}
