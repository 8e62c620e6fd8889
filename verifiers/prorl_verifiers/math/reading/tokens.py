"""Splits a cleaned answer into tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from prorl_verifiers.math.reading.nodes import EXPRESSIONS, Matrix, Node, Product

MAX_TEXT = 4000
MAX_TOKENS = 1500
MAX_POWER_OF_TEN = 5000


class Unreadable(ValueError):
    """Raised if a text cannot be parsed as an answer."""


class TooLarge(Unreadable):
    """Raised if an answer exceeds the limits on length, digits or powers."""


Kind = Literal["num", "cmd", "text", "word", "op", "joint", "sym"]


@dataclass(slots=True)
class Token:
    """A token of an answer, from ``start`` to ``end`` in the text."""

    kind: Kind
    text: str
    spaced: bool
    start: int
    end: int
    value: Fraction | None = None
    decimal: bool = False
    cut: bool = False


FUNCTIONS = frozenset(
    """sin cos tan cot sec csc arcsin arccos arctan arccot sinh cosh tanh log ln lg exp max min gcd lcm cis
    """.split()  # noqa: SIM905
)
GREEK = frozenset(
    """alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma
    tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega ell hbar
    """.split()  # noqa: SIM905
)
_WORDS = {
    "infinity": r"\infty",
    "inf": r"\infty",
    "oo": r"\infty",
    "sqrt": r"\sqrt",
    "union": r"\cup",
}
_GLUED = re.compile(r"(arcsin|arccos|arctan|sin|cos|tan|cot|sec|csc|log|ln)([a-zA-Z])")
_GLUED_JOINT = re.compile(r"(?:or|and|OR|AND|Or|And)(?![A-Za-z])|(?:or|and)(?=[A-Z])")
_REPEATED = re.compile(r"([0-9]*)\.([0-9]*)\\(?:overline|bar|dot)\s*(?:\{\s*([0-9]+)\s*\}|([0-9]))")
_IN_BRACKETS = re.compile(r"([0-9]+)\.([0-9]{0,12})\(([0-9]{1,12})\)(?![0-9a-zA-Z\\(^])")
"""A repeating decimal such as ``0.1(36)``."""
_BETWEEN_DOTS = re.compile(r"([0-9]*)\.([0-9]*)\\dot\s*\{?([0-9])\}?([0-9]*)\\dot\s*\{?([0-9])\}?")
_ORDINAL = re.compile(
    r"(?:\^?\{?\s*\\(?:text|mathrm|textrm|mbox)\s*\{\s*)?(?:st|nd|rd|th)(?![A-Za-z])[\s}]*$|\^\{\s*(?:st|nd|rd|th)\s*\}$"
)
_DOTTED = re.compile(r"([0-9]*)\.([0-9]*?)([0-9])\3\3+\s*\\[lc]?dots(?![a-zA-Z])")
_CUT = re.compile(r"([0-9]*\.[0-9]{1,60})\s*\\[lc]?dots(?![a-zA-Z])")
r"""A decimal with an ellipsis, such as ``3.1415\ldots``."""
_INTEGER = re.compile(r"[0-9]{1,18}(?=[}+*/)=_-]|\Z)")
"""An integer before a character that cannot belong to a number."""
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?")
_SPACED = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+(?![0-9])(?:\.[0-9]+)?")
_PLAIN = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TEXT = re.compile(
    r"\\(text|textbf|textit|textrm|textsf|texttt|textup|textnormal|emph|mathrm|mathit|mathsf|mathtt|mbox|operatorname|rm"
    r"|mathbf|boldsymbol|vec|bar|hat|widehat|tilde|widetilde|overrightarrow|overline|mathcal|mathscr|mathfrak|mathbb|dot|ddot"
    r")\*?\s*\{([^{}]*)\}"
)
_NAMING = frozenset(
    """mathbf boldsymbol vec bar hat widehat tilde widetilde overrightarrow overline mathcal mathscr mathfrak dot ddot
    """.split()  # noqa: SIM905
)
_BEFORE_A_BRACKET = frozenset(
    (
        "=",
        ",",
        ";",
        "(",
        "{",
        r"\{",
        r"\in",
        r"\cup",
        r"\cap",
        r"\setminus",
        ":",
        "or",
        "and",
        "+",
        "-",
    )
)
_BEHIND_A_BRACKET = frozenset(
    (
        "",
        ",",
        ";",
        ")",
        "}",
        r"\}",
        r"\cup",
        r"\cap",
        r"\setminus",
        "or",
        "and",
        "=",
        "+",
        "-",
        "\\\\",
    )
)
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+|.)", re.DOTALL)
_LETTERS = re.compile(r"[A-Za-z]+")
_SIGNS = re.compile(r"<=|>=|!=|\*\*|==|:=|[-+*/^_()\[\]{}|,;=<>!%:&']")


def tokenize(text: str, grouping: bool = True) -> list[Token]:
    """Split a cleaned answer into tokens. Raises Unreadable or TooLarge.

    If ``grouping`` is set, commas may group the digits of a number. Otherwise they separate items.
    """
    if len(text) > MAX_TEXT:
        raise TooLarge("the answer is too long")
    tokens: list[Token] = []
    at, brackets, end = 0, 0, len(text)
    while at < end:
        start = at
        while at < end and text[at] in " \t\n$~":
            at += 1
        if at == end:
            break
        token = _next(text, at, at > start, grouping and brackets == 0)
        brackets += (token.text in ("(", "[", r"\{")) - (token.text in (")", "]", r"\}"))
        tokens.append(token)
        at = token.end
        if len(tokens) > MAX_TOKENS:
            raise TooLarge("the answer has too many parts")
    if not (("[" in text or "]" in text or "<" in text) and ("," in text or ";" in text)):
        return tokens
    return _as_brackets(tokens)


def _as_brackets(tokens: list[Token]) -> list[Token]:
    texts = [token.text for token in tokens]
    open_at: list[tuple[int, str]] = []
    pairs: list[tuple[int, int, str, str]] = []
    commas = [0]
    for at, token in enumerate(tokens):
        sign = token.text if token.kind == "op" else ""
        behind = texts[at + 1] if at + 1 < len(tokens) else ""
        if sign in (",", ";"):
            commas[-1] += 1
            continue
        starts = at == 0 or texts[at - 1] in _BEFORE_A_BRACKET
        ends = behind in _BEHIND_A_BRACKET
        outer = open_at[-1][1] if open_at else ""
        if sign in ("]", "[") and commas[-1] and outer in ("[", "]") and (sign == "]" or ends):
            start, opening = open_at.pop()
            commas.pop()
            if opening == "]" or sign == "[":
                pairs.append(
                    (start, at, "(" if opening == "]" else "[", ")" if sign == "[" else "]")
                )
        elif sign == ">" and commas[-1] and outer == "<" and ends:
            start, _ = open_at.pop()
            commas.pop()
            pairs.append((start, at, r"\langle", r"\rangle"))
        elif sign in ("(", "[", r"\{", "{") or (sign in ("]", "<") and starts):
            open_at.append((at, sign))
            commas.append(0)
        elif sign in (")", "]", r"\}", "}") and open_at:
            open_at.pop()
            commas.pop()
    changed = list(tokens)
    for start, end, opening, closing in pairs:
        for at, text in ((start, opening), (end, closing)):
            kind: Kind = "cmd" if text.startswith("\\") else "op"
            changed[at] = replace(tokens[at], text=text, kind=kind)
    return changed


def _next(text: str, at: int, spaced: bool, grouping: bool) -> Token:
    letter = text[at]
    if letter in "0123456789" or (letter == "." and text[at + 1 : at + 2].isdigit()):
        return _number(text, at, spaced, grouping)
    if letter == "." and (match := _REPEATED.match(text, at)):
        return _number(text, at, spaced, grouping)
    if letter == "\\":
        match = _TEXT.match(text, at)
        if match:
            how, inner = match.group(1), " ".join(match.group(2).split())
            end = match.end()
            if how == "mathbb":
                return Token("cmd", "\\mathbb" + inner, spaced, at, end)
            if how == "overline" and len(inner) > 1 and inner.isalpha() and inner.isupper():
                return Token("word", inner, spaced, at, end)
            if how in _NAMING:
                return Token("sym", inner or "_", spaced, at, end)
            joint = inner.casefold().strip(" ,;")
            if joint in ("or", "and"):
                return Token("joint", joint, spaced, at, end)
            if inner in FUNCTIONS and inner != "min":
                return Token("cmd", "\\" + inner, spaced, at, end)
            if inner in ("to", ":"):
                return Token("op", ":", spaced, at, end)
            if inner in ("i", "e") and how == "mathrm":
                return Token("word", inner, spaced, at, end)
            return Token("text", inner, spaced, at, end)
        match = _COMMAND.match(text, at)
        if match is None:
            raise Unreadable("a backslash without a command")
        return Token(
            "cmd" if match.group() not in (r"\{", r"\}") else "op",
            match.group(),
            spaced,
            at,
            match.end(),
        )
    match = _LETTERS.match(text, at)
    if match:
        return _letters(match.group(), at, spaced, text[match.end() : match.end() + 1] == "(")
    match = _SIGNS.match(text, at)
    if match is None:
        raise Unreadable(f"unexpected character {text[at]!r}")
    sign = {"**": "^", "==": "=", ":=": "="}.get(match.group(), match.group())
    return Token("op", sign, spaced, at, match.end())


def _number(text: str, at: int, spaced: bool, grouping: bool) -> Token:
    plain = _INTEGER.match(text, at)
    if plain:
        return Token("num", plain.group(), spaced, at, plain.end(), Fraction(int(plain.group())))
    for pattern in (_BETWEEN_DOTS, _REPEATED, _DOTTED, _IN_BRACKETS):
        match = pattern.match(text, at)
        if match:
            whole, fixed, *repeated = (str(group or "") for group in match.groups())
            cycle = "".join(repeated)
            whole_part = Fraction(int((whole + fixed) or "0"))
            value = whole_part + Fraction(int(cycle), 10 ** len(cycle) - 1)
            value /= Fraction(10) ** len(fixed)
            return Token("num", match.group(), spaced, at, match.end(), value)
    cut = _CUT.match(text, at)
    if cut:
        return Token("num", cut.group(), spaced, at, cut.end(), Fraction(cut.group(1)), True, True)
    match = (_GROUPED.match(text, at) if grouping else None) or _SPACED.match(text, at)
    match = match or _PLAIN.match(text, at)
    if match is None:
        raise Unreadable("a malformed number")
    digits = match.group().replace(",", "").replace(" ", "")
    power = re.search(r"[eE]([+-]?[0-9]+)$", digits)
    if power and (len(power.group(1)) > 6 or abs(int(power.group(1))) > MAX_POWER_OF_TEN):
        raise TooLarge("a power of ten is too large")
    value = Fraction(digits.removesuffix("."))
    ordinal = _ORDINAL.match(text, match.end()) if digits.isdigit() else None
    end = ordinal.end() if ordinal else match.end()
    return Token("num", match.group(), spaced, at, end, value, "." in digits)


def _letters(run: str, at: int, spaced: bool, called: bool) -> Token:
    end = at + len(run)
    low = run.casefold()
    joint = _GLUED_JOINT.match(run)
    if joint:
        word = joint.group()
        return Token("joint", word.casefold(), spaced, at, at + len(word))
    if low in _WORDS and len(run) > 1:
        return Token("cmd", _WORDS[low], spaced, at, end)
    if run in FUNCTIONS and (called or run not in ("min", "max")):
        return Token("cmd", "\\" + run, spaced, at, end)
    if len(run) > 2 and run in GREEK:
        return Token("cmd", "\\" + run, spaced, at, end)
    glued = _GLUED.fullmatch(run)
    if glued:
        return Token("cmd", "\\" + glued.group(1), spaced, at, at + len(glued.group(1)))
    return Token("word", run, spaced, at, end)


_END = Token("op", "", False, -1, -1)


class Cursor:
    def __init__(self, tokens: list[Token], source: str) -> None:
        self.tokens, self.source = tokens, source
        self.at, self.depth, self.bars = 0, 0, 0

    def peek(self, ahead: int = 0) -> Token:
        try:
            return self.tokens[self.at + ahead]
        except IndexError:
            return _END

    def take(self, *texts: str) -> bool:
        token = self.peek()
        if token.text in texts and token.kind in ("op", "cmd"):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise Unreadable(f"{text} is missing")

    def subscript(self) -> str:
        if self.peek().text != "_":
            return ""
        self.at += 1
        start, depth = self.at, 0
        while True:
            depth += (self.peek().text == "{") - (self.peek().text == "}")
            if self.peek() is _END:
                raise Unreadable("a subscript is not closed")
            self.at += 1
            if depth <= 0:
                break
        parts = [token.text for token in self.tokens[start : self.at]]
        return "_" + "".join(part for part in parts if part not in ("{", "}"))

    def behind_argument(self) -> int:
        at, depth = self.at + 1, 0
        while at < len(self.tokens):
            depth += (self.tokens[at].text == "{") - (self.tokens[at].text == "}")
            at += 1
            if depth <= 0:
                break
        return at

    def commas_in_bracket(self) -> int:
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
                raise Unreadable("the name of an environment is not closed")
        return "".join(parts)


def ratio(top: Fraction | None, bottom: Fraction | None) -> Fraction:
    if top is None or not bottom:
        raise Unreadable("a fraction has the denominator 0")
    return top / bottom


def only_expressions(nodes: Sequence[Node], matrices: bool = False) -> None:
    for node in nodes:
        if not isinstance(node, EXPRESSIONS) and not (matrices and isinstance(node, Matrix)):
            raise Unreadable("a list or set in the place of a value")


def product(factors: list[Node], signed: bool) -> Node:
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
