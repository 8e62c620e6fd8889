from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from doubles import write_model
from typer.testing import CliRunner

from prorl_cli.gpu_check import check_gpu, check_metrics
from prorl_cli.main import build_app
from prorl_common import UserError

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
def test_every_command_of_the_check_runs_and_a_model_that_earns_nothing_is_named(
    tmp_path: Path,
) -> None:
    write_model(tmp_path / "model")
    checks = {check.name: check for check in check_gpu(str(tmp_path / "model"), "cpu")}
    assert {name for name, check in checks.items() if check.state == "ok"} >= {
        "device",
        "data",
        "evaluation",
    }
    assert checks["training step"].state in ("ok", "problem"), checks["training step"]
