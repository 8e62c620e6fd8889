"""Converts rows of STEM sets: ARC, MMLU, GooseReason, SciBench, TheoremQA and SCP-116K."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
from prorl_datasets.sources.adapters.worked import NO_TRUTH, options_in, short_answer
from prorl_datasets.spec import AdapterSpec

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FACTOR = re.compile(r"^\$?\s*(?:\\times\s*)?10\s*\^\s*\{?\s*[+-]?\d+\s*\}?")


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


def arc(raw: Raw, where: str, index: int) -> Row:
    question = column(raw, ("question",), where, "arc")
    choices = raw.get("choices")
    if isinstance(question, Mapping):
        choices = question.get("choices", choices)
        question = question.get("stem")
    choices = decoded(choices, (dict, list), "choices")
    if isinstance(choices, dict):
        texts = decoded(choices.get("text"), list, "choices.text")
        labels = decoded(choices.get("label"), list, "choices.label")
    else:
        choices = [decoded(choice, dict, "choices") for choice in choices]
        texts, labels = [c.get("text") for c in choices], [c.get("label") for c in choices]
    key = text_of(column(raw, ("answerKey",), where, "arc"), "answerKey")
    labels = [str(label).strip() for label in labels]
    if len(texts) != len(labels) or key not in labels:
        raise Unusable("the answer names no option", f"{key} of {', '.join(labels)}")
    metadata = {} if is_missing(raw.get("id")) else {"source_id": str(raw["id"])}
    return choice_row(index, text_of(question, "question"), texts, labels.index(key), metadata)


def mmlu_stem(raw: Raw, where: str, index: int) -> Row:
    question = text_of(column(raw, ("question",), where, "mmlu_stem"), "question")
    choices = decoded(column(raw, ("choices",), where, "mmlu_stem"), list, "choices")
    answer = text_of(column(raw, ("answer",), where, "mmlu_stem"), "answer")
    place = int(answer) if answer.isascii() and answer.isdigit() and len(answer) < 3 else -1
    if len(answer) == 1 and answer.upper() in LETTERS:
        place = LETTERS.index(answer.upper())
    subject = raw.get("type", raw.get("subject"))
    return choice_row(
        index, question, choices, place, {} if is_missing(subject) else {"subject": str(subject)}
    )


def goosereason(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of GooseReason-0.7M: a text with a masked span, options for the span, and the right letter."""
    question = text_of(column(raw, ("question",), where, "goosereason"), "question")
    options = decoded(column(raw, ("options",), where, "goosereason"), list, "options")
    letter = text_of(column(raw, ("answer",), where, "goosereason"), "answer").strip("(). ").upper()
    place = LETTERS.find(letter) if len(letter) == 1 else -1
    return choice_row(index, question, options, place, {})


def scibench(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of SciBench; the unit is added to the question."""
    question = text_of(column(raw, ("problem_text",), where, "scibench"), "problem_text")
    answer = text_of(column(raw, ("answer_number",), where, "scibench"), "answer_number")
    answer = answer.replace("\u2212", "-")
    unit = "" if is_missing(raw.get("unit")) else " ".join(str(raw["unit"]).split())
    reference: dict[str, Any] = {"answer": answer}
    prompt, gold = question, answer
    if unit:
        reference["unit"] = unit
        prompt = f"{question}\nGive the answer in units of {unit}."
        if not _FACTOR.match(unit):
            gold = f"{answer} {unit.strip('$ ')}"
    book = {} if is_missing(raw.get("source")) else {"book": str(raw["source"]).strip()}
    return finished(
        index, prompt, "stem", reference, gold=boxed(gold), answer=answer, metadata=book,
        core=question,
    )  # fmt: skip


def theoremqa(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of TheoremQA without a picture."""
    question = text_of(column(raw, ("Question",), where, "theoremqa"), "Question")
    kind = text_of(column(raw, ("Answer_type",), where, "theoremqa"), "Answer_type")
    value = column(raw, ("Answer",), where, "theoremqa")
    if not is_missing(raw.get("Picture")):
        raise Unusable("the question needs a picture")
    if kind == "option":
        choices = options_in(question)
        letter = text_of(value, "answer").strip("() ").upper()
        if choices is None or letter not in LETTERS[: len(choices)]:
            raise Unusable("the options cannot be told from the question", letter)
        return finished(
            index, question, "stem", {"answer": letter, "choices": choices}, gold=boxed(letter),
            answer=letter, metadata={"answer_type": kind},
        )  # fmt: skip
    if kind.startswith("list"):
        parts = decoded(value, list, "Answer")
        answers = [text_of(part, "answer") for part in parts]
        gold = " ".join(map(boxed, answers))
        return finished(
            index, question, "stem", {"answer": answers}, gold=gold, answer="; ".join(answers),
            metadata={"answer_type": kind},
        )  # fmt: skip
    answer = str(value) if isinstance(value, bool) else text_of(value, "answer")
    return finished(
        index, question, "stem", {"answer": answer}, gold=boxed(answer), answer=answer,
        metadata={"answer_type": kind},
    )  # fmt: skip


ARC = AdapterSpec(
    "arc",
    arc,
    "stem",
    (("question",), ("answerKey",), ("", "choices")),
    summary="allenai/ai2_arc, both shapes; gold: boxed letter",
)
MMLU_STEM = AdapterSpec(
    "mmlu_stem",
    mmlu_stem,
    "stem",
    (("question",), ("choices",), ("answer",)),
    summary="MMLU; gold: boxed letter",
)
GOOSEREASON = AdapterSpec(
    "goosereason",
    goosereason,
    "stem",
    (("question",), ("options",), ("answer",)),
    summary="nvidia/Nemotron-Research-GooseReason-0.7M; gold: boxed letter",
)
SCIBENCH = AdapterSpec(
    "scibench",
    scibench,
    "stem",
    (("problem_text",), ("answer_number",), ("", "unit")),
    summary="SciBench; the unit is asked for; gold: boxed answer with unit",
)
THEOREMQA = AdapterSpec(
    "theoremqa",
    theoremqa,
    "stem",
    (("Question",), ("Answer",), ("Answer_type",)),
    summary="TheoremQA without its pictures; gold: boxed answers",
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
    """Return the columns that contain model responses, R1's first."""
    names = list(columns)
    exact = [name for name in RESPONSES if name in names]
    like = [n for n in names if n not in exact and _R1.search(n) and not _NOT_A_RESPONSE.search(n)]
    return [*exact, *like, *(name for name in OLD_RESPONSES if name in names)]


def scp116k(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of EricLu/SCP-116K, in the 116k or 274k version.

    Raises DatasetError that lists the columns if none can be the response.
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
