from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from prorl_datasets import load_recipe
from prorl_datasets.procedural import Family, families
from prorl_datasets.procedural.items import Item
from prorl_datasets.sources.procedural import ProceduralSource
from prorl_verifiers import load_task

FAMILIES = list(families().values())
Drawn = list[tuple[Family, list[Item]]]


def _level(place: int, seed: int) -> int:
    return (place + seed) % 3 + 1


def _draw(family: Family, level: int, seed: int) -> Item:
    return family.generate(Random(f"{family.name} {seed}"), level)


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    """Nine items per family, with the levels in turn."""
    return [
        (family, [_draw(family, _level(place, seed), seed) for seed in range(9)])
        for place, family in enumerate(FAMILIES)
    ]


def test_same_seed_gives_the_same_item_and_another_seed_another(drawn: Drawn) -> None:
    for place, (family, items) in enumerate(drawn):
        assert items[0] == _draw(family, _level(place, 0), 0), family.name
        assert len({item.question for item in items}) > 6, family.name


def test_reference_survives_json_and_names_the_domains_verifier(drawn: Drawn) -> None:
    for family, items in drawn:
        for item in items[:3]:  # one of each level
            task = item.task
            assert task.verifier == family.domain, family.name
            assert json.loads(task.reference_json()) == task.reference, family.name
            assert load_task(task.verifier, task.reference) == task, family.name


def _commonest(items: list[Item]) -> float:
    """Return the excess of the commonest answer over its limit: 20 %, or chance + 7.5 % (4 sigma) for letters."""
    counts = Counter(item.answer or item.gold for item in items)
    share = counts.most_common(1)[0][1] / len(items)
    chances = [item.chance for item in items]
    if all(chances):  # multiple choice: no letter far above chance
        return share - (chances[0] or 0) - 0.075
    return share - 0.2


def test_no_answer_is_common_in_a_few_draws(drawn: Drawn) -> None:
    for family, items in drawn:
        assert _commonest(items) <= 0.4, family.name


@pytest.mark.parametrize(
    ("draws", "allowance"),
    [
        pytest.param(100, 0.1, marks=pytest.mark.slow),
        pytest.param(500, 0.0, marks=pytest.mark.nightly),
    ],
)
def test_no_constant_answer_pays_more_than_a_fifth_in_a_family_of_the_full_recipe(
    draws: int, allowance: float
) -> None:
    sources = [entry.source for entry in load_recipe("prorl-136k-procedural").entries]
    names = {source.family for source in sources if isinstance(source, ProceduralSource)}
    # answers of code problems are programs that all differ; the next test checks their outputs
    for family in (f for f in FAMILIES if f.name in names and f.domain != "code"):
        for level in (1, 2, 3):
            items = [_draw(family, level, seed) for seed in range(draws)]
            assert _commonest(items) <= allowance, (family.name, level)


def test_options_are_different_and_the_answer_names_one(drawn: Drawn) -> None:
    for family, items in drawn:
        for item in items if family.domain == "stem" else ():
            reference = item.task.reference
            if "choices" in reference:
                assert len(set(reference["choices"])) == len(reference["choices"]), family.name
                assert "ABCDEF".index(reference["answer"]) < len(reference["choices"])
            else:
                assert any(letter.isdigit() for letter in reference["answer"]), family.name


def test_constraints_drawn_together_are_distinct_ids() -> None:
    mixed = families()["mixed"]
    for seed in range(200):
        ids = mixed.generate(Random(seed), 3).task.reference["instruction_id_list"]
        assert len(ids) == 3 == len(set(ids))
