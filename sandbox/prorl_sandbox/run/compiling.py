"""The compile step of other languages than Python: done once a source, in a box, kept by its
digest.

The artifact (a binary, or the checked source) comes out of a box, so it is untrusted bytes: stored,
never run here, handed to the next box. Which commands run is the ``LanguageSpec``'s word.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prorl_common import UserError
from prorl_sandbox.box import wire
from prorl_sandbox.run.conversation import Job
from prorl_sandbox.spec import LanguageSpec
from prorl_sandbox.types import Limits, Program

COMPILE_LIMITS = Limits(
    wall_seconds=20.0, cpu_seconds=10.0, memory_mb=1024, output_kb=256, processes=16, scratch_mb=256
)
_LARGEST_ARTIFACT = 24 * 1024 * 1024
_CACHE_BYTES = 64 * 1024 * 1024


class LanguageError(UserError):
    """The compiler or interpreter of a language is not installed where boxes run."""


class ArtifactCache:
    """The latest artifacts by language and source digest, at most 64 MiB of them. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, program: Program) -> bytes | None:
        """Return the artifact of ``program``'s source if it is kept."""
        with self._lock:
            key = _key(program)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, program: Program, artifact: bytes) -> None:
        """Keep an artifact, and let go of the oldest ones beyond the limit."""
        with self._lock:
            self._bytes += len(artifact) - len(self._kept.pop(_key(program), b""))
            self._kept[_key(program)] = artifact
            while self._bytes > _CACHE_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest)


def _key(program: Program) -> str:
    text = f"{program.language}\n{program.source}".encode("utf-8", "replace")
    return hashlib.blake2b(text, digest_size=20).hexdigest()


def compile_job(program: Program, spec: LanguageSpec) -> Job:
    """Return the job that compiles ``program``, under limits of its own."""
    memory_mb = max(COMPILE_LIMITS.memory_mb, spec.least_memory_mb)
    return Job(
        "compile",
        program.source,
        replace(COMPILE_LIMITS, memory_mb=memory_mb),
        frame_cap=2 * _LARGEST_ARTIFACT + 1024,
        file=spec.source_name,
        command=spec.compile_command(memory_mb),
    )


def exec_job(program: Program, spec: LanguageSpec, artifact: bytes, limits: Limits) -> Job:
    """Return the job that runs a compiled program, or its source, with its standard input."""
    memory_mb = max(limits.memory_mb, spec.least_memory_mb)
    command = spec.run_command(memory_mb)
    return Job(
        "exec",
        "",
        replace(limits, memory_mb=memory_mb),
        stdin=program.stdin.encode("utf-8", "replace"),
        artifact=artifact,
        frame_cap=1024,
        file=command.result,
        command=command,
    )


def require_tools(program: Program, message: Mapping[str, Any] | None) -> None:
    """Raise LanguageError when a box says that its compiler or interpreter is not there."""
    if message is not None and message["k"] == "missing":
        raise LanguageError(
            f"{program.language} is not installed where boxes run: {message['text']}"
        )


def read_artifact(program: Program, message: Mapping[str, Any] | None) -> bytes | None:
    """Return what a compile box sent, None when it sent nothing; raises LanguageError."""
    require_tools(program, message)
    if message is None:
        return None
    try:
        artifact = wire.decode(message.get("v"))
    except wire.MalformedFrame:
        return None
    return artifact if isinstance(artifact, bytes) else None
