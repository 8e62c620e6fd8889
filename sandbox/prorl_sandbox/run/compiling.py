"""Plan how programs in languages other than Python are compiled and run."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from prorl_common import UserError
from prorl_sandbox.box import wire
from prorl_sandbox.run.plan import CompilePlan, Job, ProgramPlan
from prorl_sandbox.spec import LanguageSpec
from prorl_sandbox.types import Limits, Program

COMPILE_LIMITS = Limits(
    wall_seconds=20.0, cpu_seconds=10.0, memory_mb=1024, output_kb=256, processes=16, scratch_mb=256
)
"""Limits of a compiler. Its time limits are replaced by the language's."""
WALL_SECONDS_A_SECOND = 2.0
"""Ratio of a compiler's wall time limit to its CPU time limit."""
_LARGEST_ARTIFACT = 24 * 1024 * 1024
_CACHE_BYTES = 64 * 1024 * 1024


class ArtifactCache:
    """Cache of compiled programs by language, source and call, of at most 64 MiB. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, program: Program) -> bytes | None:
        with self._lock:
            key = _key(program)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, program: Program, artifact: bytes) -> None:
        with self._lock:
            self._bytes += len(artifact) - len(self._kept.pop(_key(program), b""))
            self._kept[_key(program)] = artifact
            while self._bytes > _CACHE_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest)


def _key(program: Program) -> str:
    parts = (program.language, program.call, program.source)
    return hashlib.blake2b(repr(parts).encode("utf-8", "replace"), digest_size=20).hexdigest()


def plan_compilation(program: Program, spec: LanguageSpec, limits: Limits) -> CompilePlan:
    """Plan a compilation. Of ``limits``, only ``compile_seconds`` is used."""
    memory_mb = max(COMPILE_LIMITS.memory_mb, spec.least_memory_mb)
    seconds = limits.compile_seconds or spec.compile_seconds
    compiler_limits = replace(
        COMPILE_LIMITS,
        cpu_seconds=seconds,
        wall_seconds=seconds * WALL_SECONDS_A_SECOND,
        memory_mb=memory_mb,
    )
    job = Job(
        "compile",
        program.source,
        _add_runtime(compiler_limits, spec),
        frame_cap=2 * _LARGEST_ARTIFACT + 1024,
        file=spec.source_name,
        command=spec.compile_command(program.source, program.call, memory_mb),
    )
    return CompilePlan(job, program.language)


def plan_compiled(
    program: Program, spec: LanguageSpec, artifact: bytes, limits: Limits
) -> ProgramPlan:
    """Plan the run of a compiled program. Raises UserError if an argument cannot be encoded."""
    memory_mb = max(limits.memory_mb, spec.least_memory_mb)
    command = spec.run_command(program.call, memory_mb)
    job = Job(
        "exec",
        "",
        _add_runtime(replace(limits, memory_mb=memory_mb), spec),
        program.call,
        stdin=program.stdin.encode("utf-8", "replace"),
        artifact=artifact,
        frame_cap=limits.output_kb * 1024 if program.call is not None else 1024,
        file=command.result,
        command=command,
    )
    if program.call is None:
        return ProgramPlan(job, program.language)
    nonce = secrets.token_hex(16)
    try:
        wire.encode(list(program.args))  # applies the same limits of depth and size
        question = json.dumps({"n": nonce, "args": program.args}, default=_as_list)
    except (wire.Unserialisable, wire.TooLarge, TypeError, ValueError) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error
    return ProgramPlan(job, program.language, nonce, {"k": "question", "question": question})


def _add_runtime(limits: Limits, spec: LanguageSpec) -> Limits:
    return replace(
        limits,
        memory_mb=limits.memory_mb + spec.own_memory_mb,
        processes=limits.processes + spec.own_processes,
    )


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, set | frozenset):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as JSON")
