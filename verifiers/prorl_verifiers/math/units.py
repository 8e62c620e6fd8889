"""Units in math answers, and exact conversion factors between common units."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

from prorl_verifiers.notation.quantities import unit_powers
from prorl_verifiers.notation.unit_text import PREFIXED

_TABLE = {
    "length": "m 1 meter 1 metre 1 cm 1/100 centimeter 1/100 centimetre 1/100 mm 1/1000 millimeter 1/1000 "
    "millimetre 1/1000 km 1000 kilometer 1000 kilometre 1000 in 0.0254 inch 0.0254 inche 0.0254 ft 0.3048 "
    "foot 0.3048 feet 0.3048 yd 0.9144 yard 0.9144 mi 1609.344 mile 1609.344 dm 1/10",
    "mass": "g 1 gram 1 kg 1000 kilogram 1000 mg 1/1000 milligram 1/1000 lb 453.59237 lbs 453.59237 "
    "pound 453.59237 oz 28.349523125 ounce 28.349523125 ton 1000000 tonne 1000000",
    "time": "s 1 sec 1 second 1 min 60 minute 60 h 3600 hr 3600 hour 3600 day 86400 week 604800",
    "money": "dollar 1 cent 1/100 usd 1",
    "euro": "euro 1 eur 1",
    "yen": "yen 1 jpy 1",
    "rupee": "rupee 1 inr 1",
    "calendar": "month 1 year 12 yr 12 decade 120 century 1200",
    "volume": "L 1/1000 l 1/1000 liter 1/1000 litre 1/1000 ml 1/1000000 mL 1/1000000 milliliter 1/1000000 "
    "millilitre 1/1000000",
}


@cache
def _factors() -> dict[str, tuple[str, Fraction]]:
    table = {}
    for dimension, text in _TABLE.items():
        words = text.split()
        for name, factor in zip(words[::2], words[1::2], strict=True):
            table[name] = (dimension, Fraction(factor))
    return table


_BARE = frozenset(
    """cm mm km dm ft yd mi kg mg lb lbs oz sec min hr hrs ml mL mph km/h kmh day days cents USD EUR JPY INR men box car cat
    dog pen hat bag egg can jar cup pie bus cow pig hen toy kid set bar key map row van nut pot yen gal qt pt pct
    """.split()  # noqa: SIM905
)
_DESCRIBES = frozenset(
    """is are was were be will would can could must should has have had does do who which that where when while if because
    since as so for from on at by with without than and or to into out per""".split()  # noqa: SIM905
)
"""Words that end the name of a counted noun."""
_FILLERS = frozenset("a an the of in total altogether all only exactly".split())  # noqa: SIM905
_LINKS = frozenset(["is", "are", "be", "must", "integer", "number"])
_RESTRICTS = re.compile(
    r"(?<![a-z])(?:odd|even|prime|composite|integers?|whole|rational)(?![a-z])", re.IGNORECASE
)
_IRREGULAR = {
    "people": "person", "persons": "person", "children": "child", "men": "man", "women": "woman", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "geese": "goose", "dice": "die", "knives": "knife", "leaves": "leaf",
    "loaves": "loaf", "halves": "half", "shelves": "shelf", "wolves": "wolf",
}  # fmt: skip
_SQUARE = re.compile(r"\b(?:square|sq\.?)\s+([A-Za-z]+)", re.IGNORECASE)
_CUBIC = re.compile(r"\b(?:cubic|cu\.?)\s+([A-Za-z]+)", re.IGNORECASE)


def is_bare_unit(word: str) -> bool:
    return word in _BARE or len(word) >= 4


def unit_words(text: str) -> str:
    """Return the words of a text that name a unit or counted noun: ``apples`` of ``apples in all``."""
    words: list[str] = []
    for word in re.split(r"[^\w/^]+", text):
        if word.casefold() in _DESCRIBES and not (word == "per" and words):
            break
        words.append(word)
    return " ".join(words).strip()


def nouns(unit: str) -> frozenset[str]:
    """Return the words of a counted noun in the singular: {"red", "marble"} for ``red marbles``."""
    words = re.findall(r"[^\W\d_]+", unit_words(re.sub(r"\\[A-Za-z]+", " ", unit)).casefold())
    return frozenset(map(_singular, words)) - _FILLERS


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "ches", "shes", "zes", "oes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def same_count(unit: str, target: str) -> bool:
    """Return whether two texts name the same counted noun. ``marbles`` may stand for ``red marbles``."""
    rates = [re.search(r"/|\bper\b", text) is not None for text in (unit, target)]
    left, right = nouns(unit), nouns(target)
    if not left or not right:
        if _plain(unit) == _plain(target):
            return True
        if not left and not right:
            return False
        vague = unit if not left else target
        return not symbols_only(vague) and not restricts(vague)
    if rates[0] != rates[1] or {word for word in left ^ right if is_known(word)}:
        return False
    return left <= right or right <= left


def _plain(unit: str) -> frozenset[str]:
    """Return the words of a unit in the singular without filler words: {"odd"} for ``is odd``."""
    words = re.findall(r"[^\W\d_]+", re.sub(r"\\[A-Za-z]+", " ", unit).casefold())
    return frozenset(map(_singular, words)) - _FILLERS - _LINKS


def restricts(unit: str) -> bool:
    """Return whether words after a value restrict it, such as ``for odd n``."""
    return _RESTRICTS.search(unit) is not None


def powers(unit: str) -> dict[str, int]:
    """Return a unit as {name: power}: ``square cm`` and ``cm^2`` are {"cm": 2}."""
    text = _CUBIC.sub(r"\1^3", _SQUARE.sub(r"\1^2", unit.strip(" .")))
    names = unit_powers(text)
    return {"L" if name == "l" else name: power for name, power in names.items()}


def ratio(unit: str, target: str) -> Fraction | None:
    """Return the factor that converts ``unit`` to ``target``, or None if it is unknown."""
    left, right = powers(unit), powers(target)
    if left == right:
        return Fraction(1)
    first, second = _reduce(left), _reduce(right)
    if first is None or second is None or first[0] != second[0]:
        return None
    return first[1] / second[1]


def is_known(unit: str) -> bool:
    return any(name in _factors() or name.casefold() in _factors() for name in powers(unit))


def symbols_only(unit: str) -> bool:
    names = powers(unit)
    return bool(names) and all(
        name in _factors() or name.casefold() in _factors() or name in PREFIXED for name in names
    )


def differ(unit: str, target: str) -> bool:
    first, second = _reduce(powers(unit)), _reduce(powers(target))
    return first is not None and second is not None and first[0] != second[0]


def _reduce(parts: dict[str, int]) -> tuple[dict[str, int], Fraction] | None:
    """Return a unit as {dimension: power} and its factor, or None if it is unknown."""
    dimensions: dict[str, int] = {}
    factor = Fraction(1)
    for name, power in parts.items():
        entry = _factors().get(name) or _factors().get(name.casefold())
        if entry is None or abs(power) > 9:
            return None
        dimension, times = entry[0], power
        if dimension == "volume":
            dimension, times = "length", 3 * power
        dimensions[dimension] = dimensions.get(dimension, 0) + times
        factor *= entry[1] ** power
    return {name: power for name, power in dimensions.items() if power}, factor
