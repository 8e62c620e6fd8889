"""``controller.end_gain``: a run ends at a stall only if its forecast expects too little gain."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from prorl_training.config import TrainConfig
from prorl_training.schedule.controller import Controller
from prorl_training.schedule.forecast import Outlook
from prorl_training.schedule.safety import Guard
from prorl_training.schedule.simulate import outlook_at, rules_at, simulate, simulate_step

STEPS = 45


def config_of(end_gain: float, *on_stall: str) -> TrainConfig:
    """Return a config of 50 steps in which any 20 validations whose second half gains less than 0.2 are a stall."""
    return TrainConfig.model_validate(
        {
            "steps": 50,
            "controller": {
                "reset_interval": 0,
                "kl_zscore": 0,
                "stall_validations": 5,
                "stall_gain": 20,
                "on_stall": list(on_stall) or ["end"],
                "end_gain": end_gain,
            },
        }
    )


def rows_that(level_off: bool) -> dict[int, dict[str, Any]]:
    """Return validations of 200 problems at every step: 0.2 to 0.5 in 60 steps, or in 15 and then constant."""
    rng, rows = random.Random(1), {}
    for step in range(1, STEPS + 1):
        level = 0.2 + 0.3 * min(step / (15 if level_off else 60), 1.0)
        right = [float(number < 200 * level) for number in range(200)]
        for _ in range(4):
            right[rng.randrange(200)] = float(rng.random() < level)
        rows[step] = {"step": step, "tokens_total": 1000 * step, "validation_rewards": right}
        rows[step]["validation_reward"] = sum(right) / 200
    return rows


def test_an_end_comes_where_the_forecast_sees_less_to_gain_and_its_interval_is_the_evidence() -> (
    None
):
    found = simulate(config_of(0.05), STEPS, rows_that(level_off=True))
    ended = found[-1]
    assert ended.kind == "run_ended" and ended.step < STEPS
    said = ended.evidence["forecast"]
    assert said["says"] == "less" and said["high"] < said["least"] == 0.05
    assert said["low"] <= said["value"] <= said["high"] and said["to_step"] == 50
    json.dumps(ended.to_json(), allow_nan=False)


def test_an_end_is_passed_over_where_the_climb_may_go_on_and_the_reset_says_why() -> None:
    found = simulate(config_of(0.02), STEPS, rows_that(level_off=False))
    assert {d.kind for d in found} == {"reference_reset"}
    evidence = found[-1].evidence
    assert evidence["rule"] == "stalled_validation" and evidence["passed_over"] == ["end"]
    assert evidence["forecast"]["says"] == "may be as much"


def test_a_forecast_that_refuses_is_not_known_and_the_next_action_comes() -> None:
    still = {
        step: {"step": step, "validation_reward": 0.4, "validation_rewards": [0.4] * 50}
        for step in range(1, 31)
    }
    found = simulate(config_of(0.05, "end", "raise_samples"), 30, still)
    assert found[0].kind == "samples_raised"
    assert found[0].evidence["passed_over"] == ["end"]
    said = found[0].evidence["forecast"]
    assert said["says"] == "not known" and "no change of validation is shown" in said["why"]


def test_nobody_asks_where_the_config_does_not() -> None:
    def asked() -> Any:
        raise AssertionError("the forecast was read")

    controller, guard = Controller(config_of(0.0)), Guard(config_of(0.0).safety)
    rows = rows_that(level_off=True)
    kinds = []
    for step in range(1, STEPS + 1):
        outlook = Outlook(asked, step, 50, 0)
        kinds += [d.kind for d in simulate_step(controller, guard, step, rows[step], outlook)]
    assert "run_ended" in kinds


def test_nothing_is_left_to_gain_after_the_last_step() -> None:
    said = Outlook(list, 120, 120, 0).gain(0.1)
    assert (said.says, said.why) == ("not known", "this is the run's last step")


def test_explain_shows_what_the_forecast_would_say_of_a_stall() -> None:
    view = rules_at(config_of(0.05), rows_that(level_off=True), 20)
    assert view["next_on_stall"] == "end"
    assert view["forecast"]["says"] == "less"
    before = rules_at(config_of(0.05), rows_that(level_off=True), 5)
    assert before["next_on_stall"] == "reset" and before["passed_over"] == ["end"]
    assert "a curve needs" in before["forecast"]["why"]


@pytest.mark.parametrize("stopped_after", [10, 30])
def test_a_restored_controller_hears_the_same_forecast(stopped_after: int) -> None:
    config, rows = config_of(0.02, "raise_samples", "end"), rows_that(level_off=True)
    straight, got = simulate(config, STEPS, rows), []
    assert [d.kind for d in straight] == ["samples_raised", "run_ended"]
    controller, guard = Controller(config), Guard(config.safety)
    for step in range(1, straight[-1].step + 1):
        got += simulate_step(controller, guard, step, rows[step], outlook_at(config, rows, step))
        if step == stopped_after:
            state = json.loads(json.dumps(controller.to_json()))
            controller = Controller(config)
            controller.restore(state)
    assert got == straight
