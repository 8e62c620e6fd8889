from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from prorl_common import UserError
from prorl_training.algorithm.advantages import compute_advantages
from prorl_training.config import AdvantageConfig
from prorl_training.config.loading import load_config

FEW = settings(max_examples=60, deadline=None, derandomize=True)
EXACT = 1e-13
"""An eps too small to have an effect."""


def advantages(rewards: list[float], groups: list[int] | None = None, **config: Any) -> list[float]:
    index = torch.tensor(groups or [0] * len(rewards))
    ones = torch.ones(len(rewards), dtype=torch.int64)
    given = torch.tensor(rewards, dtype=torch.float64)
    return compute_advantages(given, index, ones, AdvantageConfig(**config)).tolist()


def over_all_subsets(rewards: list[float], k: int) -> list[float]:
    """Return the paper's advantages, subset by subset."""
    subsets = list(itertools.combinations(range(len(rewards)), k))
    best = {s: max(rewards[i] for i in s) for s in subsets}
    mean, std = statistics.fmean(best.values()), statistics.pstdev(best.values())
    if len(set(best.values())) == 1:
        return [0.0] * len(rewards)
    each = {s: (b - mean) / std for s, b in best.items()}
    return [statistics.fmean(a for s, a in each.items() if i in s) for i in range(len(rewards))]


@st.composite
def group_and_k(draw: st.DrawFn) -> tuple[list[float], int]:
    """Draw two to eight rewards in quarters, some negative, and a k below their number."""
    rewards = draw(st.lists(st.integers(-4, 4), min_size=2, max_size=8))
    return [r / 4 for r in rewards], draw(st.integers(1, len(rewards) - 1))


@FEW
@given(case=group_and_k())
def test_pass_at_k_is_the_mean_over_every_subset_that_a_response_is_in(
    case: tuple[list[float], int],
) -> None:
    rewards, k = case
    got = advantages(rewards, estimator="pass_at_k", k=k, eps=EXACT)
    assert got == pytest.approx(over_all_subsets(rewards, k), abs=1e-9)


@pytest.mark.parametrize("n", [2, 5, 16])
def test_right_and_wrong_answers_have_the_papers_closed_forms(n: int) -> None:
    for k, right in itertools.product(range(1, n), range(n + 1)):
        wrong = n - right
        mean = 1 - math.comb(wrong, k) / math.comb(n, k)
        std = math.sqrt(mean * (1 - mean))
        got = advantages([1.0] * right + [0.0] * wrong, estimator="pass_at_k", k=k, eps=EXACT)
        if std == 0:
            assert got == [0.0] * n
            continue
        up = (1 - mean) / std
        lost = math.comb(wrong - 1, k - 1) / math.comb(n - 1, k - 1) if wrong else 0.0
        down = (1 - mean - lost) / std
        assert got == pytest.approx([up] * right + [down] * wrong, abs=1e-9)


@FEW
@given(case=group_and_k())
def test_pass_at_k_advantages_sum_to_zero_in_a_group(case: tuple[list[float], int]) -> None:
    rewards, k = case
    assert abs(sum(advantages(rewards, estimator="pass_at_k", k=k))) < 1e-9


def test_pass_at_1_is_grpo() -> None:
    rewards, groups = [1.0, 0.0, 0.5, 0.0, 1.0, 0.0], [0, 0, 0, 0, 1, 1]
    one = advantages(rewards, groups, estimator="pass_at_k", k=1)
    assert one == pytest.approx(advantages(rewards, groups, estimator="grpo"), abs=1e-12)


def test_fewer_wrong_answers_than_k_teach_nothing_to_the_last_bit() -> None:
    assert advantages([0.1] * 5 + [0.0, 0.0], estimator="pass_at_k", k=3) == [0.0] * 7


def test_a_group_that_lost_responses_down_to_k_has_no_advantage() -> None:
    got = advantages([1.0, 0.0, 0.0, 0.0, 1.0], [0, 0, 0, 1, 1], estimator="pass_at_k", k=2)
    assert got[0] > 0
    assert got[3:] == [0.0, 0.0]


def test_large_groups_keep_their_digits() -> None:
    n, k = 512, 256
    got = advantages([1.0] + [0.0] * (n - 1), estimator="pass_at_k", k=k, eps=EXACT)
    assert got[0] == pytest.approx(1.0, rel=1e-9)  # mean 1/2, std 1/2
    assert sum(got) == pytest.approx(0.0, abs=1e-9)


def test_the_lone_right_answer_of_a_group_weighs_its_number_less_one_under_maxrl() -> None:
    assert advantages([1.0, 0, 0, 0], estimator="maxrl") == [3.0, -1.0, -1.0, -1.0]


def test_a_group_without_a_right_answer_has_nothing_under_maxrl() -> None:
    got = advantages([0.0, 0.0, 1.0, 0.0, -1.0, 1.0], [0, 0, 1, 1, 2, 2], estimator="maxrl")
    assert got == [0.0, 0.0, 1.0, -1.0, 0.0, 0.0]


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("p", [0.05, 0.4, 0.9])
def test_maxrl_is_the_gradient_of_the_likelihood_up_to_order_n_less_one(n: int, p: float) -> None:
    """A policy of one logit, right with probability p: the score of a response is right - p, and dp = p (1 - p)."""
    expected = 0.0
    for outcome in itertools.product((1.0, 0.0), repeat=n):
        chance = math.prod(p if r else 1 - p for r in outcome)
        weighed = advantages(list(outcome), estimator="maxrl")
        scores = [a * (r - p) for a, r in zip(weighed, outcome, strict=True)]
        expected += chance * sum(scores) / n
    likelihood = sum((1 - p) ** (order - 1) for order in range(1, n)) * p * (1 - p)
    assert expected == pytest.approx(likelihood, rel=1e-12)


def test_k_as_large_as_the_group_is_refused_before_a_run_is_begun() -> None:
    words = ["advantage.estimator=pass_at_k", "advantage.k=16", "rollout.samples=16"]
    with pytest.raises(UserError, match=r"advantage\.k \(16\) must be below rollout\.samples"):
        load_config("prorl-v2", None, words)
    load_config("prorl-v2", None, ["advantage.estimator=grpo", "advantage.k=16"])


def test_maxrl_refuses_a_penalty_that_can_make_the_mean_negative() -> None:
    with pytest.raises(UserError, match=r"length_penalty\.form=printed can make negative"):
        load_config("prorl-v2", None, ["advantage.estimator=maxrl", "length_penalty.form=printed"])
    fitting = ["advantage.estimator=maxrl", "length_penalty.form=proportional"]
    assert load_config("prorl-v2", None, fitting).advantage.estimator == "maxrl"
