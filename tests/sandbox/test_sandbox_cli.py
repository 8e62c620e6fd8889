from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_cli.main import main
from prorl_cli.sandbox.run import plain
from prorl_sandbox import LocalSandbox


def cli(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["prorl", "sandbox", *map(str, arguments)])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_run_prints_the_outcome_as_json(
    sandbox: LocalSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program, stdin = tmp_path / "p.py", tmp_path / "in.txt"
    program.write_text("print(int(input()) + 1)\ndef f(a):\n    return {a: (1, 2)}\n")
    stdin.write_text("41\n")
    assert cli(monkeypatch, "run", program, "--stdin", stdin, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["status"], shown["stdout"], shown["exit_code"]) == ("ok", "42\n", 0)
    assert {"stderr", "value", "wall_seconds", "peak_mb", "isolation", "limit"} <= set(shown)
    arguments = ("--call", "f", "--args", '["k"]', "--stdin", stdin)
    assert cli(monkeypatch, "run", program, *arguments, "--json") == 0
    assert json.loads(capsys.readouterr().out)["value"] == {"k": [1, 2]}


def test_a_failing_program_is_not_a_failing_command(
    sandbox: LocalSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = tmp_path / "p.py"
    program.write_text("print('\\x1b[31mred'); import time; time.sleep(99)")
    assert cli(monkeypatch, "run", program, "--wall", "0.5") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("timeout (wall limit)")
    assert "\x1b[31m" not in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere.py",),
        ("{p}", "--backend", "dokcer"),
        ("{p}", "--call", "f", "--args", "{}"),
        ("{p}", "--call", "f", "--args", "[1"),
        ("{p}", "--args", "[1]"),
        ("{p}", "--wall", "-1"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_two(
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = tmp_path / "p.py"
    program.write_text("pass")
    given = [str(program) if a == "{p}" else a for a in arguments]
    assert cli(monkeypatch, "run", *given) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1


@pytest.mark.slow
def test_doctor_shows_every_feature(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(monkeypatch, "doctor", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {"user", "pid", "mount", "net", "seccomp", "landlock_abi", "strong"} <= set(found)
    assert cli(monkeypatch, "doctor") == 0
    assert "isolation level" in capsys.readouterr().out


def test_plain_values_are_always_json() -> None:
    value = [(1,), {3, 1}, {2: b"x"}, float("nan"), 1 << 5000, "\ud800", True, None, 1j]
    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=False)
    assert text.encode("utf-8")
    assert json.loads(text)[:3] == [[1], [1, 3], {"2": "b'x'"}]


@pytest.mark.slow
def test_a_program_gets_the_environment_that_is_asked_for(
    scientific: LocalSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = tmp_path / "p.py"
    program.write_text("import numpy as np\nprint(np.int64(41) + 1)\n")
    assert cli(monkeypatch, "run", program, "--environment", "scientific", "--json") == 0
    assert json.loads(capsys.readouterr().out)["stdout"] == "42\n"
    assert cli(monkeypatch, "run", program) == 0
    assert "environment scientific has it" in capsys.readouterr().err
    assert cli(monkeypatch, "run", program, "--environment", "scientifc") == 2
    assert "did you mean 'scientific'" in capsys.readouterr().err
    assert cli(monkeypatch, "doctor", "--json") == 0
    assert json.loads(capsys.readouterr().out)["environments"]["scientific"] == "built"


def test_environments_are_built_listed_and_refused_in_one_line(
    write_wheel: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path / "cache"))
    write_wheel(tmp_path, "tinypack", "1.0", {"tinypack.py": ""})
    file = tmp_path / "r.txt"
    file.write_text(f"--no-index\n--find-links {tmp_path}\ntinypack==1.0\n")
    assert cli(monkeypatch, "build-env", "mylab") == 2
    assert "--requirements FILE" in capsys.readouterr().err
    assert cli(monkeypatch, "build-env", "mylab", "--requirements", file) == 0
    assert "built environment mylab" in capsys.readouterr().err
    assert cli(monkeypatch, "build-env", "mylab") == 0
    assert "built already" in capsys.readouterr().err
    assert cli(monkeypatch, "build-env", "--list", "--json") == 0
    found = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert found["mylab"]["state"] == "built" and found["scientific"]["state"] == "not built"
    assert found["mylab"]["packages"] == {"tinypack": "1.0"}
    assert cli(monkeypatch, "build-env", "mylab", "--backend", "podman") == 2
    assert "podman" in capsys.readouterr().err
