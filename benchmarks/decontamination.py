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

from prorl_datasets.recipe.recipe import load_recipe
from prorl_datasets.rows.maker import RowMaker
from prorl_datasets.text.duplicates import greedy_keep, near_duplicates
from prorl_datasets.text.hashing import Profile, signature, signature_of, word_hashes
from prorl_datasets.text.index import BenchmarkIndex, Match
from prorl_datasets.text.index_file import Rules

DOCS = Path(__file__).resolve().parent.parent / "docs" / "reference" / "decontamination.md"
STAGES = ("exact", "canonical")
"""The views, in the order of ``stage``; the paraphrase stage is the third."""
LABELS = ("same", "variant", "frame", "unread")
ALL_STAGES = Rules(paraphrases=True)
NEVER = 1_000_000
"""For ``common``: no n-gram is boilerplate; for ``row_ngrams``: the row's share never counts."""

Table = list[list[Any]]


@dataclass
class Material:
    """Everything that is measured on."""

    items: list[tuple[str, str, str]]
    own: list[Probe]
    planted: dict[str, list[Probe]]
    corpora: dict[str, list[Profile]]


def gather(data: Path) -> Material:
    """Read the corpora and make the probes."""
    items = [
        (name, str(i), text)
        for name, spec in probes.BENCHMARKS.items()
        for i, text in enumerate(probes.texts(data, spec))
    ]
    filler = probes.texts(data, probes.UNRELATED["GSM8K train"])
    corpora = {**probes.UNRELATED, **probes.RELATED}
    return Material(
        items=items,
        own=[(Profile(text), (benchmark, item)) for benchmark, item, text in items],
        planted=probes.planted(items, filler),
        corpora={n: [Profile(t) for t in probes.texts(data, s)] for n, s in corpora.items()},
    )


def stage(match: Match) -> int:
    """Return which stage finds a match: 0 the exact view, 1 the canonical one, 2 the paraphrases."""
    return 2 if match.rule == "paraphrase" else STAGES.index(match.view)


def recall(index: BenchmarkIndex, rows: Sequence[Probe]) -> list[float]:
    """Return the share of probes whose own item is matched by the first, first two, all stages."""
    found = [
        {stage(m) for m in index.matches(row) if (m.benchmark, m.item_id) == item}
        for row, item in rows
    ]
    return [_share(bool(stages & set(range(last + 1))) for stages in found) for last in range(3)]


def recall_of(index: BenchmarkIndex, rows: Sequence[Probe], rule: str, view: str) -> float:
    """Return the share of probes whose own item is matched by one rule on one view."""
    return _share(
        any(
            (m.benchmark, m.item_id, m.rule, m.view) == (*item, rule, view)
            for m in index.matches(row)
        )
        for row, item in rows
    )


def drops(index: BenchmarkIndex, rows: Sequence[Profile]) -> list[tuple[int, Match]]:
    """Return the first stage's strongest match of each row that would be dropped, with its number."""
    found = [(i, index.matches(row)) for i, row in enumerate(rows)]
    return [(i, min(m, key=lambda match: (stage(match), -match.score))) for i, m in found if m]


def _share(hits: Iterable[bool]) -> float:
    values = list(hits)
    return sum(values) / len(values) if values else 0.0


def dropped_among_themselves(
    index: BenchmarkIndex, items: Sequence[Probe], rule: str, view: str
) -> int:
    """Return how many of every other item an item with another question would drop."""
    question = {item: row.exact.question for row, item in items}
    return sum(
        any(
            (m.rule, m.view) == (rule, view)
            and question[m.benchmark, m.item_id] != row.exact.question
            for m in index.matches(row)
        )
        for row, _ in items[::2]
    )


SWEEP: dict[str, tuple[str, str, list[tuple[str, Rules]]]] = {
    "13-gram": (
        "13-gram",
        "exact",
        [
            ("any, boilerplate too", Rules(ngram_share=1e-9, common=NEVER, row_ngrams=NEVER)),
            *((str(s), Rules(ngram_share=s, row_ngrams=NEVER)) for s in (0.1, 0.3, 0.5)),
        ],
    ),
    "13-gram 0.3, or of the row": ("13-gram", "exact", [("0.6", Rules(row_share=0.6))]),
    "minhash": ("minhash", "exact", [(str(s), Rules(minhash=s)) for s in (0.4, 0.5, 0.6, 0.8)]),
    "canonical minhash": (
        "minhash",
        "canonical",
        [(str(s), Rules(canonical_minhash=s)) for s in (0.5, 0.6, 0.7)],
    ),
}
KINDS = (
    "inside two other questions",
    "one number changed",
    "10% of words deleted",
    "first half only",
    "variables renamed, 10% of words deleted",
)


def sweep(material: Material) -> dict[str, Table]:
    """Return, for each rule alone, recall by kind (every sixth probe) and drops by threshold."""
    unrelated = [p for name in probes.UNRELATED for p in material.corpora[name][::8]]
    related = material.corpora["MATH test less MATH-500"]
    tables: dict[str, Table] = {}
    for title, (rule, view, settings) in SWEEP.items():
        tables[title] = []
        for label, rules in settings:
            index = BenchmarkIndex.build(material.items, rules)
            found = [recall_of(index, material.planted[k][::6], rule, view) for k in KINDS]
            counts = [
                sum(any((m.rule, m.view) == (rule, view) for m in index.matches(p)) for p in rows)
                for rows in (unrelated, related)
            ]
            among = dropped_among_themselves(index, material.own, rule, view)
            row = [label, *found, *counts, among]
            tables[title].append(row)
            print(title, row, file=sys.stderr)
    return tables


def shingles(material: Material) -> Table:
    """Return, for each kind of shingle, the threshold that drops 60 MATH rows and its recall."""
    own = {item: row for row, item in material.own if item[0] == "MATH-500"}
    related = material.corpora["MATH test less MATH-500"]
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
    return signature_of(row.exact.hashes, n)


def _character_shingles(row: Profile, n: int) -> Any:
    return signature_of(word_hashes(row.exact.question), n)


def paraphrases(data: Path) -> Table:
    """Return recall on the published pairs by stage, of the half that nothing was chosen on last."""
    table: Table = []
    for name, (originals, rewritten) in probes.pairs(data).items():
        index = BenchmarkIndex.build(
            ((name, str(i), t) for i, t in enumerate(originals)), ALL_STAGES
        )
        rows = [(Profile(text), (name, str(i))) for i, text in enumerate(rewritten)]
        table.append([name, len(rows), *recall(index, rows), recall(index, rows[1::2])[2]])
    return table


def hits(material: Material, index: BenchmarkIndex) -> tuple[Table, list[dict[str, Any]]]:
    """Return the table of dropped rows by corpus, stage and label, and examples of each label."""
    table: Table = []
    examples: list[dict[str, Any]] = []
    text = {(benchmark, item): t for benchmark, item, t in material.items}
    for corpus, rows in material.corpora.items():
        found = drops(index, rows)
        labels = Counter((stage(m), probes.label(corpus, row)) for row, m in found)
        counts = [[labels[last, name] for name in LABELS] for last in range(3)]
        table.append([corpus, len(rows), *counts])
        for row, match in found:
            label = probes.label(corpus, row)
            same = [e for e in examples if (e["label"], e["stage"]) == (label, stage(match))]
            if len(same) < (1000 if label == "unread" else 2):
                examples.append(
                    {
                        "label": label,
                        "stage": stage(match),
                        "corpus": corpus,
                        "row": row,
                        "rule": match.rule,
                        "score": match.score,
                        "benchmark": match.benchmark,
                        "item": match.item_id,
                        "row_text": " ".join(rows[row].text.split())[:300],
                        "item_text": " ".join(text[match.benchmark, match.item_id].split())[:300],
                    }
                )
    return table, sorted(examples, key=lambda e: (LABELS.index(e["label"]), e["stage"]))


def kept_of_pi1(data: Path) -> int:
    """Return how many rows of the problem repeated 128 times stay."""
    rows = probes.texts(data, ("contamination/pi1_repeated_128", "prompt.0.content"))
    edges = near_duplicates(np.array([signature(row) for row in rows]), 0.8)
    return int(greedy_keep(np.arange(len(rows)), edges).mask.sum())


def generated(index: BenchmarkIndex) -> list[int]:
    """Return rows of our own generators as a build makes them, those that would be dropped, and how
    many of these have an item's numbers.
    """
    recipe = load_recipe("prorl-136k-procedural")
    entries = [e for e in recipe.entries if e.domain in ("math", "stem", "instruction")]
    maker = RowMaker(recipe, recipe.seed, index)
    rows = [c for e in entries for c in maker.generate(e.name, "train", 0, 12) if "drop" not in c]
    like = [row["matches"] for row in rows if row["matches"]]
    return [len(rows), len(like), sum(any(m["numbers"] == "same" for m in found) for found in like)]


def measure(data: Path) -> dict[str, Any]:
    """Return every figure of the document."""
    material = gather(data)
    index = BenchmarkIndex.build(material.items, ALL_STAGES)
    dropped, examples = hits(material, index)
    options, with_options = probes.choices(data)
    listed = BenchmarkIndex.build(options, ALL_STAGES)
    filler = probes.texts(data, probes.UNRELATED["GSM8K train"])
    return {
        "items": dict(Counter(benchmark for benchmark, _, _ in material.items)),
        "recall": [[k, len(v), *recall(index, v)] for k, v in material.planted.items()],
        "choices": [[k, len(v), *recall(listed, v)] for k, v in with_options.items()],
        "pairs": paraphrases(data),
        "pi1": kept_of_pi1(data),
        "drops": dropped,
        "unrelated": list(probes.UNRELATED),
        "generated": generated(index),
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
