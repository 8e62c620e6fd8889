r"""Parse LaTeX commands in the place of a factor: \frac, \sqrt, functions, named sets, matrices."""

from __future__ import annotations

import re
from fractions import Fraction

from prorl_verifiers.math.reading.cursor import only_expressions, product
from prorl_verifiers.math.reading.expressions import FRACTIONS, ExpressionParser
from prorl_verifiers.math.reading.nodes import (
    Bracketed,
    Call,
    Cases,
    Const,
    Listing,
    Matrix,
    NamedSet,
    Neg,
    Node,
    Num,
    Power,
    Product,
    Quotient,
    Relation,
    Root,
    SetOf,
    Sym,
    Words,
)
from prorl_verifiers.math.reading.tokens import FUNCTIONS, GREEK, Unreadable

SKIPPED = frozenset((r"\angle", r"\triangle", r"\mathrm", r"\text"))
_MATRICES = frozenset(
    [
        "pmatrix",
        "bmatrix",
        "matrix",
        "array",
        "Bmatrix",
        "smallmatrix",
        "bsmallmatrix",
        "psmallmatrix",
        "tabular",
    ]
)
_LINES = frozenset("aligned align gathered gather split eqnarray multline".split())  # noqa: SIM905
_OTHERWISE = re.compile(r"(?:otherwise|else|elsewhere)\W*", re.IGNORECASE)
_IF = frozenset(("if", "for", "when", "where", "while", "with", "as", "on"))
_ARC = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot"}


class CommandParser(ExpressionParser):
    """Parses what starts with a backslash; ``relation`` is filled in by the subclass."""

    def command(self, name: str) -> Node:
        self.at += 1
        plain = name[1:]
        if name in SKIPPED:
            return self.primary()
        if plain in GREEK:
            return Sym(plain + self.subscript())
        if plain in FUNCTIONS:
            return self.function(plain)
        if name in FRACTIONS:
            top, bottom = self.strict(), self.strict()
            only_expressions([top, bottom])
            return Quotient(top, bottom) if name == r"\frac" else Call("binomial", (top, bottom))
        if name == r"\sqrt":
            return self.root()
        if name in (r"\lfloor", r"\lceil"):
            inner = self.sum()
            self.expect(r"\rfloor" if name == r"\lfloor" else r"\rceil")
            only_expressions([inner])
            return Call(name[2:], (inner,))
        return self.symbol_or_shape(name)

    def symbol_or_shape(self, name: str) -> Node:
        if name == r"\pi":
            return Const("pi") if self.peek().text != "_" else Sym("pi" + self.subscript())
        if name == r"\infty":
            return Const("inf")
        if name in (r"\emptyset", r"\varnothing", r"\O", r"\oslash"):
            return SetOf(())
        if name.startswith(r"\mathbb") and len(name) == 8:
            return self.named_set(name[-1])
        if name == r"\begin":
            return self.environment()
        if name == r"\langle":
            self.at -= 1
            return self.group()
        raise Unreadable(f"{name} is not read")

    def named_set(self, letter: str) -> Node:
        r"""Return a set of numbers; ``\mathbb{R}^+`` and its like are intervals."""
        if self.peek().text not in ("^", "_") or letter not in "RZ":
            return NamedSet(letter)
        kept = (self.at, self.tokens[self.at + 1 : self.at + 4])
        signs = "".join(token.text for token in kept[1]).strip("{}")[:1]
        if signs not in ("+", "-", "*"):
            return NamedSet(letter)
        raise Unreadable("a set with a sign")

    def root(self) -> Node:
        index: Node = Num(Fraction(2))
        if self.take("["):
            index = self.sum()
            self.expect("]")
        of = self.argument()
        only_expressions([index, of])
        return Root(of, index)

    def function(self, name: str) -> Node:
        r"""Parse behind ``\sin``, ``\log``, ...: base, power, argument."""
        base: Node | None = None
        power: Node | None = None
        for _ in range(2):
            if self.peek().text == "_" and name == "log":
                self.at += 1
                base = self.argument()
            elif self.peek().text == "^":
                self.at += 1
                power = self.argument()
        if name in ("max", "min", "gcd", "lcm"):
            inner = self.group()
            items = inner.items if isinstance(inner, Bracketed | SetOf) else (inner,)
            return Call(name, tuple(items))
        if name in _ARC and power == Neg(Num(Fraction(1))):
            name, power = _ARC[name], None
        argument = self.function_argument()
        only_expressions([argument])
        if name == "lg":
            name, base = "log", Num(Fraction(10))
        if name == "exp":
            node: Node = Power(Const("e"), argument)
        elif name == "cis":
            node = Power(Const("e"), Product((Const("i"), argument)))
        else:
            node = Call(name, (argument,) if base is None else (argument, base))
        return node if power is None else Power(node, power)

    def function_argument(self) -> Node:
        """Parse one bracket, or the factors up to the next bracket, function or sign."""
        if self.peek().text in ("(", "[", "{", "|", r"\lvert"):
            return self.primary()
        if self.peek().text in ("-", "+"):
            return self.signed(self.function_argument)
        factors = [self.power()]
        while self.factor_ahead() and self.peek().text not in ("(", "[", "{", "|"):
            if self.peek().text[1:] in FUNCTIONS or self.peek().kind == "num":
                break
            factors.append(self.power())
        return product(factors, False)

    def environment(self) -> Node:
        r"""Parse ``\begin{pmatrix} a & b \\ c & d \end{pmatrix}``."""
        name = self.environment_name().rstrip("*")
        if name not in (*_MATRICES, *_LINES, "cases", "dcases", "rcases"):
            raise Unreadable(f"the environment {name}")
        if name in ("array", "tabular") and self.peek().text == "{":
            while not self.take("}"):
                self.at += 1
                if self.at > len(self.tokens):
                    raise Unreadable("an unclosed array")
        rows = self.rows(join=name in _LINES)
        self.environment_name()
        flat = [item for row in rows for item in row]
        if name.endswith("cases"):
            if all(len(row) == 1 for row in rows) and all(
                isinstance(item, Relation) for item in flat
            ):
                return Listing(tuple(flat), "and")
            if not all(len(row) == 2 for row in rows):
                raise Unreadable("cases without their conditions")
            return Cases(tuple(tuple(row) for row in rows))
        relations = all(isinstance(item, Relation) for item in flat)
        if name in _LINES or (relations and all(len(row) == 1 for row in rows)):
            return flat[0] if len(flat) == 1 else Listing(tuple(flat), "and")
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise Unreadable("rows of different length")
        return Matrix(tuple(tuple(row) for row in rows))

    def rows(self, join: bool) -> list[list[Node]]:
        r"""Parse cells up to ``\end``; ``join``: the sign ``&`` only aligns."""
        if join:
            self.tokens = [
                token for at, token in enumerate(self.tokens) if at < self.at or token.text != "&"
            ]
        rows: list[list[Node]] = [[]]
        while not self.take(r"\end"):
            rows[-1].append(self.cell())
            self.take(",", ";")
            if self.take("\\\\"):
                if self.peek().text != r"\end":
                    rows.append([])
            elif not self.take("&") and self.peek().text != r"\end":
                raise Unreadable("a matrix that is not in rows")
        return rows

    def cell(self) -> Node:
        """Parse one cell; the condition of a case may begin with "if" and be several relations."""
        token = self.peek()
        if token.kind in ("text", "word") and _OTHERWISE.fullmatch(token.text):
            self.at += 1
            return Words("otherwise")
        if token.kind in ("text", "word") and token.text.casefold() in _IF:
            self.at += 1
        return self.relation()

    def relation(self) -> Node:
        """Parse one item of a list."""
        raise NotImplementedError
