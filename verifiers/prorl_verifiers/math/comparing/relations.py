r"""Names in answers: ``x = 5``, ``f(x) = 2x``, ``x = 1, y = 2``, ``(x, y) = (1, 2)``, ``\sqrt2 \approx 1.414``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    Applied,
    Bracketed,
    Degrees,
    Listing,
    Neg,
    Node,
    Num,
    Relation,
    SetOf,
    Sym,
    WithUnit,
    Words,
    symbols,
)
from prorl_verifiers.math.reading.tokens import Unreadable


def is_name(node: Node) -> bool:
    """Whether a left side only names the answer: a symbol, ``f(x)``, ``(x, y)``, words."""
    if isinstance(node, WithUnit):
        return is_name(node.of)
    if isinstance(node, Bracketed):
        return all(isinstance(item, Sym) for item in node.items)
    return isinstance(node, Sym | Words) or (
        isinstance(node, Applied) and all(isinstance(item, Sym | Num) for item in node.args)
    )


def assigned(node: Node) -> tuple[Node, Node] | None:
    """Return (name, value) of ``name = value`` when the name does not occur in the value."""
    if not isinstance(node, Relation) or node.ops != ("=",):
        return None
    name, value = node.sides
    if not is_name(name):
        return None
    own = symbols(name) if not isinstance(name, Applied) else frozenset()
    return None if own & symbols(value) else (name, value)


def same_name(gold: Node, name: Node, answer: Relation) -> Relation | None:
    """Return the answer's relation when its first side names what the gold names, else None.

    ``f(n) = 2n`` is renamed for the gold ``f(x)``; ``y`` may stand for ``f(x)`` and the other way round.
    """
    if gold == name:
        return answer
    if isinstance(gold, Applied) and isinstance(name, Applied) and gold.name == name.name:
        pairs = list(zip(gold.args, name.args, strict=False))
        plain = all(isinstance(g, Sym) and isinstance(a, Sym) for g, a in pairs)
        if len(gold.args) == len(name.args) and plain:
            table = {a.name: g for g, a in pairs if isinstance(a, Sym)}
            return replace(answer, sides=tuple(_renamed(side, table) for side in answer.sides))
        return None
    loose = (Applied, Sym)
    if isinstance(gold, loose) and isinstance(name, loose) and type(gold) is not type(name):
        symbol, applied = (gold, name) if isinstance(gold, Sym) else (name, gold)
        if symbol.name in ("y", "z", "w") or symbol.name == applied.name:
            return answer
    return None


def _renamed(node: Any, table: dict[str, Node]) -> Any:
    if isinstance(node, Sym):
        return table.get(node.name, node)
    if isinstance(node, tuple):
        return tuple(_renamed(item, table) for item in node)
    if not hasattr(node, "__dataclass_fields__") or isinstance(node, Num):
        return node
    changed = {field.name: _renamed(getattr(node, field.name), table) for field in fields(node)}
    return replace(node, **changed)


@dataclass(frozen=True, slots=True)
class Values:
    """Items with the names they carry. ``several``: every item has a name of its own (a system)."""

    names: tuple[Node, ...]
    items: tuple[Node, ...]

    @property
    def several(self) -> bool:
        return len(self.names) == len(self.items) == len(set(self.names)) > 1

    def by_name(self) -> Sequence[Node]:
        """Return the items in the order of their names."""
        order = sorted(range(len(self.items)), key=lambda index: str(self.names[index]))
        return [self.items[index] for index in order]


def values_of(node: Node) -> Values | None:
    """Return names and values of a list, an assignment or a plain value; None for other relations."""
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


def rounds_to(exact: Node, rounded: Node) -> bool:
    """Whether a decimal is a fair rounding of a constant: within one unit of its last digit, or 0.1 %."""
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
