"""Detects answers with several candidates, and sides of equations that only describe a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

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
from prorl_verifiers.notation.latex_text import doubtful, hedged, split_top

MAX_LIST = 40
"""Maximum number of list items for computer algebra."""
MAX_DEGREE, MAX_STRANGE = 30, 8
"""Limits for computer algebra: by how much the exponents of brackets exceed the gold's, and the number of new letters.
"""
_POWER = re.compile(r"[)\]}]\s*\^\s*\{?\s*([0-9]{1,9})")
_LETTER = re.compile(r"(?<![\\a-zA-Z])([a-zA-Z]+)")
_PART = re.compile(
    r"\\begin(?![a-zA-Z])|\\end(?![a-zA-Z])|\\[lr]angle(?![a-zA-Z])|\\.|[()\[\]{},;]", re.DOTALL
)
_OPENING = frozenset(("(", "[", "{", r"\{", r"\langle", r"\begin"))
_CLOSING = frozenset((")", "]", "}", r"\}", r"\rangle", r"\end"))
_APPLIED = re.compile(r"(?:[A-Za-z'}_^]|\\[A-Za-z]+\*?)\s*$")
_JOINS = re.compile(r"\\(?:cup|cap|setminus)(?![a-zA-Z])")
_LEAD = re.compile(r"\\text\s*\{[^{}]*\}|[\s.,:;$]+")
_ONCE = tuple(
    re.compile(rf"\\{name}(?![a-zA-Z])") for name in ("equiv", "pmod", "bmod", "approx", "to")
)
_SAID = re.compile(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}")
_LINKS = frozenset("the for and are where when with otherwise else all any integer number".split())  # noqa: SIM905
_CURL = re.compile(r"\\nabla\s*\\times")
_DOTS = re.compile(r"\\[lc]?dots(?![a-zA-Z])")


def several_candidates(gold: str, answer: str) -> str | None:
    """Return why ``answer`` is unfit for computer algebra, such as "a list of another length", or None."""
    if doubtful(answer) and not doubtful(gold):
        return "the answer expresses doubt"
    if len(answer) > 10 * len(gold) + 300:
        return "the answer is too long for the gold"
    items = len(split_top(answer, ",;"))
    if items > MAX_LIST and items != len(split_top(gold, ",;")):
        return "a list of another length"
    if sum(int(size) for size in _POWER.findall(answer)) > MAX_DEGREE + sum(
        int(size) for size in _POWER.findall(gold)
    ):
        return "a power that is too large to expand"
    if (
        len(set("".join(_LETTER.findall(answer))) - set("".join(_LETTER.findall(gold))))
        > MAX_STRANGE
    ):
        return "letters that the gold does not have"
    if _DOTS.search(answer) and not _DOTS.search(gold):
        return "a list that is not written out"
    said = _words(gold), _words(answer)
    if (all(said) and said[0] != said[1]) or bool(_CURL.search(gold)) != bool(_CURL.search(answer)):
        return "other words than the gold's"
    gold_groups, answer_groups = groups(gold), groups(answer)
    if answer_groups.top > 1 and answer_groups.all > gold_groups.all and not answer_groups.joined:
        return "several candidates in one answer"
    if any(len(sign.findall(answer)) > len(sign.findall(gold)) for sign in _ONCE):
        return "several candidates in one answer"
    left, right = "".join(gold.split()), "".join(answer.split())
    if len(left) > 3 and left in right and left != right:
        remainder = _LEAD.sub("", answer.replace(gold, "", 1) if gold in answer else "x")
        return "several candidates in one answer" if remainder else None
    return None


def _words(text: str) -> list[str]:
    words = re.findall(r"[a-z]{3,}", " ".join(_SAID.findall(text)).casefold())
    return [word for word in words if word not in _LINKS]


class Groups:
    """Counts of a text's tuples, sets and matrices: of ``all``, and of those not inside another (``top``).

    ``joined``: whether set operators such as a union join all of the latter.
    """

    def __init__(self) -> None:
        self.top = self.all = 0
        self.joined = True


def groups(text: str) -> Groups:
    counts = Groups()
    stack: list[list[bool]] = []  # [is a group, is applied to a name]
    end = 0
    for match in _PART.finditer(text):
        sign = match.group()
        if sign in _OPENING:
            plain = sign in ("(", "[", "{")
            applied = sign in ("(", "[") and bool(
                _APPLIED.search(text[max(0, match.start() - 24) : match.start()])
            )
            stack.append([not plain, applied])
            if len(stack) == 1 and counts.top:
                between = text[end : match.start()]
        elif sign in _CLOSING and stack:
            is_group, applied = stack.pop()
            if is_group and not applied:
                counts.all += 1
                if not stack:
                    if counts.top and not _JOINS.search(between):
                        counts.joined = False
                    counts.top += 1
                    end = match.end()
        elif sign in (",", ";") and stack:
            stack[-1][0] = True
    return counts


MAX_SIDES = 20
_SYMBOL = re.compile(
    r"(?<![\\A-Za-z])[A-Za-z]|\\(?:text|mathrm|mathbb|operatorname|angle|overline)(?![a-zA-Z])"
)
_SEVERAL = re.compile(r"[;\n?]|\\\\|\\q?quad(?![a-zA-Z])")
_DESCRIBING = frozenset(("abs", "sin", "cos", "tan", "cot", "sec", "csc"))


def without_described(answer: str) -> str | None:
    """Remove sides that cannot be parsed from a chain of equalities. Return None if there is nothing to remove."""
    if len(answer) > MAX_TEXT:
        return None
    sides = split_top(answer, "=")
    if not 2 <= len(sides) <= MAX_SIDES or not _readable(sides[-1]):
        return None
    remaining = []
    for side in sides[:-1]:
        several = _SEVERAL.search(side) or len(split_top(side, ",")) > 1 or groups(side).top > 1
        if several or hedged(side) or not _SYMBOL.search(side) or _readable(side):
            remaining.append(side)
    return None if len(remaining) == len(sides) - 1 else "=".join([*remaining, sides[-1]])


def _readable(side: str) -> bool:
    try:
        read(side)
    except TooLarge:
        return True
    except (Unreadable, RecursionError):
        return False
    return True


def describes(side: Node) -> bool:
    """Return whether a side names a number without giving its value, as ``a+b`` and ``|S|`` do, but not ``2x``."""
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
    """Return whether all sides of an equation are identical, as in ``5 = 5``."""
    return len(sides) > 1 and all(left == right for left, right in pairwise(sides))
