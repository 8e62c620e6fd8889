"""IFEval items: distinct, repeatable, golds accepted in both modes, no constant answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural.instruction import compose, ifeval_families
from prorl_datasets.procedural.instruction.constraints_words import KEYWORDS
from prorl_datasets.procedural.instruction.families import apart, kinds
from prorl_datasets.procedural.instruction.languages import NAMES, sentences_of
from prorl_datasets.procedural.instruction.requests import QUESTIONS, REQUESTS
from prorl_datasets.procedural.instruction.topics import TOPICS
from prorl_datasets.procedural.items import Family, Item
from prorl_verifiers import VerifierPool, load_task
from prorl_verifiers.instruction.ifeval_catalog import IFEVAL
from prorl_verifiers.instruction.registry import modules_of
from prorl_verifiers.instruction.scorer import follows, score_instruction

FAMILIES = ifeval_families()
BY_NAME = {family.name: family for family in FAMILIES}
LEVELS = (1, 2, 3)
by_family = pytest.mark.parametrize("family", FAMILIES, ids=[f.name for f in FAMILIES])


def reward(gold: str, reference: Mapping[str, Any], mode: str) -> float:
    return score_instruction(gold, {**reference, "mode": mode}, lambda module: None).reward


def items(family: Family, number: int, start: int = 0) -> list[Item]:
    return [family.generate(Random(start + at), 1 + at % 3) for at in range(number)]


def test_there_is_a_family_for_every_ifeval_id_and_a_mixed_one() -> None:
    assert {kind.id for kind in kinds()} == set(IFEVAL)
    names = {f"ifeval_{kind.short}" for kind in kinds()} | {"ifeval_mixed"}
    assert set(BY_NAME) == names
    assert len(FAMILIES) == 26


def test_there_are_many_distinct_requests() -> None:
    assert len(set(REQUESTS)) >= 200
    assert all(text.count("{t}") >= 1 for text in (*REQUESTS, *QUESTIONS))
    assert len(set(REQUESTS)) * len(set(TOPICS)) > 30_000


@by_family
def test_same_seed_gives_the_same_item_and_seeds_differ(family: Family) -> None:
    first = items(family, 12)
    assert first == [fresh.generate(Random(at), 1 + at % 3) for at, fresh in _fresh(family, 12)]
    assert len({json.dumps(item.parameters, sort_keys=True) for item in first}) == 12


def _fresh(family: Family, number: int) -> list[tuple[int, Family]]:
    """The family built anew for every item, so that no state is carried over."""
    return [
        (at, next(f for f in ifeval_families() if f.name == family.name)) for at in range(number)
    ]


@by_family
def test_every_gold_meets_all_constraints_in_both_modes(family: Family) -> None:
    for item in items(family, 5, start=900):
        for mode in ("fixed", "reference"):
            assert reward(item.gold, item.task.reference, mode) == 1.0, (mode, item)


def test_golds_pass_the_verifiers_own_pool() -> None:
    golds = items(BY_NAME["ifeval_title"], 12)
    asked = [(item.gold, load_task("instruction", item.task.reference)) for item in golds]
    with VerifierPool(workers=1) as pool:
        verdicts = pool.score(asked)
    assert [verdict.reward for verdict in verdicts] == [1.0] * 12


@by_family
def test_items_hold_one_to_four_constraints_by_level_and_the_familys_own(family: Family) -> None:
    wanted = {f"ifeval_{name.partition(':')[2]}": name for name in IFEVAL}.get(family.name)
    for level in LEVELS:
        for at in range(8):
            ids = family.generate(Random(at), level).task.reference["instruction_id_list"]
            assert level <= len(ids) <= level + 1
            assert len(set(ids)) == len(ids)
            assert wanted is None or wanted in ids


def test_the_question_holds_the_core_and_every_argument() -> None:
    for item in items(BY_NAME["ifeval_mixed"], 60):
        assert item.core is not None and item.core in item.question
        for values in item.task.reference["kwargs"]:
            for name, value in values.items():
                if name not in ("language", "relation", "let_relation", "capital_relation"):
                    for part in value if isinstance(value, list) else [value]:
                        assert str(part) in item.question


def test_parameters_do_not_depend_on_wording_or_order() -> None:
    item = BY_NAME["ifeval_mixed"].generate(Random(4), 3)
    assert item.parameters is not None
    assert item.parameters["request"] == item.core
    asked = item.parameters["constraints"]
    assert asked == sorted(asked, key=repr)
    assert json.loads(json.dumps(item.parameters)) == item.parameters


def test_pairs_that_are_kept_apart_never_meet() -> None:
    pairs = apart()
    for item in items(BY_NAME["ifeval_mixed"], 150):
        short = [name.partition(":")[2] for name in item.task.reference["instruction_id_list"]]
        assert not [(a, b) for a in short for b in short if (a, b) in pairs]


@by_family
def test_no_gold_taken_as_a_constant_meets_a_fifth_of_the_items(family: Family) -> None:
    golds = [item.gold for item in items(family, 10, start=5000)]
    tasks = [item.task.reference for item in items(family, 50, start=7000)]
    told: dict[tuple[str, str], bool] = {}
    for gold in golds:
        assert sum(_meets(gold, reference, told) for reference in tasks) <= 10


def _meets(gold: str, reference: Mapping[str, Any], told: dict[tuple[str, str], bool]) -> bool:
    """Whether all constraints hold; a language is told once a text (``told``)."""
    pairs = list(zip(reference["instruction_id_list"], reference["kwargs"], strict=True))
    for name, values in sorted(pairs, key=lambda pair: bool(modules_of(pair[0], "fixed"))):
        if not modules_of(name, "fixed"):
            met = follows(gold, name, values)
        else:
            key = (gold, name + values.get("language", ""))
            met = told.setdefault(key, False) if key in told else follows(gold, name, values)
            told[key] = met
        if not met:
            return False
    return True


def test_keywords_stand_in_no_filler_so_that_no_other_gold_holds_them() -> None:
    text = compose(["length_constraints:number_words"], [_at_least(900)], "Write on.", "tea")
    assert text is not None
    assert not set(KEYWORDS) & set(text.lower().replace(".", " ").split())


def _at_least(words: int) -> dict[str, Any]:
    return {"relation": "at least", "num_words": words}


@pytest.mark.parametrize("code", sorted(NAMES))
def test_every_language_is_told_in_both_modes(code: str) -> None:
    assert len(sentences_of(code)) >= 6
    for prompt in ("one", "two"):
        text = compose(["language:response_language"], [{"language": code}], prompt)
        assert text is not None
        reference = {
            "instruction_id_list": ["language:response_language"],
            "kwargs": [{"language": code}],
        }
        assert reward(text, reference, "fixed") == reward(text, reference, "reference") == 1.0
