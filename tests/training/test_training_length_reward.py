"""The cosine length reward at the points where it can be checked by hand."""

from __future__ import annotations

import pytest

from prorl_training.config import LengthPenaltyConfig
from prorl_training.length_reward import length_reward, shaped_reward

PRINTED = LengthPenaltyConfig(weight=0.5, eta_max=0.0, eta_min=-1.0)
AWARE = LengthPenaltyConfig(form="correctness_aware")


@pytest.mark.parametrize(("tokens", "expected"), [(0, 0.0), (50, -0.5), (100, -1.0), (150, -1.0)])
def test_printed_form_falls_from_eta_max_to_eta_min_and_stays_there(
    tokens: int, expected: float
) -> None:
    # cos 0 = 1, cos(pi/2) = 0, cos pi = -1; beyond the limit it must not rise again
    assert length_reward(PRINTED, True, tokens, 100) == pytest.approx(expected)
    assert length_reward(PRINTED, False, tokens, 100) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("correct", "tokens", "expected"),
    # TRL defaults: correct 1 -> .5 (middle .75), wrong -1 -> -.5 (middle -.75), at the limit -1
    [(True, 0, 1.0), (True, 50, 0.75), (False, 0, -1.0), (False, 50, -0.75), (True, 100, -1.0)],
)
def test_correctness_aware_form_rewards_short_right_and_long_wrong(
    correct: bool, tokens: int, expected: float
) -> None:
    assert length_reward(AWARE, correct, tokens, 100) == pytest.approx(expected)


def test_shaped_reward_adds_the_weighted_length_reward_to_the_raw_one() -> None:
    assert shaped_reward(PRINTED, 1.0, 100, 100) == pytest.approx(0.5)  # 1 + .5 * -1
    assert shaped_reward(PRINTED, 0.0, 50, 100) == pytest.approx(-0.25)  # 0 + .5 * -.5
