"""Help answers everywhere and drags in no heavy library; mistakes exit 2 with one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from prorl_cli.main import build_app

APP = build_app()


def command_paths() -> list[tuple[str, ...]]:
    def walk(command: object, path: tuple[str, ...]) -> list[tuple[str, ...]]:
        children = getattr(command, "commands", {})
        return [path, *(p for name, c in children.items() for p in walk(c, (*path, name)))]

    return walk(get_command(APP), ())


@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_help_answers(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(APP, [*path, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output
    listed = result.output.partition("\nCommands:")[2]
    assert "..." not in listed, "a command's first sentence is cut in the list: shorten it"


def test_building_the_command_line_imports_nothing_heavy() -> None:
    script = (
        "import sys; from prorl_cli.main import build_app; from typer.main import get_command;"
        "get_command(build_app());"
        "heavy = {'torch', 'transformers', 'ray', 'vllm', 'sympy', 'reasoning_gym', 'math_verify',"
        " 'pyarrow', 'numpy', 'scipy', 'jinja2'} & set(sys.modules); print(*sorted(heavy))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "", "")


def test_mistake_is_one_line_and_exit_code_2_of_the_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "prorl_cli", "train", "--preset", "prorl-v3"]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "did you mean 'prorl-v2'" in result.stderr
    assert list(tmp_path.iterdir()) == []  # nothing half-written
