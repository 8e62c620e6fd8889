import importlib
from typing import Any

import pytest

from prorl_verifiers.stem.scorer import score_stem
from prorl_verifiers.stem.spec import check_reference
from prorl_verifiers.types import TaskError


def load(module: str) -> None:
    importlib.import_module(module)


def score(text: str, /, **reference: Any) -> Any:
    check_reference(reference)
    return score_stem(text, reference, load)


GOLDS: list[dict[str, Any]] = [
    {"answer": ["5 m", "3 s"]},
    {"answer": ["5", "3"], "unit": ["m", "s"]},
    {"answer": "(a) 5 m; (b) 3 s"},
    {"answer": '["5 m", "3 s"]'},
]


@pytest.mark.parametrize("gold", GOLDS)
@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{5 m} and \boxed{3 s}",
        r"\boxed{5\text{ m}; 3\text{ s}}",
        r"\boxed{5\text{ m}, 3\text{ s}}",
        r"\boxed{5 m \text{ and } 3 s}",
        r"\boxed{\text{(a) } 5 m \quad \text{(b) } 3 s}",
        "\\boxed{(a) 5 m\n(b) 3 s}",
        r"\boxed{5 m \\ 3 s}",
        r"\boxed{(500 cm, 3000 ms)}",
        "work\nAnswer: 5 m; 3 s",
        r"first \boxed{7} then (a) \boxed{5 m} (b) \boxed{3 s}",
        r'\boxed{["5 m", "3 s"]}',
    ],
)
def test_all_parts_are_read_from_one_box_or_several(gold: dict[str, Any], text: str) -> None:
    assert score(text, **gold).reward == 1.0


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{5 m}",
        r"\boxed{3 s; 5 m}",
        r"\boxed{5 m; 4 s}",
        r"\boxed{5 m; 3 s; 8 kg}",
        r"\boxed{5 m or 6 m; 3 s}",
    ],
)
def test_missing_swapped_wrong_and_surplus_parts_are_wrong(text: str) -> None:
    assert score(text, answer=["5 m", "3 s"]).reward == 0.0


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("[8, 4]", "(8, 4)", True),
        ("[8, 4]", "8, 4", True),
        ("[1, 4]", r"\{1, 4\}", True),
        ("[1, 4]", "[1, 4]", True),
        ("[1, 4]", "(1, 4)", False),
        ("[1, 2, 3]", r"\begin{pmatrix}1\\2\\3\end{pmatrix}", True),
        ("[1, 2, 3]", "(1, 3, 2)", False),
        ("[2.0, 1.32]", "2, 1.3", False),
    ],
)
def test_a_list_of_numbers_is_read_in_order(gold: str, answer: str, right: bool) -> None:
    assert score(f"\\boxed{{{answer}}}", answer=gold).reward == float(right)


def test_the_metrics_carry_the_share_of_right_parts() -> None:
    found = score(r"\boxed{5 m; 4 s}", answer=["5 m", "3 s"])
    assert (found.reward, dict(found.metrics)) == (0.0, {"parts": 2.0, "parts_right": 0.5})


def test_each_part_may_have_its_tolerance() -> None:
    reference = {"answer": ["100", "100"], "tolerance": [0.1, 0]}
    assert score(r"\boxed{109; 100}", **reference).reward == 1.0
    assert score(r"\boxed{100; 109}", **reference).reward == 0.0


def test_a_gold_with_one_label_or_labels_that_do_not_count_up_is_one_answer() -> None:
    assert score(r"\boxed{(b)}", answer="(b)").reward == 1.0
    assert "parts" not in score(r"\boxed{x}", answer="(b) 5 m (a) 3 s").metrics


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"answer": []}, "1 to 20 parts"),
        ({"answer": ["5", ""]}, "empty"),
        ({"answer": ["5", "6"], "unit": ["m"]}, "'unit' is a list of 1, but the gold has 2 parts"),
        ({"answer": "5", "tolerance": [0.1]}, "the gold has no parts"),
        ({"answer": ["A", "B"], "choices": ["x", "y"]}, "not a list"),
        ({"answer": "5", "unit": 3}, "'unit' must be a string"),
        ({"answer": "5", "unit": "m" * 201}, "longer than 200"),
        ({"answer": "5", "tolerance": -1}, "not negative"),
        ({"answer": "E", "choices": ["x", "y"]}, "not one of the 'choices'"),
    ],
)
def test_a_reference_that_cannot_be_graded_is_a_task_error(
    reference: dict[str, Any], message: str
) -> None:
    with pytest.raises(TaskError, match=message) as error:
        check_reference(reference)
    assert "\n" not in str(error.value)


def test_unknown_units_are_no_task_error() -> None:
    check_reference({"answer": "3", "unit": "10^{16} photons"})
    check_reference({"answer": "3", "unit": "blorgs"})
