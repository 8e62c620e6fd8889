"""Writes the dataset card, without times and local paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text
from prorl_common.markup import table
from prorl_datasets.candidate import STAGE_NAMES
from prorl_datasets.types import SPLITS, in_order

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))


@dataclass(slots=True)
class RecordedRates:
    """Recorded pass rates by domain, and the number of all rows."""

    rows: int = 0
    rates: dict[str, list[float]] = field(default_factory=dict)

    def add(self, domain: str, rate: float | None) -> None:
        self.rows += 1
        if rate is not None:
            self.rates.setdefault(domain, []).append(rate)


def write_card(folder: Path, manifest: Mapping[str, Any], recorded: RecordedRates) -> None:
    """Write the card to README.md. Raises UserError for disk errors."""
    stages = manifest["stages"]
    dropped = [
        (STAGE_NAMES[name], *(f"{stages[domain][name]:,}" for domain in stages))
        for name in next(iter(stages.values()), {})
    ]
    rows = sum(sum(counts.values()) for counts in manifest["counts"].values())
    size = next((name for limit, name in SIZES if rows < limit), "n>1M")
    front = ["---", f"pretty_name: {manifest['recipe']}", "license: other"]
    front += ["license_name: by-source", "language: [en]", f"size_categories: [{size}]"]
    front += ["tags: [reasoning, verifiable-rewards, reinforcement-learning]", "configs:"]
    front += ["- config_name: default", "  data_files:"]
    for split in SPLITS:  # for ``load_dataset`` on the folder
        if f"{split}.parquet" in manifest["files"]:
            front += [f"  - split: {split}", f"    path: {split}.parquet"]
    parts = [
        "\n".join([*front, "---"]),
        f"# {manifest['recipe']}",
        manifest["description"],
        (
            f"Every row has a program that checks answers to it. Built with prorl {manifest['versions']['prorl']} from "
            f"the recipe `{manifest['recipe']}`, seed {manifest['seed']}; `manifest.json` holds the resolved recipe, the "
            "hash of each file and the versions. Load it with `datasets.load_dataset(FOLDER)`; columns: id, domain, split, "
            "prompt (chat messages), verifier, reference (JSON), source, licence, gold_check, metadata "
            "(JSON)."
        ),
        "## Rows\n\nNumber of kept rows, with the target in brackets if it was missed.",
        _counts(manifest),
        _missing(manifest),
        "## Sources and licences",
        _sources(manifest),
        "## What was dropped\n\nDropped rows by domain and stage. Rows that were not needed are surplus.",
        _table(("", *stages), dropped),
        _table(("reason", "rows"), list(manifest["drops"].items())[:20]),
        "## Gold check",
        _gold(manifest),
        _table(("type of gold", "rows"), list(manifest["gold_types"].items())),
        "## Decontamination",
        _benchmarks(manifest),
    ]
    if recorded.rates:
        words = "as the recipe's `difficulty` names them"
        parts.append(_difficulty(recorded.rates, recorded.rows, words))
    atomic_write_text(folder / "README.md", "\n\n".join(part for part in parts if part) + "\n")


BEGIN, END = "<!-- pass rates -->", "<!-- end pass rates -->"


def add_ratings(
    folder: Path, rates: Mapping[str, Sequence[float]], rows: int, words: str
) -> Path | None:
    """Add pass rates by domain to the dataset's card; return the card's path, or None if there is no card.

    ``words`` completes "Pass rates of 9 of 10 rows, ...". Raises UserError for disk errors.
    """
    card = folder / "README.md"
    if not card.is_file():
        return None
    before, begin, following = card.read_text(encoding="utf-8").partition(f"\n\n{BEGIN}")
    after = following.partition(END)[2].lstrip("\n") if begin else ""
    section = _difficulty(rates, rows, words)
    atomic_write_text(card, f"{before.rstrip()}\n\n{section}\n" + (f"\n{after}" if after else ""))
    return card


def _difficulty(rates: Mapping[str, Sequence[float]], rows: int, words: str) -> str:
    by_domain = []
    for domain in in_order(rates):
        values, count = rates[domain], len(rates[domain])
        never, always = values.count(0.0) / count, values.count(1.0) / count
        shares = (f"{share:.0%}" for share in (never, 1 - never - always, always))
        by_domain.append((domain, f"{count:,}", f"{sum(values) / count:.3f}", *shares))
    rated = sum(map(len, rates.values()))
    return "\n\n".join(
        [
            f"{BEGIN}\n## Difficulty",
            f"Pass rates of {rated:,} of {rows:,} rows, {words}.",
            _table(("domain", "rated", "pass rate", "0", "(0, 1)", "1"), by_domain),
            END,
        ]
    )


def _counts(manifest: Mapping[str, Any]) -> str:
    splits = [s for s in SPLITS if manifest["counts"][s] or manifest["targets"][s]]
    rows = []
    for domain in in_order(
        d for s in splits for d in (*manifest["counts"][s], *manifest["targets"][s])
    ):
        cells = []
        for split in splits:
            kept = manifest["counts"][split].get(domain, 0)
            target = manifest["targets"][split].get(domain, 0)
            cells.append(f"{kept:,} ({target:,})" if kept < target else f"{kept:,}")
        if any(cell != "0" for cell in cells):
            rows.append((domain, *cells))
    sums = [f"{sum(manifest['counts'][split].values()):,}" for split in splits]
    return _table(("domain", *splits), [*rows, ("all", *sums)])


def _missing(manifest: Mapping[str, Any]) -> str:
    lines = [
        f"- `{name}` yielded fewer rows than its goal: {', '.join(splits)} (kept/goal)."
        for name, splits in manifest["short"].items()
    ]
    lines += [
        f"- `{name}` is missing: its source was unavailable or unreadable."
        for name in manifest["failed"]
    ]
    lines += [f"- `{name}` was left out on purpose." for name in manifest["skipped"]]
    for entry in manifest["entries"]:
        if left_out := entry.get("tests_left_out"):
            reasons = ", ".join(f"{reason} ({count:,})" for reason, count in left_out.items())
            lines.append(f"- Tests of `{entry['name']}` that were left out: {reasons}.")
    return "\n".join(lines)


def _sources(manifest: Mapping[str, Any]) -> str:
    counts: dict[tuple[str, str, str], int] = {}
    for entry in manifest["entries"]:
        kind = entry["source"].partition("/")[0]
        generated = kind in ("reasoning_gym", "procedural")
        label = f"{kind} (generated)" if generated else entry["source"]
        kept = sum(split["kept"] for split in entry["splits"].values())
        key = (entry["domain"], label, entry["licence"])
        counts[key] = counts.get(key, 0) + kept
    rows = [(*key, f"{count:,}") for key, count in counts.items()]
    text = _table(("domain", "source", "licence", "rows"), rows)
    pins = [(name, f"`{sha[:16]}`") for name, sha in manifest["source_files"].items()]
    return f"{text}\n\n{_table(('file', 'SHA-256 begins'), pins)}" if pins else text


def _gold(manifest: Mapping[str, Any]) -> str:
    meanings = {
        "verified": "the row's verifier gave the gold full reward, and an independent result agrees with the gold "
        "(`verified_by` in the metadata), such as another response or program",
        "self-consistent": "no independent result agrees with the gold, but the verifier accepts it, the tests decode, "
        "the constraints are compatible, or it is right by construction",
        "none": "nothing could be checked",
    }
    checks = manifest["gold_check"]
    rows = [
        (state, f"{checks[state]:,}", text) for state, text in meanings.items() if state in checks
    ]
    text = _table(("gold_check", "rows", "meaning"), rows)
    if any(e["domain"] == "code" and e["full_path_fraction"] < 1 for e in manifest["entries"]):
        text += (
            "\n\nGenerated code: the reference solution ran on all tests of its item in one sandbox; "
            "`full_path_fraction` in the manifest is the share that also ran test by test, as in "
            "training."
        )
    return text


def _benchmarks(manifest: Mapping[str, Any]) -> str:
    record = manifest["decontamination"]
    if not record["checked"] and not record["not_checked"]:
        return "This recipe asks for none."
    dropped = record["rows_like_an_item"]
    rows = [(name, f"{n:,}", f"{dropped.get(name, 0):,}") for name, n in record["checked"].items()]
    parts = [_table(("benchmark", "items", "rows dropped as like one"), rows)]
    if dropped:
        parts.append(
            "Every pair is in the build's `decontamination.jsonl`, which a push leaves out."
        )
    if record["not_checked"]:
        missing = _table(("NOT checked", "why"), record["not_checked"].items())
        parts += ["The rows were not compared with these benchmarks:", missing]
    return "\n\n".join(part for part in parts if part)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = ([" ".join(str(value).split()).replace("|", "\\|") for value in row] for row in rows)
    return table(head, cells)
