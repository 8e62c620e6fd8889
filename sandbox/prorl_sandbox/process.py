"""The host's end of one box: start its launcher, move bytes both ways, kill it.

``BoxProcess`` holds one box, ``converse`` drives one or two until they end or break a limit. Every
stream has a cap and nothing here blocks on a box. Leaves out what the bytes mean (``verdict``,
``local``) and the walls (``box``).
"""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from prorl_sandbox.box import wire
from prorl_sandbox.types import SandboxError

LAUNCHER = Path(__file__).parent / "box" / "launcher.py"
_CHUNK = 65536
_REPORT_CAP = 65536
_SETUP_SECONDS = 60.0
_DYING_SECONDS = 30.0
_ENVIRONMENT = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "2"}


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
    over: bool = False


def _start(command: Sequence[str], given: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """Start the launcher in a session of its own with nothing but ``given`` and three pipes."""
    return subprocess.Popen(
        [*command, *(str(fd) for fd in given)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
        pass_fds=given,
    )


def _take(stream: IO[bytes]) -> int:
    """Return a descriptor of our own for ``stream``, and close the stream."""
    fd = os.dup(stream.fileno())
    stream.close()
    return fd


class BoxProcess:
    """One running box. Not thread-safe; ``kill`` alone may be called from another thread."""

    killed_for: str | None = None
    started: float | None = None
    ended: float | None = None
    end: dict[str, Any] | None = None
    fault: str | None = None

    def __init__(self, command: Sequence[str], job: dict[str, Any], stdin: bytes) -> None:
        """Start ``command`` (interpreter and launcher); raises SandboxError when it cannot start."""
        self.name: str = job["mode"]
        self.frame_cap: int = job["frame_cap"]
        job_read, job_write = os.pipe()
        report_read, report_write = os.pipe()
        mine, theirs = socket.socketpair()
        given = (job_read, report_write, theirs.fileno())
        try:
            self._popen = _start(command, given)
        except OSError as error:
            mine.close()
            os.close(job_write)
            os.close(report_read)
            raise SandboxError(f"the sandbox could not start its launcher: {error}") from error
        finally:
            os.close(job_read)
            os.close(report_write)
            theirs.close()
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        channel = mine.detach()
        self._outputs = {
            "job": _Output(job_write, bytearray(marshal.dumps(job, 2))),
            "stdin": _Output(_take(self._popen.stdin), bytearray(stdin)),
            "channel": _Output(channel, bytearray(), close_when_empty=False),
        }
        cap = job["limits"]["output_kb"] * 1024
        self._inputs = {
            "stdout": _Input(_take(self._popen.stdout), cap),
            "stderr": _Input(_take(self._popen.stderr), cap),
            "report": _Input(report_read, _REPORT_CAP),
            "channel": _Input(os.dup(channel), wire.MAX_FRAME),
        }
        self._open_inputs = set(self._inputs)
        for fd, _ in (*self.watched(), (channel, 0)):
            os.set_blocking(fd, False)

    @property
    def finished(self) -> bool:
        """True when the warden has reported the end and the program's streams have ended.

        Without a report, when all streams have: the last process of the box brings that about.
        """
        return self._open_inputs <= ({"report"} if self.end is not None else set())

    def text(self, stream: str) -> str:
        """Return what came on ``stdout`` or ``stderr``, at most the cap."""
        source = self._inputs[stream]
        return bytes(source.data[: source.cap]).decode("utf-8", "replace")

    def send(self, frame: bytes) -> None:
        """Queue a frame for the harness."""
        if "channel" in self._outputs:
            self._outputs["channel"].pending += frame

    def hang_up(self) -> None:
        """End the channel towards the box once all queued frames are written."""
        if "channel" in self._outputs:
            self._outputs["channel"].close_when_empty = True

    def kill(self, reason: str) -> None:
        """Kill the launcher and the warden, and with the warden the whole pid namespace."""
        if self.killed_for is None:
            self.killed_for = reason
        if self._popen.returncode is None:  # not reaped, so the group's number is still ours
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def next_frame(self) -> dict[str, Any] | None:
        """Take the next whole message; raises what ``wire.split_frame`` raises."""
        return wire.split_frame(self._inputs["channel"].data, self.frame_cap)

    def watched(self) -> list[tuple[int, int]]:
        """Return (file descriptor, poll mask) of everything this box is waiting for."""
        reads = [(self._inputs[name].fd, select.POLLIN) for name in self._open_inputs]
        writes = [
            (one.fd, select.POLLOUT)
            for one in self._outputs.values()
            if one.pending or one.close_when_empty
        ]
        return reads + writes

    def pump(self, ready: set[int]) -> None:
        """Move bytes on the ready descriptors and take in the launcher's reports."""
        for name in list(self._outputs):
            if self._outputs[name].fd in ready:
                self._write(name)
        for name in list(self._open_inputs):
            if self._inputs[name].fd in ready:
                self._read(name)
        self._take_reports()

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

    def _read(self, name: str) -> None:
        one = self._inputs[name]
        try:
            chunk = os.read(one.fd, _CHUNK)
        except BlockingIOError:
            return
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            os.close(one.fd)
            self._open_inputs.discard(name)
        elif len(one.data) + len(chunk) > one.cap:
            one.data += chunk[: max(0, one.cap - len(one.data))]
            one.over = True
            self.kill("output")
        else:
            one.data += chunk

    def _take_reports(self) -> None:
        data = self._inputs["report"].data
        while (index := data.find(b"\n")) >= 0:
            event = json.loads(data[:index])
            del data[: index + 1]
            if event["event"] == "started":
                self.started = time.monotonic()
            elif event["event"] == "end":
                self.end, self.ended = event, time.monotonic()
            else:
                self.fault = event["message"]

    def close(self) -> None:
        """Kill what still runs, reap the launcher, close every descriptor."""
        self.kill("closed")
        self._popen.wait()
        for one in self._outputs.values():
            os.close(one.fd)
        for name in self._open_inputs:
            os.close(self._inputs[name].fd)
        self._outputs.clear()
        self._open_inputs.clear()


class Listener(Protocol):
    """What ``converse`` tells its caller."""

    def frame(self, box: BoxProcess, message: dict[str, Any]) -> None:
        """Take a message of the box's harness. May raise MalformedFrame."""

    def ended(self, box: BoxProcess) -> None:
        """Note that a box has ended. Called again and again while others live."""


def converse(boxes: Sequence[BoxProcess], wall_seconds: float, listener: Listener) -> None:
    """Drive the boxes until all have ended. The wall clock starts when the last of them starts.

    Kills all at the wall limit (``killed_for`` "wall"), and a box whose frame is malformed
    ("protocol") or too long ("output"). Raises SandboxError when a box never starts or never dies.
    """
    born = time.monotonic()
    deadline: float | None = None
    while not all(box.finished for box in boxes):
        now = time.monotonic()
        if deadline is None and all(box.started or box.finished for box in boxes):
            deadline = now + wall_seconds
        if deadline is None and now > born + _SETUP_SECONDS:
            raise SandboxError(f"a box was not ready after {_SETUP_SECONDS:.0f} seconds")
        if deadline is not None and now >= deadline:
            for box in boxes:
                if not box.finished:
                    box.kill("wall")
            if now > deadline + _DYING_SECONDS:
                raise SandboxError(f"a box outlived its kill by {_DYING_SECONDS:.0f} seconds")
        _poll(boxes, _patience(born, deadline, now))
        for box in boxes:
            _deliver(box, listener)


def _patience(born: float, deadline: float | None, now: float) -> float:
    """Return how many seconds to wait for bytes."""
    if deadline is None:
        return max(0.0, born + _SETUP_SECONDS - now)
    return deadline - now if now < deadline else 1.0


def _poll(boxes: Sequence[BoxProcess], seconds: float) -> None:
    poller = select.poll()
    for box in boxes:
        for fd, mask in box.watched():
            poller.register(fd, mask)
    ready = {fd for fd, _ in poller.poll(int(seconds * 1000) + 1)}
    for box in boxes:
        box.pump(ready)


def _deliver(box: BoxProcess, listener: Listener) -> None:
    try:
        while box.killed_for is None and (message := box.next_frame()) is not None:
            listener.frame(box, message)
    except wire.MalformedFrame:
        box.kill("protocol")
    except OverflowError:
        box.kill("output")
    if box.finished:
        listener.ended(box)
