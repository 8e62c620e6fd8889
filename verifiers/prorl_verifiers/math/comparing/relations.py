"""Handles names (``x = 5``, ``(x, y) = (1, 2)``) and free constants (``x^2 + C``) in answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import islice, permutations
from typing import Any

from prorl_verifiers.math.evaluating.domain import Domain, points
from prorl_verifiers.math.evaluating.equal import same_value
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Applied,
    Bracketed,
    Call,
    Degrees,
    Listing,
    Neg,
    Node,
    Num,
    Quotient,
    Relation,
    SetOf,
    Sum,
    Sym,
    WithUnit,
    Words,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.tokens import Unreadable

ANGULAR = frozenset(("sin", "cos", "tan", "cot", "sec", "csc"))


def is_name(node: Node) -> bool:
    """Return whether a side of an equation is only a name, such as ``x``, ``f(x)``, ``(x, y)`` or words."""
    if isinstance(node, WithUnit):
        return is_name(node.of)
    if isinstance(node, Bracketed):
        return all(isinstance(item, Sym) for item in node.items)
    return isinstance(node, Sym | Words) or (
        isinstance(node, Applied) and all(isinstance(item, Sym | Num) for item in node.args)
    )


def assigned(node: Node) -> tuple[Node, Node] | None:
    """Return the name and the value of ``name = value``, or None. The value must not contain the name."""
    if not isinstance(node, Relation) or node.ops != ("=",):
        return None
    name, value = node.sides
    if not is_name(name):
        return None
    name_symbols = symbols(name) if not isinstance(name, Applied) else frozenset()
    return None if name_symbols & symbols(value) else (name, value)


def same_name(gold: Node, name: Node, answer: Relation) -> Relation | None:
    """Return ``answer`` with the gold's variables if both have the same name, else None.

    For a gold ``f(x)``, the answer ``f(n) = 2n`` becomes ``f(x) = 2x``.
    """
    if gold == name:
        return answer
    if isinstance(gold, Applied) and isinstance(name, Applied) and gold.name == name.name:
        pairs = list(zip(gold.args, name.args, strict=False))
        plain = all(isinstance(g, Sym) and isinstance(a, Sym) for g, a in pairs)
        if len(gold.args) == len(name.args) and plain:
            table = {a.name: g for g, a in pairs if isinstance(a, Sym)}
            return replace(answer, sides=tuple(renamed(side, table) for side in answer.sides))
        return None
    loose = (Applied, Sym)
    if isinstance(gold, loose) and isinstance(name, loose) and type(gold) is not type(name):
        symbol, applied = (gold, name) if isinstance(gold, Sym) else (name, gold)
        if symbol.name in ("y", "z", "w") or symbol.name == applied.name:
            return answer
    return None


_INDEXED = re.compile(r"([A-Za-z]+)_([jklmnpr])([+-]\d{1,3})?")


def reindexed(gold: Relation, answer: Relation) -> Relation:
    """Rewrite a sequence's rule with the gold's index.

    For a gold ``a_n``, the answer ``a_{k+1} = 2k`` becomes ``a_n = 2(n-1)``.
    """
    terms = [
        [term for name in symbols(node) if (term := _INDEXED.fullmatch(name))]
        for node in (gold, answer)
    ]
    letters = [{term.group(2) for term in found} for found in terms]
    if not all(len(found) == 1 for found in letters):
        return answer
    (index,), (other,) = letters
    last = [max(int(term.group(3) or 0) for term in found) for found in terms]
    shift = last[0] - last[1]
    if (index != other and index in symbols(answer)) or (index == other and not shift):
        return answer
    table: dict[str, Any] = {
        other: Sum((Sym(index), Num(Fraction(shift)))) if shift else Sym(index)
    }
    for term in terms[1]:
        place = int(term.group(3) or 0) + shift
        table[term.group()] = Sym(f"{term.group(1)}_{index}" + (f"{place:+d}" if place else ""))
    return replace(answer, sides=tuple(renamed(side, table) for side in answer.sides))


def same_letter(gold: Node, name: Node) -> bool:
    """Return whether two names such as ``x_1`` and ``x`` are equal without subscripts and arguments."""
    if isinstance(gold, Sym) and isinstance(name, Sym):
        return gold.name.partition("_")[0] == name.name.partition("_")[0]
    return same_name(gold, name, Relation((name, name), ("=",))) is not None


def renamed(node: Any, table: dict[str, Any]) -> Any:
    if isinstance(node, Sym):
        return table.get(node.name, node)
    if isinstance(node, tuple):
        return tuple(renamed(item, table) for item in node)
    if not hasattr(node, "__dataclass_fields__") or isinstance(node, Num):
        return node
    changed = {field.name: renamed(getattr(node, field.name), table) for field in fields(node)}
    return replace(node, **changed)


def describes_value(node: Node) -> tuple[Node, Node] | None:
    r"""Return both sides of an equation that names a value (``AB = 4``, ``\sin A = 3/5``), else None (``2x + z = 1``)."""
    if not isinstance(node, Relation) or node.ops != ("=",):
        return None
    name, value = node.sides
    if symbols(value) or not isinstance(value, EXPRESSIONS) or not isinstance(name, EXPRESSIONS):
        return None
    names = symbols(name)
    if not names or isinstance(name, Sum) or any(isinstance(part, Sum) for part in walk(name)):
        return None
    capital = all(letter[0].isupper() for letter in names)
    sides = (name.top, name.bottom) if isinstance(name, Quotient) else getattr(name, "items", ())
    letters = len(sides) > 1 and all(isinstance(side, Sym) for side in sides)
    angle = isinstance(name, Call) and name.name in ANGULAR and len(names) == 1
    return (name, value) if capital or letters or angle else None


@dataclass(frozen=True, slots=True)
class Values:
    """Values and their names. ``several``: whether there are several values with different names."""

    names: tuple[Node, ...]
    items: tuple[Node, ...]

    @property
    def several(self) -> bool:
        return len(self.names) == len(self.items) == len(set(self.names)) > 1

    def by_name(self) -> Sequence[Node]:
        order = sorted(range(len(self.items)), key=lambda index: str(self.names[index]))
        return [self.items[index] for index in order]


def values_of(node: Node) -> Values | None:
    """Return the values and names in a list, an assignment or a single value, or None."""
    parts = node.items if isinstance(node, Listing | SetOf) else (node,)
    names: list[Node] = []
    items: list[Node] = []
    for part in parts:
        pair = assigned(part)
        if pair is not None:
            name, value = pair
            if len(parts) == 1 and isinstance(name, Bracketed) and isinstance(value, Bracketed):
                pairs = name.items, value.items
                return Values(*pairs) if len(pairs[0]) == len(pairs[1]) else None
            names.append(name)
            items.append(value)
        elif isinstance(part, Relation):
            return None
        else:
            items.append(part)
    if len(set(names)) > 1 and len(names) != len(items):
        return None
    return Values(tuple(names), tuple(items))


def named_apart(node: Node) -> list[Node] | None:
    """Return the values of a list if their names differ (``a = 2, b = 1``, but not ``x_1``, ``x_2``), else None."""
    if not isinstance(node, Listing | SetOf):
        return None
    names, values = set[Node | str](), list[Node]()
    for item in node.items:
        if isinstance(item, Relation) and item.ops[0] == "=":
            name = item.sides[0]
            names.add(name.name.partition("_")[0].rstrip("'") if isinstance(name, Sym) else name)
        values.append(item.sides[-1] if isinstance(item, Relation) else item)
    return values if len(names) > 1 else None


def named_rows(node: Node) -> list[Values] | None:
    """Split ``p=5, q=2; p=7, q=2`` into rows of named values. Return None for other lists."""
    if not isinstance(node, Listing):
        return None
    nested = all(isinstance(item, Listing) for item in node.items)
    groups = [item.items if isinstance(item, Listing) else (item,) for item in node.items]
    pairs = [assigned(part) or describes_value(part) for group in groups for part in group]
    named = [pair for pair in pairs if pair is not None]
    if len(named) != len(pairs):
        return None
    names = tuple(dict.fromkeys(name for name, _ in named))
    width = len(names)
    if width < 2 or len(named) % width or (nested and any(len(group) != width for group in groups)):
        return None
    rows = [named[at : at + width] for at in range(0, len(named), width)]
    if any({name for name, _ in row} != set(names) for row in rows):
        return None
    ordered = [sorted(row, key=lambda pair: names.index(pair[0])) for row in rows]
    return [Values(names, tuple(value for _, value in row)) for row in ordered]


def rounds_to(exact: Node, rounded: Node) -> bool:
    """Return whether ``rounded`` differs from ``exact`` by at most one unit of its last digit or 0.1 %."""
    core = rounded.of if isinstance(rounded, WithUnit | Degrees | Neg) else rounded
    literal = [core] if isinstance(core, Num) else []
    try:
        left, right = Evaluator({}).value(exact), Evaluator({}).value(rounded)
    except (Undefined, Unreadable, KeyError):
        return False
    unit = Fraction(1, 2) if literal else Fraction(0)
    if literal and literal[0].decimal:
        unit = Fraction(1)
        digits = literal[0].value.denominator
        while digits % unit.denominator:
            unit /= 10
        while (literal[0].value / unit).denominator != 1 and unit > Fraction(1, 10**30):
            unit /= 10
    evaluator = Evaluator({})
    gap = abs(evaluator.float(left) - evaluator.float(right))
    return bool(gap <= max(evaluator.float(unit), abs(evaluator.float(left)) / 1000))


MAX_CONSTANTS = 4
_NUMBERED = re.compile(r"[cCkK]_[0-9]")
_FREE = re.compile(r"[A-DKa-dkm](?:_[0-9])?")
_CONSTANTS = frozenset("ABCDK")
"""Letters that are free constants in a gold with a variable, such as ``Ce^{2x}``."""
_VARIABLES = frozenset(("x", "t", "u", "y", "s", "z", "v", "w", "r", "theta"))
"""Usual variables of integration. C counts as a constant of integration only beside one of them."""
_ADDED = frozenset(("C", "c", "K", "k", "const", "constant"))


def same_up_to_constants(gold: Node, answer: Node, domain: Domain) -> bool:
    """Return whether two expressions are equal up to the names and values of their free constants."""
    added = _added(gold), _added(answer)
    integral = all(added) and {"C", "K"} & set(added) and len(symbols(gold)) == 2
    if integral and _VARIABLES & symbols(gold):
        left, right = (
            _without(node, name) for node, name in zip((gold, answer), added, strict=True)
        )
        return _constant_apart(left, right, domain)
    names = symbols(gold), symbols(answer)
    ours = frozenset(filter(_NUMBERED.fullmatch, names[0]))
    if ours:
        theirs = names[1] - (names[0] - ours)
    else:  # letters keep their meaning unless only one side has them
        free = domain.free or (_CONSTANTS if _VARIABLES & names[0] else frozenset())
        ours, theirs = free & names[0] - names[1], names[1] - names[0]
    variables = names[0] - ours
    if not ours or not variables <= names[1] or not (variables or domain.free):
        return False
    if len(ours) != len(theirs) or len(ours) > MAX_CONSTANTS:
        return False
    if not all(_FREE.fullmatch(name) for name in theirs):
        return False
    for order in permutations(ours):
        table = {name: Sym(constant) for name, constant in zip(sorted(theirs), order, strict=True)}
        if same_value(gold, renamed(answer, table), domain):
            return True
    return False


def _added(node: Node) -> str:
    if not isinstance(node, Sum):
        return ""
    terms = [term.of if isinstance(term, Neg) else term for term in node.terms]
    names = [term.name for term in terms if isinstance(term, Sym) and term.name in _ADDED]
    if len(names) != 1:
        return ""
    count = sum(isinstance(part, Sym) and part.name == names[0] for part in walk(node))
    return names[0] if count == 1 else ""


def _without(node: Any, name: str) -> Node:
    terms = tuple(term for term in node.terms if term not in (Sym(name), Neg(Sym(name))))
    return terms[0] if len(terms) == 1 else Sum(terms)


def _constant_apart(left: Node, right: Node, domain: Domain) -> bool:
    for point in islice(points(domain, left, right), 4):
        table = {name: Num(value) for name, value in point.at.items()}
        shift = Sum((renamed(left, table), Neg(renamed(right, table))))
        if same_value(left, Sum((right, shift)), domain):
            return True
    return False
