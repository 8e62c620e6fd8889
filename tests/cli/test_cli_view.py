from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text("{}")
    (folder / "identity.json").write_text("{}")
    return folder


def test_a_page_is_written_without_a_stdout_to_tell_its_name(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    command = f'"{sys.executable}" -m prorl_cli view "{run}" --html "{out}" >&-'
    done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert out.is_file()
