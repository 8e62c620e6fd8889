"""Mends for reasoning-gym 0.1.25: alphabet guards for scorers that evaluate text, honest scores for broken ones.

Each mend names what it repairs. Leaves out: scorers that are sound, and the whole upstream behaviour
(``logic_scorer``, mode ``reference``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Entry = Mapping[str, Any]

# ---------------------------------------------------------------------------------------------- guards

_LISTS_OF_INTS = re.compile(r"[\s\d\[\],-]*")
_LISTS_OF_LETTERS = re.compile(r"[\s\[\],'\"A-Za-z_]*")
_ARITHMETIC = re.compile(r"(?:[\s\d()+\-/.]|\*(?!\s*\*))*")
_FORMULA = re.compile(r"(?:[\s\w()+*/^,-]|\.(?=\s*(?:\d|[^\w\s]|$)))*", re.ASCII)
_IDENTIFIER = re.compile(r"(?<![\d.])[A-Za-z_]\w*|(?<=\d)[A-DF-Za-df-z_]\w*", re.ASCII)
_FUNCTIONS = frozenset(
    "sin cos tan cot sec csc asin acos atan acot sinh cosh tanh asinh acosh atanh exp log ln sqrt Abs pi E C".split()  # noqa: SIM905
)
_GUARDS: dict[str, re.Pattern[str]] = {
    "binary_matrix": _LISTS_OF_INTS,
    "spiral_matrix": _LISTS_OF_INTS,
    "string_insertion": _LISTS_OF_LETTERS,
    "n_queens": _LISTS_OF_LETTERS,
    "countdown": _ARITHMETIC,
    "puzzle24": _ARITHMETIC,
    "simple_integration": _FORMULA,
    "intermediate_integration": _FORMULA,
    "polynomial_multiplication": _FORMULA,
}
EVALUATING = tuple(_GUARDS)
"""The nine datasets whose upstream scorer evaluates the answer (``eval`` or sympy's ``parse_expr``)."""


def safe_to_evaluate(dataset: str, answer: str, entry: Entry) -> bool:
    """Whether ``answer`` holds only what a right answer may hold: no calls, attributes or dunder names.

    Datasets that do not evaluate text are always safe.
    """
    guard = _GUARDS.get(dataset)
    if guard is None:
        return True
    if not guard.fullmatch(answer) or ("__" in answer.replace(" ", "") and dataset != "n_queens"):
        return False
    if guard is not _FORMULA:
        return True
    metadata = entry["metadata"]
    variables = metadata.get("variables") or [metadata.get("variable", "x")]
    allowed = _FUNCTIONS | {str(variable) for variable in variables}
    if dataset == "polynomial_multiplication":
        allowed = allowed - _FUNCTIONS | {str(variable) for variable in variables}
    return all(name in allowed for name in _IDENTIFIER.findall(answer))


# ----------------------------------------------------------------------------------------------- fixes


@dataclass(frozen=True, slots=True)
class Fix:
    """A mended scorer: ``score(answer, entry, upstream score)``. ``answer`` is stripped and not empty."""

    score: Callable[[str, Entry, float], float]
    needs_upstream: bool = False


def exact_only(answer: str, entry: Entry, upstream: float) -> float:
    """Keep only full marks: the partial credit rewards constants or text that contains the gold."""
    return 1.0 if upstream >= 1.0 else 0.0


def halting(answer: str, entry: Entry, upstream: float) -> float:
    """game_of_life_halting compared ``bool(text)``, so any text was right; compare the words."""
    return float(answer.casefold() == str(entry["answer"]).strip().casefold())


def probability(answer: str, entry: Entry, upstream: float) -> float:
    """coin_flip gave credit for a common prefix (``0`` got 0.96); accept 1e-4 relative, nothing else."""
    if not re.fullmatch(r"[+-]?[\d., ]{1,60}(?:/[\d, ]{1,60})?", answer):
        return 0.0
    try:
        value = Fraction(answer.replace(",", "").replace(" ", ""))
        gold = Fraction(str(entry["answer"]).replace(",", "").strip())
    except (ValueError, ZeroDivisionError):
        return 0.0
    return float(abs(value - gold) <= abs(gold) / 10_000)


def finite(answer: str, entry: Entry, upstream: float) -> float:
    """complex_arithmetic and its like score ``exp(-distance)``, which is 1 for a NaN."""
    return 0.0 if re.search(r"nan|inf", answer, re.IGNORECASE) else upstream


def puzzle24(answer: str, entry: Entry, upstream: float) -> float:
    """puzzle24 never compared with the given numbers (``1*2*3*4`` was always right)."""
    return _uses_numbers(answer, entry["metadata"]["numbers"], Fraction(24))


def countdown(answer: str, entry: Entry, upstream: float) -> float:
    """countdown gave 0.01 to 0.05 for any text; right numbers and right value, or nothing."""
    metadata = entry["metadata"]
    return _uses_numbers(answer, metadata["numbers"], Fraction(metadata["target"]))


def _uses_numbers(answer: str, numbers: list[int], target: Fraction) -> float:
    if len(answer) > 2000:
        return 0.0
    used = sorted(int(number) for number in re.findall(r"\d+", answer)[:50])
    if used != sorted(numbers):
        return 0.0
    return float(arithmetic_value(answer) == target)


def arithmetic_value(text: str) -> Fraction | None:
    """Return the exact value of integers joined by + - * / and brackets, or None for anything else."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            return Fraction(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) / _value(right)
    raise ValueError("not arithmetic")


def game_of_life(answer: str, entry: Entry, upstream: float) -> float:
    """game_of_life gives an empty board 0.98; count from the better constant board instead of from 0."""
    alive = str(entry["answer"]).count("1")
    cells = alive + str(entry["answer"]).count("0")
    constant = max(alive, cells - alive) / cells if cells else 1.0
    if upstream >= 1.0:
        return 1.0
    return 0.0 if constant >= 1.0 else max(0.0, (upstream - constant) / (1.0 - constant))


def not_longer(answer: str, entry: Entry, upstream: float) -> float:
    """letter_jumble, spell_backward and word_sorting give credit for a heap of answers; refuse heaps."""
    gold = str(entry["answer"]).strip()
    too_long = len(answer) > len(gold) or len(answer.split()) > len(gold.split())
    return 0.0 if too_long else upstream


_EXACT = Fix(exact_only, needs_upstream=True)
_FINITE = Fix(finite, needs_upstream=True)
_NOT_LONGER = Fix(not_longer, needs_upstream=True)
FIXED: dict[str, Fix] = {
    "game_of_life_halting": Fix(halting),
    "coin_flip": Fix(probability),
    "puzzle24": Fix(puzzle24),
    "countdown": Fix(countdown),
    "complex_arithmetic": _FINITE,
    "polynomial_equations": _FINITE,
    "power_function": _FINITE,
    "game_of_life": Fix(game_of_life, needs_upstream=True),
    "letter_jumble": _NOT_LONGER,
    "spell_backward": _NOT_LONGER,
    "word_sorting": _NOT_LONGER,
    **dict.fromkeys(
        (
            "chain_sum",
            "circuit_logic",
            "manipulate_matrix",
            "products",
            "rectangle_count",
            "time_intervals",
            "tsumego",
        ),
        _EXACT,
    ),
}
