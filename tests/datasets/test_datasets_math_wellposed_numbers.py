"""Number theory, counting and probability: the question shows its numbers and not its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural import Family, Item, families

TOPICS = ("numbers", "counting", "probability")
FAMILIES = {n: f for n, f in families("math").items() if n.split("_")[0] in TOPICS}
DRAWS = 30
SMALL = 12
"""Numbers up to this may be expressed by a word ("square", "twice") or a structure ("a ring of pairs")."""


@cache
def _items(family: Family, level: int) -> list[Item]:
    return [
        family.generate(Random(f"{family.name} {level} {seed}"), level) for seed in range(DRAWS)
    ]


def _integers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from _integers(part)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield abs(value)


def _value(answer: str) -> Fraction | None:
    found = re.fullmatch(r"(-?)(?:\\frac\{(\d+)\}\{(\d+)\}|(\d+))", answer)
    if found is None:
        return None
    sign, above, below, whole = found.groups()
    size = Fraction(int(whole)) if whole else Fraction(int(above), int(below))
    return -size if sign else size


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("level", (1, 2, 3))
def test_the_text_holds_every_number_that_fixes_the_problem(name: str, level: int) -> None:
    for item in _items(FAMILIES[name], level):
        shown = {int(digits) for digits in re.findall(r"\d+", item.question)}
        hidden = [n for n in _integers(dict(item.parameters or {})) if n > SMALL and n not in shown]
        assert not hidden, (hidden, item.question, item.parameters)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("level", (1, 2, 3))
def test_answers_are_numbers_of_a_size_that_can_be_worked_with(name: str, level: int) -> None:
    for item in _items(FAMILIES[name], level):
        value = _value(item.answer or "")
        if value is None:
            assert re.fullmatch(r"\(\d+, \d+\)", item.answer or ""), item.answer
            continue
        assert len(item.answer or "") <= 40, (item.question, item.answer)
        assert abs(value.numerator) < 10**13, (item.question, item.answer)
        if "\\frac" in (item.answer or ""):
            assert value.denominator > 1 and str(value.denominator) in (item.answer or "")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_levels_are_different_problems(name: str) -> None:
    masked = [
        {re.sub(r"\d+", "#", item.question) for item in _items(FAMILIES[name], level)}
        for level in (1, 2, 3)
    ]
    for low, high in ((0, 1), (1, 2), (0, 2)):
        shared = masked[low] & masked[high]
        assert len(shared) <= len(masked[high]) / 4, sorted(shared)[:3]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_words_fit_the_numbers(name: str) -> None:
    for level in (1, 2, 3):
        for item in _items(FAMILIES[name], level):
            wrong = re.search(
                r"(?<![\d.,{])\b1 (people|screws|games|balls|cards|coins|numbers|elements|boxes|digits|times|dollars)\b"
                r"|(?<!1)[123]th\b|\ba [aeio]\w+|(?:^|[.?] )A [aeio]\w+",
                item.question,
            )
            assert not wrong, (wrong, item.question)
