"""How varied are the texts of a domain? Beside problems that people wrote, in samples of one size.

    python benchmarks/math_variety.py DATASET [--domain math] [--characters 150000] [--draws 5] [--json FILE]

DATASET is a built dataset's folder. Beside it, where PRORL_TEST_DATA is set: MATH's test problems, a
sample of DeepScaleR, GSM8K. Of each, ``draws`` random samples of so many characters (a ratio grows with
the size of what is compressed); the medians of

- ratio: characters a byte, texts joined by line breaks, LZMA (its window holds the whole sample)
- 4-grams: distinct share of all four-word runs, every number masked
- near: share of texts with another one, in the whole sample, whose 3-word shingles with numbers masked
  have a Jaccard similarity of 0.7 or more (MinHash of the deduplication)
- masked: distinct share of the texts with numbers masked
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import numpy as np

from prorl_datasets import load
from prorl_datasets.text.duplicates import near_duplicates
from prorl_datasets.text.hashing import signature

NEAR = 0.7
NUMBER = re.compile(r"\d[\d,.]*\d|\d")
SUFFIX = "Let's think step by step and output the final answer within \\boxed{}."
"""What DeepScaleR's prompts and ours end with; not a part of the problem."""


@dataclass(frozen=True, slots=True)
class Variety:
    """Medians over the draws; ``texts`` in one sample."""

    name: str
    texts: float
    ratio: float
    four_grams: float
    near: float
    masked: float


def masked(text: str) -> str:
    """Return the text with one sign for every number."""
    return NUMBER.sub("#", text)


def sample(texts: Sequence[str], characters: int, rng: Random) -> list[str]:
    """Return random texts, together so many characters."""
    chosen: list[str] = []
    left = characters
    for text in rng.sample(texts, len(texts)):
        if left <= 0:
            return chosen
        chosen.append(text)
        left -= len(text)
    raise SystemExit(f"too few texts: {len(texts)} have fewer than {characters} characters")


def measure(name: str, texts: Sequence[str], characters: int, draws: int) -> Variety:
    """Return the medians of the figures over ``draws`` samples."""
    rows = []
    for draw in range(draws):
        chosen = sample(texts, characters, Random(f"{name} {draw}"))
        raw = "\n".join(chosen).encode()
        shapes = [masked(text) for text in chosen]
        runs = [tuple(w[i : i + 4]) for w in map(str.split, shapes) for i in range(len(w) - 3)]
        edges = near_duplicates(np.stack([signature(shape) for shape in shapes]), NEAR)
        joined = {int(row) for side in ("early", "late") for row in edges[side]}
        rows.append(
            (
                len(chosen),
                len(raw) / len(lzma.compress(raw)),
                len(set(runs)) / len(runs),
                len(joined) / len(chosen),
                len(set(shapes)) / len(shapes),
            )
        )
    return Variety(name, *(statistics.median(column) for column in zip(*rows, strict=True)))


def published(root: Path) -> dict[str, list[str]]:
    """Return the problems that people wrote, by the name of their set."""
    found = {}
    for name, file, column in (
        ("MATH (test)", "math_test_minus_math500", "question"),
        ("DeepScaleR (1,209)", "deepscaler_sub1209", "prompt"),
        ("GSM8K (train)", "gsm8k_train", "question"),
    ):
        with gzip.open(root / "math" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line)[column] for line in lines]
        texts = [row if isinstance(row, str) else row[0]["content"] for row in rows]
        found[name] = [text.removesuffix(SUFFIX).strip() for text in texts]
    return found


def main() -> None:
    """Measure, print a table, write JSON if asked."""
    parser = argparse.ArgumentParser(description="Measure how varied texts are.")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--domain", default="math")
    parser.add_argument("--characters", type=int, default=150_000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [row for row in load(options.dataset, split="train") if row.domain == options.domain]
    own = [row.prompt[-1]["content"].removesuffix(SUFFIX).strip() for row in rows]
    sets = {f"{options.dataset.name}, {options.domain}": own}
    if data := os.environ.get("PRORL_TEST_DATA"):
        sets |= published(Path(data))
    found = [measure(name, t, options.characters, options.draws) for name, t in sets.items()]
    print("| texts | in a sample | ratio | distinct 4-grams | near | distinct masked |")
    print("|---|---|---|---|---|---|")
    for one in found:
        shares = f"{one.four_grams:.1%} | {one.near:.1%} | {one.masked:.1%}"
        print(f"| {one.name} | {one.texts:.0f} | {one.ratio:.2f} | {shares} |")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
