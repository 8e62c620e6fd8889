"""Parses units in the notations that people use."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

PREFIX_MACROS = {
    "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "hecto": "h", "deca": "da", "deci": "d",
    "centi": "c", "milli": "m", "micro": "µ", "nano": "n", "pico": "p", "femto": "f", "atto": "a",
}  # fmt: skip
"""Symbols by siunitx prefix macro."""

_UNITS = {
    "meter": "m", "metre": "m", "second": "s", "gram": "g", "kilogram": "kg", "ampere": "A", "kelvin": "K",
    "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa", "joule": "J", "watt": "W",
    "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω", "siemens": "S", "weber": "Wb", "tesla": "T",
    "henry": "H", "celsius": "degC", "degreeCelsius": "degC", "degree": "deg", "radian": "rad", "minute": "min",
    "hour": "h", "day": "day", "liter": "L", "litre": "L", "electronvolt": "eV", "bar": "bar", "dalton": "Da",
    "percent": "%", "arcsecond": "arcsec", "arcminute": "arcmin", "lumen": "lm", "lux": "lx", "becquerel": "Bq",
    "gray": "Gy", "sievert": "Sv", "tonne": "t", "Hz": "Hz", "eV": "eV", "pi": "pi", "m": "m", "s": "s",
    "kg": "kg", "nm": "nm", "cm": "cm", "mm": "mm", "km": "km", "J": "J", "kJ": "kJ", "N": "N", "V": "V",
    "A": "A", "W": "W", "K": "K", "mol": "mol", "hbar": "hbar", "deg": "deg",
}  # fmt: skip
UNIT_MACROS: dict[str, tuple[str, str]] = {
    **{macro: ("name", symbol) for macro, symbol in _UNITS.items() if macro not in ("pi", "hbar")},
    "per": ("per", ""),
    "squared": ("power", "2"), "cubed": ("power", "3"), "square": ("before", "2"), "cubic": ("before", "3"),
    "cdot": ("mul", ""), "times": ("mul", ""), "ast": ("mul", ""), "bullet": ("mul", ""), "cdotp": ("mul", ""),
    "slash": ("div", ""),
}  # fmt: skip
"""Tokens (kind, text) by LaTeX macro."""

ALIASES = {
    "sec": "s", "secs": "s", "Sec": "s", "hr": "h", "hrs": "h", "mins": "min", "lbs": "lb", "yrs": "yr", "kgs": "kg",
    "gm": "g", "gms": "g", "cms": "cm", "kms": "km", "mols": "mol", "amp": "A", "amps": "A", "Amp": "A", "KJ": "kJ",
    "Kg": "kg", "KG": "kg", "Kj": "kJ", "KPa": "kPa", "kpa": "kPa", "Kpa": "kPa", "Mpa": "MPa", "hz": "Hz",
    "ev": "eV", "kev": "keV", "Kev": "keV", "KeV": "keV", "Mev": "MeV", "Gev": "GeV", "kw": "kW", "KW": "kW",
    "Kw": "kW", "KHz": "kHz", "Khz": "kHz", "khz": "kHz", "Mhz": "MHz", "cc": "cm³", "l": "L", "ml": "mL",
    "℥": "oz", "Watt": "W", "micron": "µm", "microns": "µm", "Ohm": "Ω", "ohms": "Ω", "Ohms": "Ω", "ohm": "Ω",
    "sq": "sq", "Kcal": "kcal", "kCal": "kcal", "Cal": "kcal", "ATM": "atm", "Torr": "torr", "KV": "kV", "Kn": "kN",
    "AU": "astronomical_unit", "au": "astronomical_unit", "a.u.": "au", "ly": "light_year", "lyr": "light_year",
    "Volt": "V", "pct": "%", "percent": "%", "perc": "%", "Molar": "M", "nt": "N", "Nt": "N",
    "KN": "kN", "kn": "kN", "Mol": "mol", "Hg": "Hg", "rev": "turn", "revs": "turn", "revolution": "turn",
    "revolutions": "turn", "cycle": "turn", "cycles": "turn", "rot": "turn", "rotations": "turn", "rotation": "turn",
    "lbm": "lb", "degrees": "deg", "degree": "deg", "Degrees": "deg", "radians": "rad", "radian": "rad",
    "Kelvin": "K", "kelvin": "K", "kelvins": "K", "Kelvins": "K", "Celsius": "degC", "celsius": "degC",
    "Fahrenheit": "degF", "fahrenheit": "degF", "centigrade": "degC", "Angstrom": "Å", "angstrom": "Å",
    "Angstroms": "Å", "angstroms": "Å", "mcg": "µg", "um": "µm", "us": "µs", "uL": "µL", "ul": "µL", "ug": "µg",
    "uC": "µC", "uF": "µF", "uA": "µA", "uV": "µV", "uJ": "µJ", "uN": "µN", "uT": "µT", "uM": "µM", "uH": "µH",
    "degK": "K", "$": "dollar", "dollars": "dollar", "cents": "cent", "Da": "Da", "amu": "amu", "fps": "fps",
}  # fmt: skip
"""Canonical names by alternative spelling."""

SYMBOLS = tuple(
    sorted(
        """m s g kg J kJ MJ mJ K mol kmol mmol N kN mN Pa kPa MPa W kW MW V A mA C T Hz L mL eV keV MeV cm mm km dm nm fm h
        min rad sr ft lb lbf in bar atm cal kcal cd Wb F H S Ω µC nC µF µA ms µs mg µg""".split(),  # noqa: SIM905
        key=lambda symbol: -len(symbol),
    )
)
"""Symbols that may be written together (``JK``, ``Nm``), longest first."""

PREFIXED = frozenset(
    prefix + symbol
    for prefix in ("", "d", "c", "m", "µ", "n", "p", "f", "a", "h", "k", "M", "G", "T", "P")
    for symbol in (
        "m", "g", "s", "A", "K", "mol", "cd", "Hz", "N", "Pa", "J", "W", "C", "V", "F", "S", "Wb", "T", "H", "L", "eV",
        "bar", "cal", "Da", "M", "Bq", "Gy", "Sv", "lm", "lx", "rad", "yr", "pc", "Wh", "B", "b", "u", "D",
    )
) | frozenset("atm torr mmHg cmHg inHg psi amu day mi yd hp kat gal lb oz ft in ha".split())  # fmt: skip  # noqa: SIM905
"""Symbols that are one unit, although two shorter symbols would fit (``mW``, ``cd``, ``nm``)."""

COUNTED = frozenset(
    """photon electron proton neutron atom molecule ion particle nucleus nucleon person people cell item piece unit object
    student car ball event count decay disintegration charge carrier bond site quantum fission neutrino muon quanta nuclei trial""".split()  # noqa: SIM905
)
"""Counted nouns, which have the size 1 and may be omitted: ``J/electron`` equals ``J``."""

TEMPERATURES = {
    "degC": "degC",
    "degF": "degF",
    "K": "K",
    "C": "degC",
    "F": "degF",
    "degR": "degR",
    "mK": "mK",
}
"""Temperature scales, by a unit that consists of this name only."""

_END = r"(?![A-Za-z])"
_START = r"(?<![A-Za-z\\])"
PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(_START + pattern + _END, re.IGNORECASE), name)
    for pattern, name in (
        (r"degrees?\s+(?:celsius|centigrade)|deg\.?\s+celsius", " degC "),
        (r"degrees?\s+fahrenheit|deg\.?\s+fahrenheit", " degF "),
        (r"degrees?\s+kelvin|deg\.?\s+kelvin", " K "),
        (r"(?-i:deg\s+C)", " degC "), (r"(?-i:deg\s+F)", " degF "),
        (r"mm\s*-?\s*Hg", " mmHg "), (r"cm\s*-?\s*Hg", " cmHg "), (r"in\.?\s*-?\s*Hg", " inHg "),
        (r"millimet(?:er|re)s?\s+of\s+mercury", " mmHg "),
        (r"light[\s-]*years?", " light_year "), (r"metric\s+tons?", " t "), (r"nautical\s+miles?", " nautical_mile "),
        (r"astronomical\s+units?", " astronomical_unit "), (r"atomic\s+mass\s+units?", " amu "),
        (r"electron[\s-]*volts?", " eV "), (r"(?:kilowatt|kW)[\s-]*hours?", " kWh "),
        (r"parts\s+per\s+million", " ppm "), (r"parts\s+per\s+billion", " ppb "),
        (r"revolutions\s+per\s+minute|rev\s*/\s*min", " rpm "), (r"miles\s+per\s+hour", " mph "),
        (r"pounds?[\s-]*force", " lbf "), (r"foot[\s-]*pounds?", " ft lbf "),
        (r"square", r" \\square "), (r"sq\.?(?=\s)", r" \\square "), (r"cubic", r" \\cubic "), (r"cu\.(?=\s)", r" \\cubic "),
        (r"squared", r" \\squared "), (r"cubed", r" \\cubed "),
    )
)  # fmt: skip
"""Patterns of phrases, each with the name or macro that replaces it."""


MAX_UNIT = 200

Powers = dict[str, Fraction]
_Token = tuple[str, str]
_SCALES = {("name", "C"): "degC", ("name", "F"): "degF", ("name", "K"): "K", ("name", "R"): "degR"}

_SIGNS = str.maketrans(
    {
        "−": "-", "–": "-", "‐": "-", "‑": "-", "·": "*", "⋅": "*", "•": "*", "∙": "*", "×": "*", "∕": "/", "⁄": "/",
        "\u03bc": "µ", "\u2126": "Ω", "\u212b": "Å", "\u212a": "K", "º": "°", "˚": "°", "$": " ",
        "\u00a0": " ", "\u202f": " ", "\u2009": " ", "℃": "°C", "℉": "°F",
    }
)  # fmt: skip
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED_RUN = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|rm|normal|up|it|sf)?|math(?:rm|bf|it|sf|normal)|mbox|rm|operatorname\*?|si|unit|ce|ensuremath"
    r"|boldsymbol|left|right|[bB]igg?[lr]?|displaystyle)(?![A-Za-z])"
)
_SPACE = re.compile(
    r"\\[,;:! ]|\\(?=\s)|\\q?quad(?![A-Za-z])|\\(?:thin|med|thick)?space(?![A-Za-z])|~|\s+"
)
_CIRCLE = r"(?:\\(?:circ|degree|textdegree|deg)(?:(?![A-Za-z])|(?=[CFKR](?![A-Za-z])))|°)"
_DEGREE = re.compile(rf"\^?\s*\{{\s*{_CIRCLE}\s*\}}|\^?\s*{_CIRCLE}")
_RING = re.compile(r"\\(?:mathring|r)\s*\{\s*A\s*\}|\\AA(?![A-Za-z])|\\angstrom(?![A-Za-z])")
_MU = re.compile(r"\\(?:text|up)?mu(?![A-Za-z])")
_OHM = re.compile(r"\\(?:text|up)?(?:Omega|ohm)(?![A-Za-z])")
_SUBSCRIPT = re.compile(r"_\{?(\d)\}?")
_OF = re.compile(r"(?<![A-Za-z\\])of(?![A-Za-z]).*", re.DOTALL)
_NUMBER = r"[+-]?\s*\d{1,2}(?:\.\d{1,2}|\s*/\s*\d{1,2})?"
_EXPONENT = re.compile(
    rf"\s*(?:\{{\s*\(\s*({_NUMBER})\s*\)\s*\}}|\{{\s*({_NUMBER})\s*\}}|\(\s*({_NUMBER})\s*\)|([+-]?\d{{1,2}}))"
)
_FRAC_EXPONENT = re.compile(
    r"\s*\{?\s*([+-]?)\s*\\[dt]?frac\s*\{\s*(\d)\s*\}\s*\{\s*(\d)\s*\}\s*\}?"
)
_TOKEN = re.compile(
    r"(?P<frac>\\[dtc]?frac(?![A-Za-z]))|(?P<root>\\sqrt(?![A-Za-z]))|(?P<macro>\\[A-Za-z]+)|(?P<power>\^|\*\*)"
    r"|(?P<glued>(?<=[A-Za-zµΩÅ])-?\d{1,2}(?![\d.A-Za-z]))|(?P<mul>\*|-(?=\s*[A-Za-zµΩÅ\\({])|\.(?=\s*[A-Za-z]))"
    r"|(?P<div>/)|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<one>1(?=\s*/))"
    r"|(?P<species>(?:[A-Z][a-z]?){0,4}[A-Z][a-z]?\d{1,2}(?:[A-Z][a-z]?\d{0,2}){0,6}(?![a-z]))"
    r"|(?P<name>[A-Za-zµΩÅ%‰]+(?:_(?:\{\\?[A-Za-z]{1,12}\}|\\?[A-Za-z]{1,12}))?)"
)
_SINGLE = frozenset({"H2", "O2", "N2", "F2", "Cl2", "Br2", "I2", "O3", "S8", "P4"})


@lru_cache(maxsize=4096)
def read_unit(text: str) -> tuple[tuple[tuple[str, Fraction], ...], ...]:
    """Return the possible readings of a unit, the most usual first, or () for invalid text.

    A reading is a sorted tuple of (name, power) pairs.
    """
    if len(text) > MAX_UNIT:
        return ()
    # Normalise signs, degree marks, spaces and words such as "square metres".
    text = text.translate(_SIGNS).replace(r"\%", "%")
    text = _RAISED_RUN.sub(lambda run: "^{" + run.group().translate(_RAISED) + "}", text)
    text = _OHM.sub("Ω", _MU.sub("µ", _RING.sub("Å", text)))
    text = _DEGREE.sub(" deg ", text)
    text = _SUBSCRIPT.sub(r"\1", _WRAPPER.sub(" ", _SPACE.sub(" ", text)))
    for pattern, name in PHRASES:
        text = pattern.sub(name, text)
    tokens = _tokens(_OF.sub("", text).strip())
    if tokens is None:
        return ()
    readings = []
    for wide in (True, False):
        powers = _Parser(tokens, wide).whole()
        if powers is not None:
            reading = tuple(sorted((name, power) for name, power in powers.items() if power))
            if reading not in readings:
                readings.append(reading)
    return tuple(readings)


def _tokens(text: str) -> list[_Token] | None:
    tokens: list[_Token] = []
    braces: list[tuple[bool, int]] = []
    place, due = 0, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if text[place] == " ":
            place += 1
            continue
        if match is None or match.lastgroup is None:
            return None
        kind, word, place = match.lastgroup, match.group(), match.end()
        if kind == "open":
            keep = word != "{" or due > 0
            braces.append((keep, max(due - 1, 0) if word == "{" and keep else due))
            tokens += [("open", "(")] if keep else []
            due = 0
        elif kind == "close":
            if not braces:
                return None
            keep, due = braces.pop()
            tokens += [("close", ")")] if keep else []
        elif kind in ("frac", "root"):
            due = 2 if kind == "frac" else 1
            tokens.append((kind, ""))
        else:
            read = _word(kind, word, text, place)
            if read is None:
                return None
            tokens.append(read[0])
            place = read[1]
    if braces or due:
        return None
    merged: list[_Token] = []
    for token in tokens:  # deg and a following C, F, K or R are one name
        if merged and merged[-1] == ("name", "deg") and token in _SCALES:
            merged[-1] = ("name", _SCALES[token])
        else:
            merged.append(token)
    return merged


def _exponent(text: str, place: int) -> tuple[Fraction, int] | None:
    match = _FRAC_EXPONENT.match(text, place)
    if match is not None:
        bottom = int(match.group(3))
        value = Fraction(int(match.group(1) + match.group(2)), bottom) if bottom else None
        return None if value is None else (value, match.end())
    match = _EXPONENT.match(text, place)
    if match is None:
        return None
    top, _, bottom_text = str(match[match.lastindex or 0]).replace(" ", "").partition("/")
    if bottom_text and int(bottom_text) == 0:
        return None
    return Fraction(top) / (int(bottom_text) if bottom_text else 1), match.end()


def _word(kind: str, text: str, whole: str, place: int) -> tuple[_Token, int] | None:
    if kind == "power":
        read = _exponent(whole, place)
        return None if read is None else (("power", str(read[0])), read[1])
    if kind == "glued":
        return ("power", text), place
    if kind == "macro":
        name = text[1:]
        if name in PREFIX_MACROS:
            return ("prefix", PREFIX_MACROS[name]), place
        return (UNIT_MACROS[name], place) if name in UNIT_MACROS else None
    if kind == "species":
        elements = sum(letter.isupper() for letter in text)
        if elements == 1 and text not in _SINGLE:
            name = text.rstrip("0123456789")
            return ("name", name), place - len(text) + len(name)
        return ("name", text), place
    if kind == "name" and text in ("per", "Per"):
        return ("per", ""), place
    return (("prefix", text) if text == "µ" else (kind, text)), place


def glued(name: str) -> list[str]:
    """Split joined unit symbols such as ``Jmol`` into two or three known ones, or return []."""
    if len(name) > 12 or name in ALIASES or name in SYMBOLS or name in PREFIXED:
        return []
    for symbol in SYMBOLS:
        tail = name.removeprefix(symbol)
        if tail == name:
            continue
        if tail in SYMBOLS or tail in PREFIXED:
            return [symbol, tail]
        for other in SYMBOLS:
            last = tail.removeprefix(other)
            if last != tail and last in SYMBOLS:
                return [symbol, other, last]
    return []


class _Parser:
    """A recursive-descent parser. If ``wide`` is set, everything after a slash belongs to the denominator."""

    def __init__(self, tokens: list[_Token], wide: bool) -> None:
        self.tokens, self.wide, self.place, self.depth = tokens, wide, 0, 0

    def whole(self) -> Powers | None:
        powers = self._product()
        return powers if powers is not None and self.place == len(self.tokens) else None

    def _peek(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def _product(self) -> Powers | None:
        self.depth += 1
        total: Powers = {}
        sign, square, pending = 1, 1, ""
        while self._peek() not in ("", "close"):
            kind, text = self.tokens[self.place]
            if kind in ("mul", "div", "per", "before"):
                self.place += 1
                doubled = pending in ("mul", "div") and kind in ("mul", "div")
                if doubled or (kind == "mul" and not total):
                    return None
                sign = -1 if kind in ("div", "per") else sign
                square = int(text) if kind == "before" else square
                pending = kind
                continue
            factor = self._factor()
            if factor is None:
                return None
            for name, power in factor.items():
                total[name] = total.get(name, Fraction(0)) + sign * square * power
            sign, square, pending = (sign if self.wide else 1), 1, ""
        self.depth -= 1
        return None if pending else total

    def _factor(self) -> Powers | None:
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "open":
            inner = self._product() if self.depth < 8 else None
            if inner is None or self._peek() != "close":
                return None
            self.place += 1
        elif kind == "frac":
            inner = self._fraction()
        elif kind == "root":
            inside = self._factor() if self._peek() == "open" else None
            inner = None if inside is None else {n: p / 2 for n, p in inside.items()}
        elif kind == "prefix":
            if self._peek() != "name":
                return None
            inner = {text + self.tokens[self.place][1]: Fraction(1)}
            self.place += 1
        elif kind == "name":
            return self._name(text)
        elif kind == "one":
            inner = {}
        else:
            return None
        power = self._exponent()
        return None if inner is None else {name: old * power for name, old in inner.items()}

    def _name(self, text: str) -> Powers:
        *before, last = glued(text) or [ALIASES.get(text, text)]
        powers = {last: self._exponent()}
        for name in before:
            powers[name] = powers.get(name, Fraction(0)) + 1
        return powers

    def _exponent(self) -> Fraction:
        if self._peek() != "power":
            return Fraction(1)
        self.place += 1
        return Fraction(self.tokens[self.place - 1][1])

    def _fraction(self) -> Powers | None:
        top = self._factor() if self._peek() == "open" else None
        bottom = self._factor() if top is not None and self._peek() == "open" else None
        if top is None or bottom is None:
            return None
        return {
            name: top.get(name, Fraction(0)) - bottom.get(name, Fraction(0))
            for name in {*top, *bottom}
        }
