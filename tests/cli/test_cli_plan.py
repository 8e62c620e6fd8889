"""``prorl plan``: says that it is on paper, what it assumed, and how far such plans were off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import UserError

APP = build_app()


def planned(*options: str) -> str:
    result = CliRunner().invoke(APP, ["plan", "--preset", "prorl-v2", *options])
    assert result.exit_code == 0, result.exception
    return result.stdout


def test_the_plan_says_that_it_is_on_paper_and_how_others_came_out() -> None:
    said = planned("--gpus", "32", "--gpu", "h100")
    assert said.startswith("on paper")
    for words in ("ProRL v1", "16,000", "published runs took", "error where it can be measured"):
        assert words in said
    assert "GPU hours" in said and "US dollars at 2.69 an hour" in said and "2026-03-21" in said


def test_the_plan_as_json_has_every_stage_and_source() -> None:
    found = json.loads(planned("--gpus", "8", "--price", "2", "--lengths", "1000,800", "--json"))
    assert found["on_paper"] is True
    assert found["cost"] == pytest.approx(2 * found["gpu_hours"], rel=1e-3)
    assert found["gpu_hours"] == pytest.approx(8 * found["hours"], rel=1e-2)
    phase = found["phases"][0]
    assert sum(phase["stages"].values()) == pytest.approx(phase["step_seconds"], abs=0.01)
    assert all(ratio["source"] for ratio in found["ratios"].values())
    assert found["lengths"].startswith("yours, mean 1000")
    assert {c["run"] for c in found["published"]} >= {"ProRL v1"}


def test_shorter_responses_and_a_smaller_model_take_less(tmp_path: Path) -> None:
    def hours(*options: str) -> float:
        return float(json.loads(planned("--gpus", "8", "--json", *options))["hours"])

    usual = hours()
    assert hours("--lengths", "1000,800") < usual
    assert hours("--usable", "0.9") < usual
    assert hours("--steps", "300") == pytest.approx(usual / 10, rel=1e-3)
    assert hours("--model", "Qwen/Qwen2.5-0.5B") < usual


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--gpus", "12"], "do not fill nodes of 8"),
        (["--gpu", "h10"], "did you mean 'h100'"),
        (["--lengths", "long"], "MEAN,DEVIATION"),
        (["--usable", "0"], "above 0"),
        (["--lengths", "1,1", "--like", "runs/x"], "give one of them"),
        (["--like", "runs/x"], "no rollouts there"),
        (["--measured", "no.json"], "cannot be read"),
        (["--model", "no/such"], "are not known here"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_with_the_cure(options: list[str], said: str) -> None:
    result = CliRunner().invoke(APP, ["plan", "--preset", "prorl-v2", *options])
    assert isinstance(result.exception, UserError)
    assert said in str(result.exception)
    assert "\n" not in str(result.exception)
