"""Run the command line without the plug-in files of the test's process, in this process or in its own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import traceback
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from prorl_cli.main import main
from prorl_common import plugins


def prorl(place: Path | None, *words: str, **environment: str) -> CompletedProcess[str]:
    """Run ``prorl`` in this process, in the folder ``place`` or the current one if None."""
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(file, encoding, write_through=True) for file in written)
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr(sys, "argv", ["prorl", *words])
        patch.setattr(plugins, "_LOADED", plugins._Loaded())
        patch.setenv(plugins.ENVIRONMENT, os.environ.get(plugins.ENVIRONMENT, "[]"))
        for name, value in {"NO_COLOR": "1", **environment}.items():
            patch.setenv(name, value)
        if place is not None:
            patch.chdir(place)
        code = _exit_code()
    return CompletedProcess(words, code, *(file.getvalue().decode(encoding) for file in written))


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Exception:  # noqa: BLE001 - a process would print it too
        traceback.print_exc()
        return 1
    return 0


def prorl_apart(place: Path | None, *words: str, **environment: str) -> CompletedProcess[str]:
    """Run ``prorl`` in its own process, as ``prorl`` does in this one."""
    command = [sys.executable, "-m", "prorl_cli", *words]
    variables = {**os.environ, "NO_COLOR": "1", **environment}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=170, cwd=place, env=variables, check=False
    )
