"""The math verifier's spec, which imports the grader on first use."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from prorl_verifiers.audit_shape import AuditRequest, AuditShape, Group, Kind, Mutation
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.libraries import load_library
from prorl_verifiers.spec import Canary, VerifierSpec
from prorl_verifiers.types import Reference, Score, TaskError, check_keys, gold_text

MAX_DECIMALS = 40
"""Maximum number of decimal places that a question may ask for."""


def score(response: str, reference: Reference) -> Score:
    from prorl_verifiers.math.scorer import score_math

    return score_math(response, reference, load_library)


def check_reference(reference: Reference) -> None:
    from prorl_verifiers.math.scorer import named_option

    check_keys(reference, "answer", "mode", "choices", "percent", "decimals")
    gold = gold_text(reference)
    if not isinstance(reference.get("percent", False), bool):
        raise TaskError("'percent' must be true or false")
    decimals = reference.get("decimals")
    if decimals is not None and (type(decimals) is not int or not 0 <= decimals <= MAX_DECIMALS):
        raise TaskError(f"'decimals' must be a whole number from 0 to {MAX_DECIMALS}")
    choices = reference.get("choices")
    if choices is None:
        return
    texts = isinstance(choices, list) and all(isinstance(choice, str) for choice in choices)
    if not texts or not 2 <= len(choices) <= 26:
        raise TaskError("'choices' must be a list of 2 to 26 strings")
    if named_option(gold, choices) is None:
        raise TaskError("the gold answer is not one of the 'choices': give its letter or its text")


def target_type(reference: Reference) -> str:
    from prorl_verifiers.math.targets import kind, parse_gold

    return "choice" if reference.get("choices") else kind(parse_gold(gold_text(reference)))


def boxed_canaries(draw: random.Random) -> Sequence[Canary]:
    number = draw.randint(10, 9999)
    wrong = number + draw.randint(1, 99)
    reference = {"answer": str(number)}
    pair = [
        Canary(reference, f"\\boxed{{{number}}}", 1.0),
        Canary(reference, f"\\boxed{{{wrong}}}", 0.0),
    ]
    draw.shuffle(pair)
    return pair


def deep_canaries() -> Sequence[Canary]:
    cases = (
        ("x^2-1", "(x-1)(x+1)", "x^2+1"),
        (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt{2}}", "2"),
    )
    return [
        Canary({"answer": gold, "mode": mode}, f"\\boxed{{{answer}}}", reward)
        for gold, right, wrong in cases
        for mode in ("decided", "math-verify")
        for answer, reward in ((right, 1.0), (wrong, 0.0))
    ]


def boxed(answer: str, reference: Reference) -> str:
    return f"The answer is \\boxed{{{answer}}}"


def boxed_gold(reference: Reference) -> str | None:
    answer = reference.get("answer")
    if answer is None:
        return None
    parts = answer if isinstance(answer, list) else [answer]
    return " ".join(f"\\boxed{{{part}}}" for part in parts)


def answer_as_text(reference: dict[str, Any]) -> dict[str, Any]:
    answer = reference["answer"]
    is_number = isinstance(answer, int | float) and abs(answer) < math.inf
    return {**reference, "answer": str(answer)} if is_number else reference


def mutations() -> Sequence[Mutation]:
    from prorl_verifiers.audit.spoilt import latex_mutations

    return latex_mutations()


def may_be_right(reference: Reference) -> Collection[Kind]:
    ordered = ("tuple", "matrix", "interval", "text")
    swapped: tuple[Kind, ...] = () if target_type(reference) in ordered else ("order",)
    return ("junk", *swapped)


def audit_groups(request: AuditRequest) -> Iterable[Group]:
    from prorl_verifiers.math.audit import math_groups

    return math_groups()


PROMPT = "{question}\nLet's think step by step and output the final answer within \\boxed{{}}."
"""ProRL's prompt for math (arXiv 2505.24864, appendix D)."""

SPEC = VerifierSpec(
    name="math",
    score=score,
    check_reference=check_reference,
    modes=("decided", "either", "ours", "math-verify"),
    mode_for={"faithful": "either"},
    libraries=("math_verify",),
    quick_canaries=boxed_canaries,
    deep_canaries=deep_canaries,
    data=DataShape(
        example={"answer": "2"},
        prompt=PROMPT,
        tidy=answer_as_text,
        write=boxed,
        gold_response=boxed_gold,
        vote=str,
        target_type=target_type,
    ),
    audit=AuditShape(
        mutations=mutations,
        may_be_right=may_be_right,
        groups=audit_groups,
    ),
)
