r"""Write out ``\pm``: ``1 \pm \sqrt{2}`` becomes two items, ``(\pm 1, \pm 2)`` four tuples.

Signs are independent of each other, unless a ``\mp`` ties them.
"""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product
from typing import Any

from prorl_verifiers.math.reading.nodes import Listing, Neg, Node, PlusMinus, SetOf, walk
from prorl_verifiers.math.reading.tokens import TooLarge

MAX_SIGNS = 4


def spread(node: Node) -> Node:
    r"""Return ``node`` without ``\pm``; several readings become a Listing (inside a set: items)."""
    if not any(isinstance(part, PlusMinus) for part in walk(node)):
        return node
    if isinstance(node, SetOf):
        return SetOf(tuple(part for item in node.items for part in readings(item)))
    if isinstance(node, Listing):
        return Listing(tuple(part for item in node.items for part in readings(item)), node.joint)
    return Listing(tuple(readings(node)))


def readings(node: Node) -> list[Node]:
    """Return every reading of the signs in ``node``. Raises TooLarge beyond MAX_SIGNS signs."""
    signs = [part for part in walk(node) if isinstance(part, PlusMinus)]
    if len(signs) > MAX_SIGNS:
        raise TooLarge("too many signs to write out")
    if any(part.opposite for part in signs):
        return [_chosen(node, iter([upper] * len(signs))) for upper in (True, False)]
    choices = product((True, False), repeat=len(signs))
    return [_chosen(node, iter(choice)) for choice in choices]


def _chosen(node: Node, upper: Any) -> Node:
    if isinstance(node, PlusMinus):
        positive = next(upper) != node.opposite
        inner = _chosen(node.of, upper)
        return inner if positive else Neg(inner)
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple):
            changed[field.name] = tuple(_chosen_item(item, upper) for item in value)
        elif hasattr(value, "__dataclass_fields__"):
            changed[field.name] = _chosen(value, upper)
    return replace(node, **changed) if changed else node


def _chosen_item(item: Any, upper: Any) -> Any:
    if isinstance(item, tuple):
        return tuple(_chosen(inner, upper) for inner in item)
    return item if isinstance(item, str) else _chosen(item, upper)
