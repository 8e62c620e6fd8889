"""Every procedural family's twin test: same seed same item, gold accepted, no constant pays."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from prorl_datasets.procedural import Family, families

FAMILIES = list(families().values())
NAMES = [family.name for family in FAMILIES]
by_name = pytest.mark.parametrize("family", FAMILIES, ids=NAMES)


@by_name
def test_same_seed_gives_the_same_item_and_another_seed_another(family: Family) -> None:
    for level in (1, 2, 3):
        items = [family.generate(Random(seed), level) for seed in range(20)]
        assert items == [family.generate(Random(seed), level) for seed in range(20)]
        assert len({item.question for item in items}) > 10


@by_name
def test_reference_survives_json_and_names_the_domains_verifier(family: Family) -> None:
    for level in (1, 2, 3):
        task = family.generate(Random(level), level).task
        assert task.verifier == family.domain
        assert json.loads(task.reference_json()) == task.reference


@by_name
def test_no_constant_answer_pays_more_than_a_fifth(family: Family) -> None:
    for level in (1, 2, 3):
        items = [family.generate(Random(seed), level) for seed in range(400)]
        if items[0].chance is not None:  # multiple choice: no letter far above its chance
            share = Counter(item.answer for item in items).most_common(1)[0][1] / 400
            assert share < items[0].chance + 0.1
        else:
            share = Counter(item.answer or item.gold for item in items).most_common(1)[0][1] / 400
            assert share <= 0.2


@pytest.mark.parametrize(
    "family", [f for f in FAMILIES if f.domain == "code"], ids=lambda f: f.name
)
def test_code_items_have_five_distinct_tests_that_no_constant_passes(family: Family) -> None:
    for level in (1, 2, 3):
        for seed in range(15):
            tests = family.generate(Random(seed), level).task.reference["tests"]
            inputs = [json.dumps([t.get("args"), t.get("stdin")]) for t in tests]
            outputs = Counter(json.dumps(t.get("expected", t.get("stdout"))) for t in tests)
            assert len(tests) >= 5
            assert len(set(inputs)) == len(tests)
            assert outputs.most_common(1)[0][1] < len(tests)


@pytest.mark.parametrize(
    "family", [f for f in FAMILIES if f.domain == "stem"], ids=lambda f: f.name
)
def test_choices_hold_the_right_answer_once(family: Family) -> None:
    for seed in range(30):
        reference = family.generate(Random(seed), 2).task.reference
        if "choices" in reference:
            assert len(set(reference["choices"])) == len(reference["choices"])
            assert "ABCD".index(reference["answer"]) < len(reference["choices"])
        else:
            assert int(reference["answer"]) > 0


def test_every_domain_but_logic_has_enough_families() -> None:
    counts = Counter(family.domain for family in FAMILIES)
    assert counts["math"] >= 4
    assert min(counts["code"], counts["stem"], counts["instruction"]) >= 6


def test_constraints_drawn_together_are_distinct_ids() -> None:
    mixed = families()["mixed"]
    for seed in range(200):
        ids = mixed.generate(Random(seed), 3).task.reference["instruction_id_list"]
        assert len(ids) == 3 == len(set(ids))
