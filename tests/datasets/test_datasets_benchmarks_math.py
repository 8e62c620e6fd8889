from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_datasets.benchmarks import load_benchmark, load_spec
from prorl_datasets.benchmarks.catalogue import BenchmarkItem
from prorl_datasets.benchmarks.shapes import (
    convert_math,
    convert_olympiad,
    olympiad_gold,
    plain_gold,
)
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.types import DatasetError
from prorl_verifiers import VerifierPool

ROWS = Path(__file__).parents[1] / "data" / "benchmark_rows"


def _gold(name: str, raw: Mapping[str, Any]) -> Any:
    item = convert_math(load_spec(name), raw, "here:1")
    assert isinstance(item, BenchmarkItem)
    return item.reference["answer"]


@pytest.mark.parametrize("gold", ["336^\\circ", "336^{\\circ}", "$336^\\circ$", "336", 336, "336°"])
def test_aime_2025_ii_problem_5_is_336_in_every_spelling(gold: Any) -> None:
    assert _gold("aime_2025", {"question": "Q", "answer": gold}) == "336"


def test_zeros_in_front_are_dropped() -> None:
    assert _gold("aime_2024", {"problem": "Q", "answer": "025"}) == "25"


def test_columns_with_capitals_and_whole_numbers_are_read() -> None:
    assert _gold("aime_2024", {"ID": "2024-II-4", "Problem": "Q", "Answer": 33}) == "33"


@pytest.mark.parametrize(("gold", "text"), [(142.0, "142"), (-4.0, "-4"), ("0.0", "0"), (7, "7")])
def test_amc_floats_become_whole_numbers(gold: Any, text: str) -> None:
    assert _gold("amc", {"problem": "Q", "answer": gold}) == text


@pytest.mark.parametrize("gold", ["12.5", "x", 1000, -1, "nan", "inf"])
def test_an_aime_answer_that_is_no_whole_number_in_range_is_unusable(gold: Any) -> None:
    with pytest.raises(Unusable, match="not a whole number from"):
        convert_math(load_spec("aime_2024"), {"problem": "Q", "answer": gold}, "f:7")


def test_without_an_answer_column_the_last_box_of_the_solution_is_the_gold(tmp_path: Path) -> None:
    (tmp_path / "aime_2024.jsonl").symlink_to(ROWS / "aime_2024.jsonl")
    samples = load_benchmark("aime_2024", mirror=tmp_path)
    assert [s.task.reference["answer"] for s in samples] == ["25", "77"]


def test_neither_answer_nor_box_is_unusable() -> None:
    with pytest.raises(Unusable, match="no answer"):
        convert_math(load_spec("aime_2024"), {"problem": "Q", "solution": "none"}, "f:1")


def test_a_renamed_column_is_named_with_those_found() -> None:
    with pytest.raises(
        DatasetError, match=r"f:1: .*no column for 'question'.*here: probleme, answer"
    ):
        convert_math(load_spec("math_500"), {"probleme": "Q", "answer": "1"}, "f:1")


def test_minerva_golds_that_are_python_are_accepted_by_their_verifier(
    tmp_path: Path, pool: VerifierPool
) -> None:
    (tmp_path / "minerva.jsonl").symlink_to(ROWS / "minerva.jsonl")
    samples = load_benchmark("minerva", mirror=tmp_path)
    golds = [s.task.reference["answer"] for s in samples]
    assert golds == ["\\arcsin(10/13)", "4.5e33", "6.5e-7"]
    answers = ["\\arcsin\\frac{10}{13}", "4.5\\times 10^{33}", "6.5 \\times 10^{-7}"]
    pairs = [(f"\\boxed{{{a}}}", s.task) for a, s in zip(answers, samples, strict=True)]
    assert [v.reward for v in pool.score(pairs)] == [1.0, 1.0, 1.0]


def test_a_list_of_golds_keeps_its_first_and_shows_the_others() -> None:
    raw = {"problem": "Q", "answer": ["6630.65\n", "6630\n", "6630.65"]}
    item = convert_math(load_spec("minerva"), raw, "f:1")
    assert isinstance(item, BenchmarkItem)
    assert item.reference["answer"] == "6630.65" and item.metadata["alternatives"] == ["6630"]


def test_plain_gold_strips_one_pair_of_dollar_signs_only() -> None:
    assert plain_gold(" $x+1$ ") == "x+1"
    assert plain_gold("$a$ and $b$") == "$a$ and $b$"
    assert plain_gold("2*np.pi*np.sqrt(2)") == "2*\\pi*\\sqrt(2)"


@pytest.mark.parametrize(
    ("answers", "several", "gold"),
    [
        (["$69$,$84$"], True, "69, 84"),
        (["27,54,108"], True, "27, 54, 108"),
        (["$221,$8$"], True, "221, 8"),
        (["$1{,}000,2$"], True, "1{,}000, 2"),
        (["$(-\\infty, 0) \\cup\\{1\\}$."], False, "(-\\infty, 0) \\cup\\{1\\}"),
        (["$1,000$"], False, "1,000"),
        (["\\$5"], False, "\\$5"),
        (["$1$", "$2$"], True, "1, 2"),
    ],
)
def test_olympiad_answers_become_one_text(answers: list[str], several: bool, gold: str) -> None:
    assert olympiad_gold(answers, several) == gold


def _olympiad(**changes: Any) -> Any:
    raw = {"id": 7, "question": "Q", "final_answer": ["$3$"], "is_multiple_answer": False} | changes
    return convert_olympiad(load_spec("olympiadbench"), raw, "f:1")


def test_an_error_column_becomes_an_absolute_tolerance() -> None:
    item = _olympiad(final_answer=["4.2"], unit="%", error="1e-1")
    assert item.verifier == "stem"
    assert item.reference == {"answer": "4.2", "tolerance": {"abs": 0.1}, "unit": "%"}


def test_the_unit_is_asked_for_outside_the_box_and_kept() -> None:
    item = _olympiad(unit="km/h")
    assert "km/h" in item.shown and "out of the box" in item.shown
    assert item.question == "Q" and item.metadata["unit"] == "km/h"


def test_context_comes_before_the_question_and_counts_as_question() -> None:
    assert _olympiad(context=" Let n be 3. ").question == "Let n be 3.\n\nQ"


def test_several_answers_are_kept_as_such_and_asked_for() -> None:
    item = _olympiad(final_answer=["$1$,$2$"], is_multiple_answer=True)
    assert item.metadata["is_multiple_answer"] is True and "separated by commas" in item.shown


def test_rows_with_images_and_rows_without_answer_are_unusable() -> None:
    with pytest.raises(Unusable, match=r"needs an image \(modality Multimodal\)"):
        _olympiad(modality="Multimodal")
    with pytest.raises(Unusable, match="no final answer"):
        _olympiad(final_answer=[])
