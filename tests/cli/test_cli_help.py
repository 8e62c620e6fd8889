from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from prorl_cli.main import build_app, plugins_first

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
    listed = result.output.partition("\nCommands")[2]
    assert "..." not in listed, "a command's first sentence is cut in the list: shorten it"


def verbs() -> list[tuple[str, ...]]:
    """Return the path of every command except groups."""
    paths = command_paths()
    groups = {path[:-1] for path in paths} - {("train",)}
    return [path for path in paths if path not in groups]


@pytest.mark.parametrize("path", verbs(), ids=" ".join)
def test_help_begins_with_a_sentence_and_an_example(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(APP, [*path, "--help"])
    paragraphs = result.output.split("\n\n")
    assert paragraphs[1].strip().endswith(".")
    assert paragraphs[2].strip().startswith(f"Example: prorl {' '.join(path)}")


def test_no_command_has_more_than_fifteen_parameters() -> None:
    counts = {p: len(find(p).params) - 1 for p in verbs()}  # without --help
    assert {p: n for p, n in counts.items() if n > 15} == {}


def find(path: tuple[str, ...]) -> Any:
    command: Any = get_command(APP)
    for name in path:
        command = command.commands[name]
    return command


def test_a_plugin_is_named_anywhere_before_two_dashes() -> None:
    words = ["verify", "answer", "--plugin", "a.py", "x", "--plugin=b.py", "--", "--plugin"]
    assert plugins_first(words) == [
        *("--plugin", "a.py", "--plugin=b.py"),
        *("verify", "answer", "x", "--", "--plugin"),
    ]


def test_building_the_command_line_imports_nothing_heavy() -> None:
    script = (
        "import sys; from prorl_cli.main import build_app; from typer.main import get_command;"
        "get_command(build_app());"
        "heavy = {'torch', 'transformers', 'ray', 'vllm', 'sympy', 'reasoning_gym', 'math_verify',"
        " 'pyarrow', 'numpy', 'scipy'} & set(sys.modules); print(*sorted(heavy))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, "", "")
