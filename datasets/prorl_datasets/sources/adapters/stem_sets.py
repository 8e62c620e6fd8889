"""Converts rows of STEM sets: GooseReason and SCP-116K."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from prorl_datasets.candidate import Row
from prorl_datasets.sources.adapters.fields import (
    Raw,
    Unusable,
    boxed,
    column,
    decoded,
    finished,
    is_missing,
    missing_column,
    text_of,
)  # fmt: skip
from prorl_datasets.sources.adapters.worked import NO_TRUTH, short_answer
from prorl_datasets.spec import AdapterSpec

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def with_options(question: str, choices: Sequence[str]) -> str:
    """Return the question followed by its options."""
    lines = [f"{LETTERS[i]}. {choice}" for i, choice in enumerate(choices)]
    return "\n".join([question, *lines, "Answer with the letter of the right option."])


def choice_row(
    index: int, question: str, choices: Sequence[Any], place: int, metadata: dict[str, Any]
) -> Row:
    """Return the row of a multiple-choice question; ``place`` is the correct option's index. Raises Unusable."""
    texts = [text_of(choice, "option") for choice in choices]
    if not 2 <= len(texts) <= len(LETTERS):
        raise Unusable("the row does not have 2 to 26 options", str(len(texts)))
    if not 0 <= place < len(texts):
        raise Unusable("the answer names no option", str(place))
    if len({" ".join(text.split()) for text in texts}) < len(texts):
        raise Unusable("two options are the same")
    letter = LETTERS[place]
    return finished(
        index, with_options(question, texts), "stem", {"answer": letter, "choices": texts},
        gold=boxed(letter), answer=letter, metadata=metadata, core=question,
    )  # fmt: skip


def goosereason(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of GooseReason-0.7M: a text with a masked span, options for the span, and the correct letter."""
    question = text_of(column(raw, ("question",), where, "goosereason"), "question")
    options = decoded(column(raw, ("options",), where, "goosereason"), list, "options")
    letter = text_of(column(raw, ("answer",), where, "goosereason"), "answer").strip("(). ").upper()
    place = LETTERS.find(letter) if len(letter) == 1 else -1
    return choice_row(index, question, options, place, {})


GOOSEREASON = AdapterSpec(
    "goosereason",
    goosereason,
    "stem",
    (("question",), ("options",), ("answer",)),
    summary="nvidia/Nemotron-Research-GooseReason-0.7M; gold: boxed letter",
)


PROBLEM = ("problem",)
REFERENCE = ("extract_solution", "matched_solution", "extracted_solution", "solution")
RESPONSES = (
    "r1_response", "r1_solution", "deepseek_r1_solution", "deepseek_r1_response", "r1_answer",
    "r1_generation", "r1_output", "r1",
)  # fmt: skip
OLD_RESPONSES = ("qwq_solution", "o1_solution")
_R1 = re.compile(r"(?:^|_)r1(?:_|$)|deepseek", re.IGNORECASE)
_NOT_A_RESPONSE = re.compile(
    r"^is_|same|reason|think|thought|token|length|model|prompt", re.IGNORECASE
)


def response_columns(columns: Iterable[str]) -> list[str]:
    """Return the names of the columns with model responses, R1's first."""
    names = list(columns)
    exact = [name for name in RESPONSES if name in names]
    like = [n for n in names if n not in exact and _R1.search(n) and not _NOT_A_RESPONSE.search(n)]
    return [*exact, *like, *(name for name in OLD_RESPONSES if name in names)]


def scp116k(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of EricLu/SCP-116K, in the 116k or 274k version.

    Raises DatasetError if no column can contain the response.
    """
    problem = text_of(column(raw, PROBLEM, where, "scp116k"), "problem")
    reference = column(raw, REFERENCE, where, "scp116k")
    candidates = response_columns(raw)
    if not candidates:
        raise missing_column("scp116k", (*RESPONSES, *OLD_RESPONSES), list(raw), where)
    shipped = [
        name for name in candidates if isinstance(raw[name], str) and not is_missing(raw[name])
    ]
    if not shipped:
        raise Unusable("no model response", f"of {', '.join(candidates)}")
    if is_missing(reference):
        raise Unusable(NO_TRUTH, "the reference solution is empty")
    short = short_answer(problem, text_of(reference, "reference solution"))
    task: dict[str, Any] = {"answer": short.answer}
    if short.choices is not None:
        task["choices"] = list(short.choices)
    metadata: dict[str, Any] = {"gold_from": shipped[0], "answer_rule": short.rule}
    if not is_missing(raw.get("domain")):
        metadata["field"] = str(raw["domain"]).strip()
    metadata |= {
        name: raw[name]
        for name in raw
        if name.startswith("is_") and "same" in name and isinstance(raw[name], bool)
    }
    return finished(
        index, problem, "stem", task, gold=raw[shipped[0]], answer=short.answer, metadata=metadata,
        independent=f"a response by another ({shipped[0]})",
    )  # fmt: skip


SCP116K = AdapterSpec(
    "scp116k",
    scp116k,
    "stem",
    (PROBLEM, REFERENCE),
    summary="EricLu/SCP-116K, both versions; gold: the shipped model response, in any of its columns",
)
