"""Determines which values the variables of a gold may take, and chooses test points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b

from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Applied,
    Call,
    Const,
    NamedSet,
    Neg,
    Node,
    Num,
    Power,
    Relation,
    Root,
    Sym,
    children,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.tokens import Unreadable

_COUNTING = frozenset(("factorial", "binomial", "permutations", "gcd", "lcm"))
_COUNTERS, _COORDINATES = frozenset("ijklmnN"), frozenset("xyzr")
_INDEX = re.compile(r"_([ijkn])(?:[+-]\d+)?")
_CONSTANT = re.compile(r"[A-DKa-dkm]")
_ANALYTIC = frozenset(("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh"))
_SCALES = tuple(map(Fraction, ("1", "1", "1", "0.1", "1", "1", "30", "1", "1000")))
_LITERALS, _WHOLE = 5, 6
"""Maximum number of literals with test points near them, and number of test points with integer coordinates."""


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that the variables of a gold may take.

    ``integers``, ``counts``, ``positive``: variables that are integers, integers from 1, or positive. All others are
    real.
    ``curve``: whether the gold is an equation of a curve; answers must then be undefined where it is.
    ``free``: constants that may have other names in the answer.
    """

    integers: frozenset[str] = frozenset()
    counts: frozenset[str] = frozenset()
    positive: frozenset[str] = frozenset()
    curve: bool = False
    free: frozenset[str] = frozenset()


def domain_of(gold: Node) -> Domain:
    """Return the domain of a gold's variables.

    For example, ``(-1)^n`` makes ``n`` an integer, and ``n!`` an integer from 1.
    """
    if isinstance(gold, EXPRESSIONS) and not symbols(gold):
        return Domain()
    integers: set[str] = set()
    counts: set[str] = set()
    free: set[str] = set()
    curve = False
    for part in walk(gold):
        match part:
            case Call(name=name) if name in _COUNTING:
                counts |= symbols(part)
            case Call(name="floor" | "ceil"):
                integers |= _COUNTERS & symbols(part)
            case Power(base=Neg() | Num() as base, exponent=exponent) if not symbols(base):
                if isinstance(base, Neg) or base.value < 0:
                    integers |= symbols(exponent)
            case Sym(name=name) if match := _INDEX.search(name):
                counts.add(match.group(1))
            case Relation(sides=(Sym(name=name), NamedSet(name="Z")), ops=("in",)):
                integers.add(name)
            case Relation(sides=(Sym(name=name), NamedSet(name="N")), ops=("in",)):
                counts.add(name)
            case Relation(sides=(name, *values)):
                letters = frozenset("CK")
                if isinstance(name, Applied) and symbols(name):
                    letters = frozenset(filter(_CONSTANT.fullmatch, symbols(*values)))
                free |= letters & symbols(*values) - symbols(name)
                curve = curve or not isinstance(name, Sym) or name.name in _COORDINATES
    domain = Domain(
        frozenset(integers - counts),
        frozenset(counts),
        frozenset(),
        curve,
        frozenset(free - integers - counts),
    )
    unreal = any(part == Const("i") for part in walk(gold))
    if curve or unreal or not any(map(_may_jump, walk(gold))):
        return domain
    positive = frozenset(
        name
        for node in _expressions(gold)
        for name in symbols(node)
        if _is_positive(node, name, domain)
    )
    return replace(domain, positive=positive - domain.integers - domain.counts)


def _expressions(node: Node) -> Iterator[Node]:
    if isinstance(node, EXPRESSIONS):
        yield node
        return
    for child in children(node):
        yield from _expressions(child)


def _is_positive(node: Node, name: str, domain: Domain) -> bool:
    others = replace(domain, positive=symbols(node))
    defined = [False, False]
    for index in range(4):
        at = {other: _coordinate(others, other, index, index + 4) for other in symbols(node)}
        for negative in (False, True):
            point = {**at, name: -at[name]} if negative else at
            with suppress(Undefined, Unreadable):
                Evaluator(point, 30, real=True).value(node)
                defined[negative] = True
    return defined == [True, False]


@dataclass(frozen=True, slots=True)
class Point:
    """A test point. It is ``special`` if its coordinates are integers."""

    at: dict[str, Fraction]
    special: bool = False


def points(domain: Domain, gold: Node, answer: Node) -> Iterator[Point]:
    """Yield fixed test points of all signs and sizes, and further ones near possible jumps."""
    names = sorted(symbols(gold, answer))
    parts = [part for node in (gold, answer) for part in walk(node)]
    jumps = any(map(_may_jump, parts))
    whole = domain.integers | domain.counts
    for index in range(20 if jumps or whole else 8):
        yield Point({name: _coordinate(domain, name, index, index) for name in names})
    if not jumps or whole.issuperset(names):
        return
    literals = list(dict.fromkeys(abs(part.value) for part in parts if isinstance(part, Num)))
    for at, literal in enumerate(literals[:_LITERALS]):
        for turn, near in enumerate((literal + Fraction(29, 79), literal - Fraction(31, 83))):
            for name in names if len(names) > 1 else names * 2:
                sign = -1 if (at + turn + names.index(name)) % 2 and len(names) > 1 else 1
                point = {other: _coordinate(domain, other, at, turn) for other in names}
                value = abs(near) if name in domain.positive else sign * near
                yield Point(point if name in whole else {**point, name: value})
        if len(names) == 1 and names[0] not in domain.positive:
            yield Point({names[0]: -literal - Fraction(29, 79)})
            yield Point({names[0]: -literal + Fraction(31, 83)})
    for index in range(_WHOLE):
        place = {name: _coordinate(domain, name, index, index) for name in names}
        for name in set(names) - whole:
            place[name] = Fraction(_draw(name, index) % 11 + (1 if name in domain.positive else -4))
        yield Point(place, special=True)


def _may_jump(part: Node) -> bool:
    if isinstance(part, Power):
        exponent = part.exponent
        return (isinstance(exponent, Num) and exponent.value.denominator != 1) or bool(
            symbols(exponent) and symbols(part.base)
        )
    return isinstance(part, Root) or (isinstance(part, Call) and part.name not in _ANALYTIC)


@lru_cache(maxsize=4096)
def _draw(name: str, index: int) -> int:
    return int.from_bytes(blake2b(f"{index} {name}".encode(), digest_size=4).digest(), "big")


def _coordinate(domain: Domain, name: str, index: int, turn: int) -> Fraction:
    number = _draw(name, index)
    if name in domain.counts:
        return Fraction(number % 12 + 1)
    if name in domain.integers:
        return Fraction(number % 23 - 11)
    scale = _SCALES[turn % len(_SCALES)]
    value = (Fraction(number % 97 + 2, 100) + index % 4) * scale
    if name in domain.positive:
        return value
    negative = (False, True, bool(number >> 9 & 1), bool(number >> 10 & 1))[turn % 4]
    return -value if negative else value
