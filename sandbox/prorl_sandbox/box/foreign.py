"""Compile and run programs in languages other than Python, inside the sandbox."""

from __future__ import annotations

import os
import sys

from prorl_sandbox.box import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_PATH = "/usr/local/bin:/usr/bin:/bin"
_TOOL_FOLDERS = ("/usr/bin", "/usr/local/bin", "/bin")


def find(tools: Sequence[str]) -> str | None:
    for tool in tools:
        for folder in _TOOL_FOLDERS:
            if os.path.exists(path := os.path.join(folder, tool)):  # an absolute path stays
                return path
    return None


def compile_artifact(job: dict[str, Any]) -> dict[str, Any]:
    """Compile the job's sources; return a message with the compiled file or the error."""
    command = job["command"]
    for tools in (command["tools"], *command["needed"]):
        if find(tools) is None:
            return _missing(tools)
    argv = _argv(job)
    for name, text in command["sources"].items():
        with open(name, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    child = os.posix_spawn(argv[0], argv, _environment(job, argv[0]))
    _, status = os.waitpid(child, 0)
    if status or not os.path.exists(command["result"]):
        return {"k": "compile-error", "type": argv[0]}
    if os.path.isdir(command["result"]):
        artifact = _archive(command["result"])
    else:
        with open(command["result"], "rb") as result:
            artifact = result.read()
    if 2 * len(artifact) + 1024 > job["frame_cap"]:
        return {"k": "too-large"}
    return {"k": "artifact", "v": wire.encode(artifact)}


def _archive(folder: str) -> bytes:
    import io
    import zipfile

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for parent, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files):
                path = os.path.join(parent, name)
                archive.write(path, os.path.relpath(path, folder))
    return data.getvalue()


def execute(job: dict[str, Any], channel: int) -> dict[str, Any]:
    """Replace this process with the program, or return an error message if its interpreter is not installed.

    ``channel`` is the descriptor connected to the host.
    """
    command = job["command"]
    if command["tools"] and find(command["tools"]) is None:
        return _missing(command["tools"])
    argv = _argv(job)
    if job["call"] is not None:
        _pass_question(channel)
    if command["answers"]:
        os.set_inheritable(channel, True)
    try:
        os.execve(argv[0], argv, _environment(job, argv[0]))
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)


def _pass_question(channel: int) -> None:
    """Receive the arguments of a function call and pass them to the program as a file on descriptor ``channel`` + 1."""
    request = wire.read_frame(channel)
    name = f".question-{os.getpid()}"
    file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(name)
    wire.write_all(file, request["question"].encode())
    os.lseek(file, 0, os.SEEK_SET)
    if file != channel + 1:
        os.dup2(file, channel + 1)
        os.close(file)
    os.set_inheritable(channel + 1, True)


def _argv(job: dict[str, Any]) -> list[str]:
    command = job["command"]
    argv = [word.replace("{program}", job["program"]) for word in command["argv"]]
    if command["tools"]:
        argv[0] = find(command["tools"]) or argv[0]
    return argv


def _missing(tools: Sequence[str]) -> dict[str, Any]:
    return {"k": "missing", "text": f"no {' or '.join(tools)} was found"}


def _environment(job: dict[str, Any], tool: str) -> dict[str, str]:
    scratch = os.getcwd()
    environment = {"HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8", "PATH": _PATH}
    if job["command"]["tools"]:
        # Tells the loader where a tool's own libraries are, because there is no /proc (ld.so(8)).
        environment["LD_ORIGIN_PATH"] = os.path.dirname(os.path.realpath(tool))
    environment.update(job["command"]["environment"])
    return environment
