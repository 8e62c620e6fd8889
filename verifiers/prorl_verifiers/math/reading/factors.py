"""Parses factors: numbers, letters, ``f(x)``, ``C_n^k``, and marks such as ``!`` or ``%`` after them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from prorl_verifiers.math.reading.nodes import (
    Applied,
    Bracketed,
    Call,
    Const,
    Degrees,
    Matrix,
    Node,
    Num,
    Percent,
    Power,
    Relation,
    Sym,
    WithUnit,
    Words,
)
from prorl_verifiers.math.reading.tokens import Cursor, Token, Unreadable, only_expressions

_BASES = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}


_CHOICES = {"C": "binomial", "P": "permutations", "A": "permutations"}
"""Letters of combinations and permutations."""


_MARKS = frozenset(("^", "!", "%", r"\degree", r"\textdegree"))
_TRANSPOSED = ("T", r"\top", r"\intercal")


def transposed(node: Bracketed | Matrix) -> Matrix:
    if isinstance(node, Matrix):
        return Matrix(tuple(zip(*node.rows, strict=True)))
    if (node.opening, node.closing) not in (("(", ")"), ("[", "]")):
        raise Unreadable("an interval cannot be transposed")
    return Matrix(tuple((item,) for item in node.items))


class FactorParser(Cursor):
    def power(self) -> Node:
        return self.marked(self.primary())

    def marked(self, node: Node) -> Node:
        if isinstance(node, Bracketed | Matrix) and self.transposes():
            node = transposed(node)
        while True:
            token = self.peek()
            if token.text not in _MARKS:
                return node
            only_expressions([node])
            if token.text == "^" and self.peek(1).text in (r"\circ", r"\degree"):
                self.at += 2
                node = self.degrees(node)
            elif token.text == "^":
                self.at += 1
                node = Power(node, self.argument())
            elif self.take("!"):
                if self.peek().text == "!":
                    raise Unreadable("a double factorial is not supported")
                node = Call("factorial", (node,))
            elif self.take("%"):
                node = Percent(node)
            elif self.take(r"\degree", r"\textdegree"):
                node = self.degrees(node)
            else:
                return node

    def degrees(self, of: Node) -> Node:
        """Return an angle, or a temperature if C or F follows."""
        scale = self.peek()
        if scale.text not in ("C", "F") or scale.kind not in ("text", "word"):
            return Degrees(of)
        self.at += 1
        return WithUnit(of, "deg" + scale.text)

    def transposes(self) -> bool:
        if self.peek().text != "^":
            return False
        braced = self.peek(1).text == "{"
        sign, behind = self.peek(1 + braced).text, self.peek(2 + braced).text
        if sign not in _TRANSPOSED or (braced and behind != "}"):
            return False
        self.at += 4 if braced else 2
        return True

    def argument(self) -> Node:
        token, inner = self.peek(), self.peek(1)
        if token.text == "{" and inner.kind == "num" and self.peek(2).text == "}":
            self.at += 3
            return Num(inner.value or Fraction(0), inner.decimal, cut=inner.cut)
        if token.text in ("+", "-"):
            return self.signed(self.argument)
        if token.kind == "word":
            return self.letter()
        return self.primary()

    def strict(self) -> Node:
        token = self.peek()
        if token.kind == "num" and token.value is not None and len(token.text) > 1:
            digits = token.text[1:]
            if not token.text.isdigit():
                raise Unreadable("an argument without braces must be a digit")
            start = token.start + 1
            self.tokens[self.at] = Token("num", digits, False, start, token.end, Fraction(digits))
            return Num(Fraction(token.text[0]))
        return self.argument()

    def primary(self) -> Node:
        token = self.peek()
        if token.text in ("_", "^"):
            return self.chosen_before()
        if token.kind == "num":
            return self.number()
        if token.kind == "word":
            return self.letter()
        if token.kind == "sym":
            self.at += 1
            return Sym(token.text + self.subscript())
        if token.kind == "text":
            self.at += 1
            if self.at == 1 and re.search(
                r"(?:\b(?:is|are|equals|exactly|only)|[:=])$", token.text
            ):
                return self.signed(self.power)
            if len(token.text) == 1 and token.text.isalpha():
                return Sym(token.text + self.subscript())
            return Words(token.text)
        if token.text == "|" or token.text == r"\lvert":
            return self.absolute()
        if token.kind == "cmd":
            return self.command(token.text)
        braced = [self.peek(n).text for n in (0, 2)] == ["{", "}"] and self.peek(3).text in (
            "_",
            "^",
        )
        if (
            braced
            and self.peek(1).kind in ("word", "cmd", "sym")
            and (self.is_plain_symbol(self.at + 1) or self.peek(1).kind == "sym")
        ):  # {g}_{k} is g_k
            del self.tokens[self.at + 2], self.tokens[self.at]
            return self.primary()
        if [self.peek(n).text for n in (0, 2, 3)] == ["(", ")", "_"] and self.peek(1).kind == "num":
            del self.tokens[self.at + 2], self.tokens[self.at]
            return self.number()
        return self.group()

    def chosen_before(self) -> Node:
        """Parse ``_nC_r``, ``^nP_r`` or ``^n_rC``."""
        self.at += 1
        top = self.argument()
        if self.peek().text not in _CHOICES or self.peek().kind != "word":
            raise Unreadable("a subscript or superscript has no base")
        name = _CHOICES[self.peek().text]
        self.at += 1
        if not self.take("_", "^"):
            raise Unreadable("an index after C or P is missing")
        return Call(name, (top, self.argument()))

    def chosen_between(self, top: Node) -> Node | None:
        """Parse the ``C3`` of ``10C3``, where ``top`` is 10. Return None if no such letter and number follow."""
        letter, below = self.peek(), self.peek(1)
        if letter.kind != "word" or letter.text not in _CHOICES or letter.spaced or below.spaced:
            return None
        if below.kind != "num" or self.peek(2).kind == "word":
            return None
        self.at += 2
        return Call(_CHOICES[letter.text], (top, Num(below.value or Fraction(0))))

    def number(self) -> Node:
        """Parse a number, which may have a base: ``101_2``."""
        token = self.peek()
        self.at += 1
        assert token.value is not None
        chosen = self.chosen_between(Num(token.value, token.decimal))
        if chosen is not None:
            return chosen
        if self.peek().text != "_":
            return Num(token.value, token.decimal, cut=token.cut)
        base_text = self.subscript().strip("_{} ")
        base = _BASES.get(base_text.casefold()) or (int(base_text) if base_text.isdigit() else 0)
        if not 2 <= base <= 36 or len(base_text) > 5:
            raise Unreadable("the subscript of a number must be a base from 2 to 36")
        whole, _, part = token.text.replace(" ", "").replace(",", "").partition(".")
        if any(digit not in "0123456789"[:base] for digit in whole + part):
            raise Unreadable("a digit is too large for its base")
        value = Fraction(int(whole + part, base), base ** len(part))
        return Num(value, base=base)

    def letter(self) -> Node:
        token = self.peek()
        name, letters = token.text[0], token.text[1:]
        if letters:
            self.tokens[self.at] = Token("word", letters, False, token.start + 1, token.end)
            return Const(name) if name in "ei" else Sym(name)
        self.at += 1
        if name in _CHOICES and self.peek().text in ("_", "(", "^"):
            chosen = self.combinations(name)
            if chosen is not None:
                return chosen
        subscript = self.subscript()
        while self.peek().text == "'" or (
            self.peek().text == "^" and self.peek(1).text == r"\prime"
        ):
            self.at += 1 if self.peek().text == "'" else 2
            subscript += "'"
        if self.peek().text == "(" and not self.peek().spaced:
            applied = self.applied(name + subscript)
            if applied is not None:
                return applied
        if name in "ei" and not subscript:
            return Const(name)
        return Sym(name + subscript)

    def combinations(self, letter: str) -> Node | None:
        """Parse ``C_n^k``, ``P_n^k`` or ``C(n, k)``. Return None for another use of the letter."""
        if self.peek().text == "(":
            if letter != "C" or self.commas_in_bracket() != 1:
                return None
            return Call(_CHOICES[letter], tuple(getattr(self.group(), "items", ())))
        other = "^" if self.peek().text == "_" else "_"
        if self.tokens[self.behind_argument() : self.behind_argument() + 1] == []:
            return None
        if self.tokens[self.behind_argument()].text != other:
            return None
        parts = {}
        for _ in range(2):
            sign = self.peek().text
            self.at += 1
            parts[sign] = self.script()
        down, up = parts["_"], parts["^"]
        if isinstance(down, Num) and isinstance(up, Num) and up.value > down.value:
            down, up = up, down
        return Call(_CHOICES[letter], (down, up))

    def script(self) -> Node:
        """Parse a number, letter or group as an index. The 2 of ``C^2_{10}`` is not a number in base 10."""
        token = self.peek()
        if token.kind == "num" and token.value is not None:
            self.at += 1
            return Num(token.value)
        if token.kind == "word" and len(token.text) == 1:
            self.at += 1
            return Const(token.text) if token.text in "ei" else Sym(token.text)
        if token.kind == "sym":
            self.at += 1
            return Sym(token.text)
        if token.text != "{":
            raise Unreadable("an index must be a number, a letter or a group in braces")
        return self.argument()

    def applied(self, name: str) -> Node | None:
        """Parse ``(x, y)`` as the arguments of the function ``name``, or return None if it is a factor."""
        at = self.at + 1
        while (
            at + 1 < len(self.tokens)
            and self.is_plain_symbol(at)
            and self.tokens[at + 1].text == ","
        ):
            at += 2
        plain = (
            at + 1 < len(self.tokens)
            and self.is_plain_symbol(at)
            and self.tokens[at + 1].text == ")"
        )
        if not plain and name[0] not in "fgFG":
            return self.point(name) if name[0].isupper() and self.commas_in_bracket() else None
        inner = self.group()
        items = inner.items if hasattr(inner, "items") else (inner,)
        only_expressions(list(items))
        return Applied(name, tuple(items))

    def point(self, name: str) -> Node:
        """Parse ``A(1, 2)`` as ``A = (1, 2)``."""
        return Relation((Sym(name), self.group()), ("=",))

    # ------------------------------------------------------------- implemented by subclasses

    def group(self) -> Node:
        raise NotImplementedError

    def command(self, name: str) -> Node:
        raise NotImplementedError

    def absolute(self) -> Node:
        raise NotImplementedError

    def signed(self, part: Callable[[], Node]) -> Node:
        raise NotImplementedError
