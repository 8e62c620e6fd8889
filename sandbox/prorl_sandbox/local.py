"""The local backend: each run in fresh Linux namespaces on this machine, one box a program.

``run`` takes a program, ``run_check`` a program and a trusted check, each in a box of its own with the
host relaying typed values between them. Leaves out control groups (memory is held a process at a time
by rlimits; the sum is bounded by ``processes``) and reuse of warm boxes.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_sandbox import verdict
from prorl_sandbox.box import wire
from prorl_sandbox.process import LAUNCHER, BoxProcess, converse
from prorl_sandbox.relay import Relay
from prorl_sandbox.types import Limits, Outcome, Program, SandboxError
from prorl_sandbox.view import interpreter, system_view

_DEFAULT_LIMITS = Limits()
_CHECKER_FRAME = 16 * 1024 * 1024
_FLAGS = ("-s", "-S", "-P", "-X", "utf8")


class _Single:
    """Listener of a run with one box: keeps the last message that matters."""

    def __init__(self) -> None:
        self.message: dict[str, Any] | None = None
        self.value: Any = None

    def frame(self, box: BoxProcess, message: dict[str, Any]) -> None:
        """Keep the one answer; a second one breaks the protocol."""
        if message["k"] == "ready":
            return
        if self.message is not None:
            raise wire.MalformedFrame("more than one answer")
        if message["k"] == "value":
            self.value = wire.decode(message.get("v"))
        self.message = message

    def ended(self, box: BoxProcess) -> None:
        """Nothing to do: there is no other box."""


class LocalSandbox:
    """Implements ``Sandbox`` with namespaces, seccomp and rlimits. Thread-safe.

    ``walls`` names what separates: user, pid, mount, net, ipc, seccomp. Use ``open_sandbox``, which
    finds out what holds on this machine and refuses less than the floor. ``python`` and ``launcher``
    exist for tests.
    """

    def __init__(
        self,
        walls: tuple[str, ...],
        isolation: str,
        *,
        python: str | None = None,
        launcher: Path = LAUNCHER,
    ) -> None:
        self.isolation = isolation
        self._walls = walls
        self._view = system_view()
        self._command = (python or interpreter(), *_FLAGS, str(launcher))
        self._lock = threading.Lock()
        self._live: set[BoxProcess] = set()
        self._closed = False

    def run(self, program: Program, limits: Limits = _DEFAULT_LIMITS) -> Outcome:
        """Run one program in a fresh box; see ``Sandbox.run``.

        Raises SandboxError when the sandbox fails, UserError for arguments that cannot be sent.
        """
        check_limits(limits)
        mode = "stdin" if program.call is None else "serve"
        listener = _Single()
        with self._box(mode, program.source, program.call, program.stdin, limits) as box:
            if program.call is not None:
                box.send(pack_call(program.args))
                box.hang_up()
            converse([box], limits.wall_seconds, listener)
            verdict.require_start(box)
            result = verdict.judge(box, limits, listener.message)
            value = listener.value if result[0] == "ok" else None
            return verdict.outcome(box, result, self.isolation, value)

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> Outcome:
        """Run ``checker`` against the program, each in its own box; see ``Sandbox.run_check``.

        Both share one wall and one processor-time budget; the other limits hold for each. Raises
        SandboxError, and CheckerError (a UserError) when the checker itself is at fault. Arguments
        travel by value: what the submission does to a list is not seen by the checker.
        """
        check_limits(limits)
        with (
            self._box("serve", program.source, entry_point, program.stdin, limits) as submission,
            self._box("check", checker, None, "", limits) as check,
        ):
            relay = Relay(submission, check)
            converse([submission, check], limits.wall_seconds, relay)
            verdict.require_start(submission)
            verdict.require_start(check)
            return relay.outcome(limits, self.isolation)

    def close(self) -> None:
        """Kill every box of this sandbox; runs in other threads raise SandboxError."""
        with self._lock:
            self._closed = True
            live = list(self._live)
        for box in live:
            box.kill("closed")

    @contextlib.contextmanager
    def _box(
        self, mode: str, source: str, call: str | None, stdin: str, limits: Limits
    ) -> Iterator[BoxProcess]:
        """Start a box and see to it that it is gone afterwards."""
        with self._scratch() as scratch:
            job = {
                "mode": mode,
                "source": source,
                "call": call,
                "limits": asdict(limits),
                "walls": self._walls,
                "binds": self._view.binds,
                "links": self._view.links,
                "masks": self._view.masks,
                "scratch": scratch,
                "frame_cap": _CHECKER_FRAME if mode == "check" else limits.output_kb * 1024,
            }
            try:
                box = BoxProcess(self._command, job, stdin.encode("utf-8", "replace"))
            except OSError as error:
                raise SandboxError(f"the sandbox could not start a box: {error}") from error
            with self._lock:
                self._live.add(box)
                closed = self._closed
            try:
                if closed:
                    raise SandboxError("the sandbox is closed")
                yield box
            finally:
                box.close()
                with self._lock:
                    self._live.discard(box)

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[str]:
        """Yield a folder for boxes without a root of their own, else nothing on this machine."""
        if "mount" in self._walls:
            yield ""
            return
        folder = tempfile.mkdtemp(prefix="prorl-box-")
        try:
            Path(folder).chmod(0o777)
            yield folder
        finally:
            shutil.rmtree(folder)


def pack_call(args: tuple[Any, ...]) -> bytes:
    """Return the frame that asks for one call; raises UserError for what cannot be sent."""
    try:
        plain = wire.decode(wire.encode(list(args)))
    except (wire.Unserialisable, wire.MalformedFrame) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error
    return wire.pack_for_box({"k": "call", "args": plain, "kwargs": {}})


def check_limits(limits: Limits) -> None:
    """Raise UserError for a limit that is not a positive, finite number."""
    for name, value in asdict(limits).items():
        if not math.isfinite(value) or value <= 0:
            raise UserError(f"limit {name} must be a positive number, not {value}")
