"""The controller's rules, one fact a test."""

from __future__ import annotations

import itertools
import json

from prorl_training.config import ControllerConfig, LengthPenaltyConfig
from prorl_training.config_loading import load_config
from prorl_training.controller import Controller, simulate

QUIET = ControllerConfig(reset_interval=0, kl_zscore=0, stall_validations=0, cool_down=0)
NO_PENALTY = LengthPenaltyConfig(weight=0)


def test_penalty_window_is_on_for_its_steps_and_off_for_the_rest() -> None:
    penalty = LengthPenaltyConfig(steps_on=2, steps_off=3, start_step=4)
    controller = Controller(QUIET, penalty)
    on = [s for s in range(1, 15) if controller.penalty_active(s)]
    assert on == [4, 5, 9, 10, 14]


def test_each_window_is_announced_when_it_opens_and_when_it_closes() -> None:
    penalty = LengthPenaltyConfig(steps_on=2, steps_off=3, start_step=4)
    got = [(d.step, d.kind) for d in simulate(Controller(QUIET, penalty), 10)]
    opened, closed = "penalty_window_opened", "penalty_window_closed"
    assert got == [(4, opened), (6, closed), (9, opened)]


def test_window_that_starts_at_step_one_is_announced_at_step_one() -> None:
    penalty = LengthPenaltyConfig(steps_on=2, steps_off=3, start_step=1)
    assert [d.step for d in simulate(Controller(QUIET, penalty), 2)] == [1]


def test_interval_resets_every_n_steps() -> None:
    config = QUIET.model_copy(update={"reset_interval": 200})
    steps = [d.step for d in simulate(Controller(config, NO_PENALTY), 1000)]
    assert steps == [200, 400, 600, 800, 1000]


def test_kl_above_the_threshold_resets_with_the_value_as_evidence() -> None:
    config = QUIET.model_copy(update={"kl_threshold": 0.5})
    (decision,) = Controller(config, NO_PENALTY).end_step(7, 0.6)
    assert decision.kind == "reference_reset"
    assert decision.evidence["kl"] == 0.6
    assert decision.evidence["rule"] == "kl_threshold"


def test_kl_spike_is_measured_in_robust_deviations() -> None:
    config = QUIET.model_copy(update={"kl_zscore": 5.0, "kl_window": 5})
    controller = Controller(config, NO_PENALTY)
    for step, kl in enumerate([1.0, 2.0, 3.0, 4.0, 5.0], start=1):
        assert controller.end_step(step, kl) == []
    # median 3, MAD 1, robust std 1.4826: the bar is 3 + 5 * 1.4826 = 10.413
    assert controller.end_step(6, 10.4) == []
    # now the window is 2 3 4 5 10.4: median 4, MAD 1 -> bar 11.413
    (decision,) = controller.end_step(7, 11.5)
    assert decision.evidence["rule"] == "kl_zscore"


def test_cool_down_holds_back_a_second_kl_reset() -> None:
    config = QUIET.model_copy(update={"kl_threshold": 0.5, "cool_down": 10})
    controller = Controller(config, NO_PENALTY)
    assert len(controller.end_step(5, 0.6)) == 1
    assert controller.end_step(14, 0.6) == []
    assert len(controller.end_step(15, 0.6)) == 1


def test_stalled_validation_resets_after_the_stated_number_without_a_best() -> None:
    config = QUIET.model_copy(update={"stall_validations": 2})
    controller = Controller(config, NO_PENALTY)
    got = [
        controller.end_step(s, None, v) for s, v in [(10, 0.3), (20, 0.4), (30, 0.4), (40, 0.39)]
    ]
    assert [len(d) for d in got] == [0, 0, 0, 1]
    assert got[3][0].evidence["best"] == 0.4


def test_not_a_number_never_triggers_a_reset() -> None:
    config = QUIET.model_copy(update={"kl_threshold": 0.5, "stall_validations": 1})
    assert Controller(config, NO_PENALTY).end_step(3, float("nan"), float("nan")) == []


def test_restored_state_decides_like_the_original() -> None:
    config = ControllerConfig(reset_interval=7, kl_zscore=3, kl_window=4, cool_down=2)
    whole, first = Controller(config, NO_PENALTY), Controller(config, NO_PENALTY)
    kls = [0.1, 0.2, 0.1, 0.15, 0.9, 0.1, 0.2, 0.3, 0.1, 0.1, 0.1, 0.1, 5.0, 0.1]
    expected = [whole.end_step(i, kl) for i, kl in enumerate(kls, start=1)]
    got = [first.end_step(i, kl) for i, kl in enumerate(kls[:6], start=1)]
    second = Controller(config, NO_PENALTY)
    second.restore(json.loads(json.dumps(first.to_json())))
    got += [second.end_step(i, kl) for i, kl in enumerate(kls[6:], start=7)]
    assert got == expected


def test_quickstart_opens_a_window_and_resets_the_reference() -> None:
    config = load_config("quickstart")
    kinds = {
        d.kind for d in simulate(Controller(config.controller, config.length_penalty), config.steps)
    }
    assert {"penalty_window_opened", "penalty_window_closed", "reference_reset"} <= kinds


def test_v2_resets_within_its_published_interval_of_200_to_500_steps() -> None:
    config = load_config("prorl-v2")
    decisions = simulate(Controller(config.controller, config.length_penalty), 3000)
    resets = [0, *(d.step for d in decisions if d.kind == "reference_reset")]
    gaps = [b - a for a, b in itertools.pairwise(resets)]
    assert gaps and all(200 <= gap <= 500 for gap in gaps)
