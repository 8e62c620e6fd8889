"""Parses a whole answer into a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product
from typing import Any

from prorl_verifiers.math.reading.expressions import CommandParser
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Bracketed,
    Call,
    Combined,
    Listing,
    NamedSet,
    Neg,
    Node,
    PlusMinus,
    Quotient,
    Ratio,
    Relation,
    SetOf,
    Sym,
    Where,
    Words,
    walk,
)
from prorl_verifiers.math.reading.tokens import TooLarge, Unreadable, only_expressions, tokenize

_RELATIONS = {
    "=": "=", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "!=": "!=", r"\le": "<=", r"\leq": "<=",
    r"\leqslant": "<=", r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=", r"\lt": "<", r"\gt": ">",
    r"\ne": "!=", r"\neq": "!=", r"\in": "in", r"\notin": "notin", r"\approx": "~", r"\equiv": "=", r"\simeq": "~",
    r"\sim": "~", r"\doteq": "~", r"\thickapprox": "~", r"\cong": "~",
}  # fmt: skip
_SETS = {
    r"\cup": "cup",
    r"\bigcup": "cup",
    r"\cap": "cap",
    r"\setminus": "minus",
    r"\backslash": "minus",
}
_CLOSING = {
    "(": (")", "]"),
    "[": ("]", ")"),
    r"\langle": (r"\rangle",),
    "{": ("}",),
    r"\{": (r"\}",),
}


def read(text: str, grouping: bool = True) -> Node:
    """Parse a cleaned answer. Raises Unreadable, or TooLarge if it exceeds the limits.

    If ``grouping`` is False, commas between digits separate items.
    """
    parser = AnswerParser(tokenize(text, grouping), text)
    parser.take("=", r"\approx", r"\sim", r"\simeq", r"\doteq")  # a chain without its first side
    node = parser.lines()
    if parser.at != len(parser.tokens):
        raise Unreadable("unexpected text after a formula")
    return node


class AnswerParser(CommandParser):
    def lines(self) -> Node:
        if ";" not in self.source and "\\\\" not in self.source:
            return self.infix(self.listing())
        rows = [self.listing(",")]
        while self.take("\\\\", ";"):
            if self.peek().text:
                rows.append(self.listing(","))
        if len(rows) == 1:
            return self.infix(rows[0])
        if not all(isinstance(row, Listing) for row in rows):
            flat = [
                item for row in rows for item in (row.items if isinstance(row, Listing) else (row,))
            ]
            return Listing(tuple(flat), ",")
        return Listing(tuple(rows), ",")

    def infix(self, top: Node) -> Node:
        r"""Parse plain TeX's ``\over`` or ``\choose`` if it follows ``top``, else return ``top``."""
        if not self.take(r"\over", r"\choose"):
            return top
        name = self.tokens[self.at - 1].text
        bottom = self.listing()
        only_expressions([top, bottom])
        return Quotient(top, bottom) if name == r"\over" else Call("binomial", (top, bottom))

    def listing(self, signs: str = ",;") -> Node:
        items, joint = [self.relation()], ","
        while True:
            token = self.peek()
            if token.kind == "op" and token.text in signs and token.text:
                self.at += 1
                if self.peek().kind == "joint":
                    joint = self.peek().text
                    self.at += 1
            elif token.kind == "joint" or token.text in (r"\lor", r"\vee", r"\land", r"\wedge"):
                before, joint = joint, "or" if token.text in ("or", r"\lor", r"\vee") else "and"
                if token.kind == "cmd" and before not in (",", joint):
                    raise Unreadable('"and" and "or" are mixed without brackets')
                self.at += 1
            else:
                break
            items.append(self.relation())
        return items[0] if len(items) == 1 else Listing(tuple(items), joint)

    def relation(self) -> Node:
        sides, ops = [self.sets()], []
        while self.peek().text in _RELATIONS and self.peek().kind in ("op", "cmd"):
            ops.append(_RELATIONS[self.peek().text])
            self.at += 1
            if self.peek().text == "=" and ops[-1] in "<>":
                self.at += 1
                ops[-1] += "="
            right = self.sets()
            if ops[-1] in ("in", "notin") and isinstance(right, Sym) and right.name in "RZNQC":
                right = NamedSet(right.name)
            sides.append(right)
        return _joined_conditions(sides, ops) if ops else sides[0]

    def sets(self) -> Node:
        node = self.sum()
        while self.peek().text in _SETS:
            how = _SETS[self.peek().text]
            self.at += 1
            right = self.sum()
            same = isinstance(node, Combined) and node.how == how != "minus"
            left = node.parts if same and isinstance(node, Combined) else (node,)
            node = Combined((*left, right), how)
        if self.peek().text == ":" and self.bars == 0:
            items = [node]
            while self.take(":"):
                items.append(self.sum())
            only_expressions(items)
            return Ratio(tuple(items))
        return node

    def group(self) -> Node:
        opening = self.peek().text
        if opening not in _CLOSING:
            raise Unreadable("a value is missing")
        self.at += 1
        bars, self.bars = self.bars, 0
        self.depth += 3
        node = self.inside(opening)
        self.depth -= 3
        self.bars = bars
        return node

    def inside(self, opening: str) -> Node:
        if opening == r"\{":
            return self.braces()
        inner = self.infix(self.listing())
        closing = self.peek().text
        if not self.take(*_CLOSING[opening]):
            raise Unreadable("a bracket is not closed")
        if opening == "{":
            return inner
        if isinstance(inner, Listing):
            if inner.joint != ",":
                raise Unreadable('"and" or "or" in brackets')
            return Bracketed(inner.items, opening, closing)
        if isinstance(inner, Relation | Words):
            raise Unreadable("an equation, inequality or text in brackets")
        return inner

    def braces(self) -> Node:
        if self.take(r"\}"):
            return SetOf(())
        self.bars = 1
        colon = next((t.text for t in self.tokens[self.at :] if t.text in (":", "|", r"\mid")), "")
        first = self.relation()
        if isinstance(first, Ratio) and len(first.items) == 2 and colon == ":":
            raise Unreadable("a ratio as an element of a set")
        if self.take("|", r"\mid", ":"):
            self.bars = 0
            condition = self.listing()
            self.expect(r"\}")
            return Where(first, condition)
        items = [first]
        while self.take(",", ";"):
            items.append(self.relation())
        self.expect(r"\}")
        return SetOf(tuple(items))

    def absolute(self) -> Node:
        if self.bars and self.peek().text == "|":
            raise Unreadable("a vertical bar is not closed")
        closing = "|" if self.peek().text == "|" else r"\rvert"
        self.at += 1
        bars, self.bars = self.bars, 1
        inner = self.sum()
        self.bars = bars
        self.expect(closing)
        if isinstance(inner, Bracketed):
            raise Unreadable("the length of a vector is not supported")
        only_expressions([inner])
        return Call("abs", (inner,))


def _joined_conditions(sides: list[Node], ops: list[str]) -> Node:
    r"""Return a relation, or two for ``-2 \le x \le -1 \cup 1 \le x \le 2``."""
    for at, side in enumerate(sides[1:-1], start=1):
        parts = side.parts if isinstance(side, Combined) and side.how == "cup" else ()
        if len(parts) == 2 and all(isinstance(part, EXPRESSIONS) for part in parts):
            left = Relation((*sides[:at], parts[0]), tuple(ops[:at]))
            right = _joined_conditions([parts[1], *sides[at + 1 :]], ops[at:])
            relations = right.items if isinstance(right, Listing) else (right,)
            return Listing((left, *relations), "or")
    return Relation(tuple(sides), tuple(ops))


MAX_SIGNS = 4


def expand_signs(node: Node) -> Node:
    r"""Replace each ``\pm`` by a list of both signs, or in a set by two items."""
    if not any(isinstance(part, PlusMinus) for part in walk(node)):
        return node
    if isinstance(node, SetOf):
        return SetOf(tuple(part for item in node.items for part in readings(item)))
    if isinstance(node, Listing):
        return Listing(tuple(part for item in node.items for part in readings(item)), node.joint)
    return Listing(tuple(readings(node)))


def readings(node: Node) -> list[Node]:
    """Return one copy of the tree per combination of its plus-minus signs.

    Raises TooLarge for more than MAX_SIGNS signs.
    """
    signs = [part for part in walk(node) if isinstance(part, PlusMinus)]
    if len(signs) > MAX_SIGNS:
        raise TooLarge(f"more than {MAX_SIGNS} plus-minus signs")
    if any(part.opposite for part in signs):
        return [_with_signs(node, iter([upper] * len(signs))) for upper in (True, False)]
    choices = product((True, False), repeat=len(signs))
    return [_with_signs(node, iter(choice)) for choice in choices]


def _with_signs(node: Any, upper: Iterator[bool]) -> Any:
    if isinstance(node, tuple):
        return tuple(_with_signs(item, upper) for item in node)
    if isinstance(node, PlusMinus):
        positive = next(upper) != node.opposite
        inner = _with_signs(node.of, upper)
        return inner if positive else Neg(inner)
    if not hasattr(node, "__dataclass_fields__"):
        return node
    changed = {}
    for field in fields(node):
        changed[field.name] = _with_signs(getattr(node, field.name), upper)
    return replace(node, **changed)
