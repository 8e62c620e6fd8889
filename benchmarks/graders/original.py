"""The wheels of the projects whose scorers ``original_scorers`` loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from prorl_common import cache_root

PINS = {
    "verl": ("verl==0.9.1", "pylatexenc==2.11"),
    "trl": ("trl==1.16.0",),
    "lighteval": ("lighteval==0.13.0", "latex2sympy2_extended==1.0.6"),
}


def unpacked(project: str) -> Path:
    """Return the folder with a project's packages, fetched without their dependencies when it is not there."""
    pins = PINS[project]
    folder = cache_root() / "verifier-originals" / pins[0]
    if not folder.is_dir():
        part = folder.with_name(f"{folder.name}.part{os.getpid()}")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        subprocess.run([*command, str(part), *pins], check=True)
        part.rename(folder)
    return folder
