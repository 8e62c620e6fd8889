"""The texts that the text engine is measured on: benchmarks, other corpora, planted copies, pairs.

Reads public files under PRORL_TEST_DATA (named in the tables below). Leaves out measuring
(``decontamination.py``).
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from decontamination_changes import CHANGES, Change, all_letters, in_front, then

from prorl_datasets.text.hashing import Profile
from prorl_datasets.text.words import question_words

Item = tuple[str, str, str]
"""Benchmark, number of the item, text."""
Probe = tuple[Profile, tuple[str, str]]
"""A text and the benchmark item it was made from."""

BENCHMARKS = {
    "MATH-500": ("math/math500", "problem"),
    "AIME 2022-24": ("math/aimo_aime_2022_24", "question"),
    "AIME 2025": ("math/aime25", "problem"),
    "AMC 2022-23": ("math/aimo_amc_2022_23", "question"),
    "Minerva": ("math/minerva_math", "problem"),
    "OlympiadBench": ("math/olympiadbench", "context question"),
    "GSM8K test": ("math/gsm8k_test", "question"),
    "IFEval": ("if/ifeval_input_data", "prompt"),
    "HumanEval (even)": ("code/humaneval_even", "prompt"),
    "LeetCode (even)": ("code/leetcode180_even", "prompt"),
    "CodeContests (10)": ("code/code_contests_even", "content"),
}
UNRELATED = {
    "GSM8K train": ("math/gsm8k_train", "question"),
    "CollegeMath": ("math/college_math", "question"),
    "ASDiv": ("math/asdiv", "body question"),
    "SVAMP": ("math/svamp", "Body Question"),
    "AQuA": ("math/aqua", "question"),
    "CARP": ("math/carp_en", "content"),
    "MMLU-STEM (even)": ("stem/mmlu_stem_even", "question"),
    "SciBench (even)": ("stem/scibench_even", "problem_text"),
    "TheoremQA (even)": ("stem/theoremqa_even", "Question"),
    "ARC-Easy": ("stem/arc_easy_test", "question.stem"),
    "BBH (even)": ("logic/bbh_even", "input"),
    "MBPP (even)": ("code/mbpp_even", "text"),
    "IFBench": ("if/ifbench_test", "prompt"),
}
RELATED = {
    "MATH test less MATH-500": ("math/math_test_minus_math500", "question"),
    "DeepScaleR sub-1209": ("math/deepscaler_sub1209", "prompt.0.content"),
    "Gaokao 2023 en": ("math/gaokao2023en", "question"),
    "EvoEval (11)": ("code/sandboxfusion_EvoEval", "content"),
}


def texts(data: Path, spec: tuple[str, str]) -> list[str]:
    """Return the question texts of one file."""
    path, fields = spec
    with gzip.open(data / f"{path}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [" ".join(str(p) for f in fields.split() if (p := _field(r, f))) for r in rows]


def _field(row: Any, path: str) -> Any:
    for key in path.split("."):
        row = row[int(key)] if key.isdigit() else row[key]
    return row


SHORT = 13
"""Words below which a question has no 13-gram."""


def reported(items: Sequence[Item]) -> list[Item]:
    """Return the items that probes are made of: those of odd number, of GSM8K every eighth.

    Rules and thresholds were chosen on items of even number.
    """
    return [
        item
        for item in items
        if int(item[1]) % 2 and (item[0] != "GSM8K test" or int(item[1]) % 8 == 1)
    ]


def planted(items: Sequence[Item], filler: Sequence[str]) -> dict[str, list[Probe]]:
    """Return changed copies of the benchmark questions, a list of (text, item) for each kind."""
    chosen = reported(items)
    short = [item for item in chosen if len(question_words(item[2])) < SHORT]
    partner = dict(zip(chosen, chosen[7:] + chosen[:7], strict=True))
    result = {kind: _changed(kind, change, chosen) for kind, change in CHANGES.items()}
    beside: dict[str, tuple[Sequence[Item], Callable[[Item, random.Random], str | None]]] = {
        "inside two other questions": (
            chosen,
            lambda item, rng: f"{rng.choice(filler)} {item[2]} {rng.choice(filler)}",
        ),
        "two items in one prompt": (
            chosen,
            lambda item, rng: f"1. {item[2]}\n\n2. {partner[item][2]}",
        ),
        "short, a sentence in front": (short, lambda item, rng: in_front(item[2], rng)),
        "short, inside two other questions": (
            short,
            lambda item, rng: f"{rng.choice(filler)} {item[2]} {rng.choice(filler)}",
        ),
        "short, renamed, a sentence in front": (
            short,
            lambda item, rng: then(all_letters, in_front)(item[2], rng),
        ),
    }
    for kind, (those, place) in beside.items():
        result[kind] = [
            (Profile(text), item[:2])
            for item in those
            if (text := place(item, random.Random(f"{kind} {item[0]} {item[1]}"))) is not None
        ]
    return result


def _changed(kind: str, change: Change, items: Sequence[Item]) -> list[Probe]:
    found = []
    for benchmark, item, text in items:
        other = change(text, random.Random(f"{kind} {benchmark} {item}"))
        if other is not None:
            found.append((Profile(other), (benchmark, item)))
    return found


def choices(data: Path) -> tuple[list[Item], dict[str, list[Probe]]]:
    """Return multiple-choice items with their options in the text, and probes of odd number."""
    with gzip.open(data / "stem/mmlu_stem_even.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    items = [
        ("MMLU-STEM", str(i), _listed(r["question"], r["choices"])) for i, r in enumerate(rows)
    ]
    probes: dict[str, list[Probe]] = {"options shuffled": [], "options removed": []}
    for i, row in enumerate(rows):
        if i % 2:
            rng = random.Random(f"options {i}")
            shuffled = rng.sample(row["choices"], len(row["choices"]))
            probes["options shuffled"].append(
                (Profile(_listed(row["question"], shuffled)), ("MMLU-STEM", str(i)))
            )
            probes["options removed"].append((Profile(row["question"]), ("MMLU-STEM", str(i))))
    return items, probes


def _listed(question: str, options: Sequence[str]) -> str:
    lines = [f"({letter}) {text}" for letter, text in zip("ABCDEFGHIJ", options, strict=False)]
    return "\n".join([question, *lines])


def pairs(data: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return published paraphrases and translations: originals and their rewritings, in step."""
    with gzip.open(data / "contamination/gsm8k_rephrase_pairs_even.jsonl.gz", "rt") as file:
        gsm = [json.loads(line) for line in file]
    with gzip.open(data / "contamination/mmlu_sociology_pairs.jsonl.gz", "rt") as file:
        mmlu = [json.loads(line) for line in file]
    english = [r for r in mmlu if r["rephrased_english"]]
    chinese = [r for r in mmlu if r["chinese"]]
    return {
        "GSM8K, rephrased by a model": (
            [r["gsm8k_test_question"] for r in gsm],
            [r["rephrased"].split("\nAnswer:")[0] for r in gsm],
        ),
        "MMLU sociology, rephrased by a model": (
            [r["question"] for r in english],
            [r["rephrased_english"] for r in english],
        ),
        "MMLU sociology, in Chinese": (
            [" ".join([r["question"], *r["choices"]]) for r in chinese],
            [r["chinese"] for r in chinese],
        ),
    }


LABELS: dict[str, dict[str, tuple[int, ...]]] = {
    "GSM8K train": {"variant": (1314, 5162)},
    "ASDiv": {"variant": (663,)},
    "MMLU-STEM (even)": {"same": (570, 598, 602)},
    "MATH test less MATH-500": {
        "same": (1585, 2414, 4177),
        "variant": (
            *(
                69,
                162,
                207,
                589,
                593,
                875,
                939,
                994,
                1105,
                1123,
                1237,
                1272,
                1303,
                1310,
                1322,
                1367,
            ),
            *(1408, 1485, 1505, 1829, 1959, 1993, 2191, 2286, 2376, 2413, 2419, 2466, 2480, 2606),
            *(2664, 2769, 3022, 3106, 3268, 3326, 3614, 3824, 3979, 3988, 4024, 4074, 4081, 4247),
            *(4374, 4383, 4398, 4402, 4411, 4441, 4468, 608, 1205, 1844, 4210, 4216),
        ),
        "frame": (
            *(2348, 2494, 2554, 3097, 3157, 3298, 3538, 3690, 4103, 4202, 4333, 4387),
            *(2227, 2385, 1104, 1188, 1415, 1614, 1683, 2048, 3586),
        ),
    },
    "DeepScaleR sub-1209": {
        "same": (111, 544, 708),
        "variant": (1143, 1164, 1170, 1196),
        "frame": (723,),
    },
    "Gaokao 2023 en": {
        "same": (
            *(297, 298, 301, 303, 316, 317, 318, 319, 320, 324, 326, 327, 331, 338, 339, 340, 341),
            *(344, 345, 346, 347, 348, 349, 350, 351, 352, 354, 355, 358, 359),
            *(296, 304, 309, 343, 356),
        ),
        "variant": (353,),
        "frame": (313,),
    },
    "EvoEval (11)": {"variant": (3, 5, 10)},
    "CollegeMath": {"frame": (1333,)},
    "CARP": {"frame": (649,)},
}
"""Every row that the rules and the paraphrase stage drop (by row number), read one by one: the same problem, the same
problem with other numbers or another last sentence, or only the same frame (an option list, an
answer format, a reminder) around another problem.
"""


def label(corpus: str, row: int) -> str:
    """Return how the hit was labelled; "unread" for one that was not there when they were read."""
    for name, rows in LABELS.get(corpus, {}).items():
        if row in rows:
            return name
    return "unread"
