from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import typer

from prorl_cli.sandbox import attack as command
from prorl_common import UserError
from prorl_sandbox import Sandbox
from prorl_sandbox.attacks.catalogue import AttackResult, Report, load_cases


def test_json_names_the_machine_every_program_and_the_invariants(
    open_local: Callable[[], Sandbox], capsys: pytest.CaptureFixture[str]
) -> None:
    command.run_attacks("local", ["a05", "N06"], as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert [case["case"] for case in found["cases"]] == ["A05", "N06"]
    assert found["held"] is True
    assert [case["verdict"] for case in found["cases"]] == ["held", "by construction"]
    assert found["growth"]["open_files"][0] >= found["growth"]["open_files"][1]
    assert found["cases"][0]["title"] == "an object that says it equals everything"


@pytest.mark.slow
def test_the_table_is_printed_and_nothing_is_raised_when_all_held(
    open_local: Callable[[], Sandbox], capsys: pytest.CaptureFixture[str]
) -> None:
    command.run_attacks("local", ["A04"])
    shown = capsys.readouterr()
    assert "A04" in shown.out
    assert "all held" in shown.err


def test_an_unknown_case_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="no attack case 'Z99'"):
        command.run_attacks("local", ["Z99"])


def test_a_breach_is_exit_code_one(monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = [case for case in load_cases() if case.id == "A05"]
    bad = AttackResult(case.attacks[0], "BREACH", "AC", "ok", 0.1, "\x1b[2Jfull marks")
    growth = {"memory_kib": (1, 1), "open_files": (1, 1)}

    def run_suite(*args: Any) -> Report:
        return Report("fake", 0.1, (bad,), growth)

    monkeypatch.setattr("prorl_sandbox.attacks.suite.run_suite", run_suite)
    with pytest.raises(typer.Exit) as left:
        command.run_attacks("local", ["A05"])
    assert left.value.exit_code == 1
    report = run_suite()
    assert command.failure_lines(report) == [f"BREACH: {bad.attack.title}: " + r"\x1b[2Jfull marks"]
