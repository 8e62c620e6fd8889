import importlib
from typing import Any

import pytest

from prorl_verifiers.math.scorer import number_by_algebra, same_answer, score_math
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import TaskError


def loading(module: str) -> None:
    importlib.import_module(module)


def never(module: str) -> None:
    raise AssertionError(f"{module} was not needed")


def score(gold: str, answer: str, **reference: Any) -> Any:
    return score_math(rf"So \boxed{{{answer}}}.", {"answer": gold, **reference}, loading)


def test_a_decided_answer_needs_no_library_and_the_reason_names_our_grader() -> None:
    found = score_math(r"\boxed{\frac{2}{4}}", {"answer": "0.5"}, never)
    assert found.reward == 1.0 and "our grader" in found.reason
    assert found.metrics == {"undecided": 0.0}


UNDECIDED = ("a, where b is odd: x|y", r"\div")


def test_an_undecided_answer_goes_to_math_verify_behind_our_guards() -> None:
    found = score(*UNDECIDED)
    assert found.reward == 0.0 and "math-verify, guarded" in found.reason
    assert found.metrics == {"undecided": 1.0}


def test_alone_our_grader_counts_undecided_as_wrong_and_says_so() -> None:
    found = score(*UNDECIDED, mode="ours")
    assert found.reward == 0.0 and found.reason.startswith("undecided")


def test_either_accepts_what_one_of_the_two_graders_accepts() -> None:
    assert score("45^\\circ", r"\pi/4", mode="either").reward == 1.0
    loose = score("50", r"50\%", mode="either")
    assert loose.reward == 1.0 and loose.reason == "equal (math-verify)"
    assert score("50", "51", mode="either").reward == 0.0


def test_math_verify_alone_has_no_guards_and_no_conversions() -> None:
    assert score("7", "5=7", mode="math-verify").reward == 1.0
    assert score("5\\text{ km}", r"5000\text{ m}", mode="math-verify").reward == 0.0
    plain = score_math("The answer is $5$", {"answer": "5", "mode": "math-verify"}, loading)
    assert plain.reward == 1.0
    assert (
        score_math("no idea", {"answer": "5", "mode": "math-verify"}, loading).status
        == "unparsable"
    )


def test_a_last_line_counts_where_there_is_no_box_at_all() -> None:
    assert score_math("So it is.\nAnswer: 25", {"answer": "25"}, never).reward == 1.0
    assert score_math("\\boxed{25\nAnswer: 25", {"answer": "25"}, never).status == "unparsable"
    assert score_math("25", {"answer": "25"}, never).status == "unparsable"


CHOICES = ["$3$", r"$\frac{7}{2}$", "4", "none of these"]


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        ("B", 1.0),
        (r"\text{(B)}", 1.0),
        ("(B) 7/2", 1.0),
        ("3.5", 1.0),
        (r"\text{B. } \frac72", 1.0),
        ("A", 0.0),
        ("(A) 7/2", 0.0),
        ("(B) 4", 0.0),
        ("A or B", 0.0),
        ("(A) 3 (B) 3.5 (C) 4", 0.0),
        ("3, 3.5, 4", 0.0),
        ("E", 0.0),
        ("5", 0.0),
    ],
)
@pytest.mark.parametrize("gold", ["B", r"\frac{7}{2}"])
def test_choices_are_named_by_letter_or_content(gold: str, answer: str, reward: float) -> None:
    assert score(gold, answer, choices=CHOICES).reward == reward


def test_a_bare_letter_is_no_number_without_choices() -> None:
    assert score("5", "C").reward == 0.0


@pytest.mark.parametrize(
    "reference",
    [
        {},
        {"answer": ""},
        {"answer": "5", "gold": "5"},
        {"answer": "5", "mode": "strict"},
        {"answer": "5", "percent": "yes"},
        {"answer": "5", "choices": ["5"]},
        {"answer": "5", "choices": ["5", 6]},
        {"answer": "7", "choices": ["5", "6"]},
        {"answer": "C", "choices": ["5", "6"]},
    ],
)
def test_malformed_references_are_task_errors(reference: dict[str, Any]) -> None:
    with pytest.raises(TaskError, match=r"^math: "):
        load_task("math", reference)


@pytest.mark.parametrize(
    "reference",
    [
        {"answer": "5"},
        {"answer": "a gold ]] no grader reads"},
        {"answer": "5", "mode": "either", "percent": True},
        {"answer": "B", "choices": ["5", "6"]},
        {"answer": "6", "choices": ["5", "6"]},
    ],
)
def test_sound_references_load(reference: dict[str, Any]) -> None:
    assert load_task("math", reference).reference == reference


def test_what_the_stem_verifier_imports_works_alone() -> None:
    assert same_answer("x^2-1", "(x-1)(x+1)", never) == (True, "values compared (our grader)")
    value = number_by_algebra(r"2\sqrt{3}", loading)
    assert value is not None and abs(float(value) - 3.4641016151377544) < 1e-12
    assert number_by_algebra("2+3", loading) is None
    assert number_by_algebra(r"\sin 1", loading) is None


@pytest.mark.parametrize("mode", ["math-verify", "either"])
@pytest.mark.parametrize("text", ["9^{9^{9}}", "(" * 99 + "x" + ")" * 99])
def test_texts_of_too_large_values_never_reach_math_verify(text: str, mode: str) -> None:
    for response in (rf"\boxed{{{text}}}", f"The answer is {text}"):
        assert score_math(response, {"answer": "5", "mode": mode}, never).reward == 0.0
