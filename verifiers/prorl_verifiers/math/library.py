r"""Grades with math-verify, either alone or after our own checks.

These checks reject wrong answers that math-verify accepts, such as unevaluated answers or ``50\%`` for 50.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from prorl_verifiers.extract import last_boxed
from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.evaluating.equal import RELATIVE_TOLERANCE
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, Value, numbers
from prorl_verifiers.math.grader import squeeze
from prorl_verifiers.math.reading.nodes import EXPRESSIONS, Call, Const, Root, symbols, walk
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.tokens import MAX_POWER_OF_TEN, TooLarge, Unreadable
from prorl_verifiers.math.targets import LABELLED
from prorl_verifiers.notation.latex_text import clean, split_top
from prorl_verifiers.notation.quantities import read_quantity

_NAME = re.compile(r"\\?[A-Za-z][A-Za-z]{0,12}(?:_\{?\w{1,8}\}?)?'?(?:\s*\([A-Za-z, ]{1,12}\))?")
_MEMBER = re.compile(r"^\\?[A-Za-z]{1,8}\s*\\in(?![a-zA-Z])\s*")
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
_PARTS = re.compile(r"\\[A-Za-z]+|\\.|\*\*|[0-9.]+|[^\s$]")
_POWERS = ("^", "**")
_SENTENCES = re.compile(r"\n|(?<=[.!?])\s")
MAX_NESTED = 12
MAX_SCRIPTS = 4
MAX_EXPANDED = 400
"""Maximum number of terms of an expanded power."""
_RELATION = re.compile(r"[<>]|\\(?:le|ge|leq|geq|lt|gt|in|infty|cup)(?![a-zA-Z])")


_ALGEBRA_ERRORS = (
    ArithmeticError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Exceptions of sympy for numbers that it cannot evaluate."""


def plain_verify(gold: str, text: str, loading: Loading) -> tuple[bool, bool]:
    """Return whether math-verify finds an answer in ``text``, and whether the answer equals ``gold``."""
    try:
        for part in (gold, *([last_boxed(text)] if "\\boxed" in text else _SENTENCES.split(text))):
            check_size(part or "")
    except TooLarge:
        return True, False
    loading("math_verify")
    from math_verify import verify

    parsed_gold = _parse(gold if "\\boxed" in gold else "\\boxed{" + gold + "}", equations=True)
    parsed = _parse(text, equations=True)
    return bool(parsed), bool(parsed) and bool(verify(parsed_gold, parsed, timeout_seconds=None))


def guarded_verify(gold: str, answer: str, loading: Loading) -> tuple[bool, str]:
    """Return whether two cleaned texts are equal, and the rule that decided."""
    gold, answers = _sides(gold, answer)
    if not answers:
        return False, "an equation is not the answer asked for"
    for at, side in enumerate(answers, start=1):
        equal, reason = _same_side(gold, side, at == len(answers), loading)
        if not equal:
            return False, reason
    return True, reason


def _sides(gold: str, answer: str) -> tuple[str, list[str]]:
    """Return the gold without its name, and the sides of the answer that must equal it."""
    gold_sides, sides = split_top(gold, "="), split_top(answer, "=")
    if len(gold_sides) == 2 and _NAME.fullmatch(gold_sides[0]):
        if len(sides) > 1 and squeeze(sides[0]) != squeeze(gold_sides[0]):
            return (gold, [answer]) if len(sides) == 2 else (gold, [])
        return gold_sides[1], sides[1:] if len(sides) > 1 else sides
    if len(gold_sides) > 1:
        return gold, [answer] if len(sides) == len(gold_sides) else []
    if not _MEMBER.match(gold):
        answer = _MEMBER.sub("", answer)
    listed = split_top(re.sub(r"\\text\s*\{\s*(?:and|or)\s*\}", ",", answer), ",")
    if len(listed) > 1:
        if "=" not in answer:
            return gold, [answer]
        parts = [split_top(part, "=") for part in listed]  # without their names: x = 2, y = 3
        return gold, [
            ",".join(
                pair[1] if len(pair) == 2 and _NAME.fullmatch(pair[0]) else part
                for pair, part in zip(parts, listed, strict=True)
            )
        ]
    if len(sides) == 1:
        return gold, [answer]
    return gold, sides[1:] if _NAME.fullmatch(sides[0]) else sides


def _same_side(gold: str, answer: str, final: bool, loading: Loading) -> tuple[bool, str]:
    labelled = LABELLED.fullmatch(answer)
    if labelled and labelled.group(1) != gold:
        answer = clean(labelled.group(2))
    if squeeze(gold) == squeeze(answer):
        return True, "same text"
    refusal = _refusal(gold, answer)
    if refusal and final:
        return False, refusal
    try:
        check_size(gold)
        check_size(answer)
    except TooLarge as error:
        return False, str(error)
    loading("math_verify")
    from math_verify import verify
    from sympy.core.relational import Relational  # type: ignore[import-untyped,unused-ignore]

    gold_parsed = _parse("\\boxed{" + gold + "}", equations=False)
    parsed = _parse("\\boxed{" + answer + "}", equations=False)
    if not gold_parsed or not parsed:
        return False, "math-verify cannot parse the gold or the answer"
    if isinstance(gold_parsed[0], Relational) and isinstance(parsed[0], Relational):
        # math-verify compares relations by what they simplify to: two false ones are equal
        return False, "two relations whose equality could not be shown"
    equal = bool(verify(gold_parsed, parsed, timeout_seconds=None))
    if not equal and _RELATION.search(gold) and _RELATION.search(answer):
        equal = bool(verify(parsed, gold_parsed, timeout_seconds=None))
    try:
        if equal and not _close(gold_parsed[0], parsed[0]):
            return False, "equal only after rounding"
    except _ALGEBRA_ERRORS as error:
        return False, f"not compared: {type(error).__name__} in computer algebra"
    return equal, "algebra"


def _refusal(gold: str, answer: str) -> str | None:
    if _UNEVALUATED.search(answer) and not _UNEVALUATED.search(gold):
        return "the answer is left unevaluated"
    if read_quantity(gold) is not None and not _LITERAL.fullmatch(answer):
        return "the gold is a number, the answer is not one"
    constant = not re.search(r"(?<![\\a-zA-Z])[a-zA-Z]", gold)
    if constant and _FUNCTION.search(answer) and not _FUNCTION.search(gold):
        return "the answer is left unevaluated"
    if "%" in answer and "%" not in gold:
        return "the gold is not a percentage, the answer is one"
    return None


def check_size(text: str) -> None:
    """Raise TooLarge if computer algebra would take too long for ``text``."""
    found = list(_PARTS.finditer(text))
    parts = [match.group() for match in found]
    partner = _partners(parts)
    ends: dict[int, int] = {}
    rows: dict[int, int] = {}
    for at, part in enumerate(parts):
        if part == "!" and at:
            _value(text[found[partner.get(at - 1, at - 1)].start() : found[at].end()])
        elif part == "_" or part in _POWERS:
            first = at + 2 if parts[at + 1 : at + 2] in (["-"], ["+"]) else at + 1
            ends[at] = min(partner.get(first, first), len(parts) - 1)
            rows[ends[at] + 1] = rows.get(at, 0) + 1
            if rows[ends[at] + 1] > MAX_SCRIPTS:
                raise TooLarge(f"more than {MAX_SCRIPTS} subscripts and superscripts in a row")
    exponents: dict[int, Value] = {}
    for at in reversed(ends):
        if at == 0 or parts[at] == "_":
            continue
        exponent, _ = _value(text[found[at].end() : found[ends[at]].end()])
        if ends[at] + 1 in exponents:
            exponent = _power(exponent, exponents[ends[at] + 1])
        exponents[at] = exponent
        start = partner.get(at - 1, at - 1)
        base, letters = _value(text[found[start].start() : found[at].start()])
        _power(base, exponent)
        expanded = start < at - 1 and letters
        if expanded and math.comb(int(abs(exponent)) + letters, letters) > MAX_EXPANDED:
            raise TooLarge("a power has too many terms")


def _partners(parts: list[str]) -> dict[int, int]:
    """Return {index of a bracket: index of the matching bracket}."""
    opened: list[int] = []
    partner: dict[int, int] = {}
    for at, part in enumerate(parts):
        if part in ("(", "[", "{", r"\{"):
            opened.append(at)
        elif part in (")", "]", "}", r"\}") and opened:
            start = opened.pop()
            partner[start], partner[at] = at, start
        if len(opened) > MAX_NESTED:
            raise TooLarge("brackets are nested too deep")
    return partner


def _value(text: str) -> tuple[Value, int]:
    """Return (value of ``text`` with 1 for every letter, number of letters), or (1, 0) if it cannot be parsed."""
    try:
        node = read(text)
        letters = symbols(node)
        value = Evaluator(dict.fromkeys(letters, Fraction(1))).value(node)
        return _bounded(value), len(letters)
    except TooLarge:
        raise
    except (Undefined, Unreadable):
        return Fraction(1), 0
    except RecursionError as error:
        raise TooLarge("a power is nested too deep") from error


def _power(base: Value, exponent: Value) -> Value:
    try:
        return _bounded(Evaluator({}).power(base, exponent))
    except Undefined:
        return Fraction(1)


def _bounded(value: Value) -> Value:
    size = abs(Evaluator({}).float(value))
    if size != 0 and abs(numbers(60).log10(size)) > MAX_POWER_OF_TEN:
        raise TooLarge("a power is too large")
    return value


def _parse(text: str, equations: bool) -> list[Any]:
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse

    rules = NormalizationConfig(
        basic_latex=True,
        units=True,
        malformed_operators=False,
        nits=False,
        boxed="all",
        equations=equations,
    )
    latex = LatexExtractionConfig(boxed_match_priority=0, normalization_config=rules)
    configurations = [latex, ExprExtractionConfig()]
    # No timeouts of math-verify: the pool kills a worker that is too slow.
    return list(parse(text, extraction_config=configurations, parsing_timeout=None))


def _close(gold: Any, answer: Any) -> bool:
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


def literal_value(text: str, closed: bool = False) -> Fraction | None:
    from prorl_verifiers.math.comparing.leaves import is_closed

    text = clean(text)
    if not text or (not closed and not _LITERAL.fullmatch(text.replace(r"\pi", ""))):
        return None
    try:
        node = read(text)
        if not isinstance(node, EXPRESSIONS) or symbols(node):
            return None
        parts = list(walk(node))
        called = any(isinstance(part, Call) for part in parts)
        irrational = called or any(isinstance(part, Root | Const) for part in parts)
        if called if not closed else not (irrational and is_closed(node)):
            return None
        value = Evaluator({}).value(node)
    except (Undefined, Unreadable, RecursionError):
        return None
    if isinstance(value, Fraction):
        return value
    if value.imag != 0 or not 1e-300 < abs(value) < 1e300:
        return None
    return Fraction(numbers(60).nstr(value.real, 15))
