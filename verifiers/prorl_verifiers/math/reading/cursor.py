r"""A place in a list of tokens, with the look-ahead that the parsers of answers share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from prorl_verifiers.math.reading.nodes import EXPRESSIONS, Matrix, Node, Product
from prorl_verifiers.math.reading.tokens import GREEK, Token, Unreadable

_END = Token("op", "", False, -1, -1)


class Cursor:
    """The tokens and the place in them; every method that parses raises Unreadable."""

    def __init__(self, tokens: list[Token], source: str) -> None:
        self.tokens, self.source = tokens, source
        self.at, self.depth, self.bars = 0, 0, 0

    def peek(self, ahead: int = 0) -> Token:
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else _END

    def take(self, *texts: str) -> bool:
        """Step over the next token when it is one of ``texts``."""
        if self.peek().text in texts and self.peek().kind in ("op", "cmd"):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise Unreadable(f"{text} is missing")

    def subscript(self) -> str:
        """Step over ``_...`` and return it as text without braces and spaces, or ''."""
        if self.peek().text != "_":
            return ""
        self.at += 1
        start, depth = self.at, 0
        while True:
            depth += (self.peek().text == "{") - (self.peek().text == "}")
            if self.peek() is _END:
                raise Unreadable("an unclosed subscript")
            self.at += 1
            if depth <= 0:
                break
        parts = [token.text for token in self.tokens[start : self.at]]
        return "_" + "".join(part for part in parts if part not in ("{", "}"))

    def behind_argument(self) -> int:
        """Return the place behind the group or token that follows the sign at the present place."""
        at, depth = self.at + 1, 0
        while at < len(self.tokens):
            depth += (self.tokens[at].text == "{") - (self.tokens[at].text == "}")
            at += 1
            if depth <= 0:
                break
        return at

    def commas_in_bracket(self) -> int:
        """Return how many commas stand directly in the round bracket that opens here."""
        depth = commas = 0
        for token in self.tokens[self.at :]:
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            commas += token.text == "," and depth == 1
            if depth == 0:
                break
        return commas

    def is_plain_symbol(self, at: int) -> bool:
        token = self.tokens[at]
        return (token.kind == "word" and len(token.text) == 1) or token.text[1:] in GREEK

    def environment_name(self) -> str:
        self.expect("{")
        parts = []
        while not self.take("}"):
            parts.append(self.peek().text)
            self.at += 1
            if self.at > len(self.tokens):
                raise Unreadable("an unclosed environment")
        return "".join(parts)


def ratio(top: Fraction | None, bottom: Fraction | None) -> Fraction:
    """Return top / bottom. Raises Unreadable for a zero or missing part."""
    if top is None or not bottom:
        raise Unreadable("a fraction over zero")
    return top / bottom


def only_expressions(nodes: Sequence[Node], matrices: bool = False) -> None:
    """Raise Unreadable for a list, set or relation where a value belongs."""
    for node in nodes:
        if not isinstance(node, EXPRESSIONS) and not (matrices and isinstance(node, Matrix)):
            raise Unreadable("a list or set where a value belongs")


def product(factors: list[Node], signed: bool) -> Node:
    """Return the product of factors; a scalar goes into every entry of a matrix."""
    if len(factors) == 1:
        return factors[0]
    scalars = [factor for factor in factors if not isinstance(factor, Matrix)]
    only_expressions(scalars)
    scalar: Node = scalars[0] if len(scalars) == 1 else Product(tuple(scalars), signed)
    if len(scalars) == len(factors):
        return scalar
    if not scalars:
        raise Unreadable("a product of matrices")
    matrices = [factor for factor in factors if isinstance(factor, Matrix)]
    if len(matrices) > 1:
        raise Unreadable("a product of matrices")
    rows = tuple(tuple(product([scalar, item], False) for item in row) for row in matrices[0].rows)
    return Matrix(rows)
