"""Run the blocks of every tutorial, a guide and the README in order.

A block's title names the file to write. ``console`` blocks run their "$ " lines, ``console server`` blocks with a model
server on port 8000. Blocks after <!-- not run here: why --> are only parsed.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from prorl_common import read_jsonl
from prorl_datasets import load

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = [
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    ROOT / "docs" / "guides" / "sessions.md",
]
OWN_MODEL = ROOT / "docs" / "tutorials" / "own-model.md"
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
        assert block.skipped or block.kind in ("console", "text") or block.title, block.text


@pytest.fixture
def server() -> Iterator[str]:
    from prorl_inference.backends.openai.testing import FakeServer

    with FakeServer() as running:
        yield running.url


def run_page(
    page: Path, folder: Path, server: str, shorter: Mapping[str, str] | None = None
) -> str:
    """Run a page's blocks in ``folder`` and return their stdout; ``shorter`` replaces words first."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    printed = ""
    for block in blocks(page):
        if block.skipped:
            continue
        if block.title:
            (folder / block.title).write_text(block.text)
        for command in block.commands() if block.kind == "console" else ():
            words = command.replace("http://localhost:8000/v1", server)
            for long, short in (shorter or {}).items():
                words = words.replace(long, short)
            run = subprocess.run(
                ["bash", "-c", words],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=1200,
                check=False,
            )
            assert run.returncode == 0, f"$ {command}\n{run.stdout}\n{run.stderr}"
            assert "WARNING: entry" not in run.stderr, run.stderr
            printed += run.stdout
    return printed


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, marks=pytest.mark.nightly if p.stem == "cluster" else pytest.mark.slow)
        for p in TUTORIALS
        if p != OWN_MODEL
    ],
    ids=lambda p: p.stem,
)
def test_the_tutorial_runs(page: Path, tmp_path: Path, server: str) -> None:
    run_page(page, tmp_path, server)


@pytest.mark.slow
def test_shortened_the_tutorial_of_an_own_model_asks_as_its_verifier_does_and_has_usable_groups(
    tmp_path: Path, server: str
) -> None:
    shorter = {"--config train.yaml": "--config train.yaml --steps 2", "--n 4": "--limit 8 --n 1"}
    run_page(OWN_MODEL, tmp_path, server, shorter)
    (verifier,) = (b.text for b in blocks(OWN_MODEL) if b.title == "team.py")
    (asked,) = re.findall(r'prompt="\{question\}\\n(.*)"', verifier)
    samples = load(tmp_path / "data" / "letters")
    assert len(samples) == 168
    assert all(sample.prompt[0]["content"].endswith(f"\n{asked}") for sample in samples)
    rows = [row for _, row in read_jsonl(tmp_path / "runs" / "letters" / "metrics.jsonl")]
    assert len(rows) == 2 and sum(row["groups_kept"] for row in rows) > 0


@pytest.mark.nightly
def test_the_tutorial_of_an_own_model_ends_in_a_gain_whose_interval_excludes_zero(
    tmp_path: Path, server: str
) -> None:
    printed = run_page(OWN_MODEL, tmp_path, server)
    (low, high) = re.findall(
        r"overall +pass@1 +[\d.]+ +[\d.]+ +\+[\d.]+ \[([+-][\d.]+), ([+-][\d.]+)\]", printed
    )[0]
    assert 0 < float(low) < float(high)
