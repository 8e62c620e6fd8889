"""Student's t, Fisher's test and the corrections against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from prorl_evaluation.stats.distributions import (
    benjamini_hochberg,
    expanded_tail,
    fisher_exact,
    holm,
    t_quantile,
    t_tail,
    unexpanded_tail,
)


def test_the_t_distribution_agrees_with_scipy_far_into_the_tail() -> None:
    for df in (1, 2, 5, 23, 499, 20_000):
        for t in (-8.0, -1.0, 0.0, 0.3, 2.5, 12.0, 40.0):
            assert t_tail(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-7, abs=1e-300)
        for tail in (0.5, 0.1, 0.025, 1e-5):
            assert t_quantile(tail, df) == pytest.approx(stats.t.isf(tail, df), rel=1e-7, abs=1e-9)


def test_fishers_test_agrees_with_scipy_on_random_tables() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b, c, d = (int(v) for v in rng.integers(0, 60, 4))
        expected = stats.fisher_exact([[a, b], [c, d]]).pvalue
        assert fisher_exact(a, b, c, d) == pytest.approx(expected, abs=1e-9)
    assert fisher_exact(0, 256, 8, 248) == pytest.approx(0.0074, abs=1e-4)


def test_false_discovery_control_agrees_with_scipy() -> None:
    values = list(np.random.default_rng(1).random(30) ** 3)
    assert benjamini_hochberg(values) == pytest.approx(stats.false_discovery_control(values))
    assert benjamini_hochberg([]) == []


def test_holm_multiplies_by_the_tests_that_are_left_and_skips_nan() -> None:
    found = holm([0.01, math.nan, 0.04, 0.03])
    assert found[0] == pytest.approx(0.03) and math.isnan(found[1])
    assert found[2:] == pytest.approx([0.06, 0.06])


def test_the_unexpanded_tail_is_the_expanded_ones_inverse() -> None:
    for values, strata in ((10, 1), (40, 4), (500, 5)):
        for tail in (0.4, 0.025, 0.001):
            found = unexpanded_tail(expanded_tail(tail, values, strata), values, strata)
            assert found == pytest.approx(tail, rel=1e-6)


def test_the_expanded_tail_widens_small_samples_and_not_large_ones() -> None:
    assert expanded_tail(0.025, 10) == pytest.approx(0.0085, abs=2e-4)
    assert expanded_tail(0.025, 100_000) == pytest.approx(0.025, abs=1e-4)
    assert expanded_tail(0.025, 1) == 0.025
    assert expanded_tail(0.025, 2) > 0.0
