from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_datasets.procedural.instruction import conflicts, satisfiable
from prorl_verifiers import TaskError
from prorl_verifiers.instruction.scorer import score_instruction

TRULY_CONTRADICTORY = {374, 1627, 3369, 3371, 3718}
"""IFEval prompts that want a text repeated although it breaks another constraint."""


def reward(gold: str, reference: Mapping[str, Any], mode: str) -> float:
    return score_instruction(gold, {**reference, "mode": mode}, lambda module: None).reward


LOWER, UPPER = "change_case:english_lowercase", "change_case:english_capital"
EXISTENCE, FREQUENCY = "keywords:existence", "keywords:frequency"
FORBIDDEN, LETTER = "keywords:forbidden_words", "keywords:letter_frequency"
WORDS, SENTENCES = "length_constraints:number_words", "length_constraints:number_sentences"
NTH, BULLETS = (
    "length_constraints:nth_paragraph_first_word",
    "detectable_format:number_bullet_lists",
)
JSON, QUOTE, END = "detectable_format:json_format", "startend:quotation", "startend:end_checker"
REPEAT, TWO, OPTION = (
    "combination:repeat_prompt",
    "combination:two_responses",
    "detectable_format:constrained_response",
)
CAPITALS, COMMA = "change_case:capital_word_frequency", "punctuation:no_comma"
PARTS = "length_constraints:number_paragraphs"
SECTIONS, LANGUAGE = "detectable_format:multiple_sections", "language:response_language"
CONTRADICTIONS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "comma in a keyword": [(COMMA, {}), (EXISTENCE, {"keywords": ["well, yes"]})],
    "comma in the end phrase": [(COMMA, {}), (END, {"end_phrase": "Yes, that is all."})],
    "comma in the prompt": [(COMMA, {}), (REPEAT, {"prompt_to_repeat": "Tell me, why?"})],
    "both cases": [(LOWER, {}), (UPPER, {})],
    "lowercase, capital words": [
        (LOWER, {}),
        (CAPITALS, {"capital_relation": "at least", "capital_frequency": 2}),
    ],
    "capitals, few capital words": [
        (UPPER, {}),
        (CAPITALS, {"capital_relation": "less than", "capital_frequency": 3}),
        (SENTENCES, {"relation": "at least", "num_sentences": 4}),
    ],
    "lowercase, upper-case sections": [
        (LOWER, {}),
        (SECTIONS, {"section_spliter": "SECTION", "num_sections": 2}),
    ],
    "lowercase, an option": [(LOWER, {}), (OPTION, {})],
    "lowercase, word for word": [(LOWER, {}), (REPEAT, {"prompt_to_repeat": "Say it."})],
    "lowercase English, German": [(LOWER, {}), (LANGUAGE, {"language": "de"})],
    "two languages": [(LANGUAGE, {"language": "de"}), (LANGUAGE, {"language": "fr"})],
    "wanted and forbidden": [
        (EXISTENCE, {"keywords": ["cat", "old dog"]}),
        (FORBIDDEN, {"forbidden_words": ["Dog"]}),
    ],
    "forbidden at the end": [
        (END, {"end_phrase": "So be it."}),
        (FORBIDDEN, {"forbidden_words": ["be"]}),
    ],
    "wanted and capped": [
        (EXISTENCE, {"keywords": ["cat"]}),
        (FREQUENCY, {"keyword": "cat", "relation": "less than", "frequency": 1}),
    ],
    "two frequencies": [
        (FREQUENCY, {"keyword": "cat", "relation": "at least", "frequency": 5}),
        (FREQUENCY, {"keyword": "CAT", "relation": "less than", "frequency": 4}),
    ],
    "a capped letter in a keyword": [
        (EXISTENCE, {"keywords": ["zigzag"]}),
        (LETTER, {"letter": "z", "let_relation": "less than", "let_frequency": 2}),
    ],
    "more sentences than words": [
        (WORDS, {"relation": "less than", "num_words": 10}),
        (SENTENCES, {"relation": "at least", "num_sentences": 12}),
    ],
    "more keywords than words": [
        (WORDS, {"relation": "less than", "num_words": 5}),
        (FREQUENCY, {"keyword": "cat", "relation": "at least", "frequency": 5}),
    ],
    "an empty range": [
        (WORDS, {"relation": "less than", "num_words": 100}),
        (WORDS, {"relation": "at least", "num_words": 100}),
    ],
    "JSON in quotes": [(JSON, {}), (QUOTE, {})],
    "JSON, bullets": [(JSON, {}), (BULLETS, {"num_bullets": 2})],
    "JSON, an end phrase": [(JSON, {}), (END, {"end_phrase": "Bye."})],
    "JSON, a prompt": [(JSON, {}), (REPEAT, {"prompt_to_repeat": "Say it."})],
    "JSON, two responses": [(JSON, {}), (TWO, {})],
    "a prompt in quotes": [(QUOTE, {}), (REPEAT, {"prompt_to_repeat": "Say it."})],
    "another first word": [
        (REPEAT, {"prompt_to_repeat": "Say it."}),
        (NTH, {"num_paragraphs": 2, "nth_paragraph": 1, "first_word": "cat"}),
    ],
    "two end phrases": [(END, {"end_phrase": "Bye."}), (END, {"end_phrase": "The end."})],
    "two bullet counts": [(BULLETS, {"num_bullets": 2}), (BULLETS, {"num_bullets": 3})],
}


@pytest.mark.parametrize("name", sorted(CONTRADICTIONS))
def test_a_contradiction_is_found_whatever_the_order_and_no_part_is_one(name: str) -> None:
    asked = CONTRADICTIONS[name]
    for order in (asked, asked[::-1]):
        assert conflicts([one for one, _ in order], [values for _, values in order])
        kind, _ = satisfiable([one for one, _ in order], [values for _, values in order], "Go.")
        assert kind == "contradiction"
    for one, values in asked:
        assert conflicts([one], [values]) == []


COMPATIBLE: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "an option in quotes": [(QUOTE, {}), (OPTION, {})],
    "quotes, an end phrase": [(QUOTE, {}), (END, {"end_phrase": "Bye."})],
    "part of a forbidden word": [
        (EXISTENCE, {"keywords": ["cats"]}),
        (FORBIDDEN, {"forbidden_words": ["cat"]}),
    ],
    "one end phrase inside another": [
        (END, {"end_phrase": "That is the end."}),
        (END, {"end_phrase": "the end."}),
    ],
    "as many sentences as words, and one word more": [
        (WORDS, {"relation": "at most", "num_words": 14}),
        (SENTENCES, {"relation": "at least", "num_sentences": 2}),
    ],
    "one sentence, three parts": [
        (SENTENCES, {"relation": "less than", "num_sentences": 2}),
        (PARTS, {"num_paragraphs": 3}),
    ],
    "no e, ten sentences": [
        (LETTER, {"letter": "e", "let_relation": "less than", "let_frequency": 1}),
        (SENTENCES, {"relation": "at least", "num_sentences": 10}),
    ],
    "a prompt with commas in German": [
        (REPEAT, {"prompt_to_repeat": "Write about the sea, the sky and the land."}),
        (LANGUAGE, {"language": "de"}),
    ],
    "two responses, parts": [(TWO, {}), (PARTS, {"num_paragraphs": 3})],
    "JSON, sections": [(JSON, {}), (SECTIONS, {"section_spliter": "Part", "num_sections": 3})],
}


@pytest.mark.parametrize("name", sorted(COMPATIBLE))
def test_what_only_looks_contradictory_has_a_witness(name: str) -> None:
    ids, kwargs = [one for one, _ in COMPATIBLE[name]], [values for _, values in COMPATIBLE[name]]
    kind, text = satisfiable(ids, kwargs, "Go on.")
    assert kind == "witness", text
    assert reward(text, {"instruction_id_list": ids, "kwargs": kwargs}, "fixed") == 1.0


def test_ids_beyond_ifeval_and_bad_arguments_are_told_apart() -> None:
    assert satisfiable(["copy:copy"], [{"prompt_to_repeat": "a"}], "Go.")[0] == "unknown"
    far = satisfiable([WORDS], [{"relation": "at least", "num_words": 10**8}], "Go.")
    assert far[0] == "unknown"
    with pytest.raises(TaskError):
        satisfiable(["keywords:existence"], [{}], "Go.")


def test_nulls_and_other_spellings_of_arguments_are_read() -> None:
    ids = ["punctuation:no_comma", "keywords:frequency", "detectable_format:multiple_sections"]
    kwargs = [
        None,
        {"keywords": "sea", "relation": "At Least", "frequency": 3.0, "num_words": None},
        {"section_splitter": "Part", "num_sections": 2},
    ]
    kind, text = satisfiable(ids, kwargs, "Go.")
    assert kind == "witness"
    assert text.count("sea") >= 3 and "Part 2" in text


@pytest.fixture(scope="module")
def published(test_data: Path) -> list[dict[str, Any]]:
    with gzip.open(test_data / "if" / "ifeval_input_data.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_published_prompts_have_witnesses_and_only_true_contradictions(
    published: list[dict[str, Any]],
) -> None:
    kinds_found: Counter[str] = Counter()
    refused: set[int] = set()
    for row in published:
        ids, kwargs = row["instruction_id_list"], row["kwargs"]
        kind, text = satisfiable(ids, kwargs, row["prompt"])
        kinds_found[kind] += 1
        if kind == "contradiction":
            refused.add(row["key"])
        elif kind == "witness":
            reference = {"instruction_id_list": ids, "kwargs": kwargs}
            assert reward(text, reference, "fixed") == 1.0, row["key"]
    assert refused == TRULY_CONTRADICTORY
    assert kinds_found["witness"] >= 0.98 * len(published)
