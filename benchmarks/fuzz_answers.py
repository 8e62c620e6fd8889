"""Tasks with right answers, and seeded ways to corrupt an answer.

Answer ``n`` depends only on ``random.Random(f"{seed} {n}")``, so that it can be reproduced. Right answers come from the
labelled pairs of this project, public sets under PRORL_TEST_DATA, reasoning-gym and the audit's built-in tasks.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_verifiers import Task, TaskError, load_task, logic_datasets
from prorl_verifiers.code.audit import code_groups
from prorl_verifiers.instruction.audit import instruction_groups
from prorl_verifiers.logic.generated import logic_groups
from prorl_verifiers.math.audit import math_groups, stem_groups
from prorl_verifiers.spec import VERIFIERS

PAIRS = Path(__file__).resolve().parent.parent / "tests" / "data" / "verifier_pairs"
SHARES = {"math": 36, "stem": 20, "logic": 18, "instruction": 18, "code": 8}
"""Number of answers for each verifier among a hundred. Few are programs, since each starts sandboxes."""
PROGRAM_SECONDS = 1.0
"""Limit of a program's processor time, which does not count as the verifier's."""
LONGEST = 60_000
"""Maximum number of characters of a corrupted answer, except for a few of a megabyte."""
MEGABYTE = 1_000_000
ODD = (
    "\x00", "\x01", "\x1b[2J", "\u200b", "\u202e", "\u2066", "\u2069", "\u00ad", "\ufeff", "\ud800", "\udfff", "\ufffd",
    "\U0001f469\u200d\U0001f680", "e\u0301\u0301\u0301", "\u0661\u0662", "\uff11", "\U0001d7cf", "\u2044", "\u2212", "\u00bd", "\u221e",
    "\u2028", "\x85", "\r", "\t", "\u4e0d\u662f", "\u00b2\u2075", "\u0130", "\u00df", "\u03c0", "\u221a", "\u2264",
)  # fmt: skip
HUGE = (
    "9" * 400, "1" + "0" * 5_000, "10^{10^{10}}", "2^{2^{40}}", "9^{9^{9}}", "(10^9)!", "((99!)!)!", "2**10**9", "1e999999999", "1e-999999999",
    "0." + "3" * 3_000, r"\frac{1}{10^{99999}}", r"\binom{10^9}{5\cdot10^8}", r"\sum_{k=1}^{10^9} k^k", r"\int_0^{x^x} e^{t^2}dt",
    r"(x+y+z+1)^{9999}", "1_" * 60 + "1", "0x" + "f" * 500, "1:" * 300 + "1", "7e5e5e5", "-" * 500 + "1", "1/" * 400 + "3", "0^{-1}", r"\sqrt[10^9]{2}",
)  # fmt: skip
BRACKETS = (
    ("(", ")"), ("[", "]"), ("{", "}"), (r"\{", r"\}"), (r"\left(", r"\right)"), (r"\frac{1}{", "}"), (r"\sqrt{", "}"), (r"\boxed{", "}"),
    (r"\text{", "}"), ("x^{", "}"), ("x_{", "}"), (r"\sin(", ")"), ("|", "|"), ("<think>", "</think>"), ("<answer>", "</answer>"), ("**", "**"),
    (r"\begin{pmatrix}", r"\end{pmatrix}"), ("$", "$"), ("not ", ""), ("-", ""), ("[[", "]]"), ("<<", ">>"), ('"', '"'), ("```\n", "\n```"),
)  # fmt: skip
ATOMS = (
    "1", "2", "10", "0.5", "x", "y", "n", "a_1", r"\pi", "e", "i", r"\infty", "C", "cm", r"\text{ km/h}", r"\%", r"^\circ", r"\alpha", "A", "east",
)  # fmt: skip
JOINTS = (
    "+", "-", r"\cdot ", r"\times ", "/", "^", "_", "=", "<", r"\le ", ",", ";", ":", r"\pm ", r"\cup ", r"\cap ", r"\text{ or }", r"\text{ and }",
    "!", " ", r"\\", "&", r"\in ", r"\approx ", r"\to ", r"\neq ", r"\bmod ", "|", "'", "%", r"\over ", r"\choose ",
)  # fmt: skip
FRAMES = (
    "<think>{0}", "<think>{0}</think>{0}", "{0}</think>", "<think><think>{0}</think>", r"\boxed{{\boxed{{{0}}}}}", r"\boxed{{{0}", r"\boxed{0}", r"\boxed {{{0}}} \boxed{{{0}}}",
    r"\boxed{{{0}}} or \boxed{{1}}", "<answer>{0}", "<answer>{0}</answer></answer>", "Answer: {0}", "**Answer:** **{0}**", "#### {0}", "$${0}$$", r"\[ {0} \]",
    "{0}\n\n{0}\n\n{0}", "The answer is not {0}.", "{0} ", "```python\n{0}\n```", "```\n{0}", "\\boxed{{}}{0}", "\\fbox{{{0}}}", "{0}\r\n", "<|im_end|>{0}<think>",
)  # fmt: skip
Draw = random.Random


@dataclass(frozen=True)
class Known:
    """A task with its right ``answer``, and a ``response`` with this answer in the verifier's format."""

    task: Task
    answer: str
    response: str


@dataclass(frozen=True)
class Fuzzed:
    """The response to score as answer ``number``, and ``how`` it was made."""

    number: int
    task: Task
    response: str
    how: str


def known_answers(data: Path, seed: int) -> dict[str, list[Known]]:
    """Return tasks with right answers by verifier, always in the same order."""
    found: dict[str, list[Known]] = {name: [] for name in SHARES}
    for verifier, reference, response in _rows(data):
        try:
            task = load_task(verifier, reference)
        except TaskError:
            continue  # the task has no gold, for example because of an unknown instruction
        answer = VERIFIERS.get(verifier).data.answer(reference)
        found[verifier].append(_known(task, answer or response or "", response))
    groups = [
        *math_groups(),
        *stem_groups(),
        *instruction_groups(),
        *logic_groups(logic_datasets(), 4, seed),
    ]
    for group in groups:
        for item in group.items:
            right = item.right if item.right is not None else item.gold
            found[group.verifier].append(_known(item.task, right or "", None))
    for group in code_groups():
        for item in group.items:
            task = Task(
                "code", {**item.task.reference, "limits": {"total_seconds": PROGRAM_SECONDS}}
            )
            found["code"].append(_known(task, item.right or "", None))
    return found


def _known(task: Task, answer: str, response: str | None) -> Known:
    written = VERIFIERS.get(task.verifier).data.write(answer, task.reference)
    return Known(task, answer, response if response is not None else written)


def _rows(data: Path) -> Iterator[tuple[str, Mapping[str, Any], str | None]]:
    """Yield (verifier, reference, response or None) of the files."""
    for line in (PAIRS / "dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["verifier"], row["reference"], row["response"]
    for name in ("math_verify_tests_even", "lighteval_extractive_match_tests_even"):
        for row in _lines(data / f"verifier/{name}.jsonl.gz"):
            yield "math", {"answer": row["gold"]}, row["pred"]
    for row in _lines(data / "math/math500.jsonl.gz"):
        yield "math", {"answer": row["answer"]}, row["solution"]
    for row in _lines(data / "math/gsm8k_test.jsonl.gz"):
        text, _, gold = row["answer"].partition("####")
        yield "math", {"answer": gold.strip()}, f"{text}\\boxed{{{gold.strip()}}}"
    for name in ("ifeval_mistral7b_graded", "ifbench_sample_graded_even"):
        for row in _lines(data / f"if/{name}.jsonl.gz"):
            asked = {key: row[key] for key in ("instruction_id_list", "kwargs")}
            yield "instruction", asked, row["response"]
    for row in _lines(data / "code/mbpp_even.jsonl.gz"):
        limits = {"total_seconds": PROGRAM_SECONDS}
        tests = [{"assert": text} for text in row["test_list"][:1]]
        yield "code", {"tests": tests, "limits": limits}, f"```python\n{row['code']}\n```"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def fuzzed(known: Mapping[str, Sequence[Known]], seed: int, number: int) -> Fuzzed:
    """Return answer ``number`` of a seed."""
    draw = Draw(f"{seed} {number}")
    verifier = draw.choices(list(SHARES), list(SHARES.values()))[0]
    one = draw.choice(known[verifier])
    kind, make = draw.choices(MAKERS, [weight for _, _, weight in _WEIGHTED])[0]
    text = make(draw, one)
    how = [kind]
    for name, spoil in draw.choices(SPOILERS, k=draw.choice((0, 0, 1, 1, 2, 3, 5))):
        text = spoil(draw, text)[:LONGEST]
        how.append(name)
    if draw.random() < 0.0005 and verifier != "code":
        text = (text or " ") * (MEGABYTE // max(1, len(text)))
        how.append("a megabyte")
    if draw.random() < 0.7 and kind != "response":
        text = VERIFIERS.get(verifier).data.write(text, one.task.reference)
    return Fuzzed(number, one.task, text, ", ".join(how))


# ------------------------------------------------------------------------------------------ new answers


def _unicode(draw: Draw, one: Known) -> str:
    """Return random code points, including surrogates."""
    planes = (
        (0, 0x7F),
        (0, 0x7F),
        (0x80, 0x7FF),
        (0x800, 0xFFFF),
        (0x10000, 0x10FFFF),
        (0xD800, 0xDFFF),
    )
    return "".join(chr(draw.randint(*draw.choice(planes))) for _ in range(draw.randint(0, 200)))


def _latex(draw: Draw, one: Known) -> str:
    """Return a random formula, usually well formed."""
    return _formula(draw, draw.randint(1, 6))


def _formula(draw: Draw, depth: int) -> str:
    if depth <= 0 or draw.random() < 0.15:
        return draw.choice((*ATOMS, *HUGE)) if draw.random() < 0.1 else draw.choice(ATOMS)
    if draw.random() < 0.45:
        opened, closed = draw.choice(BRACKETS)
        return opened + _formula(draw, depth - 1) + (closed if draw.random() < 0.95 else "")
    return _formula(draw, depth - 1) + draw.choice(JOINTS) + _formula(draw, depth - 1)


def _answer(draw: Draw, one: Known) -> str:
    return one.answer


def _response(draw: Draw, one: Known) -> str:
    return one.response


def _both(draw: Draw, one: Known) -> str:
    """Return the right answer before or after a formula."""
    parts = [one.answer, _latex(draw, one)]
    draw.shuffle(parts)
    return draw.choice((*JOINTS, "\n", ". ", " not ")).join(parts)


_WEIGHTED: tuple[tuple[str, Callable[[Draw, Known], str], int], ...] = (
    ("unicode", _unicode, 10),
    ("formula", _latex, 25),
    ("answer", _answer, 35),
    ("response", _response, 15),
    ("answer and formula", _both, 15),
)
MAKERS = [(name, make) for name, make, _ in _WEIGHTED]

# ------------------------------------------------------------------------------------ corrupted answers


def _odd(draw: Draw, text: str) -> str:
    at = draw.randint(0, len(text))
    return text[:at] + draw.choice(ODD) * draw.choice((1, 1, 2, 50)) + text[at:]


def _huge(draw: Draw, text: str) -> str:
    """Replace a number by a huge one, or append it."""
    numbers = list(re.finditer(r"\d+", text[:5_000]))
    at = draw.choice(numbers).span() if numbers else (len(text), len(text))
    return text[: at[0]] + draw.choice(HUGE) + text[at[1] :]


def _nested(draw: Draw, text: str) -> str:
    opened, closed = draw.choice(BRACKETS)
    depth = draw.choice((2, 5, 20, 99, 101, 400, 3_000))
    return opened * depth + text[:2_000] + closed * (depth if draw.random() < 0.8 else depth - 1)


def _repeated(draw: Draw, text: str) -> str:
    """Repeat a piece of the text many times."""
    if not text:
        return draw.choice(JOINTS) * 1_000
    at = draw.randrange(len(text))
    piece = text[at : at + draw.choice((1, 2, 8, 40, 400))]
    return text[:at] + piece * draw.choice((2, 10, 100, 2_000)) + text[at:]


def _long_line(draw: Draw, text: str) -> str:
    return (
        draw.choice((" ", "a ", "1 ", "1+", r"\,", "x", "=1", ", 2", "not ", "(", "\\", "{"))
        * draw.choice((50, 1_000, 20_000))
        + text
    )


def _cut(draw: Draw, text: str) -> str:
    at = draw.randint(0, len(text))
    return text[:at] if draw.random() < 0.5 else text[at:]


def _dropped(draw: Draw, text: str) -> str:
    at = draw.randint(0, len(text))
    return text[:at] + text[at + draw.choice((1, 1, 2, 10)) :]


def _joined(draw: Draw, text: str) -> str:
    at = draw.randint(0, len(text))
    return text[:at] + draw.choice((*JOINTS, *ATOMS)) + text[at:]


def _framed(draw: Draw, text: str) -> str:
    return draw.choice(FRAMES).format(text)


def _cased(draw: Draw, text: str) -> str:
    return draw.choice((str.upper, str.lower, str.swapcase, str.title))(text)


def _shuffled(draw: Draw, text: str) -> str:
    words = text[:5_000].split(" ")
    draw.shuffle(words)
    return " ".join(words)


SPOILERS: Sequence[tuple[str, Callable[[Draw, str], str]]] = (
    ("odd characters", _odd),
    ("huge number", _huge),
    ("nested", _nested),
    ("repeated", _repeated),
    ("long line", _long_line),
    ("cut", _cut),
    ("dropped", _dropped),
    ("joined", _joined),
    ("framed", _framed),
    ("cased", _cased),
    ("shuffled", _shuffled),
)
