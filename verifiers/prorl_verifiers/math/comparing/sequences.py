r"""Compares sequences with an ellipsis, such as ``1, 3, \ldots, 2n-1``."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from prorl_verifiers.math.comparing.relations import renamed
from prorl_verifiers.math.evaluating.domain import Domain, domain_of
from prorl_verifiers.math.evaluating.equal import same_value
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Listing,
    Neg,
    Node,
    Num,
    Quotient,
    Sum,
    Sym,
    symbols,
)
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.tokens import Unreadable
from prorl_verifiers.notation.latex_text import split_top

ELLIPSIS = re.compile(r"\\[lcvd]?dots[cbmio]?(?![a-zA-Z])")
_DIGITS = re.compile(r"\.\d+\s*\\[lc]?dots(?![a-zA-Z])")
_NAME = re.compile(r"\s*[A-Za-z](?:_\{?\w\}?)?\s*(?:=|\\in(?![a-zA-Z]))")
ONE = Num(Fraction(1))
_BRACKETS = {"(": ")", "[": "]", r"\{": r"\}"}


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms before and after an ellipsis. An endless sequence has no ``last`` terms."""

    first: tuple[Node, ...]
    last: tuple[Node, ...]
    joint: str
    bracket: str


def has_ellipsis(text: str) -> bool:
    r"""Return whether a text leaves out terms. ``0.333\ldots`` leaves out only digits."""
    return ELLIPSIS.search(_DIGITS.sub("", text)) is not None


def same_sequence(gold: str, answer: str) -> bool | None:
    """Return whether two sequences have the same first terms, rule and last term, or None if that is unknown."""
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
    """The rule of a sequence, which is its general term or the step between neighbouring terms.

    With a ``letter``, ``term`` is the general term, counted from ``start``. Without one, it is the difference of
    neighbouring terms, or their ratio if ``quotient`` is set.
    """

    term: Node
    letter: str = ""
    start: int = 0
    quotient: bool = False


def _rule(terms: Terms, domain: Domain) -> Rule | None:
    """Return the rule that a gold follows, or None. After a single first term, terms increase by one."""
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


def _equal(left: Node, right: Node, domain: Domain) -> bool:
    return same_value(left, right, domain) is True
