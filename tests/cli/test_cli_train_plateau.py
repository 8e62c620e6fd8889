from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_training.config.loading import load_config
from prorl_training.rollout.item_records import levels_changed
from prorl_training.run.folder import RunFolder
from prorl_training.schedule.simulate import simulate

SETTINGS = (
    "steps=70",
    "data.sampling=posterior",
    "data.levels=ladder",
    "controller.reset_interval=0",
    "controller.kl_zscore=0",
    "controller.stall_validations=3",
    "controller.stall_gain=20",
    "controller.on_stall=[raise_difficulty,rerate,raise_samples,reset,end]",
    "controller.end_gain=0.05",
    "length_penalty.weight=0",
)
"""With these settings, any 12 validations count as a stall."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of 60 steps whose rewards stay at 0.4 after the first, and its decisions."""
    place = tmp_path_factory.mktemp("place")
    config = load_config("cpu", overrides=list(SETTINGS))
    rows: dict[int, dict[str, Any]] = {}
    for step in range(1, 61):
        reward = 0.2 + 0.2 * min(step / 10, 1.0)
        rows[step] = {"step": step, "tokens_total": 50 * step, "levels_closed": 3}
        rows[step] |= {"validation_reward": reward, "validation_rewards": [reward] * 50}
    folder = RunFolder(place / "runs" / "flat")
    folder.create(config)
    for row in rows.values():
        folder.log_metrics(row)
    folder.log_decisions(simulate(config, 60, rows))
    changes = [{"ladder": "math/sums", "opened": [2, 3], "pass_rates": {"1": 0.8, "2": 0.6}}]
    folder.log_decisions(levels_changed(20, changes, 0.5))
    return place


@pytest.fixture(autouse=True)
def in_place(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def prorl(*words: str) -> str:
    result = CliRunner().invoke(build_app(), ["train", *words])
    assert result.exit_code == 0, result.output
    return str(result.stdout)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (13, ["difficulty raised - ", "levels: 1", "next on stall: rerate"]),
        (25, ["items rerated - validation stalled", "next on stall: raise_samples"]),
        (37, ["samples raised - ", "samples_before: 8", "samples: 16"]),
        (48, ["reference reset - validation stalled", "reset_to: current"]),
        (60, ["run ended - validation stalled", "forecast: says less, least 0.05, to_step 70"]),
    ],
)
def test_explain_tells_each_action_with_what_the_test_saw(step: int, told: list[str]) -> None:
    said = prorl("explain", "flat", "--step", str(step))
    for words in ["rule: stalled_validation", "paired_se: ", "alpha: 0.05", *told]:
        assert words in said


def test_explain_names_the_levels_that_opened_and_the_pass_rates_behind() -> None:
    said = prorl("explain", "flat", "--step", "20")
    assert "levels changed - opened: math/sums 2, math/sums 3" in said
    assert "opened 2, 3, pass_rates 1 0.8, 2 0.6" in said


def test_a_simulation_of_the_record_decides_the_same_the_forecasts_end_too() -> None:
    assert "are the same as in the recorded run" in prorl("simulate", "--from", "runs/flat")
    decided = json.loads(prorl("simulate", "--from", "runs/flat", "--json"))
    assert [d["kind"] for d in decided][-1] == "run_ended"
    whole = prorl("explain", "flat")
    assert "plateau" in whole and "levels" in whole
