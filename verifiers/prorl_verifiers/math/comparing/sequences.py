r"""Compares sequences with an ellipsis, such as ``1, 3, \ldots, 2n-1``, and sums, products and integrals."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from prorl_verifiers.extract import closing_bracket
from prorl_verifiers.math.comparing.relations import renamed
from prorl_verifiers.math.evaluating.domain import Domain, domain_of
from prorl_verifiers.math.evaluating.equal import DIGITS, infinite, same_value
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined, numbers
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Listing,
    Neg,
    Node,
    Num,
    Product,
    Quotient,
    Sum,
    Sym,
    symbols,
)
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.tokens import TooLarge, Unreadable
from prorl_verifiers.notation.latex_text import split_top

ELLIPSIS = re.compile(r"\\[lcvd]?dots[cbmio]?(?![a-zA-Z])")
_DIGITS = re.compile(r"\.\d+\s*\\[lc]?dots(?![a-zA-Z])")
_NAME = re.compile(r"\s*[A-Za-z](?:_\{?\w\}?)?\s*(?:=|\\in(?![a-zA-Z]))")
ONE = Num(Fraction(1))
_BRACKETS = {"(": ")", "[": "]", r"\{": r"\}"}


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms before and after an ellipsis. ``last`` is empty for an infinite sequence."""

    first: tuple[Node, ...]
    last: tuple[Node, ...]
    joint: str
    bracket: str


def has_ellipsis(text: str) -> bool:
    r"""Return whether a text has an ellipsis other than one after digits, as in ``0.333\ldots``."""
    return ELLIPSIS.search(_DIGITS.sub("", text)) is not None


def same_sequence(gold: str, answer: str) -> bool | None:
    """Return whether two sequences have the same first terms, rule and last term, or None if undecided."""
    left, right = _terms(gold), _terms(answer)
    if left is None or right is None:
        return None
    if left.joint != right.joint or (
        left.bracket and right.bracket and left.bracket != right.bracket
    ):
        return False
    if bool(left.last) != bool(right.last):
        return False
    domain = domain_of(Listing(left.first + left.last))
    ends = (left.first[:1] + left.last[-1:], right.first[:1] + right.last[-1:])
    if not all(_equal(*pair, domain) for pair in zip(*ends, strict=True)):
        return False
    if left.first == right.first and left.last == right.last:
        return True
    rule = _rule(left, domain)
    return None if rule is None else _follows(right, rule, domain)


def _terms(text: str) -> Terms | None:
    named = _NAME.match(text)
    body = text[named.end() :].strip() if named else text.strip()
    bracket = next((sign for sign in _BRACKETS if body.startswith(sign)), "")
    if bracket:
        if not body.endswith(_BRACKETS[bracket]):
            return None
        body = body[len(bracket) : -len(_BRACKETS[bracket])]
    joint = "," if len(split_top(body, ",;")) > 1 else "+"
    parts = [part.strip() for part in split_top(body, ",;" if joint == "," else "+")]
    gaps = [at for at, part in enumerate(parts) if ELLIPSIS.fullmatch(part)]
    if len(gaps) != 1 or gaps[0] == 0:
        return None
    del parts[gaps[0]]
    try:
        nodes = tuple(read(part) for part in parts)
    except (Unreadable, RecursionError):
        return None
    if not all(isinstance(node, EXPRESSIONS) for node in nodes):
        return None
    indexed = [
        re.fullmatch(r"(\w+)_(\w+(?:[+-]\d+)?)", node.name) if isinstance(node, Sym) else None
        for node in nodes
    ]
    if all(indexed) and len({match.group(1) for match in indexed if match}) == 1:
        try:  # a_1, ..., a_n is the sequence of its indices
            nodes = tuple(read(match.group(2)) for match in indexed if match)
        except (Unreadable, RecursionError):
            return None
        bracket += next(match.group(1) for match in indexed if match)
    return Terms(nodes[: gaps[0]], nodes[gaps[0] :], joint, bracket)


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of a sequence, such as ``2n`` for ``2, 4, 6``.

    ``term`` is a formula in ``letter``, which counts from ``start``. Without a ``letter``, ``term`` is the difference
    of neighbouring terms, or their ratio if ``quotient`` is set.
    """

    term: Node
    letter: str = ""
    start: int = 0
    quotient: bool = False


def _rule(terms: Terms, domain: Domain) -> Rule | None:
    r"""Return the rule of a gold, or None. The rule of ``1, \ldots, n`` is to add 1."""
    if len(terms.first) == 1 and len(terms.last) < 2:
        return Rule(ONE)
    letters = sorted(symbols(*terms.last[-1:]))
    rules = [Rule(terms.last[-1], letter, start) for letter in letters for start in (1, 0)]
    low, high = (terms.first if len(terms.first) > 1 else terms.last)[:2]
    rules += [Rule(Sum((high, Neg(low)))), Rule(Quotient(high, low), quotient=True)]
    return next((rule for rule in rules if _follows(terms, rule, domain)), None)


def _follows(terms: Terms, rule: Rule, domain: Domain) -> bool:
    if rule.letter:
        numbers = [Num(Fraction(rule.start + at)) for at in range(len(terms.first))]
        if len(numbers) == 1:
            numbers += [Num(numbers[0].value + 1)]
        values = [renamed(rule.term, {rule.letter: number}) for number in numbers]
        before = Sum((Sym(rule.letter), Num(Fraction(1 - len(terms.last)))))
        for value in terms.last[:-1]:
            if not _equal(renamed(rule.term, {rule.letter: before}), value, domain):
                return False
            before = Sum((before, Num(Fraction(1))))
        if len(terms.first) == 1 and not _equal(Sum((values[1], Neg(values[0]))), ONE, domain):
            return False
        return all(_equal(*pair, domain) for pair in zip(values, terms.first, strict=False))
    runs = [*pairwise(terms.first), *pairwise(terms.last)]
    if not runs and not (_equal(rule.term, ONE, domain) and not rule.quotient):
        return False
    steps = [Quotient(b, a) if rule.quotient else Sum((b, Neg(a))) for a, b in runs]
    if not all(_equal(rule.term, step, domain) for step in steps):
        return False
    if rule.quotient or not terms.last:
        return True
    count = Quotient(Sum((terms.last[-1], Neg(terms.first[0]))), rule.term)
    for base in (7, 10, 12):
        at = {name: Fraction(base + place) for place, name in enumerate(sorted(symbols(count)))}
        with suppress(Undefined, Unreadable):
            value = Evaluator(at).value(count)
            if isinstance(value, Fraction) and value.denominator != 1:
                return False
    return True


# ------------------------------------------------------------------------- sums, products, integrals

OPEN = re.compile(r"\\(sum|prod|int)(?![a-zA-Z])")
_FROM = re.compile(r"\s*([a-zA-Z])\s*=(.+)", re.DOTALL)
_OVER = re.compile(r"(.*?)\s*(?:d|\\(?:mathrm|text)\{d\})\s*([a-zA-Z])\s*", re.DOTALL)
_AT = tuple(map(Fraction, ("0.31", "-0.17", "0.23")))
_CLOSE = Fraction(1, 10**12)
_DIGITS_ADDED = 20
MAX_TERMS = 300
"""Maximum number of terms of a finite sum or product."""


@dataclass(frozen=True, slots=True)
class Open:
    """A sum, product or integral of ``body`` from ``low`` to ``high``, multiplied by ``times``.

    ``how``: "sum", "prod" or "int".
    """

    times: Node
    how: str
    index: str
    low: Node | None
    high: Node | None
    body: Node


def same_open(gold: str, answer: str) -> bool:
    """Return whether an answer can be shown to equal a sum, product or integral."""
    try:
        left = _opened(split_top(gold, "=")[-1])
        last = split_top(answer, "=")[-1]
        if OPEN.search(last):
            return _same_terms(left, _opened(last))
        node = read(last)
        return isinstance(node, EXPRESSIONS) and _same_sum(left, node)
    except (Unreadable, Undefined, RecursionError, KeyError):
        return False


def _opened(text: str) -> Open:
    marks = list(OPEN.finditer(text))
    if len(marks) != 1:
        raise Unreadable("the answer is not a single sum, product or integral")
    how, rest = marks[0].group(1), text[marks[0].end() :].lstrip()
    scripts: dict[str, str] = {}
    while rest[:1] in ("_", "^"):
        sign, rest = rest[0], rest[1:].lstrip()
        script = _SCRIPT.match(rest)
        end = (
            closing_bracket(rest, 1) + 1 if rest.startswith("{") else script.end() if script else 0
        )
        scripts[sign] = rest[1 : end - 1] if rest.startswith("{") else rest[:end]
        rest = rest[end:].lstrip()
    ends = {sign: read(script) for sign, script in scripts.items() if how == "int" or sign == "^"}
    if scripts.get("_", "").lstrip().startswith("i"):  # not the imaginary unit
        letter = next((letter for letter in "jklmpqrstuvw" if letter not in text), "i")
        scripts["_"], rest = (_I.sub(letter, part) for part in (scripts["_"], rest))
    match = (_OVER if how == "int" else _FROM).fullmatch(
        rest if how == "int" else scripts.get("_", "")
    )
    if match is None:
        raise Unreadable("a sum, product or integral has no index")
    index = match.group(2 if how == "int" else 1)
    body = read(match.group(1) if how == "int" else rest)
    low = ends.get("_") if how == "int" else read(match.group(2))
    before = text[: marks[0].start()].strip()
    times = read(before) if before not in ("", "-") else Num(Fraction(1 if not before else -1))
    parts = [part for part in (times, body, low, ends.get("^")) if part is not None]
    if not all(isinstance(part, EXPRESSIONS) for part in parts):
        raise Unreadable("a part of a sum, product or integral is not an expression")
    return Open(times, how, index, low, ends.get("^"), body)


_I = re.compile(r"(?<![\\a-zA-Z])i(?![a-zA-Z])")
_SCRIPT = re.compile(r"\\[a-zA-Z]+|\w")


def _same_terms(gold: Open, answer: Open) -> bool:
    sides = (gold.low, gold.high), (answer.low, answer.high)
    if gold.how != answer.how or any(
        (a is None) != (b is None) for a, b in zip(*sides, strict=True)
    ):
        return False
    shift: Node = Num(Fraction(0))
    domain = Domain()
    if gold.how != "int" and gold.low is not None and answer.low is not None:
        shift = Sum((answer.low, Neg(gold.low)))
        domain = Domain(counts=frozenset((gold.index,)))
    table = {answer.index: Sum((Sym(gold.index), shift))}
    body = renamed(answer.body, table)
    for one, other in zip(*sides, strict=True):
        moved = other if other is None or infinite(other) else Sum((other, Neg(shift)))
        if one is not None and moved is not None and not _equal(one, moved, domain):
            return False
    if gold.how == "prod":
        return _equal(gold.times, answer.times, domain) and _equal(gold.body, body, domain)
    return _equal(Product((gold.times, gold.body)), Product((answer.times, body)), domain)


def _same_sum(gold: Open, answer: Node) -> bool:
    bounds = symbols(*(end for end in (gold.low, gold.high) if end is not None))
    names = sorted((symbols(gold.body, gold.times) | bounds) - {gold.index})
    if not symbols(answer) <= set(names):
        return False
    for turn in range(3 if names else 1):
        at = {name: _AT[(turn + place) % 3] for place, name in enumerate(names)}
        if gold.how != "int":
            at |= {name: Fraction(turn + 2) for name in bounds}
        evaluator = Evaluator(at, DIGITS)
        value = evaluator.float(evaluator.value(answer))
        exact = _total(gold, at)
        if abs(value - exact) > max(abs(exact), abs(value)) * _CLOSE:
            return False
    return True


def _total(gold: Open, at: dict[str, Any]) -> Any:
    context = numbers(_DIGITS_ADDED)

    def term(place: Any) -> Any:
        evaluator = Evaluator({**at, gold.index: place}, _DIGITS_ADDED)
        try:
            return evaluator.float(evaluator.value(gold.body))
        except TooLarge:  # far out, a body that is nearly zero closer by counts as zero
            if gold.how != "int" or abs(place) < 1 or abs(term(place / 1000)) > context.eps:
                raise
            return context.zero

    def end(node: Node | None) -> Any:
        if node is None:
            raise Undefined("a bound is missing")
        return (
            infinite(node) * context.inf
            if infinite(node)
            else Evaluator(at, _DIGITS_ADDED).value(node)
        )

    low, high = end(gold.low), end(gold.high)
    if gold.how == "int":
        total = context.quad(
            term,
            [Evaluator({}, _DIGITS_ADDED).float(low), Evaluator({}, _DIGITS_ADDED).float(high)],
        )
    elif high == context.inf and gold.how == "sum":
        total = context.nsum(lambda place: term(Fraction(int(place))), [int(low), context.inf])
    else:
        if high == context.inf or not low <= high <= low + MAX_TERMS:
            raise Undefined("too many terms")
        terms = [term(Fraction(place)) for place in range(int(low), int(high) + 1)]
        total = context.fsum(terms) if gold.how == "sum" else context.fprod(terms)
    times = Evaluator(at, _DIGITS_ADDED)
    return times.float(times.value(gold.times)) * total


def _equal(left: Node, right: Node, domain: Domain) -> bool:
    return same_value(left, right, domain) is True
