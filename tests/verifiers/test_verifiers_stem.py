import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers.stem_scorer import choice_index, score_stem


def never(module: str) -> None:
    raise AssertionError(f"{module} was not needed")


def reward(text: str, /, **reference: Any) -> float:
    return score_stem(f"\\boxed{{{text}}}", reference, never).reward


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("50.7", "50.7", True),
        ("50.9", "50.7", True),
        ("51.5", "50.7", False),
        (r"5.07 \times 10^{1}", "50.7", True),
        ("11760", "11760", True),
        ("11761", "11760", False),
        ("11760.0", "11760", True),
        ("0.5", "0.52", False),
        ("nan", "50.7", False),
        (r"E = 50.7", "50.7", True),
        ("5 = 50.7", "50.7", False),
    ],
)
def test_numbers_have_the_documented_tolerance(answer: str, gold: str, right: bool) -> None:
    assert reward(answer, answer=gold) == float(right)


def test_a_given_tolerance_replaces_the_default() -> None:
    assert reward("105", answer="100", tolerance=0.05) == 1.0
    assert reward("106", answer="100", tolerance=0.05) == 0.0
    assert reward("100.9", answer="100", tolerance={"abs": 1}) == 1.0


def test_units_are_compared_when_both_are_there() -> None:
    assert reward("5.0 kJ/mol", answer="5.0", unit="$\\mathrm{kJ~mol}^{-1}$") == 1.0
    assert reward("5.0", answer="5.0", unit="kJ/mol") == 1.0
    assert reward("5.0 J", answer="5.0", unit="kJ/mol") == 0.0


def test_a_power_of_ten_in_the_unit_belongs_to_the_number() -> None:
    unit = "$10^{-19} \\mathrm{~J}$"
    assert reward(r"3.52\times10^{-19} \mathrm{~J}", answer="3.52", unit=unit) == 1.0
    assert reward("3.52", answer="3.52", unit=unit) == 1.0
    assert reward(r"3.52 \mathrm{~J}", answer="3.52", unit=unit) == 0.0


CHOICES = ["red", "5 m/s", "blue", "both of these"]


@pytest.mark.parametrize(
    ("answer", "index"),
    [
        ("B", 1),
        ("(b)", 1),
        (r"\text{B}", 1),
        ("**C**", 2),
        ("C. blue", 2),
        ("Option C", 2),
        ("blue", 2),
        ("C. red", None),
        ("A or B", None),
        ("A, B, C, D", None),
        ("A. red B. blue", None),
        ("red blue", None),
        ("E", None),
        ("banana", None),
    ],
)
def test_exactly_one_option_must_be_named(answer: str, index: int | None) -> None:
    assert choice_index(answer, CHOICES) == index


def test_a_last_line_may_give_the_letter() -> None:
    reference = {"answer": "C", "choices": CHOICES}
    assert score_stem("thinking\nAnswer: (C)", reference, never).reward == 1.0
    assert score_stem("it is C, I guess", reference, never).status == "unparsable"


def test_a_gold_given_as_text_matches_its_letter() -> None:
    assert reward("C", answer="blue", choices=CHOICES) == 1.0


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def test_scibench_golds_with_their_units_are_right(test_data: Path) -> None:
    wrong = []
    rows = read(test_data / "stem" / "scibench_even.jsonl.gz")
    for row in rows:
        gold, unit = row["answer_number"].strip(), row["unit"].strip()
        answer = f"{gold} {unit.replace('$', '')}".rstrip("\\ ")
        if reward(answer, answer=gold, unit=unit) != 1.0:
            wrong.append((answer, unit))
    assert len(rows) == 290
    assert wrong == []


def test_mmlu_letters_and_texts_are_right_and_lists_are_wrong(test_data: Path) -> None:
    texts = right = 0
    for row in read(test_data / "stem" / "mmlu_stem_even.jsonl.gz"):
        choices, gold = row["choices"], row["answer"]
        letter = gold if isinstance(gold, str) else "ABCD"[gold]
        assert choice_index(letter, choices) == "ABCD".index(letter)
        assert choice_index(f"({letter})", choices) == "ABCD".index(letter)
        assert choice_index("A, B, C or D", choices) is None
        texts += 1
        right += choice_index(choices["ABCD".index(letter)], choices) == "ABCD".index(letter)
    assert right / texts > 0.99  # some options are a single letter or repeated
