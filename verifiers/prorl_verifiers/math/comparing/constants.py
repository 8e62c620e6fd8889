r"""Constants that stand for any number: ``x^2 + C`` for ``x^2 + K``, ``c_1 e^x + c_2`` for ``A e^x + B``."""

from __future__ import annotations

import re
from itertools import permutations
from typing import Any

from prorl_verifiers.math.comparing.relations import renamed
from prorl_verifiers.math.evaluating.equal import same_value
from prorl_verifiers.math.reading.nodes import Call, Neg, Node, Sum, Sym, symbols, walk

MAX_CONSTANTS = 4
_NUMBERED = re.compile(r"[cCkK]_[0-9]")
_FREE = re.compile(r"[A-DKa-dk](?:_[0-9])?")
_VARIABLES = frozenset(("x", "t", "u", "y", "s", "z", "v", "w", "r", "theta"))
"""What integrals are taken over; beside any other letter C is an unknown like others."""
_ADDED = frozenset(("C", "c", "K", "k", "const", "constant"))


def same_up_to_constants(gold: Node, answer: Node) -> bool:
    """Whether two expressions are the same family when their free constants may have any value and name."""
    added = _added(gold), _added(answer)
    if added[0] == "C" and added[1] and len(symbols(gold)) == 2 and _VARIABLES & symbols(gold):
        left, right = (
            _without(node, name) for node, name in zip((gold, answer), added, strict=True)
        )
        return _constant_apart(left, right)
    ours = {name for name in symbols(gold) if _NUMBERED.fullmatch(name)}
    variables = symbols(gold) - ours
    theirs = symbols(answer) - variables
    if not ours or not variables or not variables <= symbols(answer):
        return False
    if len(ours) != len(theirs) or len(ours) > MAX_CONSTANTS:
        return False
    if not all(_FREE.fullmatch(name) for name in theirs):
        return False
    for order in permutations(ours):
        table = {name: Sym(wanted) for name, wanted in zip(sorted(theirs), order, strict=True)}
        if same_value(gold, renamed(answer, table)):
            return True
    return False


def _added(node: Node) -> str:
    """Return the constant that is added at the top and stands nowhere else, or ""."""
    if not isinstance(node, Sum):
        return ""
    names = [term.name for term in node.terms if isinstance(term, Sym) and term.name in _ADDED]
    if len(names) != 1:
        return ""
    count = sum(isinstance(part, Sym) and part.name == names[0] for part in walk(node))
    return names[0] if count == 1 else ""


def _without(node: Any, name: str) -> Node:
    terms = tuple(term for term in node.terms if term != Sym(name))
    return terms[0] if len(terms) == 1 else Sum(terms)


def _constant_apart(left: Node, right: Node) -> bool:
    """Whether two expressions differ by a number: their difference is the same at shifted points."""
    names = sorted(symbols(left, right))
    absolute = [
        any(isinstance(part, Call) and part.name == "abs" for part in walk(node))
        for node in (left, right)
    ]
    if not names or absolute[0] != absolute[1]:
        return False
    moved = {name: Sum((Sym(name), Sym(name + "'"))) for name in names}
    one = Sum((left, Neg(right)))
    return bool(same_value(one, renamed(one, moved)))
