r"""Chains of equations around a number: ``F = ma = (2)(3) = 6\,\mathrm{N}``.

The scorer compares the sides that are numbers with the gold; here the other ones are looked at: a side with letters
says nothing, one without must come out near the last side, one that holds several answers spoils the chain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import EXPRESSIONS, symbols
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.tokens import Unreadable
from prorl_verifiers.notation.latex_text import clean
from prorl_verifiers.stem.numbers import Measure
from prorl_verifiers.stem.parts import labelled

MAX_FORMULAS = 4
"""Sides with letters, names apart, that a chain may hold."""
_NAME = re.compile(
    r"\s*(?:\\?[A-Za-zΔµ][A-Za-z]{0,12}|\\(?:text|mathrm|vec|overline|bar|hat)\s*\{[^{}]{1,40}\}|[A-Za-z][A-Za-z ]{0,40})"
    r"\s*(?:_(?:\{[^{}]{1,20}\}|\\?[A-Za-z0-9]+))?'?\s*(?:\([^()]{1,20}\))?\s*"
)
_NUMBERED = re.compile(r"(?<![\\A-Za-z_^{])[A-Za-z]{1,3}\s?\d|(?<=[A-Za-z])\s\d")
"""A number behind a letter, which is no subscript: ``x5``."""
_MULTIPLE = re.compile(r"\s*\d[\d.]*\s*\\?[A-Za-z]\s*")
NEAR = Fraction(2, 100)
"""How far rounding on the way may move a side that is only worked out, relatively."""
_LETTER = re.compile(
    r"(?<![\\A-Za-z])[A-Za-zµΔΩ]|\\(?!times|cdot|frac|dfrac|tfrac|left|right|pm|,|;|!|:| )[A-Za-z]+"
)
_SEVERAL = re.compile(r"[;\n]|\\\\|\\q?quad(?![A-Za-z])|\$\s*[,;]?\s*\$|\\\)\s*[,;]?\s*\\\(|,\s")


def is_name(side: str) -> bool:
    """Whether a side only names a quantity: ``v_f``, ``\\text{speed}``, ``P(A)``; digits are subscripts only."""
    return _NAME.fullmatch(side) is not None


def chain_holds(sides: Sequence[str], read_sides: Sequence[Measure | None]) -> bool:
    """Whether the sides before the last that are no numbers may stand there."""
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
        if _LETTER.search(text) and not is_name(text):
            multiples += 1
            if (
                _NUMBERED.search(text)
                or (at == 0 and _MULTIPLE.fullmatch(text))
                or multiples > MAX_FORMULAS
            ):
                return False
        if not _LETTER.search(text) and (last is None or not _near(text, last.quantity.value)):
            return False
    return True


def _near(text: str, wanted: Fraction) -> bool:
    """Whether arithmetic comes out near a number (with its unit left out)."""
    try:
        node = read(clean(text))
        if not isinstance(node, EXPRESSIONS) or symbols(node):
            return False
        value = Evaluator({}).float(Evaluator({}).value(node))
    except (Undefined, Unreadable, RecursionError):
        return False
    return bool(
        abs(value - Evaluator({}).float(wanted)) <= abs(Evaluator({}).float(wanted)) * float(NEAR)
    )
