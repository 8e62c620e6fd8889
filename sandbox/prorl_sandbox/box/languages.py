"""How a program of another language is compiled and run inside a box.

Paths are tried in order and the first that exists is taken; nothing is searched along PATH. Leaves out
Python, which the harness runs itself.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CPP = ("/usr/bin/g++", "/usr/local/bin/g++", "/usr/bin/c++")
NODE = ("/usr/bin/node", "/usr/local/bin/node", "/usr/bin/nodejs")
FILE_NAMES = {"python": "program.py", "cpp": "program", "javascript": "program.js"}


def find(paths: tuple[str, ...]) -> str | None:
    """Return the first of ``paths`` that exists."""
    return next((path for path in paths if os.path.exists(path)), None)


def compile_command(language: str) -> tuple[list[str], str] | None:
    """Return (command, name of its result) for sources in the working folder; None: not installed.

    C++: C++17, -O2. JavaScript: the parser alone; the result is the source.
    """
    if language == "cpp":
        compiler = find(CPP)
        flags = ["-std=c++17", "-O2", "-pipe", "-o", "program", "program.cpp"]
        return ([compiler, *flags], "program") if compiler else None
    node = find(NODE)
    return ([node, "--check", "program.js"], "program.js") if node else None


def source_name(language: str) -> str:
    """Return the file name that a source of ``language`` is compiled under."""
    return "program.cpp" if language == "cpp" else "program.js"


def run_command(job: dict[str, Any], path: str) -> list[str]:
    """Return the command that runs the artifact at ``path``."""
    if job["language"] == "cpp":
        return [path]
    heap = job["limits"][
        "memory_mb"
    ]  # with node's own memory more than the box has: that one decides
    return [find(NODE) or NODE[0], f"--max-old-space-size={heap}", path]
