"""Programs of other languages inside the box: compile one into an artifact, or become one.

Runs in the program's process, behind all walls and limits: a compiler is no more trusted than what it
reads. Leaves out which commands there are (``languages``).
"""

from __future__ import annotations

import os
import sys

from prorl_sandbox.box import languages, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_PATH = "/usr/local/bin:/usr/bin:/bin"


def _environment() -> dict[str, str]:
    scratch = os.getcwd()
    return {"HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8", "PATH": _PATH}


def compile_artifact(job: dict[str, Any]) -> dict[str, Any]:
    """Compile ``job["source"]`` in the working folder; return the message for the host."""
    found = languages.compile_command(job["language"])
    if found is None:
        return {
            "k": "missing",
            "text": f"no compiler or interpreter of {job['language']} was found",
        }
    command, result = found
    with open(languages.source_name(job["language"]), "w", encoding="utf-8", errors="replace") as f:
        f.write(job["source"])
    child = os.posix_spawn(command[0], command, _environment())
    _, status = os.waitpid(child, 0)
    if status:
        return {"k": "compile-error", "type": command[0]}
    with open(result, "rb") as file:
        artifact = file.read()
    if 2 * len(artifact) + 1024 > job["frame_cap"]:
        return {"k": "too-large"}
    return {"k": "artifact", "v": wire.encode(artifact)}


def execute(job: dict[str, Any]) -> NoReturn:
    """Replace this process by the program at ``job["program"]``; the channel closes with it."""
    command = languages.run_command(job, job["program"])
    try:
        os.execve(command[0], command, _environment())
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)
