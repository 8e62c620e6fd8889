"""Counts a dataset's rows by label and in histograms, and its dropped rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_common import read_jsonl
from prorl_datasets import SPLITS
from prorl_datasets.candidate import STAGE_NAMES
from prorl_datasets.inspection import BINS
from prorl_datasets.storage import DROPPED, PAIRS, QUARANTINE
from prorl_datasets.types import in_order
from prorl_viewer.datasets.table import NONE, Rates, RowTable, label_order, window
from prorl_viewer.subject import Json, Private, Query

RATE_EDGES = (0.0, 1e-6, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1 - 1e-6)
"""Lower edges of the pass-rate bins: 0, above 0, eighths, and 1."""
RATE_NAMES = ("0", "above 0", *(f"{edge}+" for edge in RATE_EDGES[2:-1]), "1")
_LISTED_LABELS = ("domain", "licence", "gold_check", "level", "source")


def groups(table: RowTable, rates: Rates, by: str) -> list[dict[str, Any]]:
    """Return, for each value of the label ``by``, the number, mean pass rate and other labels of its rows."""
    labels = table.labels[by]
    size = len(labels.names)
    rows = np.bincount(labels.codes, minlength=size)
    splits, split_names = _crossed(table, by, "split"), table.labels["split"].names
    has_rate = ~np.isnan(rates.value)
    rated = np.bincount(labels.codes[has_rate], minlength=size)
    summed = np.bincount(labels.codes[has_rate], rates.value[has_rate], minlength=size)
    crossings = {name: _crossed(table, by, name) for name in _LISTED_LABELS if name != by}
    result: list[dict[str, Any]] = []
    for code in sorted(np.flatnonzero(rows).tolist(), key=lambda c: label_order(labels.names[c])):
        values = {name: _values(table, name, crossed[code]) for name, crossed in crossings.items()}
        result.append(
            {
                "name": labels.names[code] or NONE,
                "rows": int(rows[code]),
                **{
                    split: int(splits[code][split_names.index(split)])
                    if split in split_names
                    else 0
                    for split in SPLITS
                },
                **values,
                "rated": int(rated[code]),
                "rate": round(float(summed[code] / rated[code]), 4) if rated[code] else None,
            }
        )
    return result


def histograms(table: RowTable, rates: Rates) -> dict[str, Any]:
    """Return histograms of prompt length, level and pass rate for each domain."""
    domains = table.labels["domain"]
    names = in_order(domains.names)
    edges = np.array([0, *BINS])
    length = np.searchsorted(edges, table.characters, side="right") - 1
    levels = table.labels["level"]
    in_level = sorted((name for name in levels.names if name), key=label_order)
    rank = np.array([in_level.index(name) if name else -1 for name in levels.names] or [-1])[
        levels.codes
    ]
    has_level, rated = rank >= 0, ~np.isnan(rates.value)
    rate = np.searchsorted(np.array(RATE_EDGES), rates.value[rated], side="right") - 1

    def bars(
        bars: list[str], codes: NDArray[np.int32], bins: NDArray[np.int64]
    ) -> dict[str, Any] | None:
        counts = np.zeros((len(domains.names), len(bars)), np.int64)
        np.add.at(counts, (codes, bins), 1)
        rows = {name: counts[domains.names.index(name)].tolist() for name in names}
        return {"bars": bars, "rows": rows} if len(bins) else None

    return {
        "domains": names,
        "characters": bars([f"{edge:,}+" for edge in edges.tolist()], domains.codes, length),
        "levels": bars(in_level, domains.codes[has_level], rank[has_level]),
        "rates": bars(list(RATE_NAMES), domains.codes[rated], rate),
    }


def _crossed(table: RowTable, first: str, second: str) -> NDArray[np.int64]:
    one, other = table.labels[first], table.labels[second]
    size = len(one.names), len(other.names)
    flat = np.bincount(
        one.codes.astype(np.int64) * size[1] + other.codes, minlength=size[0] * size[1]
    )
    return flat.reshape(size)


def _values(table: RowTable, name: str, counts: NDArray[np.int64]) -> str:
    labels = table.labels[name].names
    codes = [c for c in np.argsort(-counts, kind="stable").tolist() if counts[c] and labels[c]]
    if name == "level":
        return ", ".join(sorted((labels[c] for c in codes), key=label_order)[:8])
    more = f" and {len(codes) - 2} more" if len(codes) > 2 else ""
    return ", ".join(labels[c] for c in codes[:2]) + more


PAIRS_SHOWN = 3
"""Maximum number of example matches per benchmark and rule."""


@dataclass(slots=True)
class Drops:
    manifest: Mapping[str, Any]
    examples: list[dict[str, Any]] = field(default_factory=list)
    """The lines of ``dropped.jsonl``."""
    pairs: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    """Counts matches with benchmark items by (benchmark, rule, whether the row was dropped)."""
    pair_examples: dict[tuple[str, str, bool], list[dict[str, Any]]] = field(default_factory=dict)
    kept_like: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Maps a kept row to its matches with benchmark items."""
    repeated: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Maps a kept row to its dropped duplicates."""

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, Any]) -> Drops:
        """Read a dataset's files. Raises UserError for an invalid file."""
        drops = cls(manifest)
        if (folder / DROPPED).is_file():
            for _, line in read_jsonl(folder / DROPPED):
                drops.examples.append(line)
                if isinstance(like := line.get("like"), str):
                    drops.repeated.setdefault(like, []).append(line)
        if (folder / PAIRS).is_file():
            for _, line in read_jsonl(folder / PAIRS):
                drops._add_pair(line)
        return drops

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
        """Return the filter stages, the reasons for dropping, and the dropped examples that match the query."""
        manifest = self.manifest
        conditions = {
            key: query[key] for key in ("stage", "reason", "domain", "entry") if query.get(key)
        }
        examples = [e for e in self.examples if all(e.get(k) == v for k, v in conditions.items())]
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
    return _marked_private(line, ("row", "stage", "reason", "entry", "domain", "like"))


def pair_line(line: Mapping[str, Any]) -> dict[str, Any]:
    return _marked_private(line, ("row", "benchmark", "rule", "item"))


def _marked_private(line: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    labels = {name: line[name] for name in names if isinstance(line.get(name), str | int)}
    numbers = {k: v for k, v in line.items() if isinstance(v, int | float)}
    texts = {k: Private(str(v)) for k, v in line.items() if k not in {*labels, *numbers}}
    return {**labels, **numbers, **texts}
