r"""Parses exact numbers with an optional unit, such as 1,234.5, \frac{3}{4} or 1.5\times10^{-3} km."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from prorl_verifiers.notation.latex_text import clean
from prorl_verifiers.notation.unit_text import read_unit

MAX_EXPONENT = 400
"""Maximum power of ten of an exact number."""

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d+)"
_DECIMAL = rf"(?:{_DIGITS}(?:\.\d*)?|\.\d+)"
_POWER = (
    r"(?:(?:\s*(?:\\times|\\cdot|\\ast|\*|[xX])\s*| +)10\s*\^\s*(?P<{0}>\{{\s*[+-]?\s*\d+\s*\}}|[+-]?\d+)"
    r"|[eE](?P<{1}>[+-]?\d+))?"
)
_NUMBER = re.compile(rf"(?P<sign>[+-]?)\s*(?P<mantissa>{_DECIMAL}){_POWER.format('p1', 'p2')}")
_BARE_POWER = re.compile(r"(?P<sign>[+-]?)\s*10\s*\^\s*(?P<p>\{\s*[+-]?\d+\s*\}|[+-]?\d)")
_RATIO = re.compile(
    rf"(?P<sign1>[+-]?)\s*(?P<whole1>\d+)?\s*(?:\\frac\{{\s*(?P<n1>[+-]?{_DECIMAL})\s*\}}\{{\s*(?P<d1>[+-]?{_DECIMAL})\s*\}})"
    rf"|(?P<sign2>[+-]?)\s*(?P<n2>{_DECIMAL})\s*/\s*(?P<d2>{_DECIMAL})"
    rf"|(?P<sign3>[+-]?)\s*(?P<whole3>\d+) (?P<n3>\d+)\s*/\s*(?P<d3>\d+)"
)
_UNIT = re.compile(
    r"\s*(?P<body>(?:\\(?:text|textbf|textrm|mathrm|mbox|rm|operatorname)\s*\{.*|\\(?:text)?degree.*"
    r"|\^\\circ.*|\\mu.*|\\Omega.*|\\AA.*| [A-Za-zµΩÅμ].*|[A-Za-zµΩÅμ][A-Za-zµΩÅμ/^\d{}\-* ]*))",
    re.DOTALL,
)
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_HABITS = (
    (re.compile(r"\\num\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:SI|qty)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}\s*\{"), r"\1\\mathrm{"),
    (
        re.compile(
            r"\\(?:text|textbf|mathrm|mathbf|boldsymbol)\s*\{\s*([+-]?\d[\d.,]{0,40}(?:[eE][+-]?\d+)?)\s*\}"
        ),
        r"\1",
    ),
    (re.compile(r"\\(?:text|mathrm)\s*\{\s*(10\s*\^\s*(?:\{[+-]?\d{1,6}\}|\d))\s*\}"), r"\1"),
    (re.compile(r"\{\s*10\s*\}(?=\s*\^)"), "10"),
    (re.compile(r"10\s*\*\*\s*"), "10^"),
    (re.compile(r"10\s*\^\s*\{?\s*\(\s*([+-]?\d{1,6})\s*\)\s*\}?"), r"10^{\1}"),
    (re.compile(r"(?<=\d)\s*\\(?:text|mathrm)\s*\{\s*[eE]\s*\}\s*(?=[+-]?\d)"), "e"),
)
_PERCENT = re.compile(
    r"\s*(?:%|(?:per ?cent|pct)|\\(?:text|mathrm|mbox)\s*\{\s*(?:%|per ?cent|pct)\s*\})\s*",
    re.IGNORECASE,
)
_MAGNITUDES = frozenset(
    """hundred thousand million billion trillion dozen percent squared cubed factorial half halves third thirds
    quarter quarters or and to pi sqrt sin cos tan log ln exp mod times plus minus over""".split()  # noqa: SIM905
)
_NAMES = {
    "meter": "m", "metre": "m", "centimeter": "cm", "kilometer": "km", "millimeter": "mm", "second": "s",
    "sec": "s", "minute": "min", "hour": "h", "hr": "h", "gram": "g", "kilogram": "kg", "joule": "J",
    "kilojoule": "kJ", "newton": "N", "watt": "W", "volt": "V", "ampere": "A", "kelvin": "K", "mole": "mol",
    "pascal": "Pa", "liter": "L", "litre": "L", "atmosphere": "atm", "degree": "deg", "inche": "in",
    "inch": "in", "feet": "ft", "foot": "ft", "dollar": "dollar", "cent": "cent", "hertz": "Hz",
    "\u03bcm": "um", "\u00b5m": "um", "\u00c5": "angstrom", "\u03a9": "ohm", "degc": "degC", "degf": "degF",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact number with a unit.

    ``decimals``: power of ten of the last digit (-2 for 1.25, 3 for 5e3), or None for a fraction.
    ``integer``: whether only digits are written.
    """

    value: Fraction
    percent: bool = False
    unit: str = ""
    decimals: int | None = None
    integer: bool = False


def read_quantity(text: str, unit: str = "") -> Quantity | None:
    """Parse a text that consists of a number and an optional unit, or return None.

    A short word without markup, such as ``m`` in ``5 m``, is a unit only if it equals ``unit``.
    """
    read = split_number(text)
    if read is None:
        return None
    quantity, behind = read
    if not behind.strip():
        return quantity
    if is_percent(behind):
        decimals = None if quantity.decimals is None else quantity.decimals - 2
        return Quantity(quantity.value / 100, True, "", decimals, False)
    if unit and len(behind) < 200 and unit_powers(behind) == unit_powers(unit) != {}:
        return Quantity(quantity.value, False, behind.strip(), quantity.decimals, quantity.integer)
    match = _UNIT.fullmatch(behind)
    if match is None:
        return None
    unit_text = match.group("body").strip()
    if not _is_unit(unit_text, spaced=behind.startswith(" ") or unit_text.startswith("\\")):
        return None
    return Quantity(quantity.value, False, unit_text, quantity.decimals, quantity.integer)


def is_percent(text: str) -> bool:
    return _PERCENT.fullmatch(text) is not None


def split_number(text: str) -> tuple[Quantity, str] | None:
    if len(text) > 2000:
        return None
    text = clean(one_power(text))
    leading = (_read_ratio(text) or _read_decimal(text)) if text else None
    return None if leading is None else (leading[0], text[leading[1] :])


def one_power(text: str) -> str:
    r"""Rewrite powers of ten, raised digits, ``\num`` and ``\SI`` in the form ``10^{23}``."""
    text = _RAISED.sub(lambda run: "^{" + run.group().translate(_FROM_RAISED) + "}", text)
    for pattern, spelling in _HABITS:
        text = pattern.sub(spelling, text)
    return text


def _is_unit(unit: str, spaced: bool) -> bool:
    """Return whether text after a number is a unit, and not a variable (``5x``) or a word such as "million"."""
    if unit in (r"^\circ", "^\\circ C", "^\\circ F") or unit.startswith((r"^\circ", r"\degree")):
        return len(unit) < 30
    words = re.findall(r"[A-Za-zµμΩÅ]+", re.sub(r"\\[a-zA-Z]+", " ", unit))
    if any(word.casefold() in _MAGNITUDES for word in words) or len(unit) > 80:
        return False
    if unit.startswith("\\"):
        return re.search(r"\d\s*$", unit) is None or "^" in unit
    if re.search(r"[\d+=]", re.sub(r"\^\s*\{?-?\d\}?|(?<=[a-z])-\d", "", unit)):
        return False
    return spaced and len(unit) >= 3 and words != []


def _read_ratio(text: str) -> tuple[Quantity, int] | None:
    match = _RATIO.match(text)
    if match is None:
        return None
    part = match.groupdict()
    form = next(digit for digit in "123" if part["n" + digit] is not None)
    bottom = _fraction(part["d" + form])
    if bottom == 0:
        return None
    value = _fraction(part["n" + form]) / bottom
    whole = part.get("whole" + form)
    if whole is not None:
        value += int(whole)
    return Quantity(-value if part["sign" + form] == "-" else value), match.end()


def _read_decimal(text: str) -> tuple[Quantity, int] | None:
    match = _NUMBER.match(text)
    bare = _BARE_POWER.match(text)
    if bare is not None:
        exponent = _exponent(bare.group("p"))
        if exponent is None:
            return None
        value = Fraction(10) ** exponent
        return Quantity(
            -value if bare.group("sign") == "-" else value, decimals=exponent
        ), bare.end()
    if match is None:
        return None
    mantissa = match.group("mantissa")
    power = match.group("p1") or match.group("p2")
    exponent = _exponent(power) if power else 0
    if exponent is None or len(mantissa) > 1000:
        return None
    value = _fraction(mantissa) * Fraction(10) ** exponent
    places = len(mantissa.partition(".")[2])
    integer = power is None and "." not in mantissa
    signed = -value if match.group("sign") == "-" else value
    return Quantity(signed, False, "", exponent - places, integer), match.end()


def _exponent(text: str) -> int | None:
    digits = text.strip("{} ").replace(" ", "")
    if len(digits) > 6:
        return None
    value = int(digits)
    return value if abs(value) <= MAX_EXPONENT else None


def _fraction(text: str) -> Fraction:
    return Fraction(text.replace(",", "").replace(" ", "").rstrip(".") or "0")


def unit_powers(unit: str) -> dict[str, int]:
    """Return a unit as {name: power}: {"kJ": 1, "mol": -1} for ``kJ/mol`` or ``kJ mol-1``."""
    readings = read_unit(unit)
    if not readings:
        return {" ".join(unit.split()): 1}
    powers: dict[str, int] = {}
    for name, power in readings[0]:
        whole = power.denominator == 1
        short = _unit_name(name) if whole else f"{_unit_name(name)}^({power})"
        powers[short] = powers.get(short, 0) + (int(power) if whole else 1)
    return {name: power for name, power in powers.items() if power}


def _unit_name(name: str) -> str:
    low = name.casefold()
    for candidate in (name, low, low.removesuffix("s")):
        if candidate in _NAMES:
            return _NAMES[candidate]
    return low.removesuffix("s") if len(name) > 3 else name
