from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common.checks import Check
from prorl_training.engine.openrlhf.launch import requirements


def test_the_stack_of_openrlhf_is_looked_at_and_a_problem_is_exit_code_2(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def check_requirements(device: str) -> list[Check]:
        asked.append(device)
        return [
            Check("ray", "problem", "not installed", "install it"),
            Check("torch", "ok", "2.13"),
        ]

    monkeypatch.setattr(requirements, "check_requirements", check_requirements)
    done = CliRunner().invoke(
        build_app(), ["doctor", "--engine", "openrlhf", "--device", "cpu", "--json"]
    )
    assert done.exit_code == 2
    assert asked == ["cpu"]
    shown = json.loads(done.stdout)
    assert shown["ok"] is False
    assert {
        "name": "ray",
        "state": "problem",
        "detail": "not installed",
        "cure": "install it",
    } in shown["checks"]
    assert "packages [local]" not in {check["name"] for check in shown["checks"]}


def test_the_usual_doctor_says_nothing_of_openrlhf() -> None:
    done = CliRunner().invoke(build_app(), ["doctor", "--json"])
    assert "deepspeed" not in {check["name"] for check in json.loads(done.stdout)["checks"]}
