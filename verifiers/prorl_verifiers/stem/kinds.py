"""Parses calendar dates, directions and nuclides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

_MONTHS = """january february march april may june july august september october november december""".split()  # noqa: SIM905
_NAME = "(?P<month>" + "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS) + "|sept)"
_SPELLINGS = (
    re.compile(
        rf"{_NAME}\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})", re.IGNORECASE
    ),
    re.compile(
        rf"(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_NAME}\.?,?\s+(?P<year>\d{{4}})",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<year>\d{4})[-/.](?P<number>\d{1,2})[-/.](?P<day>\d{1,2})"),
)
_SLASHES = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})")
_WRAPPER = re.compile(r"\\(?:text|mathrm|mbox|textrm)\s*\{([^{}]*)\}")


def read_date(text: str) -> date | None:
    if len(text) > 100:
        return None
    text = " ".join(
        _WRAPPER.sub(r" \1 ", text).replace("\\", " ").replace("{,}", ",").strip(" .$").split()
    )
    slashes = _SLASHES.fullmatch(text)
    if slashes:
        first, second, year = map(int, slashes.groups())
        if (first > 12) == (second > 12) and first != second:
            return None
        day, month = (first, second) if first > 12 else (second, first)
        return _date(year, month, day)
    for spelling in _SPELLINGS:
        match = spelling.fullmatch(text)
        if match:
            parts = match.groupdict()
            if parts.get("number"):
                month = int(parts["number"])
            else:
                start = parts["month"].casefold()[:3]
                month = next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(start))
            return _date(int(parts["year"]), month, int(parts["day"]))
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


MAX_DIRECTED = 300
"""Maximum characters of a text that is searched for a direction."""

_ANGLE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:\^\s*\{?\s*\\circ\s*\}?|°|\\degree|degrees?\b|deg\b)")
_START = re.compile(
    r"[\s,;(]*(?:\\angle|∠|(?:,|\bat\b|\bin\b|\bto\b|\bdirected\b|\bpointing\b|\bdue\b|\btoward(?:s)?\b|(?<=\s)(?=-?\d+(?:\.\d+)?\s*(?:\^|°))"
    r"|(?=(?<!\\)\b(?:left|right|north|south|east|west|up|down|upwards?|downwards?|in(?:to|wards?)|out(?:wards?)?|clockwise|counter-?clockwise|anti-?clockwise"
    r"|(?:north|south)-?(?:east|west))\b))).*\Z",
    re.IGNORECASE | re.DOTALL,
)
_WORDS = {
    "left": "left", "right": "right", "north": "north", "south": "south", "east": "east", "west": "west", "n": "north",
    "s": "south", "e": "east", "w": "west", "up": "up", "upward": "up", "upwards": "up", "down": "down",
    "downward": "down", "downwards": "down", "inward": "in", "inwards": "in", "outward": "out", "outwards": "out",
    "clockwise": "clockwise", "counterclockwise": "counter", "counter-clockwise": "counter", "anticlockwise": "counter",
    "anti-clockwise": "counter", "above": "above", "below": "below", "horizontal": "horizontal", "vertical": "vertical",
    "negative": "negative", "northeast": "north east", "northwest": "north west", "southeast": "south east",
    "southwest": "south west", "north-east": "north east", "north-west": "north west", "south-east": "south east",
    "south-west": "south west", "into": "in", "out": "out",
}  # fmt: skip
_FILLER = frozenset(
    """of the to at an angle in direction due from axis x y z x-axis y-axis with toward towards directed pointing positive
    and page plane measured is""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction. ``angle``: degrees, negative below the horizontal, or "". ``words``: such as "north"."""

    angle: str
    words: tuple[str, ...]


def split_direction(text: str) -> tuple[str, Direction] | None:
    """Split a text into the part before its final direction and the direction, or return None."""
    if len(text) > MAX_DIRECTED:
        return None
    plain = re.sub(r"\\[,;:!](?!\s*\d)", " ", _WRAPPER.sub(r" \1 ", text))
    match = _START.search(plain)
    while match is not None and match.start() > 0:
        direction = _read_direction(match.group())
        if direction is not None:
            return plain[: match.start()].rstrip(" ,;\\~$"), direction
        match = _START.search(plain, match.start() + 1)
    return None


def same_direction(gold: Direction, answer: Direction) -> bool:
    """Return whether two directions agree. Angles may differ by half a unit of the gold's last digit.

    If both have an angle, one of the two may lack words.
    """
    if bool(gold.angle) != bool(answer.angle):
        return False
    if gold.angle:
        places = len(gold.angle.partition(".")[2])
        if abs(float(gold.angle) - float(answer.angle)) > 0.5 * 10.0**-places:
            return False
    return gold.words == answer.words or (bool(gold.angle) and not (gold.words and answer.words))


def _read_direction(text: str) -> Direction | None:
    angle = _ANGLE.search(text)
    remainder = _ANGLE.sub(" ", text, count=1)
    if _ANGLE.search(remainder):
        return None
    remainder = re.sub(r"\\angle|\\[,;:! ]|[∠,;()$~{}.]|\+(?=\s*x)", " ", remainder)
    words: list[str] = []
    for word in remainder.split():
        if word.casefold() in _WORDS and (len(word) > 1 or angle):
            words += _WORDS[word.casefold()].split()
        elif word.casefold() not in _FILLER:
            return None
    if len(words) > 1 and "horizontal" in words:
        words.remove("horizontal")
    degrees = angle.group(1) if angle else ""
    if degrees and words in (["above"], ["below"]):
        degrees = "-" * (words == ["below"]) + degrees.removeprefix("-")
        words = []
    return Direction(degrees, tuple(words)) if degrees or words else None


MAX_NUCLIDE = 100
_ELEMENTS = """H hydrogen He helium Li lithium Be beryllium B boron C carbon N nitrogen O oxygen F fluorine Ne neon Na sodium
Mg magnesium Al aluminum Si silicon P phosphorus S sulfur Cl chlorine Ar argon K potassium Ca calcium Sc scandium Ti titanium V vanadium
Cr chromium Mn manganese Fe iron Co cobalt Ni nickel Cu copper Zn zinc Ga gallium Ge germanium As arsenic Se selenium Br bromine Kr krypton
Rb rubidium Sr strontium Y yttrium Zr zirconium Nb niobium Mo molybdenum Tc technetium Ru ruthenium Rh rhodium Pd palladium Ag silver
Cd cadmium In indium Sn tin Sb antimony Te tellurium I iodine Xe xenon Cs cesium Ba barium La lanthanum Ce cerium Pr praseodymium
Nd neodymium Pm promethium Sm samarium Eu europium Gd gadolinium Tb terbium Dy dysprosium Ho holmium Er erbium Tm thulium Yb ytterbium
Lu lutetium Hf hafnium Ta tantalum W tungsten Re rhenium Os osmium Ir iridium Pt platinum Au gold Hg mercury Tl thallium Pb lead Bi bismuth
Po polonium At astatine Rn radon Fr francium Ra radium Ac actinium Th thorium Pa protactinium U uranium Np neptunium Pu plutonium
Am americium Cm curium Bk berkelium Cf californium Es einsteinium Fm fermium Md mendelevium No nobelium Lr lawrencium Rf rutherfordium
Db dubnium Sg seaborgium Bh bohrium Hs hassium Mt meitnerium Ds darmstadtium Rg roentgenium Cn copernicium Nh nihonium Fl flerovium
Mc moscovium Lv livermorium Ts tennessine Og oganesson""".split()  # noqa: SIM905
NUMBERS = {symbol: at + 1 for at, symbol in enumerate(_ELEMENTS[::2])}
"""Atomic numbers by symbol."""
_SYMBOLS = {
    **{name: symbol for symbol, name in zip(_ELEMENTS[::2], _ELEMENTS[1::2], strict=True)},
    "aluminium": "Al", "caesium": "Cs", "sulphur": "S",
}  # fmt: skip
FONT_COMMAND = re.compile(
    r"\\(?:ce|text|textrm|mathrm|mathbf|textbf|mbox|rm|operatorname)(?![A-Za-z])"
)
_HIGH = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RAISED, _LOWERED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+"), re.compile(r"[₀₁₂₃₄₅₆₇₈₉]+")
_SCRIPTS = re.compile(
    r"(?:\^(?P<m1>\d{1,3}m?)(?:_(?P<z1>\d{1,3}))?|_(?P<z2>\d{1,3})\^(?P<m2>\d{1,3}m?))(?P<symbol>[A-Z][a-z]?)"
)
_HYPHEN = re.compile(r"(?P<symbol>[A-Za-z]{1,13})-(?P<m1>\d{1,3}m?)")


@dataclass(frozen=True, slots=True)
class Nuclide:
    """An element's symbol and a mass number. The mass number of an excited state ends with ``m``: ``99m``."""

    symbol: str
    mass: str


def read_nuclide(text: str) -> Nuclide | None:
    """Parse a nuclide, or return None for other texts or a wrong atomic number."""
    if len(text) > MAX_NUCLIDE:
        return None
    text = _RAISED.sub(lambda run: "^" + run.group().translate(_HIGH), text)
    text = _LOWERED.sub(lambda run: "_" + run.group().translate(_LOW), text)
    plain = re.sub(r"[\s${}]", "", FONT_COMMAND.sub("", text).replace(r"\,", "").replace("–", "-"))
    match = _SCRIPTS.fullmatch(plain) or _HYPHEN.fullmatch(plain)
    if match is None:
        return None
    parts = match.groupdict()
    name = parts["symbol"]
    symbol = name if name in NUMBERS else _SYMBOLS.get(name.casefold(), "")
    number = parts.get("z1") or parts.get("z2")
    if not symbol or (number and int(number) != NUMBERS[symbol]):
        return None
    return Nuclide(symbol, parts.get("m1") or parts.get("m2") or "")
