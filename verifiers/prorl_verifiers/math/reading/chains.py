r"""Chains of equations around an answer: ``P(A \cap B) = \frac{3}{6} = \frac12``.

A side that names or describes what was asked for (letters that our grader cannot evaluate) says nothing about the
value and is left out; every other side must be the gold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from prorl_verifiers.math.reading.candidates import groups
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Applied,
    Call,
    Node,
    Num,
    Product,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.tokens import MAX_TEXT, TooLarge, Unreadable
from prorl_verifiers.notation.hedges import hedged
from prorl_verifiers.notation.latex_text import split_top

MAX_SIDES = 20
_LETTER = re.compile(
    r"(?<![\\A-Za-z])[A-Za-z]|\\(?:text|mathrm|mathbb|operatorname|angle|overline)(?![a-zA-Z])"
)
_SEVERAL = re.compile(r"[;\n?]|\\\\|\\q?quad(?![a-zA-Z])")
_DESCRIBING = frozenset(("abs", "sin", "cos", "tan", "cot", "sec", "csc"))


def without_described(answer: str) -> str | None:
    """Return a chain without the sides that cannot be read but hold letters; None when nothing is left out.

    The last side must be readable, a side with several items or a hedge is never left out.
    """
    if len(answer) > MAX_TEXT:
        return None
    sides = split_top(answer, "=")
    if not 2 <= len(sides) <= MAX_SIDES or not _readable(sides[-1]):
        return None
    kept = [side for side in sides[:-1] if not _is_description(side)]
    return None if len(kept) == len(sides) - 1 else "=".join([*kept, sides[-1]])


def _is_description(side: str) -> bool:
    if not _LETTER.search(side) or _SEVERAL.search(side) or hedged(side):
        return False
    return not _readable(side) and len(split_top(side, ",")) == 1 and groups(side).top < 2


def _readable(side: str) -> bool:
    try:
        read(side)
    except TooLarge:
        return True
    except (Unreadable, RecursionError):
        return False
    return True


def describes(side: Node) -> bool:
    """Whether a side of a chain only describes a number: ``AB``, ``a+b``, ``f(g(2))``, ``|S|``, ``\\sin\\theta``.

    An expression in one unknown (``2x``) does not: ``2x = 10`` is an equation, not the answer 10; nor do two numbers
    between letters, which are other answers: ``(a) 3 (b) 4``.
    """
    if not isinstance(side, EXPRESSIONS):
        return False
    beside = side.factors if isinstance(side, Product) and not side.signed else ()
    if sum(isinstance(factor, Num) for factor in beside) > 1:
        return False
    names = symbols(side)
    if any(isinstance(part, Applied) for part in walk(side)):
        return True
    called = isinstance(side, Call) and side.name in _DESCRIBING
    return len(names) > 1 or (called and len(names) == 1)


def says_nothing(sides: Sequence[Node]) -> bool:
    """Whether all sides are written alike: ``5 = 5``."""
    return len(sides) > 1 and all(left == right for left, right in pairwise(sides))
