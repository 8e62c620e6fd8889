from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import prorl

from prorl_cli.watch import bars
from prorl_viewer.runs.testing import write_run


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


def test_a_run_is_watched_as_text_where_there_is_no_terminal(tmp_path: Path) -> None:
    run = write_run(tmp_path / "one", 60, rollouts=[60])
    done = prorl(None, "watch", str(run.path))
    assert done.returncode == 0
    for part in (
        "step 60 of 60",
        "validation",
        "KL to the reference",
        "penalty window",
        "a problem",
    ):
        assert part in done.stdout


@pytest.mark.parametrize(
    ("values", "least", "line"),
    [
        ([0.0, 0.5, 1.0], (0, 1), "▁▅█"),
        ([1e-10, 3e-10], (0, 0.001), "▁▁"),
        ([2.0, 2.0], (), "▁▁"),
        ([1.0] * 480, (0, 1), "█" * 48),
    ],
)
def test_a_curve_in_the_terminal_keeps_noise_flat(
    values: list[float], least: tuple[float, ...], line: str
) -> None:
    assert bars(values, least) == line
