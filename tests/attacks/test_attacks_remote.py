"""Attacks over a service of this machine: its host is ours, so the invariants are measured as for the local backend."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prorl_sandbox import Sandbox, open_sandbox
from prorl_sandbox.attacks import Attack, Report, load_cases, run_suite


@pytest.fixture
def url(open_local: Callable[[], Sandbox], tmp_path: Path) -> Iterator[str]:
    """A service that is no child of this process: what lives below this one is counted."""
    pytest.importorskip("uvicorn", reason="the extra 'server' is not installed")
    ready = tmp_path / "ready"
    serve = [sys.executable, "-m", "prorl_cli", "sandbox", "serve", "--port", "0"]
    shell = ["sh", "-c", '"$@" >/dev/null 2>&1 & echo $!', "sh", *serve, "--ready-file", str(ready)]
    pid = int(subprocess.run(shell, capture_output=True, text=True, check=True).stdout)
    limit = time.monotonic() + 60
    while not ready.exists():
        assert time.monotonic() < limit
        time.sleep(0.05)
    yield ready.read_text().strip()
    os.kill(pid, signal.SIGTERM)


def test_remote_backend_holds_the_first_program_of_every_case(
    attacks: list[Attack], url: str, troubles: Callable[[Report, str], list[str]]
) -> None:
    cases = [case.id for case in load_cases() if case.attacks]
    first = {attack.case: attack for attack in reversed(attacks)}
    report = run_suite(lambda: open_sandbox(f"remote:{url}"), [first[case] for case in cases])
    assert [line for case in cases for line in troubles(report, case)] == []
    assert report.broken == ()
    assert report.isolation.startswith("remote:")
