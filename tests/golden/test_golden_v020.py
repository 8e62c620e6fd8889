"""Files of version 0.2.0 (commit 5ee0c841, folder v0.2.0) still open, or one line says what to do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import prorl as command

from prorl_datasets import load

STORED = Path(__file__).parent / "v0.2.0"
EVALUATIONS = ("evaluations/base", "evaluations/step_000020")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the stored files."""
    return shutil.copytree(STORED, tmp_path / "stored")


def prorl(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in ``folder``; fail if it prints a traceback."""
    done = command(folder, *words)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def opens(folder: Path, *words: str) -> bool:
    """Return whether a command succeeds; otherwise it must end with one line of advice and exit code 2."""
    done = prorl(folder, *words)
    if done.returncode == 0:
        return True
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert (done.returncode, len(lines)) == (2, 1), done.stderr
    return False


def test_nothing_stored_names_a_machine_and_all_is_small() -> None:
    files = [file for file in STORED.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 1_000_000
    for file in files:
        content = file.read_bytes()
        assert not any(place in content for place in (b"/tmp/", b"/home/", b"/root/", b"/work/"))


def test_a_dataset_of_0_2_0_opens() -> None:
    samples = load(STORED / "dataset")
    assert len(samples) == 96
    assert {sample.split for sample in samples} == {"train", "validation", "test"}


def test_recorded_rollouts_of_0_2_0_are_replayed_with_equal_rewards(folder: Path) -> None:
    assert opens(folder, "verify", "replay", "runs/v020", "--workers", "1")


def test_a_run_of_0_2_0_is_resumed_or_one_line_says_what_to_do(folder: Path) -> None:
    if opens(folder, "train", "--resume", "v020", "--steps", "3"):
        assert (folder / "runs" / "v020" / "metrics.jsonl").read_text().count("\n") == 3


def test_the_viewer_shows_run_dataset_and_evaluations_of_0_2_0(folder: Path) -> None:
    for number, path in enumerate(("runs/v020", "dataset", "evaluations")):
        page = folder / f"page{number}.html"
        assert opens(folder, "view", path, "--html", str(page)), path
        assert page.stat().st_size > 10_000


def test_evaluations_of_0_2_0_are_compared_and_reported(folder: Path) -> None:
    assert opens(folder, "eval", "compare", *EVALUATIONS, "--html", "report.html")
