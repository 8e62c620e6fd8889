"""``prorl sandbox``: one program in, one Outcome out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_cli.main import main
from prorl_cli.sandbox.outcome import plain
from prorl_sandbox import LocalSandbox, ToolSandbox


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


def _project(folder: Path) -> Path:
    (folder / "tests").mkdir()
    (folder / "calc.py").write_text("def add(a, b): return a + b\n")
    (folder / "main.py").write_text("import calc\nprint(calc.add(int(input()), 1))\n")
    tests = "from calc import add\ndef test_a(): assert add(1, 1) == 2\ndef test_b(): assert add(1, 1) == 3\n"
    (folder / "tests" / "test_calc.py").write_text(tests)
    return folder


def test_a_folder_is_a_project_with_a_result_for_each_test(
    tester: ToolSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli(monkeypatch, "run", _project(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "passed  tests/test_calc.py::test_a\nfailed  tests/test_calc.py::test_b\n" in shown
    assert shown.endswith("1 passed, 1 failed\n")
    assert cli(monkeypatch, "run", tmp_path, "--json") == 0
    results = json.loads(capsys.readouterr().out)["tests"]
    assert [one["status"] for one in results] == ["passed", "failed"]


def test_a_folder_is_built_and_run_as_told(
    sandbox: LocalSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, stdin = tmp_path / "p", tmp_path / "in.txt"
    folder.mkdir()
    stdin.write_text("41\n")
    (folder / "main.py").write_text("print(int(input()) + int(open('made').read()))")
    (folder / "make.sh").write_text("echo 1 > made")
    steps = ("--build", "sh make.sh", "--command", "python3 main.py", "--stdin", stdin, "--json")
    assert cli(monkeypatch, "run", folder, *steps) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["build"]["status"], shown["run"]["stdout"], shown["tests"]) == ("ok", "42\n", [])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("{folder}",), "holds no tests"),
        (("{folder}", "--call", "f"), "--call needs a file"),
        (("{file}", "--build", "make"), "need a folder"),
    ],
)
def test_what_fits_no_folder_or_no_file_is_a_mistake(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    why: str,
) -> None:
    file = tmp_path / "main.py"
    file.write_text("print(1)")
    filled = [one.format(folder=tmp_path, file=file) for one in arguments]
    assert cli(monkeypatch, "run", *filled) == 2
    assert why in capsys.readouterr().err


def test_a_session_answers_each_message_until_one_ends_it(
    sandbox: LocalSandbox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = "x = 20\ndef f(n):\n    return n * 2 + 2\n\nf(x)\n1/0\n'\\x1b[31m'\nexit()\nnever()\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert cli(monkeypatch, "session") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("42\nTraceback")
    assert "ZeroDivisionError" in shown.out and "\x1b" not in shown.out
    assert shown.err == "the session is over: message 6 ended it: ok\n"


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
