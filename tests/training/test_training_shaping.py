from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from prorl_training.algorithm.shaping import (
    in_loss,
    length_reward,
    overlong_penalty,
    shape_rewards,
    shaped_reward,
)
from prorl_training.config import (
    LengthPenaltyConfig,
    OverlongConfig,
    StopProperlyConfig,
    TrainConfig,
)
from prorl_training.testing import scored_group

PRINTED = LengthPenaltyConfig(form="printed", weight=0.5, eta_max=0.0, eta_min=-1.0)
AWARE = LengthPenaltyConfig(form="correctness_aware")


def config(**sections: Any) -> TrainConfig:
    return TrainConfig.model_validate({"rollout": {"max_tokens": 100}} | sections)


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


def test_shaped_reward_adds_the_weighted_length_reward_in_a_window_only() -> None:
    settings = config(length_penalty=PRINTED.model_dump())
    assert shaped_reward(settings, 1.0, 100, False, True) == pytest.approx(0.5)  # 1 + .5 * -1
    assert shaped_reward(settings, 0.0, 50, False, True) == pytest.approx(-0.25)  # 0 + .5 * -.5
    assert shaped_reward(settings, 0.0, 50, False, False) == 0.0


def test_tokens_of_an_environment_cost_no_penalty() -> None:
    group = scored_group("talk", 1.0)
    (one,) = group.trajectories
    said = replace(one.completion, token_ids=(1,) * 90, given=((20, 60),))
    group = replace(group, trajectories=(replace(one, completion=said),))
    settings = config(length_penalty=PRINTED.model_dump())
    (shaped,) = shape_rewards([group], settings, True)
    assert shaped.trajectories[0].shaped == pytest.approx(0.75)  # 1 + .5 * -.5, of 50 sampled


def test_weight_zero_switches_the_length_penalty_off() -> None:
    settings = config(length_penalty={"weight": 0.0, "form": "correctness_aware"})
    assert shaped_reward(settings, 1.0, 100, True, True) == 1.0


@pytest.mark.parametrize(
    ("tokens", "expected"), [(0, 0.0), (80, 0.0), (81, -0.1), (90, -1.0), (100, -2.0), (120, -2.0)]
)
def test_overlong_grows_over_the_last_tokens_up_to_its_factor(tokens: int, expected: float) -> None:
    # DAPO eq. 13 with a buffer of 20 before 100, twice its size
    rule = OverlongConfig(buffer_tokens=20, factor=2.0)
    assert overlong_penalty(rule, tokens, 100) == pytest.approx(expected)
    settings = config(overlong=rule.model_dump())
    assert shaped_reward(settings, 1.0, tokens, False, False) == pytest.approx(1 + expected)


def test_overlong_without_a_buffer_is_off() -> None:
    assert overlong_penalty(OverlongConfig(), 100, 100) == 0.0


@pytest.mark.parametrize(
    ("mode", "value", "cut"),
    [
        ("off", 0.0, 0.8),
        ("scale", 0.0, 0.0),
        ("scale", 0.5, 0.4),
        ("fixed", -0.5, -0.5),
        ("mask", 0.0, 0.8),
    ],
)
def test_stop_properly_touches_cut_responses_only(mode: str, value: float, cut: float) -> None:
    rule = StopProperlyConfig.model_validate({"mode": mode, "value": value})
    settings = config(stop_properly=rule.model_dump())
    assert shaped_reward(settings, 0.8, 100, True, False) == pytest.approx(cut)
    assert shaped_reward(settings, 0.8, 100, False, False) == 0.8


def test_a_right_answer_that_was_cut_still_counts_as_right_for_the_length_reward() -> None:
    aware = {"form": "correctness_aware", "weight": 1.0}
    settings = config(length_penalty=aware, stop_properly={"mode": "scale", "value": 0.0})
    # 1 * 0, then the middle of 1 -> .5
    assert shaped_reward(settings, 1.0, 50, True, True) == pytest.approx(0.75)


def test_only_mask_keeps_a_cut_response_out_of_the_loss() -> None:
    for mode in ("off", "scale", "fixed", "mask"):
        settings = config(stop_properly={"mode": mode})
        assert in_loss(settings, False)
        assert in_loss(settings, True) == (mode != "mask")


TOKENS = range(0, 121, 3)  # the limit is 100
RAW = [0.0, 0.01, 0.1, 0.25, 0.4, 0.5, 0.75, 0.9, 1.0]


def in_window(form: str, raw: float, tokens: int) -> float:
    settings = config(length_penalty={"form": form})
    return shaped_reward(settings, raw, tokens, tokens >= 100, True)


def test_default_length_penalty_never_puts_a_wrong_answer_above_a_partly_right_one() -> None:
    assert LengthPenaltyConfig().form == "proportional"
    wrong = max(in_window("proportional", 0.0, t) for t in TOKENS)
    for raw in RAW[1:]:
        assert min(in_window("proportional", raw, t) for t in TOKENS) > wrong


def test_default_length_penalty_never_rewards_length() -> None:
    for raw in RAW:
        values = [in_window("proportional", raw, t) for t in TOKENS]
        assert values == sorted(values, reverse=True)


def test_twice_the_raw_reward_is_never_below_whatever_the_lengths() -> None:
    # the largest effect of length is one half
    for low in RAW:
        for high in (r for r in RAW if r >= 2 * low):
            longest = min(in_window("proportional", high, t) for t in TOKENS)
            assert longest >= max(in_window("proportional", low, t) for t in TOKENS) - 1e-12


def test_right_answers_have_the_printed_forms_reward_to_the_bit() -> None:
    for tokens in TOKENS:
        assert in_window("proportional", 1.0, tokens) == in_window("printed", 1.0, tokens)


def test_printed_form_puts_a_long_partly_right_answer_below_a_short_wrong_one() -> None:
    # the values of the post, kept by its presets: at 7,000 of 8,192 tokens and 300
    settings = config(rollout={"max_tokens": 8192}, length_penalty={"form": "printed"})
    assert shaped_reward(settings, 0.4, 7000, False, True) == pytest.approx(-0.0743, abs=1e-4)
    assert shaped_reward(settings, 0.0, 300, False, True) == pytest.approx(-0.0017, abs=1e-4)


def test_weight_that_would_take_a_right_answer_to_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="weight x eta is as low as"):
        LengthPenaltyConfig(weight=2.0)
    assert LengthPenaltyConfig(weight=2.0, form="printed").weight == 2.0
