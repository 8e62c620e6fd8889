from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from prorl_cli.console import print_table
from prorl_cli.main import build_app

HEAD = ("group", "problems", "pass@1", "pass@4", "pass@8", "mean reward", "infra", "reading")
ROWS = [
    ("overall", "8", *["0.125 [0.000, 0.328]"] * 3, "0.250 [0.1, 0.4]", "0%", "too few to say so"),
    ("mathematics", "8", *["0.000 [0.000, 0.316]"] * 3, "-", "12.5%", "only eight problems here"),
]


def drawn(capsys: pytest.CaptureFixture[str], *drop: str) -> list[str]:
    print_table("a title", HEAD, ROWS, drop)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_table_fits_and_no_word_or_number_is_cut(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = drawn(capsys, "infra", "mean reward")
    assert max(map(len, lines)) <= width
    place = next(i for i, line in enumerate(lines) if line.startswith("columns left out"))
    table, note = lines[:place], " ".join(line.strip() for line in lines[place:])
    whole = {word for text in (*HEAD, *(c for row in ROWS for c in row)) for word in text.split()}
    assert {word for line in table[2:] for word in line.split() if "─" not in word} <= whole
    assert "[0.000, 0.328]" in "\n".join(table)
    left_out = (
        note.removeprefix("columns left out because the terminal is too narrow: ")
        .partition(" (")[0]
        .split(", ")
    )
    shown = "\n".join(table[2:])
    assert "infra" in left_out and "group" in shown
    assert all((name.split()[0] in shown) != (name in left_out) for name in HEAD)


def test_all_columns_stand_there_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = drawn(capsys, "infra")
    assert all(name in lines[2] for name in HEAD) and len(lines) == 6
    assert "0.125 [0.000, 0.328]" in lines[4]


@pytest.mark.parametrize(
    "words",
    [
        ["data", "recipes"],
        ["data", "benchmarks"],
        ["eval", "run", "--list"],
        ["train", "presets"],
        ["train", "fit", "--preset", "prorl-v2"],
        ["model", "list"],
    ],
)
def test_tables_of_commands_fit_eighty_columns(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(build_app(), words).stdout.splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("──"))
    table = list(itertools.takewhile(str.strip, lines[rule - 1 :]))
    assert max(map(len, table)) <= 80
    assert "…" not in "".join(table)


@pytest.mark.parametrize(
    "words", ["train simulate --preset cpu --steps 50", "train fit --preset prorl-v2"]
)
def test_an_ascii_terminal_gets_ascii_and_no_traceback(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "prorl_cli", *words.split()],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0)
    assert done.stdout.isascii() and b"\\" not in done.stdout
