from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import NullProgress
from prorl_evaluation import (
    EvalSettings,
    EvaluationError,
    ProblemResult,
    Resampling,
    Units,
    bounded_columns,
    evaluate,
    load_result,
    paired_columns,
)
from prorl_evaluation.compare import MIN_PROBLEMS
from prorl_evaluation.stats.intervals import Interval, expanded_columns
from prorl_evaluation.stats.paired import one_sided
from prorl_evaluation.stats.power import (
    Rates,
    fit_rates,
    needed_problems,
    needed_samples,
    poor_power,
    power,
    smallest_gain,
)
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples

HOW = Resampling(draws=2000, seed=1)


def covered(found: list[Interval], truth: float) -> float:
    return sum(i.low <= truth <= i.high for i in found) / len(found)


@pytest.mark.parametrize(("a", "b"), [(0.05, 2.45), (0.5, 0.5), (2.45, 0.05)])
@pytest.mark.parametrize("problems", [24, 100])
def test_intervals_cover_the_truth_near_both_bounds(a: float, b: float, problems: int) -> None:
    # 600 trials at once, one per column. The standard error of a coverage of 95 % is 0.9 %.
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
    three = [0] * 20 + [1] * 9 + [2]  # the last one has no variance
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


def test_where_all_of_24_problems_change_the_paired_interval_is_hardly_wider_than_scipys_t() -> (
    None
):
    rows = np.random.default_rng(11).uniform(-0.5, 0.6, (24, 40))
    found = paired_columns(rows, how=HOW)[0]
    low, high = stats.t.interval(0.95, 23, rows.mean(axis=0), stats.sem(rows))
    ratio = [(i.high - i.low) / (h - lo) for i, h, lo in zip(found, high, low, strict=True)]
    assert min(ratio) >= 0.9 and max(ratio) <= 1.1
    assert float(np.median(ratio)) == pytest.approx(1.0, abs=0.05)


# The bootstrap: coverage, clusters, strata, NaN, determinism


def one(values: ArrayLike, units: Units | None = None, how: Resampling | None = None) -> Interval:
    return expanded_columns(np.reshape(values, (-1, 1)), units, how)[0]


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(300):
        # 40 problems of mean rate 2/5 with 8 samples each: the values are rates c/8.
        rates = rng.binomial(8, rng.beta(2, 3, size=40)) / 8
        interval = one(rates, how=Resampling(draws=600, seed=trial))
        hits += interval.low <= 0.4 <= interval.high
    assert 0.90 <= hits / 300 <= 0.98


def test_samples_of_one_problem_do_not_count_as_independent() -> None:
    rng = np.random.default_rng(2)
    per_problem = rng.random(10)
    values = np.repeat(per_problem, 50)
    clusters = [i for i in range(10) for _ in range(50)]
    alone, clustered = one(values), one(values, Units(clusters))
    reference = one(per_problem)
    assert clustered.high - clustered.low == pytest.approx(reference.high - reference.low)
    assert alone.high - alone.low < 0.3 * (clustered.high - clustered.low)


def test_strata_keep_their_share_in_every_draw() -> None:
    # All variance is between the strata, so the stratified interval has no width.
    values, strata = [0.0] * 10 + [1.0] * 10, ["easy"] * 10 + ["hard"] * 10
    fixed = one(values, Units(strata=strata))
    assert (fixed.value, fixed.low, fixed.high) == (0.5, 0.5, 0.5)
    loose = one(values)
    assert loose.low < 0.35 and loose.high > 0.65


def test_values_that_all_agree_are_called_degenerate() -> None:
    assert one([0.0] * 30).degenerate
    assert not one([0.0, 1.0] * 15).degenerate


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = list(np.random.default_rng(3).random(30))
    assert one(values, how=Resampling(seed=5)) == one(values, how=Resampling(seed=5))
    assert one(values, how=Resampling(seed=5)) != one(values, how=Resampling(seed=6))


def test_a_wider_level_gives_a_wider_interval() -> None:
    values = list(np.random.default_rng(5).random(30))
    narrow, wide = one(values, how=Resampling(level=0.5)), one(values, how=Resampling(level=0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        Resampling(level=1.0)
    with pytest.raises(ValueError, match="one entry"):
        one([1.0, 2.0], Units(["a"]))
    with pytest.raises(ValueError, match="two strata"):
        one([1.0, 2.0], Units(["a", "a"], ["x", "y"]))


# The stored simulation of the claims, as printed in docs/concepts/evaluation.md


FOUND = Path(__file__).parents[2] / "docs/evidence/data/evaluation/claims.json"


def test_at_half_a_margin_no_more_than_2_5_per_cent_of_the_claims_are_wrong() -> None:
    rows = [r for r in json.loads(FOUND.read_text())["cells"].values() if r["change"] is not None]
    half = [r for r in rows if abs(r["change"]) == 0.025]
    assert len(half) == 12 and all(r["trials"] >= 1000 for r in half)
    assert max(r["wrong share"] for r in half) <= 0.025
    assert max(r["wrong share"] for r in rows) <= 0.05


# Smallest detectable gain: the simulation behind ``prorl eval plan``


def problem(i: int, n: int, c: int) -> ProblemResult:
    return ProblemResult(f"p{i}", "math", "x", "y", n, n, c, c / n, 0, 0, 0, 0, n)


def test_without_a_gain_the_interval_excludes_zero_upwards_in_two_or_three_per_cent() -> None:
    assert 0.005 <= power(100, 8, 0.0) <= 0.04


def test_power_grows_with_the_gain_the_problems_and_the_samples() -> None:
    base = power(60, 4, 0.08)
    assert power(60, 4, 0.12) > base
    assert power(120, 4, 0.08) > base
    assert power(60, 16, 0.08) > base


@pytest.mark.slow
def test_the_smallest_gain_is_seen_as_often_as_wanted_and_a_smaller_one_is_not() -> None:
    least = smallest_gain(80, 8, Rates(0.5), target=0.8)
    assert power(80, 8, least, Rates(0.5)) >= 0.8
    assert power(80, 8, least - 0.01, Rates(0.5)) < 0.8


def test_the_power_is_near_that_of_a_paired_t_test_by_the_noncentral_distribution() -> None:
    rates, n, gain, problems = Rates(0.4, 1.5), 8, 0.1, 120
    rng = np.random.default_rng(3)
    p = rng.beta(0.6, 0.9, 200_000)
    q = np.where(rng.random(p.shape) < 0.5, rng.beta(0.6, 0.9, p.shape), p)
    q = q + (1 - q) * gain / 0.6
    d = (rng.binomial(n, q) - rng.binomial(n, p)) / n
    shift = d.mean() / d.std() * np.sqrt(problems)
    expected = stats.nct.sf(stats.t.ppf(0.975, problems - 1), problems - 1, shift)
    assert power(problems, n, gain, rates) == pytest.approx(expected, abs=0.04)


@pytest.mark.slow
def test_as_many_problems_as_are_needed_see_the_gain_and_a_tenth_fewer_do_not() -> None:
    found = needed_problems(8, 0.12, target=0.8)
    assert found is not None and power(found, 8, 0.12) >= 0.8
    assert power(int(0.9 * found), 8, 0.12) < 0.8
    assert needed_problems(8, 0.0) is None


@pytest.mark.slow
def test_a_gain_that_more_samples_cannot_show_needs_more_problems() -> None:
    assert needed_samples(30, 0.05) is None
    found = needed_samples(120, 0.12, target=0.8)
    assert found is not None and found > 1 and power(120, found // 2, 0.12) < 0.8


def test_fewer_problems_than_compare_speaks_of_see_no_gain() -> None:
    assert power(MIN_PROBLEMS - 1, 64, 0.5) == 0.0 < power(MIN_PROBLEMS, 64, 0.5)
    assert needed_problems(64, 0.5) == MIN_PROBLEMS


@pytest.mark.slow
def test_from_a_thousand_problems_on_the_power_is_the_normal_formulas() -> None:
    for gain in (0.0, 0.03):
        assert power(1000, 4, gain) == pytest.approx(power(999, 4, gain), abs=0.03)
    assert power(100_000, 1, 0.01) > 0.999  # instant, without a simulation


def test_a_gain_too_small_beside_the_rates_spread_ends_the_search() -> None:
    assert needed_problems(4, 5e-7, Rates(0.999999), trials=50) is None
    found = needed_problems(4, 0.005, Rates(0.99))
    assert found is not None and power(found, 4, 0.005, Rates(0.99)) == pytest.approx(0.8, abs=0.01)


def test_a_small_evaluation_is_warned_about_with_what_it_takes() -> None:
    line = poor_power(40, 16)
    assert line is not None and "40 problems with n = 16" in line and "takes about" in line
    assert poor_power(300, 16) is None and poor_power(5000, 1) is None and poor_power(0, 4) is None
    alone = poor_power(1, 16)
    assert alone is not None and alone.startswith("1 problem")


@pytest.mark.parametrize(("problems", "n"), [(131, 4), (315, 1)])
def test_nobody_is_warned_that_it_takes_fewer_problems_than_there_are(
    problems: int, n: int
) -> None:
    line = poor_power(problems, n)
    said = re.search(r"in (\d+)% of .* takes about (\d+) problems", line or "")
    assert said is not None and int(said[1]) < 80 and int(said[2]) > problems


def test_fitted_rates_leave_out_the_noise_of_sampling() -> None:
    alike = [problem(i, 8, c) for i, c in enumerate([3, 4, 5, 4, 4, 3, 5, 4] * 8)]
    apart = [problem(i, 8, c) for i, c in enumerate([0, 8] * 32)]
    assert fit_rates(alike).mean == pytest.approx(0.5)
    assert fit_rates(alike).concentration > 20
    assert fit_rates(apart).concentration < 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: power(50, 8, 0.7, Rates(0.4)), "can rise by at most 0.6"),
        (lambda: power(1, 8, 0.1), "at least 2 problems"),
        (lambda: Rates(1.0), "must be between 0 and 1"),
        (lambda: fit_rates([problem(0, 8, 8), problem(1, 8, 8)]), "no rates can be fitted"),
        (lambda: fit_rates([problem(0, 8, 8)]), "fewer than two"),
    ],
)
def test_what_cannot_be_planned_is_said(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(EvaluationError, match=words):
        make()


def test_the_command_prints_the_power_as_json() -> None:
    outcome = CliRunner().invoke(
        build_app(), ["eval", "plan", "--problems", "1000", "--n", "2", "--gain", "0.05", "--json"]
    )
    found = json.loads(outcome.stdout)
    assert found["power"] == power(1000, 2, 0.05) and found["problems"] == 1000
    assert found["smallest_gain"] == pytest.approx(smallest_gain(1000, 2))
    assert found["needed_problems"] == needed_problems(2, 0.05, target=0.9)
    assert found["needed_n"] == needed_samples(1000, 0.05, target=0.9)


def test_the_plan_takes_the_rates_of_a_result(tmp_path: Path) -> None:
    samples = make_samples(30)
    evaluate(
        FakeGenerator(),
        samples,
        EvalSettings(n=8, k=4, draws=100),
        tmp_path,
        FakeScorer(),
        NullProgress(),
    )
    words = ["eval", "plan", "--problems", "1000", "--from", str(tmp_path), "--json"]
    found = json.loads(CliRunner().invoke(build_app(), words).stdout)
    own = fit_rates(load_result(tmp_path).problems)
    assert (found["rate"], found["concentration"]) == (own.mean, own.concentration)
