"""User mistakes on the command line produce one line that says how to fix them, and exit code 2."""

from __future__ import annotations

import importlib.metadata
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import prorl
from doubles import write_data

FILES = {
    "empty.yaml": "",
    "list.yaml": "- 1\n- 2\n",
    "twice.yaml": "sampling: {n: 2}\nsampling: {n: 3}\n",
    "broken.yaml": "a: [1\n",
    "key.yaml": "steps: 3\nnothing: 1\n",
    "empty.jsonl": "",
    "broken.jsonl": '{"id": 1\n',
    "row.jsonl": '{"id": 1, "response": "x"}\n',
    "task.jsonl": '{"id": 1, "task": {"verifier": "math", "reference": {}}, "response": "x"}\n',
    "wrong.jsonl": '{"id": 1, "task": {"verifier": "maht", "reference": {}}, "response": "x"}\n',
    "right.jsonl": '{"id": 1, "task": {"verifier": "math", "reference": {"answer": "1"}}, "response": "1"}\n',
    "program.foo": "print(1)\n",
    "text.txt": "hello\n",
    "bad.py": "import nothing_of_that_name\n",
    "none.py": "x = 1\n",
}
CASES = [
    tuple(case.split("\n", 1))
    for case in Path(__file__)
    .with_name("mistakes.txt")
    .read_text("utf-8")
    .strip()
    .split("\n$ prorl ")[1:]
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset, no runs, and invalid files."""
    root = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (root / name).write_text(text)
    write_data(root, train=6, validation=2, test=2)
    (root / "folder").mkdir()
    (root / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    return root


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(place)
    there = {*place.iterdir(), *(place / "data").iterdir()}
    yield
    left = {*place.iterdir(), *(place / "data").iterdir()} - there
    assert not left, "a mistake left something behind"


@pytest.mark.parametrize(("words", "line"), CASES, ids=[words for words, _ in CASES])
def test_a_mistake_is_one_line_with_the_cure_and_exit_2(words: str, line: str) -> None:
    done = prorl(None, *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    assert line in done.stderr


def test_a_port_in_use_is_said_before_any_worker_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = prorl(None, "verify", "serve", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr == (
        f"error: cannot listen on 127.0.0.1 port {port}: Address already in use; "
        "choose another with --port (0 takes a free one)\n"
    )


def test_a_reader_that_has_enough_is_not_an_error() -> None:
    command = f"{sys.executable} -m prorl_cli data benchmarks | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert "Traceback" not in done.stderr


def test_a_table_in_a_pipe_is_as_wide_as_columns_says() -> None:
    widths = {}
    for columns in ("60", "100"):
        done = prorl(None, "eval", "run", "--list", COLUMNS=columns)
        widths[columns] = max(len(line) for line in done.stdout.splitlines())
    assert widths["60"] <= 60 < widths["100"] <= 100


def test_the_version_is_that_of_the_distribution() -> None:
    done = prorl(None, "--version")
    assert done.returncode == 0
    assert done.stdout == f"prorl {importlib.metadata.version('prorl')}\n"
