"""Converts rows of mathematics sets. The gold response is the boxed answer."""

from __future__ import annotations

import re
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
    text_of,
    user_text,
)  # fmt: skip
from prorl_datasets.spec import AdapterSpec
from prorl_verifiers.extract import last_boxed

DAPO_PREFIX = (
    "Solve the following math problem step by step. The last line of your response should be of the "
    "form Answer: $Answer (without quotes) where $Answer is the answer to the problem."
)
DAPO_SUFFIX = 'Remember to put your answer on its own line after "Answer:".'
_SUFFIXES = (
    DAPO_SUFFIX,
    "Let's think step by step and output the final answer within \\boxed{}.",
    'Let\'s think step by step and output the final answer after "####".',
    "Present the answer in LaTex format: \\boxed{Your answer}",
    "Please reason step by step, and put your final answer within \\boxed{}.",
)
"""Sentences of the published prompts that the builder's template replaces."""
_MATH = ("math", "")
MAX_ANSWER = 10_000
"""Maximum number of characters of an answer; longer texts are not answers and slow to search."""


def plain_question(text: str) -> str:
    """Return a question without the sentences that its publisher adds."""
    text = text.strip()
    text = text.removeprefix(DAPO_PREFIX).strip()
    for suffix in _SUFFIXES:
        text = text.removesuffix(suffix).rstrip()
    return text


def plain_answer(value: Any) -> str:
    r"""Return an answer without ``$`` and ``\boxed{}``. Raises Unusable."""
    answer = text_of(value, "answer")
    if len(answer) > MAX_ANSWER:
        raise Unusable("the answer is too long", f"{len(answer)} characters")
    box = last_boxed(answer)
    if box is not None:
        answer = box
    while len(answer) > 1 and answer[0] == answer[-1] == "$" and "$" not in answer[1:-1].strip("$"):
        answer = answer[1:-1].strip()
    return text_of(answer, "answer")


def math_row(index: int, question: str, answer: str, metadata: dict[str, Any]) -> Row:
    """Return the row of one problem. Raises Unusable."""
    return finished(
        index, question, "math", {"answer": answer},
        gold=boxed(answer), answer=answer, metadata=metadata,
    )  # fmt: skip


def deepscaler(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of agentica-org/DeepScaleR-Preview-Dataset."""
    problem = column(raw, ("problem",), where, "deepscaler")
    answer = plain_answer(column(raw, ("answer",), where, "deepscaler"))
    solution = raw.get("solution")
    return math_row(
        index, text_of(problem, "problem"), answer, {"solution": not is_missing(solution)}
    )


def verl(raw: Raw, where: str, index: int) -> Row:
    reward = column(raw, ("reward_model",), where, "verl")
    question = plain_question(user_text(column(raw, ("prompt",), where, "verl")))
    ability = str(raw.get("ability") or "").strip().lower()
    if ability not in _MATH:
        raise Unusable("not a math row", f"ability {ability}")
    truth = decoded(reward, dict, "reward_model")
    if "ground_truth" not in truth:
        raise Unusable("reward_model holds no ground_truth", ", ".join(map(str, truth)))
    metadata: dict[str, Any] = {}
    if not is_missing(raw.get("data_source")):
        metadata["data_source"] = str(raw["data_source"])
    extra = raw.get("extra_info")
    if not is_missing(extra):
        source_index = decoded(extra, dict, "extra_info").get("index")
        if not is_missing(source_index):
            metadata["source_index"] = source_index
    return math_row(index, question, plain_answer(truth["ground_truth"]), metadata)


def dapo_math(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of BytedTsinghua-SIA/DAPO-Math-17k, or of slime's copy."""
    if "label" in raw and "reward_model" not in raw:
        question = plain_question(user_text(column(raw, ("prompt",), where, "dapo_math")))
        return math_row(index, question, plain_answer(raw["label"]), {})
    return verl(raw, where, index)


def gsm8k(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of openai/gsm8k, whose gold follows ``####``."""
    answer = text_of(column(raw, ("answer",), where, "gsm8k"), "answer")
    _, mark, gold = answer.rpartition("####")
    if not mark:
        raise Unusable("no #### in the answer", answer[-80:])
    gold = re.sub(r"(?<=\d),(?=\d)", "", gold.strip())
    question = text_of(column(raw, ("question",), where, "gsm8k"), "question")
    return math_row(index, question, plain_answer(gold), {})


def hendrycks_math(raw: Raw, where: str, index: int) -> Row:
    problem = text_of(column(raw, ("problem", "question"), where, "math"), "problem")
    answer = raw.get("answer", raw.get("expected_answer"))
    if is_missing(answer):
        solution = text_of(column(raw, ("solution", "answer"), where, "math"), "solution")
        answer = last_boxed(solution)
        if answer is None:
            raise Unusable("no boxed answer in the solution", solution[-80:])
    metadata = {
        k: raw[k] for k in ("subject", "type", "level", "unique_id") if not is_missing(raw.get(k))
    }
    return math_row(index, problem, plain_answer(answer), metadata)


DEEPSCALER = AdapterSpec(
    "deepscaler",
    deepscaler,
    "math",
    (("problem",), ("answer",), ("", "solution")),
    summary="agentica-org/DeepScaleR-Preview-Dataset; gold: boxed answer",
)
DAPO_MATH = AdapterSpec(
    "dapo_math",
    dapo_math,
    "math",
    (("prompt",), ("reward_model", "label")),
    summary="BytedTsinghua-SIA/DAPO-Math-17k; its fixed sentences are removed; gold: boxed answer",
)
VERL = AdapterSpec(
    "verl",
    verl,
    "math",
    (("prompt",), ("reward_model",), ("", "ability"), ("", "extra_info")),
    summary="math rows in verl's columns; gold: boxed answer",
)
GSM8K = AdapterSpec(
    "gsm8k",
    gsm8k,
    "math",
    (("question",), ("answer",)),
    summary="openai/gsm8k; the answer behind `####`; gold: boxed answer",
)
