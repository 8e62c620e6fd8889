"""How large a gain an evaluation sees: the simulation behind ``prorl eval plan``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_evaluation import EvaluationError, ProblemResult
from prorl_evaluation.stats.power import Rates, fit_rates, power, smallest_gain


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
