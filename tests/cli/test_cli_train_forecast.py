from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from doubles import invoke

from prorl_common import UserError
from prorl_training.config.loading import load_config
from prorl_training.run.folder import RunFolder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run under ./runs that climbs from 0.2 to 0.5 within 400 of its 1,000 steps and has done 800."""
    monkeypatch.chdir(tmp_path)
    folder = RunFolder(Path("runs/one"))
    folder.create(load_config("cpu", overrides=["steps=1000"]))
    for step in range(20, 801, 20):
        wobble = 0.01 * ((step * 7919) % 13 - 6) / 6
        reward = min(0.2 + 0.3 * step / 400, 0.5) + wobble
        folder.log_metrics({"step": step, "tokens_total": step * 50, "validation_reward": reward})
    return folder


def prorl(*words: str) -> Any:
    return invoke("train", "forecast", *words)


def test_forecast_tells_of_the_runs_last_step_with_intervals(run: RunFolder) -> None:
    said = prorl("one").stdout
    assert "one: 40 validations to step 800, over tokens" in said
    for word in ("validation at step 1000", "ceiling", "gain from here to that step"):
        assert word in said
    assert "\nidentified: all curves that fit agree closely" in said


def test_json_is_the_forecasts_own_and_says_the_step_asked_for(run: RunFolder) -> None:
    made = json.loads(prorl("one", "--to-step", "1600", "--json").stdout)
    assert (made["to_step"], made["last_step"], made["identified"]) == (1600, 800, True)
    assert made["ceiling"]["low"] < 0.5 < made["ceiling"]["high"]
    assert made["curve"][-1]["step"] == 1600


def test_a_run_that_is_done_is_forecast_half_as_far_again(run: RunFolder) -> None:
    run.log_metrics({"step": 1000, "tokens_total": 50000, "validation_reward": 0.5})
    assert json.loads(prorl("--json").stdout)["to_step"] == 1500


def test_a_refusal_is_an_answer_and_a_past_step_a_mistake(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prorl_training.schedule.forecast.WIDEST", 0.001)
    refused = prorl("one")
    assert refused.exit_code == 0
    assert "not identified: the ceiling may be anything from" in refused.stdout
    with pytest.raises(UserError, match="step 700 is not after the last validation"):
        prorl("one", "--to-step", "700")
