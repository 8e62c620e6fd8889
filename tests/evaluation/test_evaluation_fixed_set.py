"""Intervals for these very problems, against enumeration, scipy and simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from prorl_evaluation.metrics.passk import pass_at_k
from prorl_evaluation.stats.fixed_set import fixed_change, fixed_interval, sampling_variance


@dataclass(frozen=True)
class Count:
    n: int
    c: int


@pytest.mark.parametrize(("n", "k"), [(2, 1), (6, 1), (6, 2), (6, 3), (16, 8), (16, 3)])
@pytest.mark.parametrize("p", [0.03, 0.4, 0.9])
def test_the_variance_is_estimated_without_bias(n: int, k: int, p: float) -> None:
    chance = stats.binom.pmf(range(n + 1), n, p)
    value = np.array([pass_at_k(n, c, k) for c in range(n + 1)])
    true = chance @ value**2 - (chance @ value) ** 2
    assert chance @ [sampling_variance(n, c, k) for c in range(n + 1)] == pytest.approx(true)


def test_at_k_1_the_variance_is_that_of_a_mean() -> None:
    answers = np.array([1.0] * 5 + [0.0] * 11)
    assert sampling_variance(16, 5, 1) == pytest.approx(answers.var(ddof=1) / 16)
    assert math.isnan(sampling_variance(16, 5, 9))


def test_one_answer_a_problem_gives_about_jeffreys_interval() -> None:
    found = fixed_interval([Count(1, int(i < 30)) for i in range(100)], 1)
    low, high = stats.beta(30.5, 70.5).ppf([0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


def test_no_success_at_all_is_jeffreys_interval_of_all_answers() -> None:
    found = fixed_interval([Count(16, 0)] * 30, 1)
    assert found.value == found.low == 0.0
    assert found.high == pytest.approx(stats.beta(0.5, 480.5).ppf(0.975), rel=0.02)


def test_sampling_again_is_less_than_taking_other_problems() -> None:
    problems = [Count(16, c) for c in (0, 16) * 15]
    found = fixed_interval(problems, 1)
    assert found.value == 0.5 and 0.0 < found.high - found.low < 0.02


@pytest.mark.parametrize(("n", "k"), [(4, 1), (16, 8)])
def test_the_intervals_hold_what_these_problems_would_show(n: int, k: int) -> None:
    rng = np.random.default_rng(4)
    held = np.zeros(2)
    for _ in range(400):
        p, q = rng.beta(0.3, 1.2, (2, 30))
        a, b = ([Count(n, int(c)) for c in rng.binomial(n, r)] for r in (p, q))
        truth = [float(np.mean(1 - (1 - r) ** k)) for r in (p, q)]
        level, change = fixed_interval(a, k), fixed_change(list(zip(a, b, strict=True)), k)
        held += [
            level.low <= truth[0] <= level.high,
            change.low <= truth[1] - truth[0] <= change.high,
        ]
    assert (held / 400 >= 0.92).all() and (held / 400 <= 0.985).all()


def test_the_change_is_symmetric_and_adds_both_sides() -> None:
    pairs = [(Count(16, c), Count(16, 16 - c)) for c in (2, 5, 9, 12)] * 10
    there = fixed_change(pairs, 4)
    back = fixed_change([(b, a) for a, b in pairs], 4)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_problems_with_too_few_answers_are_undefined() -> None:
    found = fixed_interval([Count(4, 2), Count(0, 0), Count(2, 1)], 4)
    assert (found.count, found.undefined) == (1, 2)
    assert math.isnan(fixed_interval([Count(0, 0)], 1).value)
    assert fixed_change([(Count(0, 0), Count(4, 1))], 1).undefined == 1
