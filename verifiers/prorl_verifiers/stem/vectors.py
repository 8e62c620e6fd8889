r"""Vectors as science writes them: ``(3, -4) m/s``, ``3\hat{i} - 4\hat{j}\ \mathrm{N}``, columns, ``\langle 3, -4 \rangle``."""

from __future__ import annotations

import re

from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.comparing.relations import is_name
from prorl_verifiers.math.comparing.shapes import ordered
from prorl_verifiers.math.comparing.vectors import components
from prorl_verifiers.math.evaluating.equal import decimal_places
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Bracketed,
    Matrix,
    Node,
    Num,
    Relation,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.tokens import Unreadable
from prorl_verifiers.notation.latex_text import clean
from prorl_verifiers.notation.quantities import Quantity
from prorl_verifiers.stem.numbers import is_unit, split_unit

MAX_VECTOR = 400
"""Characters; a longer text is no vector here."""
_BEHIND = re.compile(r"(.*[)\]}>])\s*([A-Za-zµΩ][A-Za-z0-9µΩ/^{}·* -]{0,30})")
_OUTER = re.compile(r"^\(\s*([^()]*\\(?:hat|mathbf|vec|bm|boldsymbol)[^()]*)\)$")


def read_vector(text: str, unit: str, loading: Loading) -> tuple[Quantity, ...] | None:
    """Return the numeric components with their unit of a vector, or None; two bare numbers in brackets need a unit or \\hat."""
    if len(text) > MAX_VECTOR:
        return None
    body, given = split_unit(" ".join(text.split()).strip("$ "), unit, loading)
    behind = _BEHIND.fullmatch(body)
    if behind and is_unit(behind.group(2), unit, loading):
        body, given = behind.groups()
    try:
        node = read(_OUTER.sub(r"\1", clean(body)))
    except (Unreadable, RecursionError):
        return None
    if isinstance(node, Relation) and node.ops == ("=",) and is_name(node.sides[0]):
        node = node.sides[1]
    parts = _parts(node)
    if parts is None:
        return None
    found = [_quantity(part, given or unit) for part in parts]
    return None if None in found else tuple(part for part in found if part is not None)


def _parts(node: Node) -> tuple[Node, ...] | None:
    if isinstance(node, Bracketed) and node.opening == "[" and len(node.items) == 2:
        return None  # an interval
    if isinstance(node, Bracketed | Matrix):
        return ordered(node)
    for size in (2, 3):
        found = components(node, size)
        if found is not None:
            return found
    return None


def _quantity(node: Node, unit: str) -> Quantity | None:
    if not isinstance(node, EXPRESSIONS) or symbols(node):
        return None
    try:
        evaluator = Evaluator({})
        value = evaluator.value(node)
    except (Undefined, Unreadable):
        return None
    if not hasattr(value, "numerator"):
        return None
    decimals = [part for part in walk(node) if isinstance(part, Num) and part.decimal]
    places = max((decimal_places(part) for part in decimals), default=0)
    return Quantity(value, False, unit, -places, not decimals)
