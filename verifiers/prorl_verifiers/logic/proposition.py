"""Scores ``propositional_logic`` with truth tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product

from prorl_verifiers.extract import closing_bracket
from prorl_verifiers.logic.text import Entry, Upstream

Truth = Callable[[dict[str, bool]], bool]
RESTATED = 0.25
"""Maximum credit for a conclusion that only repeats premises."""
TELLING = 0.5
"""For reward 1, a conclusion must exclude this fraction of the assignments that the premises exclude."""
_TOKEN = re.compile(r"\s*([A-Za-z]\w*|[()\u2227\u2228\u00ac\u2192\u2194])", re.ASCII)
_BINARY: dict[str, Callable[[bool, bool], bool]] = {
    "\u2194": lambda a, b: a == b,
    "\u2192": lambda a, b: not a or b,
    "\u2228": lambda a, b: a or b,
    "\u2227": lambda a, b: a and b,
}
"""The binary operators, which are left-associative, in the order of increasing precedence."""
MAX_LENGTH, MAX_VARIABLES, MAX_DEPTH = 400, 12, 40


def propositional(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``propositional_logic``.

    A valid conclusion earns its share of the truth assignments that the premises rule out, or 1 if this is at least one
    half. A restated premise earns at most 0.25, and a tautology 0.
    """
    metadata = entry["metadata"]
    variables = [str(name) for name in metadata["variables"]]
    premises = [parse(str(text)) for text in metadata["premises"]]
    if len(answer) > MAX_LENGTH:
        return 0.0
    try:
        parts = [parse(part) for part in conjuncts(answer.strip().rstrip("."))]
    except ValueError:
        return 0.0
    if not names(answer) <= set(variables):
        return 0.0
    return score_conclusion(parts, premises, variables)


def score_conclusion(parts: list[Truth], premises: list[Truth], variables: list[str]) -> float:
    rows = list(assignments(variables))
    written = [[part(row) for row in rows] for part in parts]
    column = [all(values) for values in zip(*written, strict=True)]
    columns = [[premise(row) for row in rows] for premise in premises]
    together = [all(values) for values in zip(*columns, strict=True)]
    follows = all(
        right for right, premises_hold in zip(column, together, strict=True) if premises_hold
    )
    if all(together):  # the premises are tautologies, so the conclusion must be one
        return float(all(column))
    if not follows or all(column):
        return 0.0
    restated = all(part in columns for part in written)
    literals = [[row[name] == held for row in rows] for name in variables for held in (True, False)]
    says_all = column == together and (len(parts) == 1 or all(part in literals for part in written))
    share = column.count(False) / together.count(False)
    credit = 1.0 if share >= TELLING else share
    return min(RESTATED, credit) if restated and not says_all else credit


def conjuncts(text: str) -> list[str]:
    depth, start = 0, 0
    parts = []
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and sign in "\u2194\u2192\u2228":
            return [text]
        if depth == 0 and sign == "\u2227":
            parts.append(text[start:place])
            start = place + 1
    inner = text.strip()
    if (
        not parts
        and inner[:1] == "("
        and inner[-1:] == ")"
        and closing_bracket(inner, 1, "()") == len(inner) - 1
    ):
        return conjuncts(inner[1:-1])
    return [*parts, text[start:]]


def assignments(variables: list[str]) -> Iterator[dict[str, bool]]:
    if len(variables) > MAX_VARIABLES:
        raise ValueError("too many variables for a truth table")
    for values in product((False, True), repeat=len(variables)):
        yield dict(zip(variables, values, strict=True))


def names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z]\w*", text, re.ASCII))


def parse(text: str) -> Truth:
    if len(text) > MAX_LENGTH:
        raise ValueError("the formula is too long")
    tokens: list[str] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError("not a formula")
        tokens.append(match.group(1))
        position = match.end()
    truth = _binary(tokens, 0, 0)
    if tokens:
        raise ValueError("text follows the formula")
    return truth


def _binary(tokens: list[str], level: int, depth: int) -> Truth:
    if depth > MAX_DEPTH:
        raise ValueError("the formula is nested too deep")
    operators = list(_BINARY)
    if level == len(operators):
        return _unary(tokens, depth)
    left = _binary(tokens, level + 1, depth)
    while tokens and tokens[0] == operators[level]:
        tokens.pop(0)
        left = _joined(_BINARY[operators[level]], left, _binary(tokens, level + 1, depth))
    return left


def _unary(tokens: list[str], depth: int) -> Truth:
    if not tokens or depth > MAX_DEPTH:
        raise ValueError("the formula is incomplete or nested too deep")
    token = tokens.pop(0)
    if token == "\u00ac":
        inner = _unary(tokens, depth + 1)
        return lambda row: not inner(row)
    if token == "(":
        inner = _binary(tokens, 0, depth + 1)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("a bracket is not closed")
        return inner
    if token in _BINARY or token == ")":
        raise ValueError("an operand is missing")
    return lambda row: row[token]


def _joined(operator: Callable[[bool, bool], bool], left: Truth, right: Truth) -> Truth:
    return lambda row: operator(left(row), right(row))
