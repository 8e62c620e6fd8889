import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers.ifeval_checks import CHECKS, count_sentences
from prorl_verifiers.instruction_scorer import follows, score_instruction


def none(module: str) -> None:
    """No library is needed."""


def test_all_25_ids_are_there() -> None:
    assert len(CHECKS) == 25


def test_agreement_with_the_published_strict_outcomes(test_data: Path) -> None:
    total: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    with gzip.open(test_data / "if" / "ifeval_mistral7b_graded.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            for name, kwargs, strict in zip(
                row["instruction_id_list"], row["kwargs"], row["strict"], strict=True
            ):
                if not name.startswith("language:"):
                    total[name] += 1
                    agreed[name] += follows(row["response"], name, kwargs) == strict
    assert len(total) == 24 and total.total() == 803
    assert agreed.total() / total.total() >= 0.99
    assert all(agreed[name] / total[name] >= 0.9 for name in total)


def test_the_reward_is_the_fraction_met_and_repeated_ids_count_each() -> None:
    reference: dict[str, Any] = {
        "instruction_id_list": ["keywords:existence", "keywords:existence", "punctuation:no_comma"],
        "kwargs": [{"keywords": ["alpha"]}, {"keywords": ["beta"]}, {}],
    }
    score = score_instruction("alpha, gamma", reference, none)
    assert score.reward == pytest.approx(1 / 3)
    assert score.metrics["strict_all"] == 0.0 and score.metrics["0:keywords:existence"] == 1.0
    assert score.metrics["1:keywords:existence"] == 0.0


def test_a_blank_response_meets_nothing() -> None:
    reference = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    assert score_instruction("  \n", reference, none).reward == 0.0


@pytest.mark.parametrize(
    ("name", "kwargs", "good", "bad"),
    [
        ("keywords:letter_frequency", {"letter": "#", "let_relation": "at least", "let_frequency": 2}, "a ## b", "a # b"),
        ("keywords:frequency", {"keyword": "a.b", "relation": "at least", "frequency": 1}, "a.b", "axb"),
        ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "two"}, "one\n\n\n\ntwo", "two\n\none"),
        ("combination:two_responses", {}, "a******b", "a******a"),
        ("detectable_format:json_format", {}, "```json\n[1]\n```", "[1"),
        ("startend:quotation", {}, '"hi"', '"hi'),
        ("change_case:english_capital", {}, "HELLO THERE", "Hello There"),
        ("change_case:english_lowercase", {}, "hello", "привет"),
        ("detectable_format:title", {}, "<<a title>>", "<< >>"),
        ("combination:repeat_prompt", {"prompt_to_repeat": "Say it"}, "say it. yes", "yes. say it"),
    ],
)  # fmt: skip
def test_constraints_tell_good_from_bad(
    name: str, kwargs: dict[str, Any], good: str, bad: str
) -> None:
    assert follows(good, name, kwargs)
    assert not follows(bad, name, kwargs)


def test_sentences_end_at_marks_but_not_after_abbreviations() -> None:
    assert count_sentences("Dr. Smith came. He saw J. Doe! And left") == 3
    assert count_sentences("") == 0


@pytest.mark.parametrize("unit", ["a", "<", "[", "*", "\n", ".", "<<", '"', "a.", "\n*", "-"])
def test_every_check_is_linear_in_the_length(unit: str) -> None:
    kwargs = {
        "keywords": ["zz"], "keyword": "zz", "relation": "at least", "frequency": 3, "forbidden_words": ["zz"],
        "letter": "q", "let_relation": "at least", "let_frequency": 3, "num_sentences": 4, "num_paragraphs": 3,
        "num_words": 4, "nth_paragraph": 2, "first_word": "x", "num_placeholders": 3, "postscript_marker": "P.S.",
        "num_bullets": 3, "num_highlights": 3, "section_spliter": "SECTION", "num_sections": 3,
        "prompt_to_repeat": "abc", "end_phrase": "end", "capital_relation": "at least", "capital_frequency": 2,
    }  # fmt: skip
    text = unit * (300_000 // len(unit))  # a quadratic check would not end
    for name in CHECKS:
        if name.startswith(("language:", "detectable_format:json")):
            continue
        assert follows(text + "x", name, kwargs) in (True, False)
