"""Every tutorial, and a guide, runs from its own blocks, in order, in an empty folder; so does the README's Python, as far as it can.

```python title="x.py"``` (or yaml, json) writes the file x.py; ```console``` runs its lines that begin with "$ "; ```console server``` runs
them with a model server on port 8000. A block after <!-- not run here: why --> is only parsed.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = [
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    ROOT / "docs" / "guides" / "sessions-and-projects.md",
]
_BLOCK = re.compile(
    r"(?P<skip><!-- not run here: [^\n]+ -->\n)?^```(?P<kind>\w+)(?P<rest>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    kind: str
    rest: str
    text: str
    skipped: bool

    @property
    def title(self) -> str | None:
        found = re.search(r'title="([^"]+)"', self.rest)
        return found[1] if found else None

    def commands(self) -> list[str]:
        return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]


def blocks(page: Path) -> list[Block]:
    return [
        Block(m["kind"], m["rest"], m["text"], m["skip"] is not None)
        for m in _BLOCK.finditer(page.read_text())
    ]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda p: p.stem)
def test_what_is_not_run_parses_and_every_other_block_is_run(page: Path) -> None:
    for block in blocks(page):
        if block.kind == "console":
            for command in block.commands():
                subprocess.run(["bash", "-n", "-c", command], check=True)
        elif block.kind == "python":
            ast.parse(block.text)
        assert block.skipped or block.kind == "console" or block.title, block.text


@pytest.fixture
def server() -> Iterator[str]:
    """An OpenAI-compatible server that answers something, at its own address."""
    from prorl_inference.backends.openai.testing import FakeServer

    with FakeServer() as running:
        yield running.url


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda p: p.stem)
def test_the_tutorial_runs(page: Path, tmp_path: Path, server: str) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    for block in blocks(page):
        if block.skipped:
            continue
        if block.title:
            (tmp_path / block.title).write_text(block.text)
        for command in block.commands() if block.kind == "console" else ():
            words = command.replace("http://localhost:8000/v1", server)
            run = subprocess.run(
                ["bash", "-c", words],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            assert run.returncode == 0, f"$ {command}\n{run.stdout}\n{run.stderr}"
