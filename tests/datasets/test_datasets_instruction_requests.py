from __future__ import annotations

import re
from itertools import combinations
from random import Random

import pytest

from prorl_datasets.procedural.instruction import compose
from prorl_datasets.procedural.instruction.conflicts import plan_conflicts
from prorl_datasets.procedural.instruction.constraints.words import KEYWORDS
from prorl_datasets.procedural.instruction.drawn import Context, Drawn, Kind
from prorl_datasets.procedural.instruction.families import apart, fits, kinds, make_families
from prorl_datasets.procedural.instruction.plan import read_plan
from prorl_datasets.procedural.instruction.request_conflicts import request_conflicts
from prorl_datasets.procedural.instruction.requests import Request, requests
from prorl_verifiers.instruction.scorer import score_instruction

FAMILIES = make_families()
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
