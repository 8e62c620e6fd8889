"""Scoring workers run as nobody, but can read packages and data that only root can reach."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prorl_verifiers.pool import confine

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root gives up a user")

PLUGIN = """
from pathlib import Path
from prorl_verifiers.pool import confine
from prorl_verifiers import VerifierSpec

def score(response, reference):
    import kept_apart
    beside = (Path(__file__).resolve().parent / "words.txt").read_text().split()
    return float(response in beside and response in kept_apart.words())

def asks_elsewhere(response, reference):
    return float(response in Path(reference["answer"]).read_text())

SPECS = [VerifierSpec(name="lazy", score=score), VerifierSpec(name="elsewhere", score=asks_elsewhere)]
LAZY, ELSEWHERE = SPECS
"""
PACKAGE = """
from importlib.resources import files
from pathlib import Path

def words():
    import kept_apart.late
    return Path(__file__).resolve().with_name("data").joinpath("words.txt").read_text() + kept_apart.late.more()
"""
LATE = """
from importlib.resources import files

def more():
    return (files("kept_apart") / "data" / "words.txt").read_text()
"""
_CAP_SYS_ADMIN, _PR_CAPBSET_DROP = 21, 24


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder that only root may enter, with a plug-in, a package, a secret and room for temporary files."""
    home = tmp_path / "home"
    package = home / "packages" / "kept_apart"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    (package / "late.py").write_text(LATE)
    (package / "data" / "words.txt").write_text("cat dog")
    (home / "mine.py").write_text(PLUGIN)
    (home / "words.txt").write_text("cat")
    (home / "tmp").mkdir()
    (home / ".secret").write_text("cat")
    home.chmod(0o700)
    return home


def without_mounts() -> None:
    """Give up the capability to mount, which root lacks in most containers."""
    assert ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_SYS_ADMIN, 0, 0, 0) == 0


def answer(
    home: Path, verifier: str, gold: str, mounts: bool = True
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "prorl_cli", "verify", "answer", "--json"]
    command += ["--plugin", str(home / "mine.py"), "--verifier", verifier, "--gold", gold, "cat"]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(home / "packages"), "TMPDIR": str(home / "tmp")},
        preexec_fn=None if mounts else without_mounts,
        check=False,
    )


def test_modules_and_data_under_a_closed_home_are_read_late(home: Path) -> None:
    run = answer(home, "lazy", "x")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["reward"] == 1.0, run.stdout
    assert "nobody" in json.loads(run.stdout)["isolation"]
    assert list((home / "tmp").iterdir()) == []


def test_a_hidden_file_of_a_closed_home_stays_out_of_a_workers_sight(home: Path) -> None:
    verdict = json.loads(answer(home, "elsewhere", str(home / ".secret")).stdout)
    assert verdict["status"] == "infra_error"
    assert "FileNotFoundError" in verdict["reason"] and "a worker reads only" in verdict["reason"]


def test_where_nothing_can_be_mounted_one_line_names_the_cure(home: Path) -> None:
    run = answer(home, "lazy", "x", mounts=False)
    assert (run.returncode, run.stdout) == (2, "")
    (line,) = run.stderr.splitlines()
    assert (
        line.startswith("error: scoring workers run as user nobody") and "run `chmod o+x " in line
    )


def test_a_plugin_that_only_root_may_read_is_one_line(home: Path) -> None:
    (home / "mine.py").chmod(0o600)
    run = answer(home, "lazy", "x")
    assert (run.returncode, run.stdout) == (2, "")
    assert f"run `chmod o+r {home / 'mine.py'}`, or" in run.stderr


def test_a_namespace_of_one_thread_changes_nothing_for_the_machine(home: Path) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    confine.check_readable()
    assert Path("/proc/self/mountinfo").read_text() == before
