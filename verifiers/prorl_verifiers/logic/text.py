"""Scores words, numbers and lists in answers to reasoning-gym's datasets.

White space, Unicode minus signs, thousands separators, trailing zeros and the case of yes and no are ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeVar

from prorl_verifiers.extract import strict_json

T = TypeVar("T")
Entry = Mapping[str, Any]
Upstream = Callable[[], float]
"""Returns reasoning-gym's own score of the same answer, in [0, 1]."""

PARTIAL = 0.9
"""Maximum credit for an answer that is not correct in all positions."""
_CASELESS = frozenset("true false yes no on off undetermined".split())  # noqa: SIM905
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?", re.ASCII)
_MOST_DIGITS = 1000
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def plain(text: str) -> str:
    """Return ``text`` with single spaces, ASCII minus signs, and no leading or trailing blank lines."""
    lines = [" ".join(line.split()) for line in text.replace("\u2212", "-").split("\n")]
    return "\n".join(lines).strip()


def number(text: str) -> Decimal | None:
    """Parse a number such as ``+01,000.50``. Return None for other texts."""
    text = text.replace("\u2212", "-").strip()
    if len(text) > _MOST_DIGITS or not re.search(r"\d", text) or not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def whole(text: str) -> int | None:
    value = number(text)
    return int(value) if value is not None and value == value.to_integral_value() else None


def complete(values: Iterable[T | None]) -> list[T] | None:
    all_values = list(values)
    present = [value for value in all_values if value is not None]
    return present if len(present) == len(all_values) else None


def same_text(answer: str, gold: str) -> bool:
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
    return re.sub(r" ?,[ \n]?|(?<=\[) | (?=\])", lambda m: m.group().strip(), text)


def exact(answer: str, entry: Entry, upstream: Upstream) -> float:
    return float(same_text(answer, str(entry["answer"])))


def exact_digits(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score answers that must equal the gold character by character: ``01`` is not ``1``."""
    return float(plain(answer) == plain(str(entry["answer"])))


def exact_word(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score answers that must equal the gold, ignoring case, spaces and hyphens."""
    return float(_joined(answer) == _joined(str(entry["answer"])))


def _joined(text: str) -> str:
    return "".join(re.sub(r"(?<=\w)-(?=\w)", " ", text).casefold().split())


def exact_number(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score numbers that must equal the gold, ignoring plus signs, outer zeros and commas."""
    return float(number(answer) is not None and number(answer) == number(str(entry["answer"])))


def full_marks(answer: str, entry: Entry, upstream: Upstream) -> float:
    return 1.0 if upstream() >= 1.0 else 0.0


_CLAIM = re.compile(r"(?:[-*\u2022] ?)?(?:so )?([\w'-]+) is (?:an? )?(?:\w+)", re.IGNORECASE)


def claims(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``knights_knaves``. The answer must consist of one claim per person."""
    parts = [" ".join(p.split()) for p in re.split(r"[,.;()\n]|\band\b", answer) if p.strip()]
    matches = [_CLAIM.fullmatch(part) for part in parts]
    names = [claim.group(1).casefold() for claim in matches if claim is not None]
    each_once = len(names) == len(parts) == len(set(names))
    return full_marks(answer, entry, upstream) if each_once else 0.0


def letter_values(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``cryptarithm`` with reasoning-gym's score (0 up to 0.05). Two values for one letter earn 0."""
    letters = [pair.partition("=")[0].strip() for pair in answer.split(",")]
    return above_floor(answer, entry, upstream) if len(letters) == len(set(letters)) else 0.0


def above_floor(answer: str, entry: Entry, upstream: Upstream) -> float:
    score = upstream()
    return score if score > FLOOR else 0.0


FLOOR = 0.05
"""Scores up to this become 0, because upstream's scorers give them to any text that they can parse."""


def beyond(share: float, base: float) -> float:
    """Return the reward of an answer of which a fraction ``share`` is correct.

    It is 0 up to ``base`` (at least one half), then grows linearly to 0.9, and is 1 if everything is correct.
    """
    if share >= 1.0:
        return 1.0
    base = max(base, 0.5)
    return 0.0 if share <= base else PARTIAL * (share - base) / (1.0 - base)


def places(answer: Sequence[str], gold: Sequence[str], *echoes: Sequence[str]) -> float:
    """Return the reward for the positions at which ``answer`` equals ``gold``.

    It is 0 if the lengths differ, or if a repeated item or one of ``echoes`` would be correct at as many positions.
    """
    if not gold or len(answer) != len(gold):
        return 0.0
    inner, whole_answer = "\0".join(gold).rstrip("."), "\0".join(answer).rstrip(".")
    if inner != whole_answer and inner in whole_answer:
        return 0.0
    base = max(_share(echo, gold) for echo in (*echoes, ()))
    return beyond(_share(answer, gold), max(base, max(Counter(gold).values()) / len(gold)))


def _share(answer: Sequence[str], gold: Sequence[str]) -> float:
    return sum(a == b for a, b in zip(answer, gold, strict=False)) / len(gold)


def letters(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``spell_backward``, ``figlet_font`` and ``emoji_mystery`` by the letters in the right positions."""
    gold = plain(str(entry["answer"])).casefold().translate(_STRAIGHT)
    text = plain(answer).casefold().translate(_STRAIGHT)
    if "font" in entry["metadata"]:
        text = text.replace(" ", "")
    word = str(entry["metadata"].get("word", "")).casefold()
    return places(text, gold, word)


def words_in_order(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``sentence_reordering`` by the words in the right positions. The question's word order earns 0."""
    gold = str(entry["answer"]).casefold().split()
    question_words = str(entry["question"]).casefold().split()[-len(gold) :]
    return places(answer.casefold().split(), gold, question_words)


def unscrambled(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``letter_jumble`` by the words in the right positions. The scrambled words earn 0."""
    gold = str(entry["answer"]).casefold().split()
    scrambled = [str(word).casefold() for word in entry["metadata"]["scrambled_words"]]
    return places(answer.casefold().split(), gold, scrambled)


def sorted_words(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``word_sorting`` by the words in the right positions. The unsorted list earns 0."""
    metadata = entry["metadata"]
    words = re.split(r"\s*,\s*", plain(answer))
    gold = [str(word) for word in metadata["sorted_words"]]
    if sorted(words) != sorted(gold):
        return 0.0
    return places(words, gold, [str(word) for word in metadata["original_words"]])


def listed_numbers(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``number_sorting`` and ``number_filtering``. The list must equal the gold, in order."""
    numbers, gold = number_list(answer), number_list(str(entry["answer"]))
    same = same_text(answer, str(entry["answer"]))
    return float(same or (numbers is not None and numbers == gold))


def number_list(text: str) -> list[Decimal] | None:
    text = text.replace("\u2212", "-").strip()
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        return None
    inner = text[1:-1].strip()
    items = inner.split(",") if inner else []
    return complete(number(item.strip().strip("'\"")) for item in items)


def probability(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``coin_flip``. The answer may be off by a relative 1e-4, or be rounded to three or more digits."""
    percent = re.fullmatch(r"([\d.]{1,40})\s?\\?%", answer.strip())
    per_hundred = number(percent.group(1)) if percent else None
    answer = answer if per_hundred is None else f"{per_hundred.scaleb(-2):f}"
    value, gold = _fraction(answer), _fraction(str(entry["answer"]))
    if value is None or gold is None:
        return 0.0
    # Allow half a unit of the last place of a decimal fraction with at least three significant digits.
    places = re.fullmatch(r"\s*0?\.(0*)([1-9]\d{2,30})\s*", answer)
    rounding = Fraction(1, 2 * 10 ** len("".join(places.groups()))) if places else Fraction(0)
    return float(abs(value - gold) <= max(abs(gold) / 10_000, rounding))


def _fraction(text: str) -> Fraction | None:
    top, slash, bottom = text.partition("/")
    if re.fullmatch(r"\s*\d(?:\.\d{1,30})?[eE]-\d{1,2}\s*", text):
        return Fraction(text)
    over, under = number(top), number(bottom) if slash else Decimal(1)
    return None if over is None or not under else Fraction(over) / Fraction(under)


def one_number(answer: str, entry: Entry, upstream: Upstream) -> float:
    """Score ``gsm_symbolic``. A currency sign and words that do not change the value may surround the number.

    Only the noun that the question counts may follow the number.
    """
    question = str(entry["question"]).casefold()
    match = _ONE_NUMBER.fullmatch(answer.casefold().strip())
    if match is None or len(match["number"]) > _MOST_DIGITS:
        return 0.0
    before, behind = (_stems(match[part]) for part in ("before", "behind"))
    sentences = [one for one in re.split(r"(?<=[.?!])\s", question) if _ASKED.search(one)]
    if match["percent"] and not _SHARE.search((sentences or [question])[-1]):
        return 0.0
    asked = _stems(sentences[-1] if sentences else "") - _CHANGING
    noun = _COUNTED.search(sentences[-1]) if sentences else None
    fitting = behind <= ((_stems(noun[1]) if noun else asked) | _AFTERWORDS)
    if noun is None and "do not include units" not in question:
        fitting = len(behind - asked) <= 1 and not behind & (_CHANGING | _MEASURES)
    return float(
        fitting
        and before <= (_FOREWORDS | asked)
        and number(match["number"]) == number(str(entry["answer"]))
    )


def _stems(text: str) -> set[str]:
    return {
        re.sub(r"(?:ies|ing|ed|es|s|y|e)$", "", word) or word
        for word in re.findall(r"[^\W\d_]+|=", text)
    }


_ONE_NUMBER = re.compile(
    r"(?P<before>(?:[^\W\d_]+[:,]?\s+|=\s+)*)[$\u20ac\u00a3\u00a5\u20b9]?"
    r"(?P<number>[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
    r"(?P<percent>\s?(?:\\?%|per ?cent\b))?(?P<behind>(?:\s+[^\W\d_]+)*)\.?",
    re.ASCII,
)
_ASKED = re.compile(r"\?|\b(?:calculate|find|determine|how many|how much)\b")
_SHARE = re.compile(r"\b(?:what|which|how many|as an?|the) (?:\w+ )?(?:%|per ?cent)")
_COUNTED = re.compile(r"\b(?:how many|number of)((?:\s+[a-z]+){1,4})")
_FOREWORDS = _stems(
    "so thus therefore hence the a an my our final correct answer result total value number amount sum is are was were "
    "it he she they we you i there that this will would be get gets has have had make makes = equals"
)
_AFTERWORDS = _stems("in total altogether left each")
_CHANGING = _stems(
    "half halves third thirds quarter quarters fifth tenth twice thrice double triple times time minus negative plus less "
    "more fewer than over under above below opposite inverse reciprocal square squared cube cubed root log factorial "
    "percent dozen dozens score gross pair pairs hundred thousand million billion trillion k no non not never none "
    "without except but or and about almost other instead another divided multiplied"
)
_MEASURES = _stems(
    "second seconds minute minutes hour hours day days week weeks fortnight month months year years decade decades "
    "century centuries mm cm m km millimeter centimeter meter meters metre metres kilometer kilometers inch inches foot "
    "feet yard yards mile miles furlong furlongs acre acres hectare hectares mg g kg gram grams kilogram kilograms pound "
    "pounds ounce ounces ton tons tonne tonnes stone stones ml cl l liter liters litre litres gallon gallons quart quarts "
    "pint pints cup cups tablespoon teaspoon cent cents penny pennies pence dime nickel degree degrees watt volt joule "
    "byte bytes bit bits mph kph"
)
"""Stems of units, which are accepted only if the question asks for them."""


def loads(text: str) -> Any:
    """Parse JSON. Return None if the text is invalid, null or nested too deep."""
    if text.count("[") + text.count("{") > 2000 or nesting(text) > 40:
        return None
    try:
        return strict_json(text)
    except ValueError:
        return None


def nesting(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]})":
            depth -= 1
    return deepest
