from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import combinations
from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural.instruction import compose
from prorl_datasets.procedural.instruction.conflicts import plan_conflicts
from prorl_datasets.procedural.instruction.constraints.words import KEYWORDS
from prorl_datasets.procedural.instruction.drawn import Context, Drawn, Kind
from prorl_datasets.procedural.instruction.families import apart, fits, kinds, make_families
from prorl_datasets.procedural.instruction.languages import NAMES, sentences_of
from prorl_datasets.procedural.instruction.plan import read_plan
from prorl_datasets.procedural.instruction.request_conflicts import request_conflicts
from prorl_datasets.procedural.instruction.requests import DAILY, Request, requests
from prorl_datasets.procedural.instruction.topics import ALL_TOPICS, TOPICS
from prorl_datasets.procedural.items import Family, Item
from prorl_verifiers.instruction.registry import ifeval, modules_of
from prorl_verifiers.instruction.scorer import follows, score_instruction

FAMILIES = make_families()
BY_NAME = {family.name: family for family in FAMILIES}
LEVELS = (1, 2, 3)
by_family = pytest.mark.parametrize("family", FAMILIES, ids=[f.name for f in FAMILIES])


def reward(gold: str, reference: Mapping[str, Any], mode: str) -> float:
    return score_instruction(gold, {**reference, "mode": mode}, lambda module: None).reward


def items(family: Family, number: int, start: int = 0) -> list[Item]:
    return [family.generate(Random(start + at), 1 + at % 3) for at in range(number)]


def test_there_is_a_family_for_every_ifeval_id_and_a_mixed_one() -> None:
    assert {kind.id for kind in kinds()} == set(ifeval())
    names = {f"ifeval_{kind.short}" for kind in kinds()} | {"ifeval_mixed"}
    assert set(BY_NAME) == names
    assert len(FAMILIES) == 26


def test_there_are_many_distinct_requests_each_with_topics_that_suit_it() -> None:
    assert len({one.template for one in requests()}) == len(requests()) >= 240
    assert all("{t}" in one.template for one in requests())
    assert sum(len(one.topics) for one in requests()) > 15_000
    assert all(len(group) == len(set(group)) >= 12 for group in TOPICS.values())
    (promise,) = (one for one in requests() if "politician" in one.template)
    assert "public parks" in promise.topics and "first names" in ALL_TOPICS
    assert "first names" not in promise.topics


def test_another_language_is_only_asked_of_requests_that_its_sentences_answer() -> None:
    daily = {one.template for one in DAILY}
    for family in FAMILIES:
        for item in items(family, 12):
            ids = item.task.reference["instruction_id_list"]
            assert ("language:response_language" in ids) == (item.core in daily)


def _unmet(asked: list[Item]) -> list[tuple[str, Item]]:
    return [
        (mode, item)
        for item in asked
        for mode in ("fixed", "reference")
        if reward(item.gold, item.task.reference, mode) != 1.0
    ]


def test_every_gold_meets_all_constraints_in_both_modes() -> None:
    """Two constraints whose reference mode loads a large library are in the slow test."""
    drawn = [item for family in FAMILIES for item in items(family, 2, start=900)]
    heavy = {"length_constraints:number_sentences", "change_case:capital_word_frequency"}
    asked = [i for i in drawn if not heavy & set(i.task.reference["instruction_id_list"])]
    assert len(asked) > 35
    assert _unmet(asked) == []


@pytest.mark.slow
def test_every_gold_of_many_meets_all_constraints_in_both_modes() -> None:
    assert _unmet([item for family in FAMILIES for item in items(family, 150, 2000)]) == []


def test_the_core_is_the_request_alone_without_a_constraint_sentence() -> None:
    alone = {one.template.split("{t}")[0] for one in (*requests(), *DAILY)}
    for family in FAMILIES:
        for item in items(family, 3):
            assert item.core and item.core in item.question
            assert any(item.core.startswith(start) for start in alone)
            assert len(item.core) < 120 and "word" not in item.core.split()


@by_family
def test_items_hold_one_to_four_constraints_by_level_and_the_familys_own(family: Family) -> None:
    wanted = {f"ifeval_{name.partition(':')[2]}": name for name in ifeval()}.get(family.name)
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
    for item in items(BY_NAME["ifeval_mixed"], 60):
        short = [name.partition(":")[2] for name in item.task.reference["instruction_id_list"]]
        assert not [(a, b) for a in short for b in short if (a, b) in pairs]


def _constant(family: Family, golds: int, tasks: int) -> int:
    """Return the number of tasks that the best of the golds meets."""
    told: dict[tuple[str, str], bool] = {}
    asked = [item.task.reference for item in items(family, tasks, start=7000)]
    texts = [item.gold for item in items(family, golds, start=5000)]
    return max(sum(_meets(text, one, told) for one in asked) for text in texts)


@by_family
def test_no_gold_taken_as_a_constant_meets_a_fifth_of_the_items(family: Family) -> None:
    assert _constant(family, 3, 30) <= 6


@pytest.mark.slow
@by_family
def test_none_of_many_golds_meets_a_fifth_of_many_items(family: Family) -> None:
    assert _constant(family, 30, 300) <= 60


def _meets(gold: str, reference: Mapping[str, Any], told: dict[tuple[str, str], bool]) -> bool:
    """Return whether all constraints hold; ``told`` caches detected languages."""
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


KINDS = {kind.short: kind for kind in kinds()}
PAIRS = [
    pair
    for pair in combinations(sorted(KINDS), 2)
    if pair not in apart() and "response_language" not in pair
]


def _drawn(one: Kind, other: Kind, rng: Random, context: Context) -> list[Drawn] | None:
    """Return both constraints as the families would draw them, or None if they are never drawn together."""
    for _ in range(20):
        both = [one.draw(rng, context), other.draw(rng, context)]
        if fits(both, context):
            return both
    return None


@pytest.mark.parametrize("pair", PAIRS, ids="+".join)
def test_every_pair_of_constraints_that_is_drawn_can_be_met_by_an_answer_to_the_request(
    pair: tuple[str, str],
) -> None:
    question = "constrained_response" in pair
    rng = Random("+".join(pair))
    met = 0
    for one in rng.sample([one for one in requests() if one.yes_or_no == question], 2):
        topic = rng.choice(one.topics)
        request = one.template.format(t=topic)
        drawn = _drawn(KINDS[pair[0]], KINDS[pair[1]], rng, Context(request, topic, question, 2))
        if drawn is None:
            continue
        ids, kwargs = [one.id for one in drawn], [dict(one.kwargs) for one in drawn]
        gold = compose(ids, kwargs, request, topic, one.answer)
        assert gold is not None, (request, ids, kwargs)
        reference = {"instruction_id_list": ids, "kwargs": kwargs, "mode": "fixed"}
        assert score_instruction(gold, reference, lambda module: None).reward == 1.0, gold
        met += 1
    assert met > 0, "the pair is never drawn: it belongs among those that are apart"


def _request_of(core: str) -> tuple[Request, str]:
    """Return the request and topic from which a text was made."""
    return next(
        (one, topic)
        for one in requests()
        for topic in one.topics
        if one.template.format(t=topic) == core
    )


def test_golds_begin_to_answer_the_request_about_its_topic() -> None:
    answering = asked = 0
    for family in FAMILIES:
        for seed in range(8):
            item = family.generate(Random(seed), 1 + seed % 3)
            ids = item.task.reference["instruction_id_list"]
            if "language:response_language" in ids:
                continue
            request, topic = _request_of(item.core or "")
            gold = item.gold.lower().replace("*", "")
            assert topic.lower() in gold, (item.question, item.gold)
            told = (text.format(t=topic).lower().rstrip(".?") for text in request.answer)
            answering += sum(text in gold for text in told) >= 2
            asked += 1
    assert answering > 0.9 * asked > 100


def test_every_request_has_an_answer_of_eight_sentences_that_any_constraint_can_take() -> None:
    for request in requests():
        sentences = request.answer
        assert len(sentences) == len(set(sentences)) >= 8
        assert sum("{t}" in text for text in sentences) >= 5, request.template
        for text in sentences:
            assert re.fullmatch(r"[A-Z][^,;:\"!*#\[\]()0-9]*[.?]", text), text
            assert not re.search(r"\b[A-Z]+\b|[.?].+[.?]", text), text
            assert not set(re.findall(r"[a-z]+", text.lower())) & set(KEYWORDS), text


@pytest.mark.parametrize(
    ("request_text", "ids", "kwargs"),
    [
        ("Write a limerick about tea.", ["number_words"], [{"relation": "at least", "num_words": 300}]),
        ("Write a poem about tea.", ["number_bullet_lists"], [{"num_bullets": 4}]),
        ("Write a poem about tea.", ["json_format"], [{}]),
        ("List five mistakes that beginners make with tea.", ["number_bullet_lists"], [{"num_bullets": 9}]),
        ("Write an essay about tea.", ["number_words"], [{"relation": "less than", "num_words": 50}]),
        ("Write a story that begins with a lost key and ends with tea.", ["end_checker"], [{"end_phrase": "The end."}]),
        ("Write a short email that apologises for tea.", ["number_paragraphs"], [{"num_paragraphs": 8}]),
        ("Write a story about tea.", ["forbidden_words"], [{"forbidden_words": ["story"]}]),
        ("Write a headline and a first paragraph about tea.", ["number_paragraphs"], [{"num_paragraphs": 2}]),
        ('Continue the text that starts with "It was all about tea"', ["response_language"], [{"language": "de"}]),
    ],
)  # fmt: skip
def test_constraints_that_contradict_the_request_are_found(
    request_text: str, ids: list[str], kwargs: list[dict[str, object]]
) -> None:
    plan = read_plan([KINDS[short].id for short in ids], kwargs)
    assert plan_conflicts(plan) == []
    assert list(request_conflicts(request_text, "tea", plan))
    assert not list(request_conflicts("Explain tea to a complete beginner.", "tea", plan))


def test_a_yes_or_no_question_leaves_room_for_reasons() -> None:
    (family,) = [f for f in FAMILIES if f.name == "ifeval_constrained_response"]
    for seed in range(40):
        item = family.generate(Random(seed), 1 + seed % 3)
        assert any(word in item.question for word in ("reasons", "why", "Explain your view"))
        assert "Answer with exactly one" not in item.question
        assert sum(item.gold.count(f"My answer is {word}.") for word in ("yes", "no", "maybe")) == 1
        assert len(item.gold.split()) > 15
