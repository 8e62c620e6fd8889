from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from prorl_cli.view import redirect_file


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


def test_the_browser_is_led_to_the_page_by_a_file_that_no_one_else_can_read() -> None:
    address = "http://127.0.0.1:8000/?token=abc&x=1"
    with redirect_file(address) as file:
        assert "url=http://127.0.0.1:8000/?token=abc&amp;x=1" in file.read_text()
        assert file.parent.stat().st_mode & 0o077 == 0
        assert file.stat().st_uid == os.getuid()
    assert not file.exists()
