"""pass@k against known vectors, exact fractions and its own limits."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prorl_evaluation import ks_up_to, pass_at_k


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        (10, 3, 5, 0.9166667),  # 1 - C(7,5)/C(10,5) = 1 - 21/252
        (256, 1, 128, 0.5),
        (5, 2, 4, 1.0),  # only 3 failures: any 4 samples hold a success
        (128, 1, 128, 1.0),
        (200, 0, 128, 0.0),
        (4, 1, 1, 0.25),
    ],
)
def test_known_vectors(n: int, c: int, k: int, expected: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-7)


@given(st.integers(1, 600), st.data())
def test_agrees_with_exact_binomials(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert pass_at_k(n, c, k) == pytest.approx(float(exact), abs=1e-12)


def test_fewer_samples_than_k_say_nothing() -> None:
    assert math.isnan(pass_at_k(3, 3, 4))
    assert math.isnan(pass_at_k(0, 0, 1))


@pytest.mark.parametrize(
    ("n", "c", "k"), [(3, 4, 1), (-1, 0, 1), (3, -1, 1), (3, 1, 0), (3, 1, -2)]
)
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=r"n=-?\d"):
        pass_at_k(n, c, k)


def test_it_is_unbiased_over_binomial_draws() -> None:
    # E[pass@2 of n=5] = sum_c Bin(5, p) * estimate must be 1 - (1-p)^2 = 0.51 for p = 0.3.
    p = 0.3
    mean = sum(math.comb(5, c) * p**c * (1 - p) ** (5 - c) * pass_at_k(5, c, 2) for c in range(6))
    assert mean == pytest.approx(1 - (1 - p) ** 2)


def test_ks_are_the_powers_of_two_and_the_wanted_ones() -> None:
    assert ks_up_to(12, [10, 13]) == (1, 2, 4, 8, 10)
    assert ks_up_to(16) == (1, 2, 4, 8, 16)
    assert ks_up_to(0) == ()
