from typing import Any

import pytest

from prorl_verifiers import TaskError, load_task
from prorl_verifiers.instruction.registry import SETS, catalogue, registry
from prorl_verifiers.instruction.scorer import score_instruction, variants
from prorl_verifiers.instruction.spec import check_reference

TWO = {
    "instruction_id_list": ["keywords:existence", "keywords:existence", "punctuation:no_comma"],
    "kwargs": [{"keywords": ["alpha"]}, {"keywords": ["beta"]}, {}],
}


def none(module: str) -> None:
    """Import nothing."""


def reference(name: str, kwargs: Any, **more: Any) -> dict[str, Any]:
    return {"instruction_id_list": [name], "kwargs": [kwargs], **more}


def test_the_registry_has_the_25_the_29_and_the_58_ids() -> None:
    assert [len(catalogue(name)) for name in SETS] == [25, 29, 58]
    assert len(registry()) == 112


def test_the_reward_is_the_fraction_met_and_repeated_ids_count_each() -> None:
    score = score_instruction("alpha, gamma", TWO, none)
    assert score.reward == pytest.approx(1 / 3)
    assert score.metrics["0:keywords:existence"] == 1.0
    assert score.metrics["1:keywords:existence"] == 0.0
    assert score.metrics["strict_all"] == 0.0
    assert score.metrics["strict"] == pytest.approx(1 / 3)
    assert score.metrics["constraints"] == 3.0


def test_score_all_rewards_only_when_every_constraint_is_met() -> None:
    assert score_instruction("alpha, gamma", TWO | {"score": "all"}, none).reward == 0.0
    assert score_instruction("alpha beta", TWO | {"score": "all"}, none).reward == 1.0


def test_loose_forgives_the_first_line_and_asterisks_and_the_reward_does_not() -> None:
    score = score_instruction("Sure, here it is:\nalpha **beta**", TWO, none)
    assert score.metrics["2:punctuation:no_comma"] == 0.0
    assert score.metrics["loose:2:punctuation:no_comma"] == 1.0
    assert score.metrics["loose_all"] == 1.0
    assert score.reward == pytest.approx(2 / 3)


def test_there_are_eight_variants() -> None:
    assert variants("*a*\nb\n c ") == [
        "*a*\nb\n c ", "b\n c", "*a*\nb", "b", "a\nb\n c ", "b\n c", "a\nb", "b",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["fixed", "reference"])
def test_a_blank_response_meets_nothing(mode: str) -> None:
    score = score_instruction("  \n", reference("punctuation:no_comma", {}, mode=mode), none)
    assert (score.reward, score.status) == (0.0, "unparsable")
    assert score.metrics["loose_all"] == 0.0


def test_fixed_gives_nothing_to_a_text_without_a_word() -> None:
    task = reference("punctuation:no_comma", {})
    assert score_instruction("!!! ***", task, none).status == "unparsable"
    assert score_instruction("!!! ***", task | {"mode": "reference"}, none).reward == 1.0


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (reference("keywords:existance", {}), "did you mean 'keywords:existence'"),
        (reference("count:words_klingon", {"N": 5}), "unknown instruction id"),
        (reference("keywords:existence", {}), "'kwargs' needs 'keywords'"),
        (reference("keywords:existence", None), "'kwargs' needs 'keywords'"),
        (reference("keywords:existence", {"keywords": []}), "list of words"),
        (reference("keywords:existence", {"keywords": ["a"], "kword": 1}), "unknown argument 'kword'"),
        (reference("punctuation:no_comma", {"num_words": 3}), "unknown argument"),
        (reference("length_constraints:number_words", {"relation": "around", "num_words": 3}), "one of 'at least'"),
        (reference("length_constraints:number_words", {"relation": "at most", "num_words": 3}, mode="reference"), "one of 'at least'"),
        (reference("length_constraints:number_words", {"relation": "at least", "num_words": 2.5}), "whole number"),
        (reference("length_constraints:number_words", {"relation": "at least", "num_words": True}), "whole number"),
        (reference("keywords:letter_frequency", {"letter": "ab", "let_relation": "at least", "let_frequency": 2}), "one letter"),
        (reference("language:response_language", {"language": "klingon"}), "cannot detect the language"),
        (reference("keywords:word_once", {"keyword": "*star"}, mode="reference"), "regular expression"),
        (reference("new:copy_span_idx", {"prompt_to_repeat": "abc", "n_start": 0, "n_end": 2}, mode="reference"), "n_start"),
        (reference("new:copy_span_idx", {"prompt_to_repeat": "abc", "n_start": 2, "n_end": 1}), "prompt_to_repeat is empty"),
        (reference("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 2, "nth_paragraph": 3, "first_word": "a"}), "nth_paragraph 3"),
        (reference("punctuation:no_comma", {}, score="most"), "unknown score"),
        (reference("punctuation:no_comma", {}, mode="strict"), "unknown mode"),
        ({"instruction_id_list": []}, "at least one id"),
        ({"instruction_id_list": [["a"]]}, "unknown instruction id"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}, {}]}, "list of 1"),
    ],
)  # fmt: skip
def test_a_malformed_reference_is_one_clear_line(task: dict[str, Any], words: str) -> None:
    with pytest.raises(TaskError) as caught:
        load_task("instruction", task)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "kwargs", "good"),
    [
        ("keywords:frequency", {"keywords": ["cat"], "relation": "at least", "frequency": 1.0}, "a cat"),
        ("keywords:existence", {"keyword": "cat"}, "a cat"),
        ("detectable_format:multiple_sections", {"section_splitter": "Part", "num_sections": 1}, "Part 1: x"),
        ("last_word:last_word_sent", {"last_word": ["cat"], "first_word": None}, "a cat."),
        ("length_constraints:number_words", {"relation": " At  Most", "num_words": 2}, "a cat"),
        ("keywords:exclude_word_harder", {"keyword": "dog", "instruction": "walk the dog"}, "a cat"),
        ("punctuation:no_comma", None, "a cat"),
        ("paragraphs:paragraphs", {"N": None}, "a\n***\ncat"),
    ],
)  # fmt: skip
def test_the_habits_of_training_rows_are_understood(
    name: str, kwargs: dict[str, Any] | None, good: str
) -> None:
    task = reference(name, kwargs)
    check_reference(task)
    assert score_instruction(good, task, none).reward == 1.0


def test_a_missing_library_is_named_with_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    task = reference(
        "length_constraints:number_sentences", {"relation": "at least", "num_sentences": 2}
    )
    check_reference(task)
    with pytest.raises(TaskError, match=r"pip install 'prorl\[ifeval\]'"):
        check_reference(task | {"mode": "reference"})
    check_reference(reference("punctuation:no_comma", {}, mode="reference"))
