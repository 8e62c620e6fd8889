"""The bootstrap: coverage, clusters, strata, NaN, determinism."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prorl_evaluation import bootstrap_ci


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(300):
        # 40 problems of mean rate 2/5, 8 samples each: the values are rates c/8.
        rates = rng.binomial(8, rng.beta(2, 3, size=40)) / 8
        interval = bootstrap_ci(rates, draws=600, seed=trial)
        hits += interval.low <= 0.4 <= interval.high
    assert 0.90 <= hits / 300 <= 0.98


def test_samples_of_one_problem_do_not_count_as_independent() -> None:
    rng = np.random.default_rng(2)
    per_problem = rng.random(10)
    values = np.repeat(per_problem, 50)
    clusters = [i for i in range(10) for _ in range(50)]
    alone, clustered = bootstrap_ci(values), bootstrap_ci(values, clusters=clusters)
    reference = bootstrap_ci(per_problem)
    assert clustered.high - clustered.low == pytest.approx(reference.high - reference.low)
    assert alone.high - alone.low < 0.3 * (clustered.high - clustered.low)


def test_strata_keep_their_share_in_every_draw() -> None:
    # Between the strata everything differs, within them nothing: stratified, no spread is left.
    values, strata = [0.0] * 10 + [1.0] * 10, ["easy"] * 10 + ["hard"] * 10
    fixed = bootstrap_ci(values, strata=strata)
    assert (fixed.value, fixed.low, fixed.high) == (0.5, 0.5, 0.5)
    loose = bootstrap_ci(values)
    assert loose.low < 0.35 and loose.high > 0.65


def test_nan_is_left_out_and_counted() -> None:
    interval = bootstrap_ci([0.0, 1.0, math.nan, 1.0, 0.0])
    assert (interval.value, interval.count, interval.undefined) == (0.5, 4, 1)
    nothing = bootstrap_ci([math.nan, math.nan])
    assert math.isnan(nothing.value) and math.isnan(nothing.low) and nothing.undefined == 2
    assert bootstrap_ci([]).count == 0


def test_values_that_all_agree_are_called_degenerate() -> None:
    assert bootstrap_ci([0.0] * 30).degenerate
    assert not bootstrap_ci([0.0, 1.0] * 15).degenerate


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = list(np.random.default_rng(3).random(30))
    assert bootstrap_ci(values, seed=5) == bootstrap_ci(values, seed=5)
    assert bootstrap_ci(values, seed=5) != bootstrap_ci(values, seed=6)


def test_agrees_with_the_normal_interval_for_many_problems() -> None:
    values = np.random.default_rng(4).random(2000)
    interval = bootstrap_ci(values, draws=4000)
    half = 1.96 * values.std(ddof=1) / math.sqrt(2000)
    assert interval.high - interval.value == pytest.approx(half, rel=0.08)
    assert interval.value - interval.low == pytest.approx(half, rel=0.08)


def test_a_wider_level_gives_a_wider_interval() -> None:
    values = list(np.random.default_rng(5).random(30))
    narrow, wide = bootstrap_ci(values, level=0.5), bootstrap_ci(values, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        bootstrap_ci([1.0], level=1.0)
    with pytest.raises(ValueError, match="one entry"):
        bootstrap_ci([1.0, 2.0], clusters=["a"])
    with pytest.raises(ValueError, match="two strata"):
        bootstrap_ci([1.0, 2.0], clusters=["a", "a"], strata=["x", "y"])
