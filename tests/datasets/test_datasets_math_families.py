"""Every math family agrees with its independent solver in ``math_checks``.

A solver ``check(parameters, question)`` raises AssertionError if there is no answer or more than one.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural import Family, Item, families
from prorl_datasets.procedural.math.problem import TOPICS
from prorl_verifiers import VerifierPool

Check = Callable[[Mapping[str, Any], str], object]
FAMILIES = families("math")
MANY = 200


def _checks() -> dict[str, Check]:
    found: dict[str, Check] = {}
    for file in sorted((Path(__file__).parent / "math_checks").glob("checks_*.py")):
        spec: Any = importlib.util.spec_from_file_location(file.stem, file)
        module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= module.CHECKS
    return found


CHECKS = _checks()


@cache
def _item(family: Family, seed: int) -> Item:
    return family.generate(Random(f"{family.name} {seed}"), seed % 3 + 1)


def _draw(family: Family, draws: int) -> list[Item]:
    return [_item(family, seed) for seed in range(draws)]


def test_every_family_has_a_check_and_the_name_of_a_topic() -> None:
    assert set(CHECKS) == set(FAMILIES)
    assert {name.split("_")[0] for name in FAMILIES} <= set(TOPICS)


@pytest.mark.parametrize("draws", [3, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("topic", TOPICS)
def test_an_independent_solver_finds_the_gold(topic: str, draws: int) -> None:
    asked, names = [], []
    for name, family in FAMILIES.items():
        if name.split("_")[0] == topic:
            for item in _draw(family, draws):
                found = CHECKS[name](item.parameters or {}, item.question)
                asked.append((f"\\boxed{{{found}}}", item.task))
                names.append((name, item.question, item.answer, found))
    if not asked:
        pytest.skip(f"no family of {topic} yet")
    with VerifierPool(workers=1) as pool:
        verdicts = pool.score(asked)
    wrong = [n for n, verdict in zip(names, verdicts, strict=True) if verdict.reward != 1.0]
    assert not wrong, wrong[:5]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_items_differ_and_no_constant_answers_many(name: str) -> None:
    items = _draw(FAMILIES[name], MANY)
    answers = Counter(item.answer for item in items)
    assert answers.most_common(1)[0][1] <= MANY * 0.15, answers.most_common(3)
    assert len({str(item.parameters) for item in items}) >= MANY * 0.6
    masked = {re.sub(r"\d+", "#", item.question) for item in items}
    assert len(masked) >= 4, "four phrasings or forms at least"


@pytest.mark.parametrize("name", FAMILIES)
def test_questions_are_written_as_a_textbook_writes_them(name: str) -> None:
    for item in _draw(FAMILIES[name], MANY // 4):
        text = item.question
        assert 40 <= len(text) <= 1500, text
        assert text.count("$") % 2 == 0, text
        assert not re.search(
            r"\+ ?-|- ?-(?=\d)|(?<![\d.])1[a-z](?![a-z])|\b0[a-z](?![a-z])", text
        ), text
        assert "  " not in text and text.strip() == text and text[-1] in ".?", text
        assert "None" not in text and "Fraction(" not in text, text
