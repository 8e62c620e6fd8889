"""Student's t, Fisher's test and the corrections: the numbers of before, and what their names promise."""

from __future__ import annotations

import math
import sys

import pytest

from prorl_common import MissingExtraError
from prorl_evaluation.stats.distributions import (
    benjamini_hochberg,
    expanded_tail,
    fisher_exact,
    holm,
    require_scipy,
    t_quantile,
    t_tail,
    unexpanded_tail,
)


def test_the_t_distribution_gives_the_numbers_it_gave_before_scipy() -> None:
    tails = {
        (-8.0, 2): 0.9923659639173309,
        (0.3, 23): 0.38343589998964533,
        (2.5, 499): 0.006369609179023642,
        (12.0, 5): 3.54474625858076e-05,
    }
    for (t, df), expected in tails.items():
        assert t_tail(t, df) == pytest.approx(expected, rel=1e-9)
    quantiles = {(0.025, 23): 2.0686576104190477, (1e-5, 499): 4.3062427369086365}
    for (tail, df), expected in quantiles.items():
        assert t_quantile(tail, df) == pytest.approx(expected, rel=1e-9)
    expanded = {10: 0.008550639024406392, 40: 0.020257536362843942, 500: 0.024609072307323343}
    for values, expected in expanded.items():
        assert expanded_tail(0.025, values) == pytest.approx(expected, rel=1e-9)


def test_fishers_test_gives_the_numbers_it_gave_before_scipy() -> None:
    tables = {
        (0, 256, 8, 248): 0.007390700632491538,
        (12, 30, 25, 17): 0.007949896434306951,
        (3, 5, 0, 9): 0.08235294117647059,
    }
    for table, expected in tables.items():
        assert fisher_exact(*table) == pytest.approx(expected, rel=1e-9)


def test_false_discovery_control_takes_the_least_of_the_later_ones() -> None:
    expected = [0.04, 0.16 / 3, 0.16 / 3, 0.5]
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx(expected)
    assert benjamini_hochberg([]) == []


def test_without_scipy_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtraError, match=r"prorl\[eval\]"):
        t_tail(1.0, 3)
    with pytest.raises(MissingExtraError, match=r"prorl\[eval\]"):
        require_scipy()


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
