"""The changes that probes of the text engine are made with: each turns a question into a copy of it.

A change gets the text and a random generator and returns None where it does not apply. Written apart
from the engine's own tables (synonyms, numerals, units), so that a probe is not the rule turned round.
Leaves out which questions are changed (``decontamination_probes``).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Change = Callable[[str, random.Random], "str | None"]

SUFFIX = " Let's think step by step and output the final answer within \\boxed{}."
CHINESE = "\n请逐步推理,并把最终答案放在 \\boxed{} 中。"
_FRONT = (
    "Here is a problem from my notebook.",
    "My teacher wants the whole working for this.",
    "You are a careful tutor.",
    "Try the next exercise without a calculator!",
)
_BEHIND = (
    "Explain every step of your reasoning.",
    "Give a short answer first.",
    "I have to hand this in tomorrow.",
    "Do not use a computer.",
)
_MATH = re.compile(
    r"(?<!\\)\$(?![^$]*[a-z]{4,} [a-z]{2,} )[^$]*(?<!\\)\$|\\\(.*?\\\)|\\\[.*?\\\]", re.DOTALL
)
"""A formula, and no prose between two prices."""
_VARIABLE = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])")
_LETTERS = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{1,3}(?![A-Za-z])")
_PEOPLE = "Amara Bogdan Chidi Dagny Emre Farah Goran Hikari Ines Joaquin Katya Luka Mireille Nnedi"
_ROUND = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_LOOKALIKE = str.maketrans("aeopcxyiAEOPCHKMTX", "аеорсхуіАЕОРСНКМТХ")
_UNITS = {
    "feet": "ft",
    "inches": "in",
    "miles": "mi",
    "hours": "hrs",
    "minutes": "mins",
    "seconds": "sec",
    "meters": "m",
    "centimeters": "cm",
    "kilometers": "km",
    "pounds": "lbs",
    "ounces": "oz",
    "percent": "%",
}
_SYNONYMS = {
    "find": "work out",
    "compute": "calculate",
    "determine": "find out",
    "evaluate": "compute",
    "suppose": "assume",
    "how many": "what number of",
    "total": "overall",
    "each": "every",
    "buys": "purchases",
    "gives": "hands",
    "makes": "earns",
    "return": "give back",
    "returns": "gives back",
    "list": "sequence",
    "given": "provided",
    "function": "routine",
    "number": "count",
    "numbers": "values",
    "string": "text",
    "largest": "biggest",
    "smallest": "least",
    "such that": "so that",
    "also": "in addition",
    "write": "compose",
}


def case_and_punctuation(text: str, rng: random.Random) -> str:
    """Random case of whole words, other punctuation; commands of LaTeX stay."""
    turn = (str.upper, str.lower, str.capitalize)
    text = re.sub(r"(?<![\\A-Za-z])[A-Za-z]{2,}", lambda m: rng.choice(turn)(m[0]), text)
    return re.sub(r"[.?!;](\s|$)", lambda m: rng.choice(["...", "!", " ?", ""]) + m[1], text)


def whitespace(text: str, rng: random.Random) -> str:
    """Line breaks, tabs and double blanks for blanks."""
    return re.sub(r" +", lambda _: rng.choice([" ", "  ", "\n", "\t", "\u00a0"]), text)


def latex(text: str, rng: random.Random) -> str | None:
    r"""\( \) for $, \dfrac for \frac, \leq for \le, \left( for (, thin spaces."""
    if "$" not in text and "\\" not in text:
        return None
    text = re.sub(r"(?<!\$)\$([^$]+)\$(?!\$)", r"\\(\1\\)", text).replace("\\frac", "\\dfrac")
    text = re.sub(r"\\(le|ge)(?![a-z])", r"\\\1q", text).replace("\\cdot", "\\times")
    return re.sub(r"([=+,])", r"\\, \1 ", text)


def lookalikes(text: str, rng: random.Random) -> str:
    """A fifth of the letters as Cyrillic ones that print alike, and zero-width blanks."""
    turned = [c.translate(_LOOKALIKE) if rng.random() < 0.2 else c for c in text]
    return "".join(c + "\u200b" if rng.random() < 0.05 and c.isalpha() else c for c in turned)


def _in_math(text: str, change: Callable[[str], str]) -> str:
    return _MATH.sub(lambda m: change(m[0]), text)


def variables(text: str, rng: random.Random) -> str | None:
    """Single letters of formulas renamed, each to another letter."""
    return _renamed_letters(text, rng, _VARIABLE)


def all_letters(text: str, rng: random.Random) -> str | None:
    """Products and points too: ``xy`` and ``ABC`` become ``tu`` and ``PQR``."""
    return _renamed_letters(text, rng, _LETTERS)


def _renamed_letters(text: str, rng: random.Random, pattern: re.Pattern[str]) -> str | None:
    used = {c for part in _MATH.findall(text) for found in pattern.findall(part) for c in found}
    small = [c for c in "abcdghkmnpqrstuvwxyz" if c not in used]
    capital = [c.upper() for c in "abcdghkmnpqrstuvwxyz" if c.upper() not in used]
    lower, upper = sorted(filter(str.islower, used)), sorted(filter(str.isupper, used))
    if not used or len(lower) > len(small) or len(upper) > len(capital):
        return None
    names = dict(zip(lower, rng.sample(small, len(lower)), strict=True))
    names |= dict(zip(upper, rng.sample(capital, len(upper)), strict=True))
    other = _in_math(
        text, lambda part: pattern.sub(lambda m: "".join(names.get(c, c) for c in m[0]), part)
    )
    return None if other == text else other


def people(text: str, rng: random.Random) -> str | None:
    """Capitalised words that also stand inside a sentence, renamed everywhere."""
    found = sorted(set(re.findall(r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b", _MATH.sub("", text))))
    if not found or len(found) > 14:
        return None
    names = dict(zip(found, rng.sample(_PEOPLE.split(), len(found)), strict=True))
    return re.sub(r"\b[A-Z][a-z]{2,}\b", lambda m: names.get(m[0], m[0]), text)


def numerals(text: str, rng: random.Random) -> str | None:
    """Small numbers spelt, spelt ones in digits, thousands grouped, ``5`` as ``5.0``."""

    def other(match: re.Match[str]) -> str:
        value = int(match[0])
        if len(match[0]) > 3:
            return f"{value:,}"
        if rng.random() < 0.4 or value > 99:
            return f"{value}.0"
        if value < 20:
            return _SMALL.split()[value]
        ending = f"-{_SMALL.split()[value % 10]}" if value % 10 else ""
        return _ROUND.split()[value // 10] + ending

    plain = re.sub(
        r"(?<![\w.^_{\\])\d{1,8}(?![\w.,}])",
        other,
        _MATH.sub(lambda m: m[0].replace("$", "$ "), text),
    )
    spelt = {word: str(number) for number, word in enumerate(_SMALL.split()) if number > 1}
    plain = re.sub(
        r"\b[a-z]+\b", lambda m: spelt.get(m[0], m[0]) if m[0] in _words(text) else m[0], plain
    )
    return None if plain.replace("$ ", "$") == text else plain


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text))


def units(text: str, rng: random.Random) -> str | None:
    """Units shortened, ``$5`` as ``5 dollars``, ``5%`` as ``5 percent``."""
    other = re.sub(r"\$(\d+(?:\.\d+)?)(?![^$]*\$)", r"\1 dollars", text)
    other = re.sub(r"(\d) ?\\?%", r"\1 percent", other) if "percent" not in text else other
    other = (
        re.sub(r"\b[a-z]+\b", lambda m: _UNITS.get(m[0], m[0]), other)
        if "percent" not in other
        else other
    )
    return None if other == text else other


def in_front(text: str, rng: random.Random) -> str:
    """A sentence in front."""
    return f"{rng.choice(_FRONT)} {text}"


def behind(text: str, rng: random.Random) -> str:
    """A sentence behind."""
    return f"{text} {rng.choice(_BEHIND)}"


def both_sides(text: str, rng: random.Random) -> str:
    """A sentence on both sides."""
    return in_front(behind(text, rng), rng)


def reordered(text: str, rng: random.Random) -> str | None:
    """Three sentences or more in another order."""
    parts = re.split(r"(?<=[.?!])\s+", text)
    if len(parts) < 3:
        return None
    order = list(range(len(parts)))
    while order == sorted(order):
        rng.shuffle(order)
    return " ".join(parts[i] for i in order)


def one_number(text: str, rng: random.Random) -> str | None:
    """One number changed."""
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return None
    one = rng.choice(numbers)
    return f"{text[: one.start()]}{int(one[0]) + rng.randint(1, 9)}{text[one.end() :]}"


def all_numbers(text: str, rng: random.Random) -> str | None:
    """All numbers changed."""
    if not re.search(r"\d", text):
        return None
    return re.sub(r"\d{1,9}", lambda m: str(int(m[0]) + rng.randint(1, 9)), text)


def thinned(text: str, rng: random.Random) -> str:
    """A tenth of the words deleted, at least one."""
    parts = re.split(r"(\s+)", text)
    words = range(0, len(parts), 2)
    for place in rng.sample(words, max(1, len(words) // 10)):
        parts[place] = ""
    return "".join(parts)


def first_half(text: str, rng: random.Random) -> str:
    """The first half of the words."""
    words = text.split(" ")
    return " ".join(words[: (len(words) + 1) // 2])


def last_half(text: str, rng: random.Random) -> str:
    """The second half of the words."""
    words = text.split(" ")
    return " ".join(words[len(words) // 2 :])


def synonyms(text: str, rng: random.Random) -> str | None:
    """Words of a short table by others that mean the same."""
    other = text
    for word, same in _SYNONYMS.items():
        other = re.sub(rf"\b{word}\b", same, other)
        other = re.sub(rf"\b{word.capitalize()}\b", same.capitalize(), other)
    return None if other == text else other


def identifiers(text: str, rng: random.Random) -> str | None:
    """Names of functions and arguments in a Python signature renamed everywhere."""
    found = re.search(r"def (\w+)\(([^)]*)\)", text)
    if found is None:
        return None
    arguments = [a.split(":")[0].split("=")[0].strip(" *") for a in found[2].split(",")]
    names = [found[1], *(a for a in arguments if a and a != "self")]
    other = {name: f"{rng.choice('fghpqrst')}{i}_value" for i, name in enumerate(names)}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: other.get(m[0], m[0]), text)


def then(*changes: Change) -> Change:
    """Return one change after the other; None where one does not apply."""

    def all_of(text: str, rng: random.Random) -> str | None:
        for change in changes:
            found = change(text, rng)
            if found is None:
                return None
            text = found
        return text

    return all_of


CHANGES: dict[str, Change] = {
    "verbatim": lambda text, rng: text,
    "case and punctuation": case_and_punctuation,
    "white space": whitespace,
    "LaTeX respelt": latex,
    "Unicode lookalikes": lookalikes,
    "ProRL's suffix": lambda text, rng: text + SUFFIX,
    "a Chinese suffix": lambda text, rng: text + CHINESE,
    "a sentence in front": in_front,
    "a sentence behind": behind,
    "sentences reordered": reordered,
    "variables renamed": variables,
    "variables, products, points renamed": all_letters,
    "people renamed": people,
    "numerals respelt": numerals,
    "units respelt": units,
    "code identifiers renamed": identifiers,
    "variables renamed, sentences around": then(all_letters, both_sides),
    "people renamed, numerals respelt": then(people, numerals),
    "variables renamed, 10% of words deleted": then(all_letters, thinned),
    "one number changed": one_number,
    "all numbers changed": all_numbers,
    "10% of words deleted": thinned,
    "words by synonyms": synonyms,
    "first half only": first_half,
    "second half only": last_half,
}
"""Each probe kind that needs nothing but the question."""
