"""Recall and false drops of the text engine, and its speed; writes docs/reference/decontamination.md.

    PRORL_TEST_DATA=DIR python benchmarks/decontamination.py [--json FILE] [--docs FILE]

Probes an index of public benchmarks with planted copies of their own questions, with published
paraphrase pairs and with other corpora; sweeps the thresholds one rule at a time. Leaves out every
source that needs the network.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import decontamination_probes as probes
import decontamination_speed as speed
import numpy as np
from decontamination_document import document
from decontamination_probes import Probe

from prorl_datasets.text.duplicates import greedy_keep, near_duplicates
from prorl_datasets.text.hashing import Profile, profile, signature, signature_of, word_hashes
from prorl_datasets.text.index import BenchmarkIndex, Match
from prorl_datasets.text.index_file import Rules

DOCS = Path(__file__).resolve().parent.parent / "docs" / "reference" / "decontamination.md"
RULES = ("question", "13-gram", "minhash")
NEVER = 1_000_000
"""For ``common``: no n-gram is boilerplate; for ``row_ngrams``: the row's share never counts."""

Table = list[list[Any]]


@dataclass
class Material:
    """Everything that is measured on, profiled once."""

    items: list[tuple[str, str, str]]
    own: list[Probe]
    planted: dict[str, list[Probe]]
    unrelated: dict[str, list[Profile]]
    related: dict[str, list[Profile]]


def gather(data: Path) -> Material:
    """Read and profile the corpora."""
    items = [
        (name, str(i), text)
        for name, spec in probes.BENCHMARKS.items()
        for i, text in enumerate(probes.texts(data, spec))
    ]
    filler = probes.texts(data, probes.UNRELATED["GSM8K train"])

    def profiles(specs: dict[str, tuple[str, str]]) -> dict[str, list[Profile]]:
        return {n: [profile(t) for t in probes.texts(data, s)] for n, s in specs.items()}

    return Material(
        items=items,
        own=[(profile(text), (benchmark, item)) for benchmark, item, text in items],
        planted=probes.planted(items, filler),
        unrelated=profiles(probes.UNRELATED),
        related=profiles(probes.RELATED),
    )


def recall(index: BenchmarkIndex, probes: Sequence[Probe]) -> dict[str, float]:
    """Return the share of probes whose own item is matched, by rule and by any."""
    found = [
        {m.rule for m in index.matches(row) if (m.benchmark, m.item_id) == item}
        for row, item in probes
    ]
    rates = {rule: _share(rule in rules for rules in found) for rule in RULES}
    return {**rates, "any": _share(map(bool, found))}


def drops(index: BenchmarkIndex, rows: Sequence[Profile]) -> list[tuple[int, Match]]:
    """Return the strongest match of each row that would be dropped, with the row's number."""
    found = [(i, index.matches(row)) for i, row in enumerate(rows)]
    return [(i, max(m, key=lambda match: match.score)) for i, m in found if m]


def _share(hits: Iterable[bool]) -> float:
    values = list(hits)
    return sum(values) / len(values) if values else 0.0


def dropped_among_themselves(index: BenchmarkIndex, items: Sequence[Probe], rule: str) -> int:
    """Return how many benchmark items another item with another question would drop."""
    question = {item: row.question for row, item in items}
    return sum(
        any(
            m.rule == rule and question[m.benchmark, m.item_id] != row.question
            for m in index.matches(row)
        )
        for row, _ in items
    )


SWEEP: dict[str, tuple[str, list[tuple[str, Rules]]]] = {
    "13-gram": (
        "13-gram",
        [
            ("any, boilerplate too", Rules(ngram_share=1e-9, common=NEVER, row_ngrams=NEVER)),
            *((str(s), Rules(ngram_share=s, row_ngrams=NEVER)) for s in (0.1, 0.3, 0.5)),
        ],
    ),
    "13-gram 0.3, or of the row": ("13-gram", [("0.6", Rules(row_share=0.6))]),
    "minhash": ("minhash", [(str(s), Rules(minhash=s)) for s in (0.4, 0.5, 0.6, 0.8)]),
}
KINDS = (
    "inside two other questions",
    "one number changed",
    "10% of words deleted",
    "first half only",
)


def sweep(material: Material) -> dict[str, Table]:
    """Return, for each rule alone, recall by kind (every fourth probe) and drops by threshold."""
    unrelated = [p for rows in material.unrelated.values() for p in rows]
    related = material.related["MATH test less MATH-500"]
    tables: dict[str, Table] = {}
    for title, (rule, settings) in SWEEP.items():
        tables[title] = []
        for label, rules in settings:
            index = BenchmarkIndex.build(material.items, rules)
            found = [recall(index, material.planted[kind][::4])[rule] for kind in KINDS]
            counts = [
                sum(any(m.rule == rule for m in index.matches(p)) for p in rows)
                for rows in (unrelated, related)
            ]
            among = dropped_among_themselves(index, material.own, rule)
            row = [label, *found, *counts, among]
            tables[title].append(row)
            print(title, row, file=sys.stderr)
    return tables


def shingles(material: Material) -> Table:
    """Return, for each kind of shingle, the threshold that drops 60 MATH rows and its recall."""
    own = {item: row for row, item in material.own if item[0] == "MATH-500"}
    related = material.related["MATH test less MATH-500"]
    ways: list[tuple[str, Callable[[Profile], Any]]] = [
        *((f"{n} words", partial(_word_shingles, n=n)) for n in (1, 3, 5)),
        ("8 characters", partial(_character_shingles, n=8)),
    ]
    table: Table = []
    for label, sign in ways:
        index = np.array([sign(row) for row in own.values()])
        worst = sorted(float((index == sign(row)).mean(axis=1).max()) for row in related)
        threshold = worst[-60]
        places = {item: i for i, item in enumerate(own)}
        found = []
        for kind in KINDS:
            hits = [
                float((index[places[item]] == sign(row)).mean()) >= threshold
                for row, item in material.planted[kind]
                if item in places
            ]
            found.append(_share(hits))
        table.append([label, round(threshold, 2), *found])
        print(table[-1], file=sys.stderr)
    return table


def _word_shingles(row: Profile, n: int) -> Any:
    return signature_of(row.hashes, n)


def _character_shingles(row: Profile, n: int) -> Any:
    return signature_of(word_hashes(row.question), n)


def paraphrases(data: Path) -> Table:
    """Return recall by rule on the published pairs, and the median similarity of a pair."""
    table: Table = []
    for name, (originals, rewritten) in probes.pairs(data).items():
        index = BenchmarkIndex.build((name, str(i), t) for i, t in enumerate(originals))
        rows = [(profile(text), (name, str(i))) for i, text in enumerate(rewritten)]
        rates = recall(index, rows)
        same = index.contents.signatures == np.array([row.signature for row, _ in rows])
        table.append([name, len(rows), *rates.values(), float(np.median(same.mean(axis=1)))])
    return table


def hits(material: Material, index: BenchmarkIndex) -> tuple[Table, list[dict[str, Any]]]:
    """Return the table of dropped rows by corpus and label, and examples: two of each label."""
    table: Table = []
    examples: list[dict[str, Any]] = []
    text = {(benchmark, item): t for benchmark, item, t in material.items}
    for corpus, rows in {**material.unrelated, **material.related}.items():
        found = drops(index, rows)
        labels = Counter(probes.label(corpus, row) for row, _ in found)
        counts = [labels[name] for name in ("same", "variant", "frame", "unread")]
        table.append([corpus, len(rows), len(found), *counts])
        for row, match in found:
            label = probes.label(corpus, row)
            if sum(e["label"] == label for e in examples) < 3:
                examples.append(
                    {
                        "label": label,
                        "corpus": corpus,
                        "row": row,
                        "rule": match.rule,
                        "score": match.score,
                        "benchmark": match.benchmark,
                        "item": match.item_id,
                        "row_text": rows[row].question[:150],
                        "item_text": " ".join(text[match.benchmark, match.item_id].split())[:150],
                    }
                )
    return table, sorted(examples, key=lambda e: ("same", "variant", "frame").index(e["label"]))


def kept_of_pi1(data: Path) -> int:
    """Return how many rows of the problem repeated 128 times stay."""
    rows = probes.texts(data, ("contamination/pi1_repeated_128", "prompt.0.content"))
    edges = near_duplicates(np.array([signature(row) for row in rows]), 0.8)
    return int(greedy_keep(np.arange(len(rows)), edges).mask.sum())


def false_drops(table: Table) -> dict[str, int]:
    """Return rows and false drops (frame only, or unread) of unrelated and related corpora."""
    result = Counter[str]()
    for corpus, rows, _, _, _, frame, unread in table:
        kind = "unrelated" if corpus in probes.UNRELATED else "related"
        result[kind] += frame + unread
        result[f"{kind}_rows"] += rows
    return dict(result)


def measure(data: Path) -> dict[str, Any]:
    """Return every figure of the document."""
    material = gather(data)
    index = BenchmarkIndex.build(material.items)
    dropped, examples = hits(material, index)
    filler = probes.texts(data, probes.UNRELATED["GSM8K train"])
    return {
        "items": dict(Counter(benchmark for benchmark, _, _ in material.items)),
        "recall": [[k, len(v), *recall(index, v).values()] for k, v in material.planted.items()],
        "pairs": paraphrases(data),
        "pi1": kept_of_pi1(data),
        "drops": dropped,
        "false": {"unrelated": 0, "related": 0, **false_drops(dropped)},
        "examples": examples,
        "speed": speed.of_rows(material.items, filler),
        "minhash": speed.of_minhash(filler),
        "duplicates": speed.of_duplicates(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}",
        "shingles": shingles(material),
        "sweep": sweep(material),
    }


def main() -> int:
    """Measure, print the tables and write the document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="the document to write")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    options = parser.parse_args()
    value = os.environ.get("PRORL_TEST_DATA")
    if not value:
        parser.error("PRORL_TEST_DATA is not set: it names the folder of real data")
    report = measure(Path(value))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False))
    text = document(report, KINDS)
    options.docs.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
