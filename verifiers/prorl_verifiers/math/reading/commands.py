r"""Parse LaTeX commands in the place of a factor: \frac, \sqrt, functions, named sets, matrices."""

from __future__ import annotations

from fractions import Fraction

from prorl_verifiers.math.reading.cursor import only_expressions, product
from prorl_verifiers.math.reading.expressions import FRACTIONS, ExpressionParser
from prorl_verifiers.math.reading.nodes import (
    Bracketed,
    Call,
    Const,
    Matrix,
    NamedSet,
    Neg,
    Node,
    Num,
    Power,
    Quotient,
    Root,
    SetOf,
    Sym,
)
from prorl_verifiers.math.reading.tokens import FUNCTIONS, GREEK, Unreadable

SKIPPED = frozenset((r"\angle", r"\triangle", r"\displaystyle", r"\,", r"\mathrm", r"\rm", r"\bf"))
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
            return NamedSet(name[-1])
        if name in (r"\R", r"\Z", r"\N", r"\Q"):
            return NamedSet(name[-1])
        if name == r"\begin":
            return self.environment()
        if name == r"\langle":
            self.at -= 1
            return self.group()
        raise Unreadable(f"{name} is not read")

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
        name = self.environment_name()
        if name.rstrip("*") not in (
            "pmatrix",
            "bmatrix",
            "matrix",
            "array",
            "Bmatrix",
            "smallmatrix",
        ):
            raise Unreadable(f"the environment {name}")
        if name == "array" and self.peek().text == "{":
            while not self.take("}"):
                self.at += 1
                if self.at > len(self.tokens):
                    raise Unreadable("an unclosed array")
        rows: list[list[Node]] = [[]]
        while not self.take(r"\end"):
            rows[-1].append(self.relation())
            if self.take("\\\\"):
                if self.peek().text != r"\end":
                    rows.append([])
            elif not self.take("&") and self.peek().text != r"\end":
                raise Unreadable("a matrix that is not in rows")
        self.environment_name()
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise Unreadable("rows of different length")
        return Matrix(tuple(tuple(row) for row in rows))

    def relation(self) -> Node:
        """Parse one item of a list."""
        raise NotImplementedError
