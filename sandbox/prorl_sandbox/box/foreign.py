"""Programs of other languages inside the box: compile one into an artifact, build a project of
several files, or become one.

Runs in the program's process, behind all walls and limits: a compiler is no more trusted than what
it reads. Which command it is comes with the job (``Job.command``); nothing is known here of any
language.
"""

from __future__ import annotations

import os
import sys

from prorl_sandbox.box import files, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_PATH = "/usr/local/bin:/usr/bin:/bin"
_TOOL_FOLDERS = ("/usr/bin", "/usr/local/bin", "/bin")


def find(tools: Sequence[str]) -> str | None:
    """Return the path of the first of these tools that is installed."""
    for tool in tools:
        for folder in _TOOL_FOLDERS:
            if os.path.exists(path := os.path.join(folder, tool)):  # an absolute one stays as it is
                return path
    return None


def compile_artifact(job: dict[str, Any]) -> dict[str, Any]:
    """Compile ``job["source"]`` in the working folder; return the message for the host."""
    argv = _argv(job)
    if argv is None:
        return _missing(job)
    command = job["command"]
    with open(command["source"], "w", encoding="utf-8", errors="replace") as file:
        file.write(job["source"])
    child = os.posix_spawn(argv[0], argv, _environment(job))
    _, status = os.waitpid(child, 0)
    if status or not os.path.isfile(command["result"]):
        return {"k": "compile-error", "type": argv[0]}
    with open(command["result"], "rb") as result:
        artifact = result.read()
    if 2 * len(artifact) + 1024 > job["frame_cap"]:
        return {"k": "too-large"}
    return {"k": "artifact", "v": wire.encode(artifact)}


def build(job: dict[str, Any]) -> dict[str, Any]:
    """Run the build command in the working folder; return the files that are then there."""
    argv = _argv(job)
    if argv is None:
        return _missing(job)
    try:
        child = os.posix_spawn(argv[0], argv, _environment(job))
        _, status = os.waitpid(child, 0)
        if status:
            return {"k": "compile-error", "type": argv[0]}
        found = files.gather((job["frame_cap"] - 1024) // 2)
    except files.TooMuch:
        return {"k": "too-large"}
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        return {"k": "compile-error", "type": argv[0]}
    return {"k": "artifact", "v": wire.encode(found)}


def execute(job: dict[str, Any]) -> dict[str, Any]:
    """Replace this process by the program at ``job["program"]``; the channel closes with it.

    Returns only where its interpreter is not installed, with the message for the host.
    """
    argv = _argv(job)
    if argv is None:
        return _missing(job)
    try:
        os.execve(argv[0], argv, _environment(job))
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)


def _argv(job: dict[str, Any]) -> list[str] | None:
    """Return the arguments with all paths filled in; None: the tool is not installed."""
    command = job["command"]
    argv = [word.replace("{program}", job["program"]) for word in command["argv"]]
    if command["tools"]:
        path = find(command["tools"])
        if path is None:
            return None
        argv[0] = path
    return argv


def _missing(job: dict[str, Any]) -> dict[str, Any]:
    return {"k": "missing", "text": f"no {' or '.join(job['command']['tools'])} was found"}


def _environment(job: dict[str, Any]) -> dict[str, str]:
    scratch = os.getcwd()
    environment = {"HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8", "PATH": _PATH}
    environment.update(job["command"]["environment"])
    return environment
