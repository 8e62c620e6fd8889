"""A boxed answer that the surrounding words deny earns nothing; other denials cost nothing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers.extract import around_last_box, inside_expression, last_boxed
from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.scorer import score_math
from prorl_verifiers.notation.latex_text import denied_around
from prorl_verifiers.stem.scorer import score_stem


def rewards(text: str) -> set[float]:
    reference = {"answer": "8"}
    return {
        score_math(text, reference, load_library).reward,
        score_stem(text, reference, load_library).reward,
    }


@pytest.mark.parametrize(
    "text",
    [
        r"The answer is not \boxed{8}.",
        r"\boxed{8} is wrong.",
        r"\[\boxed{8}\] is clearly incorrect",
        r"It is false that the answer is \boxed{8}.",
        r"so $x \neq 9$. It isn't $\boxed{8}$",
        r"$\boxed{8}$ is not the answer.",
        r"\boxed{8}? No.",
        r"x cannot be \boxed{8}",
        r"it is not true that x=\boxed{8}",
        r"Anything but \boxed{8}",
        r"A common wrong answer is \boxed{8}.",
        r"The naive guess is $\boxed{8}$",
        r"An incorrect result would be \boxed{8}",
        r"Many students would answer \boxed{8}",
        r"One might think that it is \boxed{8}",
        r"It is tempting to say \boxed{8}",
        r"Do not answer \boxed{8}",
        r"If x were 2, the answer would be \boxed{8}.",
        r"Had the coin been fair, we would have found \boxed{8}",
        r"Without the last rule it would be \boxed{8}.",
        r"\boxed{8} is a common wrong answer.",
        r"\boxed{8}, but this double counts.",
    ],
)
def test_a_denied_box_earns_nothing(text: str) -> None:
    assert rewards(text) == {0.0}


@pytest.mark.parametrize(
    "text",
    [
        r"The answer is not 7 but \boxed{8}.",
        r"It is not hard to see that \boxed{8}.",
        r"7 is wrong. The answer is \boxed{8}.",
        r"\boxed{8} is the answer, not 9.",
        r"Since $x\ne 0$, \[x=\boxed{8}.\]",
        r"That would be false. So x=\boxed{8}",
        r"the claim is false, so we get \boxed{8}",
        r"It is wrong that x=7, so \boxed{8}",
        r"the number of people who do not: \boxed{8}",
        "7 is not the answer\n\n\\boxed{8}\nis wrong in no way",
        r"A common wrong answer is 7. The right answer is \boxed{8}.",
        r"If you count twice you would get 16, but the answer is \boxed{8}.",
        r"It would be tempting to stop at 4, so we go on: \boxed{8}",
        r"Given the sides, the answer would be \boxed{8}.",
        r"If $x=2$, then $4x=\boxed{8}$.",
        r"\boxed{8}. This avoids the common mistake of double counting.",
        "\\boxed{8}\n\n(Note that a common wrong answer is 6.)",
    ],
)
def test_a_denial_of_something_else_costs_nothing(text: str) -> None:
    assert rewards(text) == {1.0}


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{8} Correction: 7", "\\boxed{8}\n\nCorrection: it is seven", "\\boxed{8}\n\nErratum: 7", "\\boxed{8}\nEdit: 7",
        "\\boxed{8}. Off by one, so 9.", "\\boxed{8}\n\nOops, off by one.", "\\boxed{8}\nWait, that's off by a factor of 2.",
        "\\boxed{8}\n\nActually, 7.", "\\boxed{8} Wait, no: 7", "\\boxed{8}\n\nSorry, I meant $7$.", "\\boxed{8}\n\nOn second thought, 7 apples.",
    ],
)  # fmt: skip
def test_a_box_that_is_corrected_later_earns_nothing(text: str) -> None:
    assert rewards(text) == {0.0}


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{8}\n\nLet me check: 3+5=8. Correct.", "\\boxed{8}!", "\\boxed{8}\n\n+1 for effort", "No, wait. Actually, 7 is wrong.\n\\boxed{8}",
        "First I got 7. Correction: off by one. \\boxed{8}", "\\boxed{8}\n\nActually, 8.", "\\boxed{8}\n\nWe can check the answer: 2 + 6 works.",
    ],
)  # fmt: skip
def test_words_behind_a_box_that_correct_nothing_cost_nothing(text: str) -> None:
    assert rewards(text) == {1.0}


PARTS = [
    r"$2\cdot\boxed{8}$", r"$2\boxed{8}$", r"$\boxed{8}+1$", r"$3-\boxed{8}$", r"$-\boxed{8}$", r"\[7 - \boxed{8}\]", r"$2(\boxed{8})$",
    r"$\frac{\boxed{8}}{2}$", r"$\frac{1}{\boxed{8}}$", r"$\sqrt{\boxed{8}}$", r"$3^{\boxed{8}}$", r"$\boxed{8}^2$", r"$(\boxed{8})^2$", r"$\boxed{8}!$",
    r"$\boxed{8}/2$", r"$10\times\boxed{8}=80$", r"$\boxed{8}x$", r"$\boxed{8}\sqrt{2}$", r"$f(\boxed{8})$", r"\log\boxed{8}",
    r"\boxed{8}x", r"So we get \boxed{8}xy.", r"\boxed{8}\pi", r"\boxed{8}+C", r"\boxed{8}(x+1)", r"\boxed{8}/2 cups", r"It is 2\boxed{8}", r"It is -\boxed{8}",
    r"It is x\boxed{8}", r"It is minus \boxed{8}", r"half of $\boxed{8}$", r"twice \boxed{8}", r"\boxed{8} squared", r"\boxed{8} million people", r"$\boxed{8}$ dozen",
]  # fmt: skip
WHOLES = [
    r"$2+6=\boxed{8}$", r"- \boxed{8}", r"* \boxed{8}", r"Answer - \boxed{8}", r"**\boxed{8}**", r"(b) \boxed{8}", r"$\left(\boxed{8}\right)$", r"$\boxed{8}$ cm",
    r"Step 3: \boxed{8}", r"\begin{align*} x &= 2+6 \\ &= \boxed{8} \end{align*}", r"$x \approx \boxed{8}$", r"$\text{Total} = \boxed{8}$", r"$\$\boxed{8}$",
    r"$\boxed{8}$ - that is 3 more than 5", "$a$ - \\boxed{8}", r"\boxed{8}. 5 - 3 = 2",
    r"\boxed{8}in", r"\boxed{8}-digit numbers", r"\boxed{8} x-intercepts", r"\boxed{8} (see above)", r"\boxed{8}, millions of them", r"12 minus 4 is \boxed{8}", r"\boxed{8} m/s",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reward"), [*((t, 0.0) for t in PARTS), *((t, 1.0) for t in WHOLES)]
)
def test_a_box_inside_a_larger_formula_is_no_answer(text: str, reward: float) -> None:
    assert rewards(text) == {reward}


def test_a_magnitude_behind_a_box_is_part_of_the_answer() -> None:
    for gold, text in (("8000000", r"\boxed{8} million"), ("8 million", r"$\boxed{8}$ million"), ("96", r"\boxed{8} dozen eggs")):  # fmt: skip
        assert score_math(text, {"answer": gold}, load_library).reward == 1.0


@pytest.mark.parametrize(
    "clause", ["Were it so", "Had it been so", "Should there be two", "Were the sky blue", "Provided it holds", "Supposing so", "In case it holds", "If so"]
)  # fmt: skip
def test_an_answer_under_a_supposition_is_none(clause: str) -> None:
    assert rewards(f"{clause}, the answer is 8.") == rewards(f"{clause}, then the answer is 8.") == {0.0}  # fmt: skip
    choice = {"answer": "B", "choices": ["7", "8", "9"]}
    assert score_stem(f"{clause}, the answer is B", choice, load_library).reward == 0.0
    assert score_stem("There were 2, so the answer is B.", choice, load_library).reward == 1.0


def test_no_boxed_text_of_the_real_data_denies_its_box(test_data: Path) -> None:
    found = [text for file in test_data.rglob("*.jsonl.gz") for text in _boxed_texts(file)]
    assert len(found) > 2000
    assert [text for text in found if denied_around(*around_last_box(text))] == []
    inside = [text for text in found if inside_expression(text, *around_last_box(text))]
    assert all(text.endswith(r"+ \boxed{\phantom{2}}?\]") for text in inside), inside


def _boxed_texts(file: Path) -> Iterator[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            if "boxed" in line:
                yield from _texts(json.loads(line))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str() if last_boxed(value) is not None:
            yield value
        case dict():
            for member in value.values():
                yield from _texts(member)
        case list():
            for member in value:
                yield from _texts(member)
        case _:
            return
