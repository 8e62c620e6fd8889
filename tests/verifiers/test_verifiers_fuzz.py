"""Every verifier under generated text: no crash, reward in [0, 1], repeatable. Texts are short and derandomized."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prorl_verifiers.extract import after_thinking, last_boxed, last_tag
from prorl_verifiers.instruction.audit import example, registered
from prorl_verifiers.instruction.scorer import score_instruction
from prorl_verifiers.logic.scorer import score_logic
from prorl_verifiers.math.scorer import score_math
from prorl_verifiers.pool.protocol import result_frame
from prorl_verifiers.stem.scorer import score_stem
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Score

FEW = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

LATEX = (
    *(
        "\\frac{1}{2}", "\\sqrt{3}", "\\pi", "\\text{", "}", "{", "(", ")", "[", "]", "\\{", "\\}",
        ",", ";",
    ),
    *(
        "\\left", "\\right", "^", "_", "\\circ", "\\pm", "\\%", "\\infty", "\\cup", "<", "\\le",
        "=", "x",
    ),
    *(
        "y", "n", "1", "2", "10", "0.5", "-", "+", "/", "\\cdot", "\\times", "\\,", " ", "\n", "$",
        "and",
    ),
    *(
        "or", "m/s", "\\mathrm{kg}", "\\begin{pmatrix}", "\\end{pmatrix}", "&", "\\\\", "\\boxed{",
        "A", "(B)",
    ),
    *(
        "i", "e", "\\ln", "\\sin", "!", "'", '"', ":", "e5", "\\in", "\\approx", "\u00b2", "\u221e",
        "**",
    ),
)  # fmt: skip
latex = st.lists(st.sampled_from(LATEX), max_size=10).map("".join)
anything = st.text(max_size=80)
answers = st.one_of(latex, anything)

MATH_GOLDS = (
    *("17", "\\frac{3}{7}", "(2, 3]", "\\{1, 2\\}", "x^2+1", "\\text{east}", "3\\pm\\sqrt{2}", "B"),
    *(
        "5\\text{ cm}",
        "30^\\circ",
        "\\begin{pmatrix}1\\\\2\\end{pmatrix}",
        "y=2x+1",
        "25\\%",
        "(1, 2)",
    ),
)
STEM_REFERENCES: tuple[dict[str, Any], ...] = (
    {"answer": "37.4", "unit": "m/s"},
    {"answer": "6.0e23"},
    {"answer": "B", "choices": ["red", "green", "5 m", "7 m"]},
    {"answer": "\\frac{mv^2}{r}"},
    {"answer": "(a) 17.3 m (b) 2.9 s"},
    {"answer": "-12", "unit": "°C", "tolerance": {"abs": 1}},
    {"answer": "CO2"},
    {"answer": "0"},
)


def importing(module: str) -> None:
    """Import a library as a worker does, without announcing it."""
    importlib.import_module(module)


def sound(scorer: Callable[..., Score], text: str, reference: Mapping[str, Any]) -> Score:
    """Score twice; assert that the reward is in [0, 1] and the verdicts are equal."""
    first = scorer(text, reference, importing)
    assert math.isfinite(first.reward) and 0.0 <= first.reward <= 1.0, first
    assert first.status in ("scored", "unparsable")
    assert first.status == "scored" or first.reward == 0.0
    assert scorer(text, reference, importing) == first
    assert "result" in result_frame(first)
    return first


def boxed(answer: str) -> str:
    return f"\\boxed{{{answer}}}"


# ------------------------------------------------------------------------- no crash, [0, 1], the same


@FEW
@given(answers, st.sampled_from(MATH_GOLDS))
def test_math_takes_any_answer(answer: str, gold: str) -> None:
    sound(score_math, boxed(answer), {"answer": gold})


@pytest.mark.parametrize("answer", ["**Answer:*:*:** **east**", "**Answer:** **km/h", "km/h"])
def test_math_takes_words_without_a_value(answer: str) -> None:
    sound(score_math, boxed(answer), {"answer": "\\text{east}"})


@FEW
@given(latex, latex)
def test_math_takes_any_gold(gold: str, answer: str) -> None:
    if gold.strip():
        sound(score_math, boxed(answer), {"answer": gold})


@settings(FEW, max_examples=150)
@given(answers, st.sampled_from(STEM_REFERENCES))
def test_stem_takes_any_answer(answer: str, reference: dict[str, Any]) -> None:
    load_task("stem", reference)
    sound(score_stem, boxed(answer), reference)
    sound(score_stem, f"Answer: {answer}", reference)


IDS = tuple(registered())
SLOW_TO_LOAD = ("language", "english")


@FEW
@given(
    st.one_of(
        anything,
        st.lists(
            st.sampled_from(
                (
                    "a", "A.", "*b*", "<<t>>", "[x]", "\n\n", "***", "- c", "P.S. d", '"', ",",
                    "{}", "1!",
                )
            )
        ).map(" ".join),
    )
)  # fmt: skip
def test_instruction_takes_any_text(text: str) -> None:
    ids = [name for name in IDS if not any(word in name for word in SLOW_TO_LOAD)]
    reference = {"instruction_id_list": ids, "kwargs": [example(name) for name in ids]}
    found = sound(score_instruction, text, reference)
    assert found.metrics.get("constraints", len(ids)) == len(ids)


@pytest.mark.parametrize("name", [name for name in IDS if any(w in name for w in SLOW_TO_LOAD)])
@pytest.mark.parametrize(
    "text", ["", " ", "\u200b", "?!", "\ud7ff\u0000", "1 2 3", "\U0001f600" * 9]
)
def test_language_checks_take_odd_text(name: str, text: str) -> None:
    sound(score_instruction, text, {"instruction_id_list": [name], "kwargs": [example(name)]})


LOGIC: dict[str, dict[str, Any]] = {
    "coin_flip": {"answer": "0.375", "metadata": {}},
    "game_of_life_halting": {"answer": "True", "metadata": {}},
    "puzzle24": {"answer": "", "metadata": {"numbers": [1, 2, 3, 4]}},
    "countdown": {"answer": "3*8", "metadata": {"numbers": [3, 8], "target": 24}},
    "complex_arithmetic": {"answer": "3.0 + 4.0i", "metadata": {"result": [3.0, 4.0]}},
    "polynomial_multiplication": {
        "answer": "x**2 - 1",
        "metadata": {"variables": ["x"], "polys": ["x - 1", "x + 1"], "result": "x**2 - 1"},
    },
    "binary_matrix": {"answer": "0 1\n1 0", "metadata": {"matrix": [[0, 1], [1, 0]]}},
}
logic_answers = st.one_of(
    anything,
    st.lists(
        st.sampled_from(
            (
                "1", "2", "3", "4", "8", "*", "+", "-", "/", "(", ")", "x", ".", "i", "nan", "inf",
                "[", "]", ",", "\n", " ", "0", "True", "e", "j",
            )
        ),
        max_size=12,
    ).map("".join),
)  # fmt: skip


@settings(FEW, max_examples=150)
@given(logic_answers, st.sampled_from(tuple(LOGIC)), st.sampled_from(("fixed", "reference")))
def test_logic_takes_any_answer(answer: str, dataset: str, mode: str) -> None:
    entry = {"question": "?", **LOGIC[dataset]}
    entry["metadata"] = {"source_dataset": dataset, **entry["metadata"]}
    reference = {"dataset": dataset, "entry": entry, "mode": mode}
    load_task("logic", reference)
    sound(score_logic, f"<answer>{answer}</answer>", reference)


# ------------------------------------------------------------------------------ symmetry, invariance

integers = st.integers(-10_000, 10_000).map(str)
fractions = st.builds("\\frac{{{}}}{{{}}}".format, st.integers(-50, 50), st.integers(1, 50))
decimals = st.decimals(-100, 100, allow_nan=False, places=3).map(str)
surds = st.builds("{}\\sqrt{{{}}}".format, st.integers(2, 9), st.sampled_from((2, 3, 5, 7)))
points = st.builds("({}, {})".format, st.integers(-9, 9), st.integers(-9, 9))
sets = st.builds("\\{{{}, {}\\}}".format, st.integers(-9, 0), st.integers(1, 9))
intervals = st.builds("[{}, {})".format, st.integers(-9, 0), st.integers(1, 9))
words = st.sampled_from(("\\text{east}", "Tuesday", "\\text{no solution}", "hexagon"))
values = st.one_of(integers, fractions, decimals, surds, points, sets, intervals, words)


def reward(answer: str, gold: str) -> float:
    return score_math(boxed(answer), {"answer": gold}, importing).reward


@FEW
@given(values, values)
def test_equality_of_plain_values_is_symmetric(left: str, right: str) -> None:
    assert reward(left, right) == reward(right, left)


@FEW
@given(values)
def test_a_plain_value_is_equal_to_itself(value: str) -> None:
    assert reward(value, value) == 1.0


@FEW
@given(st.one_of(integers, fractions, decimals), st.integers(-10_000, 10_000))
def test_plain_numbers_are_equal_as_numbers(value: str, other: int) -> None:
    from fractions import Fraction

    text = value.replace("\\frac{", "").replace("}{", "/").replace("}", "")
    assert reward(value, str(other)) == float(Fraction(text) == other)


@FEW
@given(
    values,
    values,
    st.sampled_from((" {} ", "\n{}\n", "${}$", "\\left.{}\\right.", "\\displaystyle {}", "{}.")),
)
def test_white_space_and_dollars_change_no_verdict(value: str, gold: str, frame: str) -> None:
    if "right." in frame:
        frame = "\\,{}\\,"
    assert reward(frame.replace("{}", value), gold) == reward(value, gold)


@FEW
@given(points | intervals, points | intervals)
def test_left_and_right_change_no_verdict(value: str, gold: str) -> None:
    sized = value.replace("(", "\\left(").replace(")", "\\right)")
    sized = sized.replace("[", "\\left[").replace("]", "\\right]")
    assert reward(sized, gold) == reward(value, gold)
    assert reward(value.replace(" ", ""), gold) == reward(value, gold)


@FEW
@given(integers, integers)
def test_text_around_a_number_changes_no_verdict(value: str, gold: str) -> None:
    assert reward(f"\\text{{{value}}}", gold) == reward(value, gold)


@FEW
@given(integers, st.integers(0, 3))
def test_stem_choices_take_the_letter_and_nothing_beside_it(prefix: str, at: int) -> None:
    choices = ["copper", "iron", "gold", "lead"]
    reference = {"answer": "ABCD"[at], "choices": choices}
    right = score_stem(boxed("ABCD"[at]), reference, importing)
    other = score_stem(boxed(f"{choices[at]} or {choices[at - 1]}"), reference, importing)
    odd = score_stem(boxed(prefix), reference, importing)
    assert (right.reward, other.reward, odd.reward) == (1.0, 0.0, 0.0)


# ------------------------------------------------------------------------------------- extraction

pieces = st.lists(
    st.sampled_from(
        ("<think>", "</think>", "\\boxed{4}", "<answer>5</answer>", "text", "\n", "{", "}")
    ),
    max_size=8,
).map("".join)


@settings(FEW, max_examples=200)
@given(pieces)
def test_only_what_follows_the_last_thinking_counts(text: str) -> None:
    rest = after_thinking(text)
    if "</think>" in text:
        tail = text.rsplit("</think>", 1)[1]
        assert rest == (None if "<think>" in tail else tail)
    else:
        assert rest == (None if "<think>" in text else text)
    assert after_thinking(f"<think>{text}</think>\\boxed{{7}}") == "\\boxed{7}"
    assert after_thinking(f"{text}<think>") is None


@settings(FEW, max_examples=200)
@given(pieces, anything)
def test_the_last_box_and_the_last_tag_win(before: str, text: str) -> None:
    inner = text.replace("{", "").replace("}", "").replace("\\", "").replace("<", "")
    assert last_boxed(f"{before} \\boxed{{{inner}}} and so on") == inner.strip()
    assert last_tag(f"{before} <answer>{inner}</answer>") == inner.strip()
    assert last_boxed(f"{before} \\boxed{{{inner}") is None
