from __future__ import annotations

import re
from functools import cache
from random import Random

import pytest

from prorl_datasets.procedural import Item, families

FAMILIES = {
    name: family
    for name, family in families("math").items()
    if name.split("_")[0] in ("algebra", "functions", "calculus")
}
DRAWS = 90
SHORT = 4
"""An answer with fewer characters may occur in the question by accident."""


@cache
def _items(name: str) -> list[tuple[int, Item]]:
    levels = [seed % 3 + 1 for seed in range(DRAWS)]
    return [
        (level, FAMILIES[name].generate(Random(f"wellposed {name} {seed}"), level))
        for seed, level in enumerate(levels)
    ]


def _shape(question: str) -> str:
    """Return the question without numbers, signs and letters of formulas."""
    return re.sub(r"\$[^$]*\$|\\\[.*?\\\]", "$", question, flags=re.DOTALL)


@pytest.mark.parametrize("name", FAMILIES)
def test_numbers_are_of_a_size_that_a_hand_can_handle(name: str) -> None:
    for _, item in _items(name):
        written = [int(n) for n in re.findall(r"\d+", item.question)]
        assert max(written, default=0) < 10**6, item.question
        answer = item.answer or ""
        assert len(answer) < 90, answer
        # factorials and powers of integers may be long, denominators not
        below = [int(n) for n in re.findall(r"\\frac\{[^{}]*\}\{(\d+)\}", answer)]
        assert max(below, default=0) < 10**9, (item.question, answer)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_question_does_not_show_its_answer(name: str) -> None:
    shown = [
        item.question
        for _, item in _items(name)
        if len(item.answer or "") > SHORT and (item.answer or "") in item.question
    ]
    assert len(shown) <= DRAWS * 0.04, shown[:3]


@pytest.mark.parametrize("name", FAMILIES)
def test_levels_differ_in_more_than_their_digits(name: str) -> None:
    shapes: dict[int, set[str]] = {1: set(), 2: set(), 3: set()}
    for level, item in _items(name):
        shapes[level].add(_shape(item.question) + re.sub(r"\d+", "#", item.question))
    for one, two in ((1, 2), (2, 3), (1, 3)):
        common = shapes[one] & shapes[two]
        assert len(common) <= 0.35 * min(len(shapes[one]), len(shapes[two])), sorted(common)[:3]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_asks_in_many_ways(name: str) -> None:
    shapes = {_shape(item.question) for _, item in _items(name)}
    assert len(shapes) >= 10, len(shapes)
