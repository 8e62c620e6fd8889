"""The compile step of other languages than Python: done once a source, in a box, kept by its
digest.

The artifact (a binary, or the checked source) comes out of a box, so it is untrusted bytes: stored,
never run here, handed to the next box. Which commands run is the ``LanguageSpec``'s word.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prorl_common import UserError
from prorl_sandbox.box import wire
from prorl_sandbox.run.conversation import Job
from prorl_sandbox.spec import LANGUAGES, LanguageSpec
from prorl_sandbox.types import Limits, Program

COMPILE_LIMITS = Limits(
    wall_seconds=20.0, cpu_seconds=10.0, memory_mb=1024, output_kb=256, processes=16, scratch_mb=256
)
_LARGEST_ARTIFACT = 24 * 1024 * 1024
_CACHE_BYTES = 64 * 1024 * 1024
_CALL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", re.ASCII)


class LanguageError(UserError):
    """The compiler or interpreter of a language is not installed where boxes run."""


class ArtifactCache:
    """The latest artifacts by language, source, call and files, at most 64 MiB of them. Thread-safe."""

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
    parts = (program.language, program.call, program.source, *sorted(program.files.items()))
    return hashlib.blake2b(repr(parts).encode("utf-8", "replace"), digest_size=20).hexdigest()


def compile_job(program: Program, spec: LanguageSpec) -> Job:
    """Return the job that compiles ``program``, under limits of its own."""
    memory_mb = max(COMPILE_LIMITS.memory_mb, spec.least_memory_mb)
    return Job(
        "compile",
        program.source,
        _with_own(replace(COMPILE_LIMITS, memory_mb=memory_mb), spec),
        frame_cap=2 * _LARGEST_ARTIFACT + 1024,
        file=spec.source_name,
        command=spec.compile_command(program.source, program.call, memory_mb),
    )


def exec_job(program: Program, spec: LanguageSpec, artifact: bytes, limits: Limits) -> Job:
    """Return the job that runs a compiled program, or its source, with its standard input, or has
    it answer a call."""
    memory_mb = max(limits.memory_mb, spec.least_memory_mb)
    command = spec.run_command(program.call, memory_mb)
    return Job(
        "exec",
        "",
        _with_own(replace(limits, memory_mb=memory_mb), spec),
        program.call,
        stdin=program.stdin.encode("utf-8", "replace"),
        artifact=artifact,
        frame_cap=limits.output_kb * 1024 if program.call is not None else 1024,
        file=command.result,
        command=command,
    )


def _with_own(limits: Limits, spec: LanguageSpec) -> Limits:
    """Return limits in which there is room for what a language's tools and runtime take."""
    return replace(
        limits,
        memory_mb=limits.memory_mb + spec.own_memory_mb,
        processes=limits.processes + spec.own_processes,
    )


def check_call(call: str, spec: LanguageSpec) -> None:
    """Raise UserError for a call that a language other than Python cannot take."""
    if spec.harness is None:
        able = ", ".join(other.title for other in LANGUAGES.all() if other.takes_calls)
        raise UserError(f"{spec.title} takes whole programs with stdin: calls work in {able}")
    if not _CALL.fullmatch(call):
        raise UserError(f"call {call!r} is no name of a function, nor Class.method")


def ask(args: tuple[Any, ...], nonce: str) -> dict[str, Any]:
    """Return the message that has a program of another language answer a call (see ``Harness``).

    A dict becomes an object with text keys, tuples and sets become lists. Raises UserError for
    arguments that JSON does not have.
    """
    try:
        wire.encode(list(args))  # its limits of depth and size hold here too
        question = json.dumps({"n": nonce, "args": args}, default=_as_list)
    except (wire.Unserialisable, wire.TooLarge, TypeError, ValueError) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error
    return {"k": "question", "question": question}


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, set | frozenset):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__} has no form in JSON")


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
