"""How large a gain an evaluation sees: the simulation behind ``prorl eval plan``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import NullProgress
from prorl_evaluation import (
    EvalSettings,
    EvaluationError,
    ProblemResult,
    evaluate,
    load_result,
)
from prorl_evaluation.compare import MIN_PROBLEMS
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


def problem(i: int, n: int, c: int) -> ProblemResult:
    return ProblemResult(f"p{i}", "math", "x", "y", n, n, c, c / n, 0, 0, 0, 0, n)


def test_without_a_gain_the_interval_excludes_zero_upwards_in_two_or_three_per_cent() -> None:
    assert 0.005 <= power(100, 8, 0.0) <= 0.04


def test_power_grows_with_the_gain_the_problems_and_the_samples() -> None:
    base = power(60, 4, 0.08)
    assert power(60, 4, 0.12) > base
    assert power(120, 4, 0.08) > base
    assert power(60, 16, 0.08) > base


def test_the_reviews_design_of_forty_problems_misses_a_gain_of_five_points_mostly() -> None:
    assert power(40, 16, 0.05) < 0.5


def test_the_smallest_gain_is_seen_as_often_as_wanted_and_a_smaller_one_is_not() -> None:
    least = smallest_gain(80, 8, Rates(0.5), wanted=0.8)
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


def test_as_many_problems_as_are_needed_see_the_gain_and_a_tenth_fewer_do_not() -> None:
    found = needed_problems(8, 0.12, wanted=0.8)
    assert found is not None and power(found, 8, 0.12) >= 0.8
    assert power(int(0.9 * found), 8, 0.12) < 0.8
    assert needed_problems(8, 0.0) is None


def test_a_gain_that_more_samples_cannot_show_needs_more_problems() -> None:
    assert needed_samples(30, 0.05) is None
    found = needed_samples(120, 0.12, wanted=0.8)
    assert found is not None and found > 1 and power(120, found // 2, 0.12) < 0.8


def test_fewer_problems_than_compare_speaks_of_see_no_gain() -> None:
    assert power(MIN_PROBLEMS - 1, 64, 0.5) == 0.0 < power(MIN_PROBLEMS, 64, 0.5)
    assert needed_problems(64, 0.5) == MIN_PROBLEMS


def test_from_a_thousand_problems_on_the_power_is_the_normal_formulas() -> None:
    for gain in (0.0, 0.03):
        assert power(1000, 4, gain) == pytest.approx(power(999, 4, gain), abs=0.03)
    assert power(100_000, 1, 0.01) > 0.999  # at once: nothing is simulated


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
        (lambda: Rates(1.0), "must lie between 0 and 1"),
        (lambda: fit_rates([problem(0, 8, 8), problem(1, 8, 8)]), "nothing to fit"),
        (lambda: fit_rates([problem(0, 8, 8)]), "fewer than two"),
    ],
)
def test_what_cannot_be_planned_is_said(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(EvaluationError, match=words):
        make()


def test_the_command_prints_the_power_as_json() -> None:
    outcome = CliRunner().invoke(
        build_app(), ["eval", "plan", "--problems", "100", "--n", "8", "--gain", "0.1", "--json"]
    )
    found = json.loads(outcome.stdout)
    assert found["power"] == power(100, 8, 0.1) and found["problems"] == 100
    assert found["smallest_gain"] == pytest.approx(smallest_gain(100, 8))
    assert found["needed_problems"] == needed_problems(8, 0.1, wanted=0.9)
    assert found["needed_n"] == needed_samples(100, 0.1, wanted=0.9)


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
    words = ["eval", "plan", "--problems", "60", "--from", str(tmp_path), "--json"]
    found = json.loads(CliRunner().invoke(build_app(), words).stdout)
    own = fit_rates(load_result(tmp_path).problems)
    assert (found["rate"], found["concentration"]) == (own.mean, own.concentration)
