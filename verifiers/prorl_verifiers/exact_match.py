"""The exact-match verifier, which compares a response with the golds as strings.

The response is first cut at a stop string and passed through the filters. Thinking is not removed.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import nearest
from prorl_verifiers.audit_shape import AuditShape, Kind
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.extract import CLOSE_THINK, OPEN_THINK
from prorl_verifiers.findings import note
from prorl_verifiers.spec import Canary, VerifierSpec
from prorl_verifiers.types import Reference, Score, TaskError, check_keys, unparsable

MAX_LISTED = 64
"""Maximum number of stop strings, filters and ignored expressions per task."""
MAX_ANSWERS = 10_000
"""Maximum number of golds."""
MAX_EXPRESSION = 2000
FALLBACK = "[invalid]"
KEYS = (
    "answer",
    "until",
    "filters",
    "regexes_to_ignore",
    "ignore_case",
    "ignore_punctuation",
    "ignore_numbers",
    "filter_name",
)
"""Keys of the reference. ``filter_name`` is kept for exports and does not affect the score."""


@dataclass(frozen=True, slots=True)
class ByExpression:
    """A filter that returns one match of ``expression``, or ``fallback`` if there is none.

    ``place``: index of the match. If ``expression`` has groups, the first non-empty group of the match is returned.
    """

    expression: str
    place: int = 0
    fallback: str = FALLBACK

    def __call__(self, text: str) -> tuple[str, bool]:
        matches = re.findall(self.expression, text)
        if not -len(matches) <= self.place < len(matches):
            return self.fallback, False
        match = matches[self.place]
        if isinstance(match, tuple):
            match = next((group for group in match if group), None)
            if match is None:
                return self.fallback.strip(), False
        return match.strip(), True


@dataclass(frozen=True, slots=True)
class ByTable:
    """A filter that returns the value found in ``table`` for a text, or else ``fallback``."""

    table: Mapping[str, str]
    fallback: str

    def __call__(self, text: str) -> tuple[str, bool]:
        return (self.table[text], True) if text in self.table else (self.fallback, False)


def _always(change: Callable[[str], str]) -> Callable[[str], tuple[str, bool]]:
    return lambda text: (change(text), True)


def _without_thinking(text: str) -> str:
    output: list[str] = []  # single characters
    place, short = 0, len(OPEN_THINK) - 1
    while True:
        before = "".join(output[-short:])
        joint = (before + text[place : place + short]).find(OPEN_THINK)
        start = text.find(OPEN_THINK, place) if joint < 0 else place - len(before) + joint
        end = text.find(CLOSE_THINK, start + len(OPEN_THINK)) if start >= 0 else -1
        if end < 0:
            return "".join(output) + text[place:]
        output += text[place : max(start, place)]
        if start < place:
            del output[start - place :]
        place = end + len(CLOSE_THINK)


Filter = Callable[[str], tuple[str, bool]]
PLAIN: dict[str, Filter] = {
    "lowercase": _always(str.lower),
    "uppercase": _always(str.upper),
    "remove_whitespace": _always(str.strip),
    "remove_thinking": _always(_without_thinking),
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "regex": ("regex_pattern", "group_select", "fallback"),
    "map": ("mapping_dict", "default_value"),
    **dict.fromkeys(PLAIN, ()),
}
"""Options of each filter, with the names of lm-evaluation-harness."""


@dataclass(frozen=True, slots=True)
class Matching:
    answers: tuple[str, ...]
    until: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    ignored: tuple[str, ...] = ()
    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_numbers: bool = False


def read(reference: Reference) -> Matching:
    check_keys(reference, *KEYS)
    flags = {}
    for name in ("ignore_case", "ignore_punctuation", "ignore_numbers"):
        value = reference.get(name) or False
        if not isinstance(value, bool):
            raise TaskError(f"'{name}' must be true or false")
        flags[name] = value
    if not isinstance(reference.get("filter_name", ""), str):
        raise TaskError("'filter_name' must be a string")
    answers = reference.get("answer")
    ignored = _texts(reference, "regexes_to_ignore")
    for expression in ignored:
        _checked(expression, "regexes_to_ignore")
    return Matching(
        answers=_texts(
            {"answer": [answers] if isinstance(answers, str) else answers}, "answer", 1, MAX_ANSWERS
        ),
        until=_texts(reference, "until"),
        filters=tuple(_filter(row) for row in _list(reference, "filters")),
        ignored=ignored,
        **flags,
    )


def _list(reference: Reference, key: str, least: int = 0, most: int = MAX_LISTED) -> Sequence[Any]:
    value = reference.get(key)
    value = [] if value is None else value
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise TaskError(f"'{key}' must be a list of {least} to {most} entries")
    return value


def _texts(
    reference: Reference, key: str, least: int = 0, most: int = MAX_LISTED
) -> tuple[str, ...]:
    value = _list(reference, key, least, most)
    if not all(isinstance(text, str) for text in value):
        raise TaskError(f"'{key}' must contain only strings")
    return tuple(value)


def _filter(row: Any) -> Filter:
    if not isinstance(row, Mapping) or not isinstance(row.get("function"), str):
        raise TaskError("a filter must be an object whose 'function' is the filter's name")
    name = row["function"]
    if name not in OPTIONS:
        raise TaskError(
            f"unknown filter '{name}'{nearest(name, OPTIONS)}: use {', '.join(OPTIONS)}"
        )
    for key in row:
        if key != "function" and key not in OPTIONS[name]:
            raise TaskError(f"filter '{name}' has no option '{key}'{nearest(key, OPTIONS[name])}")
    if name == "regex":
        place, fallback = row.get("group_select", 0), row.get("fallback", FALLBACK)
        if isinstance(place, bool) or not isinstance(place, int):
            raise TaskError("'group_select' must be a whole number, the index of the match to use")
        if not isinstance(fallback, str):
            raise TaskError("'fallback' must be a string")
        return ByExpression(_checked(row.get("regex_pattern"), "regex_pattern"), place, fallback)
    if name == "map":
        table, default = row.get("mapping_dict"), row.get("default_value", FALLBACK)
        if (
            not isinstance(table, Mapping)
            or not all(isinstance(text, str) for pair in table.items() for text in pair)
            or not isinstance(default, str)
        ):
            raise TaskError(
                "'mapping_dict' must map strings to strings, and 'default_value' must be a string"
            )
        return ByTable(dict(table), default)
    return PLAIN[name]


def _checked(expression: Any, key: str) -> str:
    if not isinstance(expression, str) or not expression:
        raise TaskError(f"'{key}' needs a regular expression")
    if len(expression) > MAX_EXPRESSION:
        raise TaskError(f"'{key}': an expression is longer than {MAX_EXPRESSION} characters")
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise TaskError(
            f"'{key}': {expression[:60]!r} is not a regular expression: {error}"
        ) from error
    return expression


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_DIGITS = str.maketrans("", "", string.digits)


def score(response: str, reference: Reference) -> Score:
    """Return 1 if the filtered response equals one of the answers, else 0."""
    matching = read(reference)
    text = before(response, matching.until)
    all_passed = True
    for step in matching.filters:
        text, passed = step(text)
        all_passed = all_passed and passed
        note("filter", passed, {"leaves": text})
    answer_text = compared(text, matching)
    right = any(answer_text == compared(answer, matching) for answer in matching.answers)
    note("compared", right, {"given": answer_text, "gold": compared(matching.answers[0], matching)})
    if right:
        return Score(1.0, "equal to the gold answer", text)
    if not all_passed:
        return unparsable("the filters found no answer")
    return Score(0.0, "not equal to the gold answer", text)


def before(text: str, until: Sequence[str]) -> str:
    """Return the text before the first stop string, ignoring stop strings in a leading ``<think>`` section."""
    opened = text.lstrip().startswith(OPEN_THINK)
    start = max(text.find(CLOSE_THINK), 0) if opened else 0
    for stop in until:
        place = text.find(stop, start) if stop else -1
        text = text[:place] if place >= 0 else text
    return text


def compared(text: str, matching: Matching) -> str:
    """Return ``text`` without the parts that ``matching`` ignores, and without trailing NULs."""
    for expression in matching.ignored:
        text = re.sub(expression, "", text)
    text = text.rstrip("\0")
    if matching.ignore_case:
        text = text.lower()
    if matching.ignore_punctuation:
        text = text.translate(_PUNCTUATION)
    if matching.ignore_numbers:
        text = text.translate(_DIGITS)
    return text.rstrip("\0")


def check_reference(reference: Reference) -> None:
    read(reference)


def first_answer(reference: Reference) -> str:
    return read(reference).answers[0]


def gold_response(reference: Reference) -> str | None:
    """Return the first gold that scores 1, or None if there is none or the reference has regular expressions."""
    matching = read(reference)
    if matching.ignored or any(isinstance(f, ByExpression) for f in matching.filters):
        return None
    return next((a for a in matching.answers if score(a, reference).reward == 1.0), None)


def canaries(draw: random.Random) -> Sequence[Canary]:
    number = draw.randrange(1000, 10_000)
    reference = {
        "answer": f"{number:,}",
        "filters": [{"function": "regex", "regex_pattern": "#### ([0-9,]+)"}],
        "regexes_to_ignore": [","],
    }
    return (
        Canary(reference, f"so it is #### {number}", 1.0),
        Canary(reference, f"so it is #### {number + draw.randrange(1, 9)}", 0.0),
    )


def may_be_right(reference: Reference) -> Collection[Kind]:
    """Return the changes to a correct answer after which the reference's filters may still find it."""
    return ("junk", "precision", "order") if read(reference).filters else ()


SPEC = VerifierSpec(
    name="exact_match",
    score=score,
    strip_thinking=False,
    check_reference=check_reference,
    quick_canaries=canaries,
    data=DataShape(
        example={"answer": "2"},
        optional_columns=KEYS[1:],
        json_columns=KEYS[1:-1],
        answer=first_answer,
        gold_response=gold_response,
        target_type=lambda reference: "text",
        vote=lambda text: text,
    ),
    audit=AuditShape(
        may_be_right=may_be_right,
    ),
)
