r"""Parses sums, products and units by recursive descent, with limited nesting.

``1/2x`` is parsed from left to right, and ``2\frac{1}{2}`` as a mixed number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from prorl_verifiers.math import units as math_units
from prorl_verifiers.math.reading.factors import FactorParser
from prorl_verifiers.math.reading.nodes import (
    Applied,
    Bracketed,
    Call,
    Cases,
    Const,
    Degrees,
    Listing,
    Matrix,
    NamedSet,
    Neg,
    Node,
    Num,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Relation,
    Root,
    SetOf,
    Sum,
    Sym,
    WithUnit,
    Words,
)
from prorl_verifiers.math.reading.tokens import (
    FUNCTIONS,
    GREEK,
    TooLarge,
    Unreadable,
    only_expressions,
    product,
    ratio,
)

MAX_DEPTH = 160
_TIMES = frozenset(("*", r"\cdot", r"\times", r"\ast"))
_DIVIDE = frozenset(("/", r"\div"))
_SIGNS = frozenset(("+", "-", r"\pm", r"\mp"))
FRACTIONS = frozenset((r"\frac", r"\binom"))
_OPENING = frozenset(
    ("(", "[", "{", r"\langle", r"\lfloor", r"\lceil", r"\lvert", r"\begin", r"\{")
)
_HIGHEST_POWER = 12
_MAGNITUDES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_SCALE = re.compile(r"(?:\^\\circ ?|(?:degrees?|deg) ?)(c|f)(?:elsius|ahrenheit)?")
_RATE = re.compile(
    r"[A-Za-zµ]{1,3}(?:\s*\^\s*\{?-?\d\}?)?(?:(?:\s|\\cdot)+[A-Za-zµ]{1,3}(?:\s*\^\s*\{?-?\d\}?)?){1,3}"
)
"""Unit symbols with powers, such as ``km h^{-1}``."""
_VECTORS = (r"\vec", r"\mathbf", r"\boldsymbol", r"\overrightarrow")
_NO_UNITS = frozenset(
    """squared cubed factorial times plus minus over mod half halves third thirds quarter or not more less
    than least most if when unless except choose""".split()  # noqa: SIM905
)


class ExpressionParser(FactorParser):
    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLarge("brackets are nested too deep")
        terms = [self.signed(self.term)]
        while self.peek().text in _SIGNS:
            terms.append(self.signed(self.term))
        self.depth -= 1
        if len(terms) == 1:
            return terms[0]
        only_expressions(terms)
        return Sum(tuple(terms))

    def signed(self, part: Callable[[], Node]) -> Node:
        signs = []
        while self.peek().text in _SIGNS and self.peek().kind in ("op", "cmd"):
            signs.append(self.peek().text)
            self.at += 1
            if len(signs) > 4:
                raise Unreadable("more than four signs in a row")
        node = part()
        for sign in reversed(signs):
            if sign != "+":
                only_expressions([node], matrices=True)
            if sign == "-":
                node = Neg(node)
            elif sign != "+":
                node = PlusMinus(node, sign == r"\mp")
        return node

    def term(self) -> Node:
        factors, signed = [self.power()], False
        while True:
            sign = self.peek()
            if sign.text in _TIMES and sign.kind in ("op", "cmd"):
                self.at += 1
                crossed = self.crosses()
                factors.append(self.signed(self.power))
                signed = True
                if crossed:
                    only_expressions(factors)
                    factors[-2:] = [Applied("cross", tuple(factors[-2:]))]
            elif sign.text in _DIVIDE and sign.kind in ("op", "cmd"):
                self.at += 1
                bottom = self.signed(self.power)
                factors, signed = [Quotient(product(factors, signed), bottom)], False
                only_expressions([factors[0].top, bottom])  # type: ignore[union-attr]
            elif self.unit_ahead(factors[-1]):
                factors, signed = [self.unit(product(factors, signed))], False
            elif isinstance(factors[-1], WithUnit) and self.peek().kind == "num":
                factors = [self.compound(factors[-1])]
            elif self.factor_ahead():
                factors = self.next_factor(factors)
            else:
                return product(factors, signed)

    def crosses(self) -> bool:
        r"""Return whether the last ``\times`` is between two vectors, or a vector and a bracket."""
        if self.tokens[self.at - 1].text != r"\times":
            return False
        beside = self.tokens[self.at - 2], self.peek()
        vectors = [
            token.kind == "sym" and self.source.startswith(_VECTORS, token.start)
            for token in beside
        ]
        return all(vectors) or (
            any(vectors) and (beside[0].text in (")", "]") or beside[1].text in ("(", "["))
        )

    def next_factor(self, factors: list[Node]) -> list[Node]:
        last, token = factors[-1], self.peek()
        whole = (
            last.value if len(factors) == 1 and isinstance(last, Num) and not last.decimal else None
        )
        whole = whole if whole is not None and whole.denominator == 1 else None
        if token.kind == "num":
            divided = self.peek(1).text in _DIVIDE and self.peek(2).kind == "num"
            if isinstance(last, Num) and not (whole is not None and divided):
                raise Unreadable("two numbers without an operator between them")
            if isinstance(last, Num) and whole is not None:
                top, bottom = token.value, self.peek(2).value
                self.at += 3
                return [self.marked(Num(whole + ratio(top, bottom)))]
        factor = self.power()
        bare = factor.of if isinstance(factor, Percent | Degrees) else factor
        if whole is not None and isinstance(bare, Quotient) and token.text == r"\frac":
            over, under = bare.top, bare.bottom
            if isinstance(over, Num) and isinstance(under, Num):
                mixed = Num(whole + ratio(over.value, under.value))
                return [
                    replace(factor, of=mixed) if isinstance(factor, Percent | Degrees) else mixed
                ]
        return [*factors, factor]

    def factor_ahead(self) -> bool:
        token = self.peek()
        if token.kind in ("num", "word", "sym"):
            return True
        if token.kind == "cmd":
            name = token.text[1:]
            return (
                token.text in _OPENING
                or token.text in FRACTIONS
                or name in FUNCTIONS
                or name in GREEK
                or token.text in (r"\sqrt", r"\pi", r"\infty", r"\angle")
            )
        return token.text in ("(", "[", "{") or (token.text == "|" and self.bars == 0)

    def unit_ahead(self, last: Node) -> bool:
        token = self.peek()
        if isinstance(last, Words):
            return False
        if token.kind == "text":
            return True
        behind = self.tokens[self.at - 1].kind == "num" or isinstance(last, Quotient | Degrees)
        if token.kind == "word" and (behind or token.spaced):
            noun = self.peek(1)
            counted = noun.kind == "word" and noun.spaced and noun.text not in _NO_UNITS
            adjective = token.spaced and counted and 1 < len(token.text) < 4
            return (
                math_units.is_bare_unit(noun.text if adjective else token.text) or self.rate_ahead()
            )
        return False

    def rate_ahead(self) -> bool:
        """Return whether the next tokens are unit symbols with a negative power."""
        match = _RATE.match(self.source, self.peek().start) if "-" in self.source else None
        return match is not None and "-" in match.group() and math_units.symbols_only(match.group())

    def unit(self, of: Node) -> Node:
        start = self.peek().start
        first = self.peek().text.strip(" .").casefold()
        magnitude, _, counted = first.partition(" ")
        if magnitude in _MAGNITUDES:
            self.at += 1
            size = Fraction(_MAGNITUDES[magnitude])
            of = Num(of.value * size) if isinstance(of, Num) else product([of, Num(size)], False)
            return WithUnit(of, counted) if counted else of
        last = self.at + 1 == len(self.tokens)
        if _NO_UNITS.intersection(first.replace("(", " ").split()) and not (
            first == "times" and last
        ):
            raise Unreadable("a value is followed by a word that is not a unit")
        while True:
            token = self.peek()
            if token.kind in ("text", "word"):
                if re.search(r"\s\d", token.text):
                    raise Unreadable("a unit contains a number")
                self.at += 1
            elif token.text == "^":
                self.at += 1
                power = self.argument()
                if isinstance(power, Num) and abs(power.value) > _HIGHEST_POWER:
                    raise Unreadable(f"a unit has a power above {_HIGHEST_POWER}")
            elif token.text in ("/", r"\cdot") and self.peek(1).kind in ("text", "word"):
                self.at += 1
            else:
                break
        unit = self.source[start : self.tokens[self.at - 1].end]
        if self.tokens[self.at - 1].start == start:
            if first in ("degree", "degrees", "deg"):
                return Degrees(of)
            scale = _SCALE.fullmatch(first)
            if scale:
                unit = "deg" + scale.group(1).upper()
            if first in ("percent", "pct"):
                return Percent(of)
            if first in ("radians", "radian", "rad", "rads"):
                unit = "rad"
        only_expressions([of])
        return WithUnit(of, unit)

    def compound(self, first: WithUnit) -> Node:
        """Parse the second part of ``2 hours 30 minutes`` and return the whole value in hours."""
        second = self.primary()
        if not self.unit_ahead(second):
            raise Unreadable("a unit is followed by a number")
        added = self.unit(second)
        factor = math_units.ratio(added.unit, first.unit) if isinstance(added, WithUnit) else None
        if factor is None or not (isinstance(first.of, Num) and isinstance(second, Num)):
            raise Unreadable("two units cannot be added")
        return WithUnit(Num(first.of.value + second.value * factor), first.unit)


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
        raise Unreadable(f"{name} is not supported")

    def named_set(self, letter: str) -> Node:
        r"""Parse a number set. Raises Unreadable for a set with a sign, such as ``\mathbb{R}^+``."""
        if self.peek().text not in ("^", "_") or letter not in "RZ":
            return NamedSet(letter)
        script = "".join(token.text for token in self.tokens[self.at + 1 : self.at + 4])
        if script.strip("{}")[:1] in ("+", "-", "*"):
            raise Unreadable("a number set with a sign is not supported")
        return NamedSet(letter)

    def root(self) -> Node:
        index: Node = Num(Fraction(2))
        if self.take("["):
            index = self.sum()
            self.expect("]")
        of = self.argument()
        only_expressions([index, of])
        return Root(of, index)

    def function(self, name: str) -> Node:
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
        name = self.environment_name().rstrip("*")
        if name not in (*_MATRICES, *_LINES, "cases", "dcases", "rcases"):
            raise Unreadable(f"the environment {name!r} is not supported")
        if name in ("array", "tabular") and self.peek().text == "{":
            while not self.take("}"):
                self.at += 1
                if self.at > len(self.tokens):
                    raise Unreadable("the columns of an array are not closed")
        rows = self.rows(join=name in _LINES)
        self.environment_name()
        flat = [item for row in rows for item in row]
        if name.endswith("cases"):
            if all(len(row) == 1 for row in rows) and all(
                isinstance(item, Relation) for item in flat
            ):
                return Listing(tuple(flat), "and")
            if not all(len(row) == 2 for row in rows):
                raise Unreadable("a case has no condition")
            return Cases(tuple(tuple(row) for row in rows))
        relations = all(isinstance(item, Relation) for item in flat)
        if name in _LINES or (relations and all(len(row) == 1 for row in rows)):
            return flat[0] if len(flat) == 1 else Listing(tuple(flat), "and")
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise Unreadable("the rows of a matrix differ in length")
        return Matrix(tuple(tuple(row) for row in rows))

    def rows(self, join: bool) -> list[list[Node]]:
        """Parse the cells of each row of an environment. If ``join`` is set, ``&`` does not separate cells."""
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
                raise Unreadable("unexpected text after a matrix cell")
        return rows

    def cell(self) -> Node:
        token = self.peek()
        if token.kind in ("text", "word") and _OTHERWISE.fullmatch(token.text):
            self.at += 1
            return Words("otherwise")
        if token.kind in ("text", "word") and token.text.casefold() in _IF:
            self.at += 1
        return self.listing("")  # may join conditions by words

    def listing(self, signs: str) -> Node:
        raise NotImplementedError
