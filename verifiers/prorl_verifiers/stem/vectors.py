"""Parses vectors with units, and checks answers that are chains of equalities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from prorl_verifiers.libraries import Loading
from prorl_verifiers.math.comparing.relations import is_name
from prorl_verifiers.math.comparing.shapes import components, ordered
from prorl_verifiers.math.evaluating.equal import decimal_places
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Bracketed,
    Call,
    Matrix,
    Node,
    Num,
    Relation,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.tokens import Unreadable
from prorl_verifiers.notation.latex_text import clean
from prorl_verifiers.notation.quantities import Quantity
from prorl_verifiers.stem.numbers import Measure, is_unit, split_unit
from prorl_verifiers.stem.parts import labelled

MAX_VECTOR = 400
_BEHIND = re.compile(r"(.*[)\]}>])\s*([A-Za-zµΩ][A-Za-z0-9µΩ/^{}·* -]{0,30})")
_OUTER = re.compile(r"^\(\s*([^()]*\\(?:hat|mathbf|vec|bm|boldsymbol)[^()]*)\)$")
_UNIT_VECTOR = re.compile(
    r"((?:\\(?:hat|vec|mathbf|mathrm|mathit|boldsymbol|bm|bf|textbf|pmb)\s*\{?\s*){1,3})\\?([ijkxyz])(?:math)?(?![A-Za-z])((?:\s*\})*)"
)


def read_vector(text: str, unit: str, loading: Loading) -> tuple[Quantity, ...] | None:
    """Parse a vector of numbers, or return None. ``[1, 2]`` is an interval."""
    if len(text) > MAX_VECTOR:
        return None
    body, answer_unit = split_unit(" ".join(text.split()).strip("$ "), unit, loading)
    behind = _BEHIND.fullmatch(body)
    if behind and is_unit(behind.group(2), unit, loading):
        body, answer_unit = behind.groups()
    try:
        node = read(_OUTER.sub(r"\1", clean(_UNIT_VECTOR.sub(_hat, body))))
    except (Unreadable, RecursionError):
        return None
    if isinstance(node, Relation) and node.ops == ("=",) and is_name(node.sides[0]):
        node = node.sides[1]
    parts = _parts(node)
    if parts is None:
        return None
    quantities = [_quantity(part, answer_unit or unit) for part in parts]
    return None if None in quantities else tuple(part for part in quantities if part is not None)


def _hat(match: re.Match[str]) -> str:
    r"""Rewrite a bold or dotless unit vector as ``\hat{i}``."""
    fonts, letter, closing = match.groups()
    surplus = closing.count("}") - fonts.count("{")
    if surplus < 0 or ("hat" not in fonts and fonts.count("\\") < 2):
        return match.group()
    return f"\\hat{{{letter}}}" + "}" * surplus


def _parts(node: Node) -> tuple[Node, ...] | None:
    if isinstance(node, Bracketed) and node.opening == "[" and len(node.items) == 2:
        return None  # an interval
    if isinstance(node, Bracketed | Matrix):
        return ordered(node)
    for size in (2, 3):
        parts = components(node, size)
        if parts is not None:
            return parts
    return None


def _quantity(node: Node, unit: str) -> Quantity | None:
    if not isinstance(node, EXPRESSIONS) or symbols(node):
        return None
    try:
        evaluator = Evaluator({})
        value = evaluator.value(node)
    except (Undefined, Unreadable):
        return None
    if not hasattr(value, "numerator"):
        return None
    decimals = [part for part in walk(node) if isinstance(part, Num) and part.decimal]
    places = max((decimal_places(part) for part in decimals), default=0)
    return Quantity(value, False, unit, -places, not decimals)


def called_value(text: str) -> Fraction | None:
    r"""Return the value of a formula such as ``\arctan 2`` to 15 digits, or None if it calls no function."""
    try:
        node = read(clean(text))
        if not isinstance(node, EXPRESSIONS) or symbols(node):
            return None
        value = Evaluator({}).value(node)
    except (Undefined, Unreadable, RecursionError):
        return None
    called = any(isinstance(part, Call) for part in walk(node))
    if not called or isinstance(value, Fraction) or value.imag or not 1e-300 < abs(value) < 1e300:
        return None
    return Fraction(f"{float(value.real):.15g}")


MAX_FORMULAS = 4
"""Maximum number of formulas with letters in a chain."""
_NAME = re.compile(
    r"\s*(?:\\Delta\s*|Δ\s*)?(?:\\?[A-Za-zµα-ωΑ-Ω][A-Za-z]{0,12}|\\(?:text|mathrm|vec|overline|bar|hat)\s*\{[^{}]{1,40}\}|[A-Za-z][A-Za-z ]{0,40})"
    r"\s*(?:_(?:\{(?:[^{}]|\\(?:text|mathrm)\{[^{}]*\}){1,20}\}|\\?[A-Za-z0-9]+))?(?:\^\{?\\circ\}?)?'?\s*(?:\([^()]{1,20}\))?\s*"
)
_NUMBERED = re.compile(r"(?<![\\A-Za-z_^{])[A-Za-z]{1,3}\s?\d|(?<=[A-Za-z])\s\d")
"""A letter with a number that is not a subscript: ``x5``."""
_MULTIPLE = re.compile(r"\s*\d[\d.]*\s*\\?[A-Za-z]\s*")
NEAR = Fraction(2, 100)
"""Relative error that is allowed in the intermediate sides of a chain."""
_LETTER = re.compile(
    r"(?<![\\A-Za-z])[A-Za-zµα-ωΑ-Ω]|\\(?!times|cdot|frac|dfrac|tfrac|left|right|pm|,|;|!|:| )[A-Za-z]+"
)
_SEVERAL = re.compile(r"[;\n]|\\\\|\\q?quad(?![A-Za-z])|\$\s*[,;]?\s*\$|\\\)\s*[,;]?\s*\\\(|,\s")


def names_a_quantity(side: str) -> bool:
    return _NAME.fullmatch(side) is not None


_LABEL_FONT = re.compile(
    r"\\(?:text\w*|math\w+|boldsymbol|operatorname|vec|bar|hat|overline)(?![a-z])|\^\\(?:circ|ominus)|[$~|'*]"
)
_SAID = re.compile(
    r"([^\d=]{1,60}?)(?:\s(?:is|was|equals)(?:\s(?:about|approximately))?|:)\s*\}?\s*[-+(\\\d.]"
)
_LABEL = re.compile(
    r"(?P<before>.*?)(?P<symbol>(?:\\Delta ?)?(?:\\[A-Za-z]+|[A-Za-zµα-ωΑ-Ω]+)) ?"
    r"(?:_(?:(?P<low>\w)|\{(?P<lows>[^{}]*)\}))? ?(?:\((?P<of>[^()]*)\))?"
)
_SYMBOL = re.compile(r"(?:\\Delta)?(?:[A-Za-zα-ωΑ-Ω]|\\[A-Za-z]+)|p[A-Z]{1,2}")
_SYMBOLS = {
    "temperature": "T \\theta", "pressure": "P p", "volume": "V", "voltage": "V U E", "potential": "V U E", "emf": "V E",
    "current": "I i", "resistance": "R r", "power": "P p", "energy": "E U K W Q", "ke": "E K", "pe": "E U", "work": "W E",
    "heat": "Q q", "force": "F f N W T", "weight": "F W", "tension": "F T", "mass": "m M", "speed": "v u", "velocity": "v u",
    "u": "v u", "acceleration": "a g", "time": "t T", "distance": "d s x L l r D", "displacement": "d s x y r", "height": "h H y",
    "length": "L l d", "radius": "r R a", "period": "T", "frequency": "f F \\nu", "wavelength": "\\lambda", "momentum": "p P",
    "density": "d \\rho", "charge": "q Q", "entropy": "S", "enthalpy": "H", "concentration": "c C M", "angle": "\\theta \\phi \\alpha",
    "area": "A S", "moles": "n", "K": "K E", "N": "N F", "w": "w \\omega", "\\omega": "\\omega w", "\\ell": "l L", "\\epsilon": "E \\epsilon",
}  # fmt: skip
"""Usual symbols, by the name of a quantity or by another symbol."""


def other_quantity(gold: str, answer: str, equals: re.Pattern[str]) -> bool:
    """Return whether the answer's label names another quantity than the gold's: ``pOH = 7.4`` for ``pH = 7.4``."""
    label, other = _label(gold, equals), _label(answer, equals)
    if label is None or other is None:
        return False
    return not label[0] & other[0] or any(
        one and two and not one.startswith(two) and not two.startswith(one)
        for one, two in zip(label[1:], other[1:], strict=True)
    )


def _label(text: str, equals: re.Pattern[str]) -> tuple[frozenset[str], str, str] | None:
    """Return (possible symbols, subscript, argument) of a label such as ``v_0(t) =``, or None."""
    plain = _LABEL_FONT.sub("", clean(text[:MAX_VECTOR]).replace("Δ", r"\Delta "))
    plain = plain.replace("\\var", "\\")
    sides, said = equals.split(plain), _SAID.match(plain)
    head = (sides[0] if len(sides) > 1 else said.group(1) if said else "")[:100]
    match = _LABEL.fullmatch(re.sub(r"(?<!_)\{([^{}]*)\}", r"\1", head).strip())
    if match is None or re.search(r"[\d\\]|\b[A-Za-z]\s*$", match["before"]):
        return None
    symbol, low = match["symbol"].replace(" ", ""), match["low"] or match["lows"] or ""
    if re.fullmatch("pK[a-z]", symbol):
        symbol, low = "pK", symbol[2]
    names = _SYMBOLS.get(symbol if len(symbol) == 1 else symbol.casefold(), "").split()
    if not names and not _SYMBOL.fullmatch(symbol):
        return None
    same = (symbol.lower(), symbol.upper()) if symbol in "pqldirtPQLDIRT" else (symbol,)
    low = low.casefold().strip(" \\")
    return frozenset(names or same), "i" if low in ("0", "o") else low, match["of"] or ""


def chain_holds(sides: Sequence[str], read_sides: Sequence[Measure | None]) -> bool:
    """Return whether the formulas and texts in a chain of equalities fit its last side."""
    last = read_sides[-1]
    multiples = 0
    names = {side.strip() for side in sides[:1] if _LETTER.search(side)}
    for at, (side, number) in enumerate(zip(sides[:-1], read_sides, strict=False)):
        text = side.strip()
        if number is not None or not text:
            continue
        if (_SEVERAL.search(text) and at) or labelled(text):
            return False
        if at and any(text != name and text.endswith(name) for name in names):
            return False
        if _LETTER.search(text) and not names_a_quantity(text):
            multiples += 1
            if (
                _NUMBERED.search(text)
                or (at == 0 and _MULTIPLE.fullmatch(text))
                or multiples > MAX_FORMULAS
            ):
                return False
        if not _LETTER.search(text) and (last is None or not _is_near(text, last.quantity.value)):
            return False
    return True


def _is_near(text: str, expected: Fraction) -> bool:
    try:
        node = read(clean(text))
        if not isinstance(node, EXPRESSIONS) or symbols(node):
            return False
        value = Evaluator({}).float(Evaluator({}).value(node))
    except (Undefined, Unreadable, RecursionError):
        return False
    return bool(
        abs(value - Evaluator({}).float(expected))
        <= abs(Evaluator({}).float(expected)) * float(NEAR)
    )
