"""Run the command line in its own process, which loads no plug-in of the test's process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def prorl(place: Path | None, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``prorl`` in the folder ``place``, or the current one if None."""
    command = [sys.executable, "-m", "prorl_cli", *words]
    variables = {**os.environ, "NO_COLOR": "1", **environment}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=170, cwd=place, env=variables, check=False
    )
