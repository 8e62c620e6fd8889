r"""The math verifier: the last ``\boxed{}`` against the gold answer, reward 0 or 1.

Order of decisions: same spelling, words, exact numbers (all text, microseconds), then math-verify. Runs in
a worker process: math-verify's own alarms are off, the worker is killed when time is up. Nothing is
evaluated as Python. Leaves out: conversion of units, answers without a box (``unparsable``).

Where a plain math-verify call is known to accept wrong answers this module refuses: chains (``5=7``),
``50\%`` for 50, sums or calls left unevaluated, numbers that are equal only after absolute rounding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from prorl_verifiers.extract import last_boxed
from prorl_verifiers.latex_text import clean, is_words, plain_words, split_top
from prorl_verifiers.quantities import Quantity, read_quantity, unit_powers
from prorl_verifiers.score import MAX_ANSWER, Loading, Score, unparsable

RELATIVE_TOLERANCE = 1e-6
"""Between a surd or multiple of pi and its decimal form; exact rationals are compared exactly."""

_NAME = re.compile(r"\\?[A-Za-z][A-Za-z]{0,12}(?:_\{?\w{1,8}\}?)?'?(?:\s*\([A-Za-z, ]{1,12}\))?")
_MEMBER = re.compile(r"^\\?[A-Za-z]{1,8}\s*\\in(?![a-zA-Z])\s*")
_LETTER = re.compile(r"\(?([A-J])(?:\)|\.|:)?")
_LABELLED = re.compile(r"(?:\\text\s*\{\s*)?\(?([A-J])(?:\)|\.|:)\s*\}?\s*(.+)", re.DOTALL)
_UNEVALUATED = re.compile(
    r"\\(?:sum|prod|int|oint|lim|binom|dbinom|tbinom|choose|gcd|lcm|max|min|bmod|pmod|mod|det|lfloor|lceil)"
    r"(?![a-zA-Z])|!"
)
_FUNCTION = re.compile(
    r"\\(?:arc)?(?:sin|cos|tan|cot|sec|csc)h?(?![a-zA-Z])|\\(?:log|ln|lg|exp|operatorname)(?![a-zA-Z])"
)
_LITERAL = re.compile(
    r"-?(?:\\frac|\\sqrt|\\left|\\right|(?<=[{(^])-|[\d.,{}()\[\]/^\s]|\^\\circ)*"
)
_BLANK = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_RELATION = re.compile(r"[<>]|\\(?:le|ge|leq|geq|lt|gt|in|infty|cup)(?![a-zA-Z])")


def score_math(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    """Score the last box of ``text``; ``reference`` is {"answer": gold}."""
    answer = last_boxed(text)
    if answer is None:
        return unparsable("no closed \\boxed{} in the answer")
    if not answer:
        return unparsable("the box is empty", answer)
    if len(answer) > MAX_ANSWER:
        return unparsable("the answer is too long", answer)
    equal, reason = same_answer(str(reference["answer"]), answer, loading)
    return Score(1.0 if equal else 0.0, reason, answer)


def same_answer(gold: str, answer: str, loading: Loading) -> tuple[bool, str]:
    """Return (whether ``answer`` is ``gold``, the rule that decided)."""
    gold = clean(last_boxed(gold) or gold)
    answer = clean(answer)
    if _squeeze(gold) == _squeeze(answer):
        return True, "same text"
    letter = _LETTER.fullmatch(plain_words(gold).upper())
    if letter and len(plain_words(gold)) == 1 and gold != gold.lower():
        return _same_letter(letter.group(1), answer)
    if is_words(gold):
        return plain_words(gold) == plain_words(answer), "words compared"
    gold, answers = _sides(gold, answer)
    if not answers:
        return False, "an equation is not the answer asked for"
    for at, side in enumerate(answers, start=1):
        equal, reason = _same_side(gold, side, at == len(answers), loading)
        if not equal:
            return False, reason
    return True, reason


def _squeeze(text: str) -> str:
    """Drop white space, but not between two digits (``1 2`` is not 12)."""
    return _BLANK.sub("", text)


def _same_letter(letter: str, answer: str) -> tuple[bool, str]:
    if len(plain_words(answer)) == 1:
        return plain_words(answer).upper() == letter, "letters compared"
    labelled = _LABELLED.fullmatch(answer)
    return bool(labelled and labelled.group(1) == letter), "letters compared"


def _sides(gold: str, answer: str) -> tuple[str, list[str]]:
    """Resolve names and chains: return (gold, every side of the answer that must equal it).

    ``x=5`` counts as 5. In a chain each side but a leading name must be right. When the gold
    is ``name=value``, the same name or none may stand in the answer; a true equation stays whole.
    """
    gold_sides, sides = split_top(gold, "="), split_top(answer, "=")
    if len(gold_sides) == 2 and _NAME.fullmatch(gold_sides[0]):
        if len(sides) > 1 and _squeeze(sides[0]) != _squeeze(gold_sides[0]):
            return (gold, [answer]) if len(sides) == 2 else (gold, [])
        return gold_sides[1], sides[1:] if len(sides) > 1 else sides
    if len(gold_sides) > 1:
        return gold, [answer] if len(sides) == len(gold_sides) else []
    if not _MEMBER.match(gold):
        answer = _MEMBER.sub("", answer)
    listed = split_top(re.sub(r"\\text\s*\{\s*(?:and|or)\s*\}", ",", answer), ",")
    if len(listed) > 1:
        return gold, [",".join(_without_name(part) for part in listed)] if "=" in answer else [
            answer
        ]
    if len(sides) == 1:
        return gold, [answer]
    return gold, sides[1:] if _NAME.fullmatch(sides[0]) else sides


def _without_name(part: str) -> str:
    sides = split_top(part, "=")
    return sides[1] if len(sides) == 2 and _NAME.fullmatch(sides[0]) else part


def _same_side(gold: str, answer: str, final: bool, loading: Loading) -> tuple[bool, str]:
    """Compare one side; only the ``final`` one must be evaluated (``\\binom{5}{2} = 10`` is fine)."""
    if _squeeze(gold) == _squeeze(answer):
        return True, "same text"
    labelled = _LABELLED.fullmatch(answer)
    if labelled and labelled.group(1) != gold:
        answer = clean(labelled.group(2))
    gold_number, number = read_quantity(gold), read_quantity(answer)
    if gold_number is not None and number is not None:
        return same_quantity(gold_number, number), "numbers compared exactly"
    refusal = _refusal(gold, gold_number, answer)
    if refusal and final:
        return False, refusal
    return _same_by_algebra(gold, answer, loading)


def same_quantity(gold: Quantity, number: Quantity) -> bool:
    """Exact equality; a missing unit or percent sign in the answer is forgiven, a wrong one is not."""
    if gold.unit and number.unit and unit_powers(gold.unit) != unit_powers(number.unit):
        return False
    if gold.percent and not number.percent and number.value == gold.value * 100:
        return True
    return gold.value == number.value


def _refusal(gold: str, gold_number: Quantity | None, answer: str) -> str | None:
    """Say why an answer may not be handed to algebra, or None."""
    if _UNEVALUATED.search(answer) and not _UNEVALUATED.search(gold):
        return "the answer is left unevaluated"
    if gold_number is not None and not _LITERAL.fullmatch(answer):
        return "the gold is a number, the answer is not one"
    constant = not re.search(r"(?<![\\a-zA-Z])[a-zA-Z]", gold)
    if constant and _FUNCTION.search(answer) and not _FUNCTION.search(gold):
        return "the answer is left unevaluated"
    if "%" in answer and "%" not in gold:
        return "a percentage is not the number asked for"
    return None


def _same_by_algebra(gold: str, answer: str, loading: Loading) -> tuple[bool, str]:
    loading("math_verify")
    from math_verify import verify

    gold_parsed, parsed = _parse(gold), _parse(answer)
    if not gold_parsed or not parsed:
        return False, "not a formula that can be read"
    equal = bool(verify(gold_parsed, parsed, timeout_seconds=None))
    if not equal and _RELATION.search(gold) and _RELATION.search(answer):
        equal = bool(verify(parsed, gold_parsed, timeout_seconds=None))
    if equal and not _close(gold_parsed[0], parsed[0]):
        return False, "equal only after rounding"
    return equal, "algebra (math-verify)"


def _parse(text: str) -> list[Any]:
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse

    rules = NormalizationConfig(
        basic_latex=True,
        units=True,
        malformed_operators=False,
        nits=False,
        boxed="all",
        equations=False,
    )
    latex = LatexExtractionConfig(boxed_match_priority=0, normalization_config=rules)
    found = parse(
        "\\boxed{" + text + "}",
        extraction_config=[latex, ExprExtractionConfig()],
        parsing_timeout=None,
    )
    return list(found)


def _close(gold: Any, answer: Any) -> bool:
    """For two constants: exactly equal rationals, else a ratio of 1 within RELATIVE_TOLERANCE."""
    import sympy  # type: ignore[import-untyped,unused-ignore]

    if not (isinstance(gold, sympy.Expr) and isinstance(answer, sympy.Expr)):
        return True
    if not (gold.is_number and answer.is_number):
        return True
    if gold.is_Rational and answer.is_Rational:
        return bool(gold == answer)
    if gold == 0 or gold.is_finite is False:
        return True
    ratio = sympy.N(answer / gold, 20)
    return bool(sympy.Abs(ratio - 1) <= RELATIVE_TOLERANCE)


def number_by_algebra(text: str, loading: Loading) -> Fraction | None:
    r"""Return the value of a literal closed form (``2\sqrt{3}``, ``\frac{\pi}{4}``), or None.

    Sums, products and function calls are not literals. The value is rounded to 15 digits.
    """
    text = clean(text)
    if not _LITERAL.fullmatch(text.replace(r"\pi", "")) or not text:
        return None
    loading("math_verify")
    import sympy  # type: ignore[import-untyped,unused-ignore]

    parsed = _parse(text)
    if not parsed or not isinstance(parsed[0], sympy.Expr) or not parsed[0].is_number:
        return None
    value = sympy.N(parsed[0], 15)
    return Fraction(str(value)) if value.is_real and value.is_finite else None
