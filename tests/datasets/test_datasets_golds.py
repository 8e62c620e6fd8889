from __future__ import annotations

import pytest

from prorl_datasets.sources.columns import no_answer

REAL = [
    "7", "-1/2", r"\frac{1}{2}", "x = 3", "[1, 2)", r"\text{no solution}", "undefined", r"\infty", "Na", "NaCl", "A",
    "yes", "0", "3 or 4", r"\text{Los Angeles}", "the mitochondrial membrane", "$x^2 + 1$", r"\begin{pmatrix} a & b \end{pmatrix}",
    "December 25, 1642", "12 square feet", r"\left(\frac{1}{2}, \infty\right)", "50 figures", "increasing", "(1,2)", "1,2,3",
    r"a_n = a_{n-1} + 2^{n} \text{ for all } n \geq 1", "See", "above", "Nan Goldin",
]  # fmt: skip


@pytest.mark.parametrize("gold", REAL)
def test_real_golds_pass(gold: str) -> None:
    assert no_answer(gold) is None


@pytest.mark.parametrize(
    ("gold", "rule"),
    [
        ("", "empty"), ("  \n", "empty"), ("nan", "null word"), ("NaN", "null word"), ("null", "null word"),
        ("None", "null word"), ("N/A", "null word"), ("$\\ $", None), ("No answer found.", "null word"),
        ("See the proof above.", "points elsewhere"), ("see solution", "points elsewhere"),
        ("Refer to the attached figure for the answer", "points elsewhere"), ("As shown above.", "points elsewhere"),
        ("The proof is left to the reader", "points elsewhere"), ("Please see the explanation below", "points elsewhere"),
    ],
)  # fmt: skip
def test_what_is_clearly_no_answer_is_found(gold: str, rule: str | None) -> None:
    assert no_answer(gold) == rule
