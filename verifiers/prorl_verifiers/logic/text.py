"""Logic answers that are words, numbers or lists: exact comparison, and shares that count from a guess.

What is forgiven everywhere: white space, Unicode minus signs, thousands separators and trailing zeros of
numbers, the case of yes/no words. Partial credit is a share of right positions and begins where an answer
without knowledge ends (``beyond``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from prorl_verifiers.extract import strict_json
from prorl_verifiers.notation.latex_text import hedged

Entry = Mapping[str, Any]
Upstream = Callable[[], float]
"""Calls reasoning-gym's own scorer on the same answer; in [0, 1]."""

_EXPONENT = re.compile(r"\d[eE][+-]?\d")
PARTIAL = 0.9
"""The most that an answer which is not quite right can earn by a share of right positions."""
_CASELESS = frozenset("true false yes no on off undetermined".split())  # noqa: SIM905
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?", re.ASCII)
_MOST_DIGITS = 1000
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def plain(text: str) -> str:
    """Return ``text`` with one space between words, no blank lines at the ends, and plain minus signs."""
    lines = [" ".join(line.split()) for line in text.replace("\u2212", "-").split("\n")]
    return "\n".join(lines).strip()


def number(text: str) -> Decimal | None:
    """Return the decimal number that ``text`` is (``+01,000.50``), or None. No exponent, NaN or infinity."""
    text = text.replace("\u2212", "-").strip()
    if len(text) > _MOST_DIGITS or not re.search(r"\d", text) or not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def whole(text: str) -> int | None:
    """Return the integer that ``text`` is, or None."""
    value = number(text)
    return int(value) if value is not None and value == value.to_integral_value() else None


def same_text(answer: str, gold: str) -> bool:
    """Whether the two are the same words, or the same number."""
    answer, gold = plain(answer), plain(gold)
    if answer == gold or _tight(answer) == _tight(gold):
        return True
    if gold.casefold() in _CASELESS:
        return answer.casefold() == gold.casefold()
    value = number(gold)
    return (
        value is not None
        and re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", gold) is not None
        and (number(answer) == value)
    )


def _tight(text: str) -> str:
    """Return ``text`` without white space around its commas and inside its square brackets."""
    return re.sub(r" ?,[ \n]?|(?<=\[) | (?=\])", lambda m: m.group().strip(), text)


def exact(answer: str, entry: Entry, upstream: Upstream) -> float:
    """The gold answer and nothing else. Upstream pays for text that contains it."""
    return float(same_text(answer, str(entry["answer"])))


def exact_digits(answer: str, entry: Entry, upstream: Upstream) -> float:
    """The gold text as it stands: digits in another base, or codes, where ``01`` is not ``1``."""
    return float(plain(answer) == plain(str(entry["answer"])))


def exact_word(answer: str, entry: Entry, upstream: Upstream) -> float:
    """The gold answer in any case and spacing; a hyphen is a space."""
    return float(_joined(answer) == _joined(str(entry["answer"])))


def _joined(text: str) -> str:
    return "".join(text.replace("-", " ").casefold().split())


def exact_number(answer: str, entry: Entry, upstream: Upstream) -> float:
    """The gold number: sign, leading zeros, trailing decimals and commas are forgiven."""
    return float(number(answer) is not None and number(answer) == number(str(entry["answer"])))


def full_marks(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Upstream's full marks; its partial credit can be had by ignorance."""
    return 1.0 if upstream() >= 1.0 else 0.0


_CLAIM = re.compile(r"(?:[-*\u2022] ?)?(?:so )?([\w'-]+) is (?:an? )?(?:\w+)", re.IGNORECASE)


def claims(answer: str, entry: Entry, upstream: Upstream) -> float:
    """knights_knaves: one claim a person, nothing else; upstream read names and roles out of any text."""
    parts = [" ".join(p.split()) for p in re.split(r"[,.;()\n]|\band\b", answer) if p.strip()]
    found = [_CLAIM.fullmatch(part) for part in parts]
    names = [claim.group(1).casefold() for claim in found if claim is not None]
    each_once = len(names) == len(parts) == len(set(names))
    return full_marks(answer, entry, upstream) if each_once else 0.0


def letter_values(answer: str, entry: Entry, upstream: Upstream) -> float:
    """cryptarithm: each letter once; upstream took the last value of a letter."""
    letters = [pair.partition("=")[0].strip() for pair in answer.split(",")]
    return above_floor(answer, entry, upstream) if len(letters) == len(set(letters)) else 0.0


def above_floor(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Upstream's number without its floor of 0.05 or less for any text that it can read."""
    score = upstream()
    return score if score > FLOOR else 0.0


FLOOR = 0.05
"""Upstream scorers give this or less to any text they can read; in ``fixed`` mode it counts as 0."""


def beyond(share: float, base: float) -> float:
    """Return the credit of a share of right places: 1 for all, 0 up to ``base``, linear in between.

    ``base`` is what an ignorant answer gets on this item and is at least one half, so that a random
    answer that is lucky in some places earns next to nothing.
    """
    if share >= 1.0:
        return 1.0
    base = max(base, 0.5)
    return 0.0 if share <= base else PARTIAL * (share - base) / (1.0 - base)


def places(answer: Sequence[str], gold: Sequence[str], *echoes: Sequence[str]) -> float:
    """Credit of ``answer`` for places equal to ``gold``, counted from the best echo or constant.

    0 unless the lengths are equal. ``echoes`` are sequences that the question itself shows.
    """
    if not gold or len(answer) != len(gold):
        return 0.0
    base = max(_share(echo, gold) for echo in (*echoes, ()))
    return beyond(_share(answer, gold), max(base, max(Counter(gold).values()) / len(gold)))


def _share(answer: Sequence[str], gold: Sequence[str]) -> float:
    return sum(a == b for a, b in zip(answer, gold, strict=False)) / len(gold)


def letters(answer: str, entry: Entry, upstream: Upstream) -> float:
    """spell_backward, figlet_font, emoji_mystery: letters in their places, same length, any case."""
    gold = plain(str(entry["answer"])).casefold().translate(_STRAIGHT)
    text = plain(answer).casefold().translate(_STRAIGHT)
    if "font" in entry["metadata"]:
        text = text.replace(" ", "")
    word = str(entry["metadata"].get("word", "")).casefold()
    return places(text, gold, word)


def words_in_order(answer: str, entry: Entry, upstream: Upstream) -> float:
    """sentence_reordering: words in their places, counted from the order in the question."""
    gold = str(entry["answer"]).casefold().split()
    shown = str(entry["question"]).casefold().split()[-len(gold) :]
    return places(answer.casefold().split(), gold, shown)


def unscrambled(answer: str, entry: Entry, upstream: Upstream) -> float:
    """letter_jumble: words in their places, counted from the words that were not scrambled."""
    gold = str(entry["answer"]).casefold().split()
    shown = [str(word).casefold() for word in entry["metadata"]["scrambled_words"]]
    return places(answer.casefold().split(), gold, shown)


def sorted_words(answer: str, entry: Entry, upstream: Upstream) -> float:
    """word_sorting: the same words in their places, counted from the unsorted list."""
    metadata = entry["metadata"]
    given = re.split(r"\s*,\s*", plain(answer))
    gold = [str(word) for word in metadata["sorted_words"]]
    if sorted(given) != sorted(gold):
        return 0.0
    return places(given, gold, [str(word) for word in metadata["original_words"]])


def listed_numbers(answer: str, entry: Entry, upstream: Upstream) -> float:
    """number_sorting, number_filtering: the numbers of the gold list in its order, quoted or not.

    For number_sorting upstream let NaN and errors of 1 pass.
    """
    given, gold = number_list(answer), number_list(str(entry["answer"]))
    same = same_text(answer, str(entry["answer"]))
    return float(same or (given is not None and given == gold))


def number_list(text: str) -> list[Decimal] | None:
    """Return a bracketed list of numbers, each bare or in quotes, or None."""
    text = text.replace("\u2212", "-").strip()
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        return None
    inner = text[1:-1].strip()
    found = [number(item.strip().strip("'\"")) for item in inner.split(",")] if inner else []
    return None if None in found else [value for value in found if value is not None]


def probability(answer: str, entry: Entry, upstream: Upstream) -> float:
    """coin_flip: within 1e-4 of the gold, relative, or the gold rounded to three digits or more.

    Upstream paid for a common prefix (``0`` got 0.96).
    """
    value, gold = _fraction(answer), _fraction(str(entry["answer"]))
    if value is None or gold is None:
        return 0.0
    # half a unit of the last place of a decimal fraction of three or more digits
    places = re.fullmatch(r"\s*0?\.(0*)([1-9]\d{2,30})\s*", answer)
    rounding = Fraction(1, 2 * 10 ** len("".join(places.groups()))) if places else Fraction(0)
    return float(abs(value - gold) <= max(abs(gold) / 10_000, rounding))


def _fraction(text: str) -> Fraction | None:
    """Return the value of a decimal number or of a fraction of two, or None."""
    top, slash, bottom = text.partition("/")
    if re.fullmatch(r"\s*\d(?:\.\d{1,30})?[eE]-\d{1,2}\s*", text):
        return Fraction(text)
    over, under = number(top), number(bottom) if slash else Decimal(1)
    return None if over is None or not under else Fraction(over) / Fraction(under)


def one_number(answer: str, entry: Entry, upstream: Upstream) -> float:
    """gsm_symbolic: the only number in the text, sign and thousands separators read; upstream took the first.

    A text that denies or doubts it is wrong; a percent sign is right where the question speaks of percent.
    """
    percent = "%" in answer and not re.search("%|percent", str(entry["question"]))
    if percent or hedged(answer) or _EXPONENT.search(answer):
        return 0.0
    found = re.findall(r"(?<![\w.,])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d])", answer)
    if len(found) != 1 or len(found[0]) > _MOST_DIGITS:
        return 0.0
    return float(number(found[0]) == number(str(entry["answer"])))


def loads(text: str) -> Any:
    """Return the JSON value of a short text, or None where it is none (or null, or too deep)."""
    if text.count("[") + text.count("{") > 2000 or nesting(text) > 40:
        return None
    try:
        return strict_json(text)
    except ValueError:
        return None


def nesting(text: str) -> int:
    """Return how deep the brackets of ``text`` are nested."""
    depth = deepest = 0
    for character in text:
        if character in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]})":
            depth -= 1
    return deepest
