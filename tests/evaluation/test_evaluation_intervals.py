"""Intervals of bounded means and of paired differences: coverage, bounds, strata, clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from prorl_evaluation import Resampling, Units, bounded_columns, paired_columns
from prorl_evaluation.stats.bootstrap import expanded_columns
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.stats.paired import one_sided

HOW = Resampling(draws=2000, seed=1)


def covered(found: list[Interval], truth: float) -> float:
    return sum(i.low <= truth <= i.high for i in found) / len(found)


@pytest.mark.parametrize(("a", "b"), [(0.05, 2.45), (0.5, 0.5), (2.45, 0.05)])
@pytest.mark.parametrize("problems", [24, 100])
def test_intervals_cover_the_truth_near_both_bounds(a: float, b: float, problems: int) -> None:
    # 600 trials at once: their means are columns. The standard error of a coverage of 95% is 0.9%.
    rng = np.random.default_rng(problems)
    rates = rng.binomial(16, rng.beta(a, b, (problems, 600))) / 16
    assert 0.93 - 0.01 <= covered(bounded_columns(rates, how=HOW), a / (a + b)) <= 0.98


def test_paired_intervals_cover_a_change_of_few_problems() -> None:
    # One problem in twenty becomes solved: most differences are 0.
    rng = np.random.default_rng(3)
    change = (rng.random((100, 600)) < 0.05).astype(float)
    found, drawn = paired_columns(change, how=HOW)
    assert 0.93 <= covered(found, 0.05) <= 0.99
    rejected = [min(one_sided(drawn, j, 0.05)) <= 0.025 for j in range(600)]
    assert np.mean(rejected) <= 0.07


def test_a_paired_test_of_no_change_rejects_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    rates = rng.beta(0.5, 0.5, (100, 1500))
    change = (rng.binomial(16, rates) - rng.binomial(16, rates)) / 16
    _, drawn = paired_columns(change, how=HOW)
    up = np.mean([one_sided(drawn, j)[0] <= 0.05 for j in range(1500)])
    assert 0.02 <= up <= 0.065


@pytest.mark.parametrize("null", [0.0, 0.05, -0.05])
@pytest.mark.parametrize("strata", [1, 4])
def test_a_test_at_half_the_error_rate_never_contradicts_the_interval(
    null: float, strata: int
) -> None:
    rng = np.random.default_rng(6)
    change = rng.choice([-1.0, -0.25, 0.0, 1.0], (40, 800), p=[0.05, 0.25, 0.6, 0.1])
    found, drawn = paired_columns(change, Units(strata=[i % strata for i in range(40)]), HOW)
    for j, interval in enumerate(found):
        more, less = one_sided(drawn, j, null)
        assert not (more <= 0.0249 and interval.low <= null)
        assert not (less <= 0.0249 and interval.high >= null)


def test_one_problem_in_each_stratum_is_as_wide_as_one_stratum() -> None:
    rows = np.random.default_rng(8).beta(0.5, 0.5, (30, 200))
    alone = bounded_columns(rows, units=Units(strata=list(range(30))), how=HOW)
    whole = bounded_columns(rows, how=HOW)
    assert [i.low for i in alone] == [i.low for i in whole]
    three = [0] * 20 + [1] * 9 + [2]  # the last one has no spread of its own
    (found,) = bounded_columns(rows[:, :1], units=Units(strata=three), how=HOW)
    assert found.low < found.value < found.high


def test_values_that_are_undefined_enter_nothing() -> None:
    rows = np.array([[1.0, 1.0]] * 3 + [[0.0, 0.0]] * 7)
    beside = np.vstack([rows, [[np.nan, 0.0]] * 30])
    alone, (found, other) = bounded_columns(rows, how=HOW)[0], bounded_columns(beside, how=HOW)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
    assert found.undefined == 30
    assert other.high < alone.high
    (length,) = expanded_columns(np.array([[5.0], [9.0], [7.0], [np.nan]]), how=HOW)
    (same,) = expanded_columns(np.array([[5.0], [9.0], [7.0]]), how=HOW)
    assert (length.low, length.high) == (same.low, same.high)


def test_zero_and_one_values_give_jeffreys_interval() -> None:
    rows = np.array([[1.0]] * 20 + [[0.0]] * 180)
    found = bounded_columns(rows, how=Resampling(draws=40_000, seed=2))[0]
    low, high = stats.beta(20.5, 180.5).ppf([0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.002)


def test_no_success_in_thirty_problems_is_not_certainty() -> None:
    nothing = bounded_columns(np.zeros((30, 1)), how=HOW)[0]
    assert nothing.value == nothing.low == 0.0 and 0.05 < nothing.high < 0.12
    everything = bounded_columns(np.ones((30, 1)), how=HOW)[0]
    assert everything.value == everything.high == 1.0 and 0.88 < everything.low < 0.95
    unchanged = paired_columns(np.zeros((30, 1)), how=HOW)[0][0]
    assert unchanged.low < -0.02 and unchanged.high > 0.02


def test_the_value_lies_in_its_interval_and_the_interval_in_its_bounds() -> None:
    rng = np.random.default_rng(5)
    for rows in (rng.random((1, 20)), rng.random((2, 20)) / 100, np.full((9, 3), 1 / 256)):
        for i in bounded_columns(rows, how=HOW):
            assert 0.0 <= i.low <= i.value <= i.high <= 1.0


def test_strata_keep_their_share_and_narrow_the_interval() -> None:
    rows = np.array([[0.0]] * 30 + [[1.0]] * 30)
    strata = ["easy"] * 30 + ["hard"] * 30
    fixed = bounded_columns(rows, units=Units(strata=strata), how=HOW)[0]
    loose = bounded_columns(rows, how=HOW)[0]
    assert fixed.value == 0.5
    assert fixed.high - fixed.low < 0.4 * (loose.high - loose.low)


def test_problems_of_one_task_do_not_count_as_independent() -> None:
    per_task = np.random.default_rng(6).random(12)
    rows = np.repeat(per_task, 25)[:, None]
    tasks = [i for i in range(12) for _ in range(25)]
    alone = bounded_columns(rows, how=HOW)[0]
    clustered = bounded_columns(rows, units=Units(clusters=tasks), how=HOW)[0]
    reference = bounded_columns(per_task[:, None], how=HOW)[0]
    assert clustered.high - clustered.low == pytest.approx(reference.high - reference.low, rel=0.05)
    assert alone.high - alone.low < 0.4 * (clustered.high - clustered.low)


def test_nan_enters_nothing_and_is_counted() -> None:
    rows = np.array([[0.5, math.nan], [math.nan, math.nan], [0.7, math.nan]])
    some, none = bounded_columns(rows, how=HOW)
    assert some.value == pytest.approx(0.6) and (some.count, some.undefined) == (2, 1)
    assert math.isnan(none.value) and math.isnan(none.low) and none.undefined == 3
    drawn = paired_columns(rows, how=HOW)[1]
    assert math.isnan(one_sided(drawn, 1)[0])
    assert bounded_columns(np.empty((0, 2)), how=HOW)[0].count == 0


def test_values_outside_the_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        bounded_columns([[1.2]], how=HOW)
    with pytest.raises(ValueError, match="shape"):
        bounded_columns([1.0], how=HOW)
    with pytest.raises(ValueError, match="level"):
        Resampling(level=1.0)


def test_the_expanded_interval_of_lengths_is_about_students() -> None:
    lengths = np.random.default_rng(7).normal(400, 90, (15, 1))
    found = expanded_columns(lengths, how=Resampling(draws=20_000))[0]
    half = stats.t.isf(0.025, 14) * lengths.std(ddof=1) / math.sqrt(15)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.06)


def test_the_same_seed_gives_the_same_interval() -> None:
    rows = np.random.default_rng(8).random((30, 1))
    assert bounded_columns(rows, how=HOW) == bounded_columns(rows, how=HOW)
    assert bounded_columns(rows, how=HOW) != bounded_columns(rows, how=Resampling(draws=2000))


def test_where_all_of_24_problems_change_the_paired_interval_is_hardly_wider_than_scipys_t() -> (
    None
):
    rows = np.random.default_rng(11).uniform(-0.5, 0.6, (24, 40))
    found = paired_columns(rows, how=HOW)[0]
    low, high = stats.t.interval(0.95, 23, rows.mean(axis=0), stats.sem(rows))
    ratio = [(i.high - i.low) / (h - lo) for i, h, lo in zip(found, high, low, strict=True)]
    assert min(ratio) >= 0.9 and max(ratio) <= 1.1
    assert float(np.median(ratio)) == pytest.approx(1.0, abs=0.05)
