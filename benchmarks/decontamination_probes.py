"""The texts that the text engine is measured on: benchmarks, other corpora, planted copies, pairs.

Reads public files under PRORL_TEST_DATA (named in the tables below). Leaves out measuring
(``decontamination.py``).
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prorl_datasets.text.hashing import Profile

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
SUFFIX = " Let's think step by step and output the final answer within \\boxed{}."
CHINESE = "\n请逐步推理,并把最终答案放在 \\boxed{} 中。"


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


def respaced(text: str, rng: random.Random) -> str:
    r"""Other case, line breaks for blanks, blanks around signs, \( \) for $, \dfrac for \frac."""
    text = re.sub(r"\$([^$]+)\$", r"\\(\1\\)", text).replace("\\frac", "\\dfrac")
    text = re.sub(r"([=+,{}^])", r" \1 ", text)
    turn = (str.upper, str.lower)
    text = re.sub(r"(?<!\\)\b[A-Za-z]", lambda m: turn[rng.random() < 0.5](m[0]), text)
    return text.replace(" ", "\n ")


def renumbered(text: str, rng: random.Random) -> str | None:
    """One number changed; None where there is none."""
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return None
    one = rng.choice(numbers)
    return f"{text[: one.start()]}{int(one[0]) + rng.randint(1, 9)}{text[one.end() :]}"


def thinned(text: str, rng: random.Random) -> str:
    """A tenth of the words deleted, at least one."""
    parts = re.split(r"(\s+)", text)
    words = range(0, len(parts), 2)
    for place in rng.sample(words, max(1, len(words) // 10)):
        parts[place] = ""
    return "".join(parts)


def first_half(text: str, rng: random.Random) -> str:
    """The first half of the words."""
    words = text.split(" ")
    return " ".join(words[: (len(words) + 1) // 2])


def planted(items: Sequence[tuple[str, str, str]], filler: Sequence[str]) -> dict[str, list[Probe]]:
    """Return changed copies of the benchmark questions, a list of (text, item) for each kind."""
    kinds: dict[str, Callable[[str, random.Random], str | None]] = {
        "verbatim": lambda text, rng: text,
        "case, spacing, LaTeX": respaced,
        "with ProRL's suffix": lambda text, rng: text + SUFFIX,
        "with a Chinese suffix": lambda text, rng: text + CHINESE,
        "inside two other questions": lambda text, rng: (
            f"{rng.choice(filler)} {text} {rng.choice(filler)}"
        ),
        "one number changed": renumbered,
        "10% of words deleted": thinned,
        "first half only": first_half,
    }
    result: dict[str, list[Probe]] = {kind: [] for kind in kinds}
    for benchmark, item, text in items:
        if benchmark == "GSM8K test" and int(item) % 4:
            continue
        for kind, change in kinds.items():
            changed = change(text, random.Random(f"{kind} {benchmark} {item}"))
            if changed is not None:
                result[kind].append((Profile(changed), (benchmark, item)))
    return result


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
        "same": (2414, 4177),
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
            *(4374, 4383, 4398, 4402, 4411, 4441, 4468),
        ),
        "frame": (2348, 2494, 2554, 3097, 3157, 3298, 3538, 3690, 4103, 4202, 4333, 4387),
    },
    "DeepScaleR sub-1209": {
        "same": (111, 708),
        "variant": (1143, 1164, 1170, 1196),
        "frame": (723,),
    },
    "Gaokao 2023 en": {
        "same": (
            *(297, 298, 301, 303, 316, 317, 318, 319, 320, 324, 326, 327, 331, 338, 339, 340, 341),
            *(344, 345, 346, 347, 348, 349, 350, 351, 352, 354, 355, 358, 359),
        )
    },
    "EvoEval (11)": {"variant": (3, 5)},
}
"""Every row that the default rules drop (by row number), read one by one: the same problem, the same
problem with other numbers or another last sentence, or only the same frame (an option list, an
answer format, a reminder) around another problem.
"""


def label(corpus: str, row: int) -> str:
    """Return how the hit was labelled; "unread" for one that was not there when they were read."""
    for name, rows in LABELS.get(corpus, {}).items():
        if row in rows:
            return name
    return "unread"
