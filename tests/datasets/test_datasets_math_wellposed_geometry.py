"""Geometry and word problems state all needed facts, use realistic sizes, and differ in kind between levels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from random import Random

import pytest

from prorl_datasets.procedural import Item, families

FAMILIES = {
    name: family
    for name, family in families("math").items()
    if name.split("_")[0] in ("geometry", "stories")
}
STORIES = {name: family for name, family in FAMILIES.items() if name.startswith("stories_")}

WORDS = {
    "half": 2, "twice": 2, "double": 2, "two": 2, "quarter": 4, "third": 3, "fourth": 4, "fifth": 5,
    "sixth": 6, "seventh": 7, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
}  # fmt: skip
SAID_IN_WORDS = {
    "turn", "steps", "legs", "sides", "asked", "factor", "points",  # counted, named or described
}  # fmt: skip
KNOWN_OTHERWISE = {
    ("geometry_circles_and_lines", "tangent_at"),  # the circle may be multiplied out
    ("geometry_law_of_cosines", "third_side"),  # 180 degrees less the change of course
    ("geometry_polygon_angles", "missing"),  # a hexagon
    ("geometry_polygon_angles", "pieces"),  # a regular pentagon
    ("geometry_composite_areas", "midpoints"),  # a midpoint halves
    ("stories_shopping", "free"),  # "for every 2, one more" is a group of 3
}


@cache
def _draw(name: str, count: int = 60) -> list[tuple[int, Item]]:
    family = FAMILIES[name]
    return [
        (seed % 3 + 1, family.generate(Random(f"posed {name} {seed}"), seed % 3 + 1))
        for seed in range(count)
    ]


def _whole(value: object) -> Iterator[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield abs(value)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _whole(one)


def _said(question: str) -> set[Fraction]:
    numbers = {Fraction(text) for text in re.findall(r"\d+(?:\.\d+)?", question)}
    words = {Fraction(WORDS[w]) for w in re.findall(r"[a-z]+", question.lower()) if w in WORDS}
    return numbers | words | {100 * n for n in numbers}  # prices are stored in hundredths


@pytest.mark.parametrize("name", FAMILIES)
def test_every_number_the_answer_rests_on_is_said_in_the_question(name: str) -> None:
    for _, item in _draw(name):
        parameters = item.parameters or {}
        if (name, parameters["kind"]) in KNOWN_OTHERWISE:
            continue
        said = _said(item.question)
        for key, value in parameters.items():
            if key not in SAID_IN_WORDS:
                missing = [n for n in _whole(value) if n > 1 and n not in said]
                assert not missing, (key, missing, item.question)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_hardest_level_has_a_kind_of_problem_that_the_easiest_has_not(name: str) -> None:
    kinds: dict[int, set[tuple[object, object]]] = {1: set(), 2: set(), 3: set()}
    for level, item in _draw(name):
        parameters = item.parameters or {}
        kinds[level].add((parameters["kind"], parameters.get("how")))
    assert kinds[3] - kinds[1]
    assert kinds[2] - kinds[1]


@pytest.mark.parametrize("name", STORIES)
def test_amounts_in_stories_are_positive_and_of_everyday_size(name: str) -> None:
    for _, item in _draw(name):
        answer = Fraction(re.sub(r"\\frac\{(\d+)\}\{(\d+)\}", r"\1/\2", str(item.answer)))
        assert 0 < answer <= 60_000, item.question
        assert all(n <= 60_000 for n in _said(re.sub(r"\.\d+", "", item.question)) if n % 100)


@pytest.mark.parametrize("name", STORIES)
def test_stories_read_as_english(name: str) -> None:
    for _, item in _draw(name):
        text = item.question
        assert not re.search(r"\b[Aa] (?!one|euro)[aeio][a-z]+", text), text
        assert not re.search(r"\b[Aa]n [bcdfgjklmnpqrstvwxz]", text), text
        assert not re.search(
            r"(?<![\d.,/])\b1 (?:hours|days|years|liters|euros|pounds|dollars|points|weeks)\b", text
        ), text
        assert not re.search(r"\b(\w+) \1\b", text), text
        assert re.match(r"[A-Z\"\d€£$]", text), text


def test_speeds_on_the_road_are_those_of_the_vehicle() -> None:
    for name in ("stories_meeting", "stories_average_speed"):
        for _, item in _draw(name):
            for speed in re.findall(r"(\d+) km/h", item.question):
                assert 2 <= int(speed) <= 240, item.question
