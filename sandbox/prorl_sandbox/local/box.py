"""The host's end of one local box: its pipes, its channel, and the slot that watches it.

``LocalBox`` implements ``conversation.Box``. Every stream has a cap and nothing here blocks on a
box.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import socket
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from prorl_sandbox.box import wire
from prorl_sandbox.local.slots import Slot
from prorl_sandbox.run.conversation import QUIET_SECONDS, QUIET_TALK_SECONDS, Job
from prorl_sandbox.types import SandboxError

_CHUNK = 65536
_REPORT_CAP = 65536
_LARGEST_STDIN_FILE = 4 * 1024 * 1024


@dataclass(slots=True)
class _Output:
    """Bytes waiting to be written to a box."""

    fd: int
    pending: bytearray
    close_when_empty: bool = True


@dataclass(slots=True)
class _Input:
    """Bytes read from a box, up to ``cap``."""

    fd: int
    cap: int
    data: bytearray = field(default_factory=bytearray)
    quiet_until: float = 0.0


class LocalBox:
    """One running box in a slot."""

    killed_for: str | None = None
    started: float | None = None
    ended: float | None = None
    end: dict[str, Any] | None = None
    fault: str | None = None
    waited = 0.0
    over = False
    quiet_until = math.inf
    renewals = 0
    spent = 0.0

    def __init__(self, slot: Slot, job: Job, scratch: str) -> None:
        """Hand ``job`` to the slot's next box; raises SandboxError when the slot is gone."""
        self.job = job
        self._slot = slot
        self._made_cpu = 0.0
        pipes = _pipes(5)
        mine, theirs = socket.socketpair()
        (job_r, job_w), (in_r, in_w), (out_r, out_w), (err_r, err_w), (rep_r, rep_w) = pipes
        given = (job_r, in_r, out_w, err_w, theirs.fileno(), rep_w)
        channel = mine.detach()
        plain = {
            "mode": job.mode,
            "source": job.source,
            "call": job.call,
            "file": job.file,
            "command": asdict(job.command) if job.command is not None else None,
            "artifact": job.artifact,
            "stdin": job.stdin if _fits_a_file(job) else None,
            "limits": asdict(job.limits),
            "most_cpu_seconds": job.most_cpu_seconds,
            "frame_cap": job.frame_cap,
            "files": dict(job.files),
            "argv": job.argv,
            "scratch": scratch,
        }
        self._outputs = {
            "job": _Output(job_w, bytearray(wire.pack_for_box(plain))),
            "stdin": _Output(in_w, bytearray(b"" if _fits_a_file(job) else job.stdin)),
            "channel": _Output(channel, bytearray(), close_when_empty=False),
        }
        cap = job.limits.output_kb * 1024
        self._inputs = {
            "stdout": _Input(out_r, cap),
            "stderr": _Input(err_r, cap),
            "report": _Input(rep_r, _REPORT_CAP),
            "channel": _Input(os.dup(channel), wire.MAX_FRAME),
        }
        self._open_inputs = set(self._inputs)
        for fd in (job_w, in_w, out_r, err_r, rep_r, channel):
            os.set_blocking(fd, False)
        try:
            # What the slot itself has to know of a job: limits, nothing else.
            names = ("memory_mb", "processes", "scratch_mb")
            header = {name: getattr(job.limits, name) for name in names}
            cpu = {"cpu_seconds": job.limits.cpu_seconds, "most_cpu_seconds": job.most_cpu_seconds}
            slot.start(header | cpu, given)
        except SandboxError:
            self.close()
            raise
        finally:
            theirs.close()
            for fd in (job_r, in_r, out_w, err_w, rep_w):
                os.close(fd)

    @property
    def finished(self) -> bool:
        """True when the slot has told of the end, by which every process of the box is gone, and
        its streams have been read."""
        told = self.end is not None or self.fault is not None
        return told and self._open_inputs <= {"report"}

    def text(self, stream: str) -> str:
        """Return what came on ``stdout`` or ``stderr``, at most the cap."""
        return bytes(self._inputs[stream].data).decode("utf-8", "replace")

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message for the harness."""
        if "channel" in self._outputs:
            self._outputs["channel"].pending += wire.pack_for_box(message)

    def take(self, stream: str) -> bytes:
        """Take away what came on ``stdout`` or ``stderr``, with all that is there to be read."""
        while stream in self._open_inputs and self._read(stream):
            continue
        data = self._inputs[stream].data
        taken = bytes(data)
        data.clear()
        return taken

    def renew(self, cpu_seconds: float, most_cpu_seconds: float, rest: bool) -> None:
        """Have the slot count processor time anew."""
        limits = {"cpu_seconds": cpu_seconds, "most_cpu_seconds": most_cpu_seconds, "rest": rest}
        self._slot.renew(limits)

    def hang_up(self) -> None:
        """End the channel towards the box once all queued messages are written."""
        if "channel" in self._outputs:
            self._outputs["channel"].close_when_empty = True

    def kill(self, reason: str) -> None:
        """Have the slot kill the box, which ends every process of its pid namespace."""
        if self.killed_for is None:
            self.killed_for = reason
            self._slot.kill_box()

    def next_frame(self) -> dict[str, Any] | None:
        """Take the next whole message; raises what ``wire.split_frame`` raises."""
        return wire.split_frame(self._inputs["channel"].data, self.job.frame_cap)

    def watched(self) -> list[tuple[int, int]]:
        """Return (file descriptor, poll mask) of everything this box is waiting for."""
        inputs = [self._inputs[name] for name in self._open_inputs]
        now = time.monotonic()
        watched = [(one.fd, select.POLLIN) for one in inputs if one.quiet_until <= now]
        self.quiet_until = min(
            (o.quiet_until for o in inputs if o.quiet_until > now), default=math.inf
        )
        if self._slot.busy:
            watched.append((self._slot.fileno(), select.POLLIN))
        watched += [
            (one.fd, select.POLLOUT)
            for one in self._outputs.values()
            if one.pending or one.close_when_empty
        ]
        return watched

    def pump(self, ready: set[int]) -> None:
        """Move bytes on the ready descriptors and take in what box and slot report."""
        for name in list(self._outputs):
            if self._outputs[name].fd in ready:
                self._write(name)
        for name in list(self._open_inputs):
            if self._inputs[name].fd in ready:
                self._read(name)
        self._take_reports()
        if self._slot.busy and self._slot.fileno() in ready:
            event = self._slot.event()
            if event is not None:
                self._take(event)

    def _write(self, name: str) -> None:
        one = self._outputs[name]
        try:
            if one.pending:
                del one.pending[: os.write(one.fd, one.pending[:_CHUNK])]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            one.pending.clear()
            one.close_when_empty = True
        if one.close_when_empty and not one.pending:
            if name == "channel":
                with contextlib.suppress(OSError), socket.socket(fileno=os.dup(one.fd)) as end:
                    end.shutdown(socket.SHUT_WR)
            os.close(one.fd)
            del self._outputs[name]

    def _read(self, name: str) -> bool:
        """Take in what has come; False when nothing has, or the stream has ended or is full.

        A stream is then left alone for a moment, but for the answers to questions: a harness that
        has one writes all of it at once.
        """
        one = self._inputs[name]
        try:
            chunk = os.read(one.fd, _CHUNK)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            os.close(one.fd)
            self._open_inputs.discard(name)
        elif len(one.data) + len(chunk) > one.cap:
            one.data += chunk[: max(0, one.cap - len(one.data))]
            self.kill("output")
        else:
            one.data += chunk
            if len(chunk) < _CHUNK and (name != "channel" or not wire.holds_frame(one.data)):
                rest = QUIET_TALK_SECONDS if name == "channel" else QUIET_SECONDS
                one.quiet_until = time.monotonic() + rest
            return True
        return False

    def _take_reports(self) -> None:
        data = self._inputs["report"].data
        while (index := data.find(b"\n")) >= 0:
            event = json.loads(data[:index])
            del data[: index + 1]
            self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        if event["event"] == "started":
            self.started, self._made_cpu = event["at"], event["cpu"]
        elif event["event"] == "watch":
            self.waited, self.over = event["waited"], event["over"]
        elif event["event"] == "renewed":
            self.waited, self.spent, self.over = event["waited"], event["cpu"], False
            self.renewals += 1
        elif event["event"] == "end":
            self._drain()
            self._take_reports()
            # The making of the box is not the program's.
            self.end = event | {"cpu": max(0.0, event["cpu"] - self._made_cpu)}
            self.ended, self.waited = event["at"], event["waited"]
        else:
            self.fault = event["message"]

    def _drain(self) -> None:
        """Take in what the box has left in its streams, and close them.

        Nobody in the box can write any more. A fork of this process may hold the writing ends, so
        that their end would never come.
        """
        for name in list(self._open_inputs):
            while name in self._open_inputs and self._read(name):
                pass
            if name in self._open_inputs:
                os.close(self._inputs[name].fd)
                self._open_inputs.discard(name)

    def close(self) -> None:
        """Kill what still runs and close every descriptor; the slot goes back to its pool."""
        self.kill("closed")
        for one in self._outputs.values():
            os.close(one.fd)
        for name in self._open_inputs:
            os.close(self._inputs[name].fd)
        self._outputs.clear()
        self._open_inputs.clear()


def _pipes(count: int) -> list[tuple[int, int]]:
    """Return so many pipes, or none at all. Raises OSError."""
    made: list[tuple[int, int]] = []
    try:
        for _ in range(count):
            made.append(os.pipe())
    except OSError:
        for pair in made:
            os.close(pair[0])
            os.close(pair[1])
        raise
    return made


def _fits_a_file(job: Job) -> bool:
    """Whether standard input goes with the job, as a file of the box, and not through a pipe."""
    return len(job.stdin) <= _LARGEST_STDIN_FILE
