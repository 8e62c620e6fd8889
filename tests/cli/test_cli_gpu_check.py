from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_vllm
import pytest
import torch
from doubles import write_model
from typer.testing import CliRunner

from prorl_cli.gpu_check import (
    GpuSize,
    Job,
    Stage,
    check_gpu,
    check_metrics,
    least_seconds,
    run_stage,
)
from prorl_cli.main import build_app
from prorl_common import UserError
from prorl_training.config.loading import load_config
from prorl_training.planning.model_shape import ModelShape

LEARNED = {
    "grad_norm": 0.5,
    "mismatch_kl": 1e-4,
    "tokens_per_second": 100.0,
    "update_seconds": 1.0,
    "infra_errors": 0,
}
IDLE = {"tokens_per_second": 100.0, "update_seconds": 0.0, "infra_errors": 0}


@pytest.mark.parametrize(
    ("rows", "state", "words"),
    [
        ([LEARNED, IDLE], "ok", "1 of 2 steps learned"),
        ([IDLE, IDLE], "problem", "no group had different rewards"),
        ([LEARNED, {**LEARNED, "mismatch_kl": 0.2}], "problem", "mismatch KL 0.2"),
        ([{**LEARNED, "mismatch_kl": float("nan")}], "problem", "mismatch KL nan"),
        ([{**LEARNED, "grad_norm": 0.0}], "problem", "gradient norm 0"),
        ([{**LEARNED, "infra_errors": 2}], "problem", "some rewards failed"),
    ],
)
def test_steps_that_did_not_learn_or_disagree_with_the_sampler_are_a_problem(
    rows: list[dict[str, Any]], state: str, words: str
) -> None:
    check = check_metrics("training step", rows)
    assert check.state == state and words in check.detail


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_machine_without_a_gpu_is_refused_in_one_line() -> None:
    result = CliRunner().invoke(build_app(), ["doctor", "--gpu"])
    assert isinstance(result.exception, UserError) and "finds no GPU" in str(result.exception)


@pytest.mark.slow
def test_each_stage_runs_in_a_process_of_its_own_and_one_that_fails_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken").mkdir()
    words = ["doctor", "--gpu", "--size", "tiny", "--json", "--model", "broken"]
    result = CliRunner().invoke(build_app(), [*words, "--stage=update", "--stage=device"])
    assert result.exit_code == 2
    checks = json.loads(result.stdout)["checks"]
    assert [(c["name"], c["state"]) for c in checks] == [("device", "ok"), ("update", "problem")]
    assert checks[0]["numbers"]["tflops"] > 0 and str(tmp_path / "broken") in checks[1]["detail"]


def test_a_step_judges_the_samplers_own_log_probs_at_every_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = str(tmp_path / "model")
    made = Job(Stage.model, GpuSize.tiny, model, "cpu", tflops=1.0, gbytes=1.0)
    assert "512 tokens" in run_stage(made).check.detail
    fake_vllm.install(monkeypatch)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *_: False)
    for stage in (Stage.update, Stage.transformers, Stage.vllm):
        result = run_stage(replace(made, stage=stage))
        assert result.check.state == "ok", result.check
        numbers = result.numbers
        assert 0 <= numbers["mismatch_kl"] < 1e-6 and numbers["grad_norm"] > 0.1
        assert 0 < numbers["update_roofline"] < 1 and numbers["update_fit_gb"] > 0
    assert fake_vllm.LLM.calls.count("reload_weights") == 2  # after each of two updates
    assert fake_vllm.LLM.calls.count(("sleep", 2)) == 2


def test_the_roofline_of_a_step_follows_from_operations_and_bytes() -> None:
    shape = ModelShape(2, 4, 8, 2, 1, 2, 10, tied=True)
    config = load_config("prorl-v2", None, ["loss.mini_batches=2"])
    job = Job(Stage.update, GpuSize.tiny, "", "cpu", tflops=1e-12, gbytes=1e-9)
    least = least_seconds(job, config, shape, 3, 6.0)
    assert least is not None
    forward = 18 * (2 * shape.parameters + 4 * 2 * 4 * 3)
    assert (
        least["update"] == 5.5 * forward
    )  # policy, reference, recomputed, twice back; half before
    assert least["sampling"] == forward
    slow = least_seconds(replace(job, tflops=1.0), config, shape, 3, 6.0)
    assert slow is not None
    assert slow["sampling"] == 6 * (2 * shape.parameters + 4 * 2 * 2 * 3 * 3)
    assert least_seconds(replace(job, tflops=0.0), config, shape, 3, 6.0) is None


def test_stages_without_time_or_a_trained_model_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prorl_inference.is_cached", lambda _: False)
    (run,) = check_gpu(None, GpuSize.tiny, 1.0, "cpu", [Stage.run])
    assert run.check.state == "note" and "a random model earns no rewards" in run.check.detail
    late = list(check_gpu(None, GpuSize.tiny, 0.01, "cpu", [Stage.update]))
    assert [result.check.name for result in late] == ["model", "update"]
    assert {result.check.detail for result in late} == {"not run: no time was left"}


@pytest.mark.slow
def test_every_command_of_the_check_runs_and_a_model_that_earns_nothing_is_named(
    tmp_path: Path,
) -> None:
    write_model(tmp_path / "model")
    results = check_gpu(str(tmp_path / "model"), GpuSize.tiny, 10.0, "cpu")
    states = {result.check.name: result.check.state for result in results}
    assert {name for name, state in states.items() if state == "ok"} >= {
        *("device", "update", "transformers", "data", "evaluation")
    }
    assert "model" not in states and states["run"] in ("ok", "problem")
