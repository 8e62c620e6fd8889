"""Help answers everywhere and drags in no heavy library; mistakes exit 2 with one line."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from prorl_cli.main import build_app


def command_paths() -> list[tuple[str, ...]]:
    def walk(command: object, path: tuple[str, ...]) -> list[tuple[str, ...]]:
        children = getattr(command, "commands", {})
        return [path, *(p for name, c in children.items() for p in walk(c, (*path, name)))]

    return walk(get_command(build_app()), ())


@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_help_answers(path: tuple[str, ...]) -> None:
    app: typer.Typer = build_app()
    result = CliRunner().invoke(app, [*path, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output
    assert "To be written" not in result.output


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


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["train", "--preset", "prorl-v3"], "did you mean 'prorl-v2'"),
        (["train", "--preset", "cpu", "--set", "kl.coeficient=1"], "kl.coefficient"),
        (["data", "build", "--recipe", "quikstart"], "did you mean 'quickstart'"),
        (["eval", "pass-at-k", "--k", "8", "--n", "4"], "k > n"),
        (["train", "--resume", "no-such-run"], "no run"),
        (["verify", "file", "/no/such.jsonl"], "no such file"),
        (["model", "fetch", "smolm2-135m"], "did you mean 'smollm2-135m'"),
    ],
)
def test_mistake_is_one_line_and_exit_code_2(
    words: list[str], part: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cwd")
    command = [sys.executable, "-m", "prorl_cli", *words]
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert part in result.stderr.splitlines()[-1]
    assert list(folder.iterdir()) == []  # nothing half-written
