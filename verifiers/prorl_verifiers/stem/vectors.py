"""Read vectors with units, and answers that are chains of equalities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.comparing.relations import is_name
from prorl_verifiers.math.comparing.shapes import components, ordered
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
from prorl_verifiers.stem.numbers import Measure, is_unit, split_unit
from prorl_verifiers.stem.parts import labelled

MAX_VECTOR = 400
"""Maximum characters of a vector."""
_BEHIND = re.compile(r"(.*[)\]}>])\s*([A-Za-zµΩ][A-Za-z0-9µΩ/^{}·* -]{0,30})")
_OUTER = re.compile(r"^\(\s*([^()]*\\(?:hat|mathbf|vec|bm|boldsymbol)[^()]*)\)$")


def read_vector(text: str, unit: str, loading: Loading) -> tuple[Quantity, ...] | None:
    """Return the components of a numeric vector with their unit, or None; ``[1, 2]`` is an interval."""
    if len(text) > MAX_VECTOR:
        return None
    body, answer_unit = split_unit(" ".join(text.split()).strip("$ "), unit, loading)
    behind = _BEHIND.fullmatch(body)
    if behind and is_unit(behind.group(2), unit, loading):
        body, answer_unit = behind.groups()
    try:
        node = read(_OUTER.sub(r"\1", clean(body)))
    except (Unreadable, RecursionError):
        return None
    if isinstance(node, Relation) and node.ops == ("=",) and is_name(node.sides[0]):
        node = node.sides[1]
    parts = _parts(node)
    if parts is None:
        return None
    quantities = [_quantity(part, answer_unit or unit) for part in parts]
    return None if None in quantities else tuple(part for part in quantities if part is not None)


def _parts(node: Node) -> tuple[Node, ...] | None:
    if isinstance(node, Bracketed) and node.opening == "[" and len(node.items) == 2:
        return None  # an interval
    if isinstance(node, Bracketed | Matrix):
        return ordered(node)
    for size in (2, 3):
        parts = components(node, size)
        if parts is not None:
            return parts
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


MAX_FORMULAS = 4
"""Maximum sides of a chain with letters, excluding names."""
_NAME = re.compile(
    r"\s*(?:\\?[A-Za-zΔµ][A-Za-z]{0,12}|\\(?:text|mathrm|vec|overline|bar|hat)\s*\{[^{}]{1,40}\}|[A-Za-z][A-Za-z ]{0,40})"
    r"\s*(?:_(?:\{[^{}]{1,20}\}|\\?[A-Za-z0-9]+))?'?\s*(?:\([^()]{1,20}\))?\s*"
)
_NUMBERED = re.compile(r"(?<![\\A-Za-z_^{])[A-Za-z]{1,3}\s?\d|(?<=[A-Za-z])\s\d")
"""A number after a letter that is not a subscript: ``x5``."""
_MULTIPLE = re.compile(r"\s*\d[\d.]*\s*\\?[A-Za-z]\s*")
NEAR = Fraction(2, 100)
"""Relative rounding error allowed in an intermediate numeric side."""
_LETTER = re.compile(
    r"(?<![\\A-Za-z])[A-Za-zµΔΩ]|\\(?!times|cdot|frac|dfrac|tfrac|left|right|pm|,|;|!|:| )[A-Za-z]+"
)
_SEVERAL = re.compile(r"[;\n]|\\\\|\\q?quad(?![A-Za-z])|\$\s*[,;]?\s*\$|\\\)\s*[,;]?\s*\\\(|,\s")


def names_a_quantity(side: str) -> bool:
    r"""Return whether a side only names a quantity: ``v_f``, ``\\text{speed}``, ``P(A)``."""
    return _NAME.fullmatch(side) is not None


def chain_holds(sides: Sequence[str], read_sides: Sequence[Measure | None]) -> bool:
    """Return whether every non-numeric side before the last is acceptable."""
    last = read_sides[-1]
    multiples = 0
    names = {side.strip() for side in sides[:1] if _LETTER.search(side)}
    for at, (side, number) in enumerate(zip(sides[:-1], read_sides, strict=False)):
        text = side.strip()
        if number is not None or not text:
            continue
        if (_SEVERAL.search(text) and at) or labelled(text):
            return False
        if at and any(text != name and text.endswith(name) for name in names):
            return False
        if _LETTER.search(text) and not names_a_quantity(text):
            multiples += 1
            if (
                _NUMBERED.search(text)
                or (at == 0 and _MULTIPLE.fullmatch(text))
                or multiples > MAX_FORMULAS
            ):
                return False
        if not _LETTER.search(text) and (last is None or not _is_near(text, last.quantity.value)):
            return False
    return True


def _is_near(text: str, expected: Fraction) -> bool:
    try:
        node = read(clean(text))
        if not isinstance(node, EXPRESSIONS) or symbols(node):
            return False
        value = Evaluator({}).float(Evaluator({}).value(node))
    except (Undefined, Unreadable, RecursionError):
        return False
    return bool(
        abs(value - Evaluator({}).float(expected))
        <= abs(Evaluator({}).float(expected)) * float(NEAR)
    )
