"""Computes the canonical words of a question, which ignore changes of names, variables and numerals.

Different problems may have the same words: ``x + y`` and ``x + x``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from prorl_datasets.text.words import question_words

PLACEHOLDER = "zzz"
"""Placeholder for every name and variable."""

_NAME = re.compile(
    r"(?<![\\\w])(?:[A-Za-z]\w*(?=\()|[A-Za-z]+_(?:\w+|\{\w+\})|[a-z]+[A-Z]\w*"
    r"|[A-Z]{2,5}(?!\w)|[A-Z][a-z]+(?!\w))"
)
"""Matches a name: a called function, a subscript or inner underscore, camel case, capitals, or a capitalised word."""

_SIGNATURE = re.compile(r"\bdef\s+\w+\s*\(([^()]{0,400})\)")
_ARGUMENT = re.compile(r"(?:^|,)\s*\**([A-Za-z]\w*)")

_OPENERS = (
    "a an the if in on at to of for by as and or but so how what when where which who whose why "
    "is are was were be do does did has have had can let given find compute determine evaluate "
    "suppose each every all some there then now after before it its he they his her their him we "
    "you i this that these those no not with from consider prove show write return calculate "
    "express simplify solve assume since because while during both between more most many much "
    "only also next last your our my question answer note hint figure she until once "
    "please put think present remember give python "
    "one two three four five six seven eight nine ten eleven twelve first second third"
)
"""Words that begin sentences and are not names although capitalised."""
_FUNCTIONS = (
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp sqrt abs max min "
    "gcd lcm lim mod floor ceil det"
)
_NOT_NAMES = frozenset(f"{_OPENERS} {_FUNCTIONS}".split())

_UNDER_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = {word: number for number, word in enumerate(_UNDER_TWENTY.split())}
_TENS = {word: 10 * number for number, word in enumerate(_ROUND.split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_MAX_NUMBER = 10**15
"""Upper bound of numbers read from words."""

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron rho sigma tau "
    "upsilon phi chi psi omega ell"
)
_LETTERS = frozenset(_GREEK.split())
_UNITS = {
    "km": "kilometer kilometers kilometre kilometres",
    "cm": "centimeter centimeters centimetre centimetres",
    "mm": "millimeter millimeters millimetre millimetres",
    "m": "meter meters metre metres",
    "ft": "foot feet",
    "in": "inch inches",
    "mi": "mile miles",
    "h": "hour hours hr hrs",
    "min": "minute minutes mins",
    "s": "second seconds sec secs",
    "kg": "kilogram kilograms kgs",
    "g": "gram grams",
    "lb": "pound pounds lbs",
    "oz": "ounce ounces",
    "l": "liter liters litre litres",
}
_TWO_LETTERS = (
    "of is in to if at by on an as be it or so no we he my do us me up go am ln lg pi "
    "km cm mm ft mi kg lb oz"
)
_SHORT_WORDS = frozenset(_TWO_LETTERS.split())
"""Two-letter words that are not a product of two variables."""

_SILENT = (
    "the an dollar dollars usd percent degree degrees times multiplied divided equals equal "
    "rfloor rceil st nd rd th"
)
_PARTS = (
    "third thirds|fourth fourths|fifth fifths|sixth sixths|seventh sevenths|eighth eighths|"
    "ninth ninths|tenth tenths"
)
_SPELT: dict[str, str] = {
    **{word: unit for unit, spelt in _UNITS.items() for word in spelt.split()},
    **dict.fromkeys(_SILENT.split(), ""),
    **{word: str(n) for n, both in enumerate(_PARTS.split("|"), 3) for word in both.split()},
    **dict.fromkeys(("she", "they"), "he"),
    **dict.fromkeys(("her", "hers", "him", "their", "them"), "his"),
    **dict.fromkeys(("dbinom", "tbinom", "choose"), "binom"),
    "first": "1",
    "plus": "+",
    "minus": "-",
    "lfloor": "floor",
    "lceil": "ceil",
    "dozen": "12",
    "twice": "2",
    "double": "2",
    "triple": "3",
    "half": "1 2",
    "quarter": "1 4",
    "mph": "mi per h",
}
"""Maps a word to its canonical words, separated by spaces; "" if a sign may replace the word."""


def canonical_words(text: str, *, rename: bool = True) -> list[str]:
    """Return the words of ``text`` in a standard form, with ``zzz`` for names if ``rename``.

    ``Ann has 1,000.50 dollars`` gives ``zzz has 1000.5``.
    """
    words: list[str] = []
    number: _Number | None = None
    for word in question_words(_without_names(text) if rename else text):
        if number is not None:
            if number.takes(word):
                continue
            words += number.parts()
            number = None
        if word in _ONES or word in _TENS or word in _SCALES:
            number = _Number(word)
            if word in _SCALES and words and words[-1].isdigit() and len(words[-1]) < 10:
                number = _Number(word, int(words.pop()))
            continue
        words += _canonical(word)
    if number is not None:
        words += number.parts()
    return words


def numbers_in(words: Iterable[str]) -> set[str]:
    return {word for word in words if word[0].isdigit()}


def _without_names(text: str) -> str:
    if "def " in text:
        lists = _SIGNATURE.findall(text)
        arguments = {name for listing in lists for name in _ARGUMENT.findall(listing)}
        if arguments:
            text = re.sub(r"\w+", lambda m: " Q " if m[0] in arguments else m[0], text)
    # ``_canonical`` turns the capital into the placeholder
    return _NAME.sub(lambda name: name[0] if name[0].lower() in _NOT_NAMES else " Q ", text)


class _Number:
    """A number being parsed from words: ``two hundred (and) five thousand``."""

    def __init__(self, word: str, count: int = 1) -> None:
        self._high, self._low = 0, _ONES.get(word, _TENS.get(word, 0))
        self._and = False
        if word in _SCALES:
            self._low = count * _SCALES[word]

    def takes(self, word: str) -> bool:
        """Add ``word`` if it continues the number; return whether it was added."""
        if word in _ONES or word in _TENS:
            value = _ONES.get(word, _TENS.get(word, 0))
            tens = self._low % 100
            fits = (
                (tens in _TENS.values() and 0 < value < 10)
                or (self._low > 0 and tens == 0)
                or (self._low == 0 < self._high)
            )
            if fits:
                self._low += value
                self._and = False
            return fits
        if word in _SCALES:
            scale = _SCALES[word]
            fits = (
                not self._and and self._low > 0 and (self._high + self._low) * scale <= _MAX_NUMBER
            )
            if fits and scale == 100:
                self._low *= scale
            elif fits:
                self._high, self._low = self._high + self._low * scale, 0
            return fits
        fits = word == "and" and not self._and and (self._high + self._low) % 100 == 0
        self._and = self._and or fits
        return fits

    def parts(self) -> list[str]:
        number = str(self._high + self._low)
        return [number, "and"] if self._and else [number]


@lru_cache(maxsize=1 << 16)
def _canonical(word: str) -> tuple[str, ...]:
    if word in _SPELT:
        return tuple(part for spelt in _SPELT[word].split() for part in _plain(spelt))
    return _plain(word)


def _plain(word: str) -> tuple[str, ...]:
    if word[0].isdigit():
        whole, point, fraction = word.partition(".")
        if "." in fraction:  # such as 1.2.3
            return (word,)
        fraction = fraction.rstrip("0")
        return ((whole.lstrip("0") or "0") + (point + fraction if fraction else ""),)
    if word in _LETTERS or (word.isascii() and word.isalpha() and len(word) < 3):
        return (word,) if word in _SHORT_WORDS else (PLACEHOLDER,)
    return (word,)
