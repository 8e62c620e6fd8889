"""The connection to a container, and the program that runs in it."""

from __future__ import annotations

import contextlib
import marshal
import math
import select
import socket
import ssl
import struct
import threading
import time
from dataclasses import asdict
from typing import Any

from prorl_common.frames import FrameError, read_json, take_frame
from prorl_sandbox.box import wire
from prorl_sandbox.box.container import frames
from prorl_sandbox.run.conversation import MOST_STRETCH, Box, End
from prorl_sandbox.run.plan import Job

_CHUNK = 1 << 18
_MUX = struct.Struct(">BxxxI")
_STDOUT, _STDERR = 1, 2
_LONGEST_COMPLAINT = 4096
_LARGEST_MUX = 1 << 24


class Demultiplexer:
    """Splits the stream of an attached container into standard output and standard error."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self._head = bytearray()
        self._stream = 0
        self._left = 0

    def feed(self, data: bytes) -> None:
        """Add ``data`` to ``output`` and ``errors``. Raises BrokenStream."""
        view = memoryview(data)
        while view:
            if not self._left:
                missing = _MUX.size - len(self._head)
                self._head += view[:missing]
                view = view[missing:]
                if len(self._head) < _MUX.size:
                    return
                self._stream, self._left = _MUX.unpack(self._head)
                self._head.clear()
                if self._stream not in (_STDOUT, _STDERR) or self._left > _LARGEST_MUX:
                    raise frames.BrokenStream("the container's stream has an invalid header")
                continue
            part = view[: self._left]
            view = view[self._left :]
            self._left -= len(part)
            if self._stream == _STDOUT:
                self.output += part
            elif len(self.errors) < _LONGEST_COMPLAINT:
                self.errors += part


class Attached:
    """A connection to a container, for one thread; only :meth:`send` is thread-safe."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle  # keeps the SDK's response, and so the socket, open
        self._socket: socket.socket = getattr(handle, "_sock", handle)
        self._socket.setblocking(False)
        self.fd = self._socket.fileno()
        self._lock = threading.Lock()
        self._waiting = bytearray()
        self._input = Demultiplexer()
        self.ended = False

    @property
    def mask(self) -> int:
        return select.POLLIN | (select.POLLOUT if self._waiting else 0)

    def send(self, data: bytes) -> None:
        with self._lock:
            self._waiting += data
            self._flush()

    def pump(self) -> None:
        with self._lock:
            self._flush()
        try:
            while not self.ended:
                data = self._socket.recv(_CHUNK)
                self.ended = not data
                self._input.feed(data)
                if len(data) < _CHUNK and not isinstance(self._socket, ssl.SSLSocket):
                    return
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except (OSError, frames.BrokenStream):
            self.ended = True

    def _flush(self) -> None:
        try:
            while self._waiting and not self.ended:
                del self._waiting[: self._socket.send(self._waiting[:_CHUNK])]
        except (BlockingIOError, ssl.SSLWantWriteError):
            return
        except OSError:
            self._waiting.clear()  # the reading side reports the end

    def next(self) -> tuple[bytes, bytes] | None:
        """Return the next complete frame as (kind, body), or None."""
        try:
            return frames.take(self._input.output)
        except frames.BrokenStream:
            self.ended = True
            return None

    def wait_frame(self, deadline: float) -> tuple[bytes, bytes] | None:
        """Wait for the next frame. Returns None at the end of the stream or at ``deadline`` (``time.monotonic``)."""
        poller = select.poll()
        while (received := self.next()) is None:
            left = deadline - time.monotonic()
            if self.ended or left <= 0:
                return None
            poller.register(self.fd, self.mask)
            poller.poll(int(left * 1000) + 1)
            self.pump()
        return received

    def complaint(self) -> str:
        lines = self._input.errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    @staticmethod
    def facts(body: bytes) -> dict[str, Any]:
        """Return a frame's JSON object, or {} if it is malformed."""
        try:
            value = read_json(body)
        except FrameError:
            return {}
        return value if isinstance(value, dict) else {}

    def hang_up(self) -> None:
        """Close the connection, which makes the container exit."""
        self.ended = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection and its file descriptor, which no thread may be polling."""
        self.hang_up()
        response = getattr(self._handle, "_response", None)  # the SDK keeps the response here
        (response or self._handle).close()
        self._handle.close()
        self._socket.close()


_GRACE_SECONDS = 120.0
CLEAN_SECONDS = 25.0


class _Feed:
    def __init__(self, kind: bytes, end: bytes) -> None:
        self.pending = bytearray()
        self.ending = False
        self._kind, self._end = kind, end
        self._room = frames.WINDOW

    def give(self, taken: int) -> None:
        self._room += taken

    def due(self) -> bytes:
        size = min(len(self.pending), self._room)
        data = frames.chunks(self._kind, bytes(self.pending[:size]))
        del self.pending[:size]
        self._room -= size
        if self.ending and not self.pending:
            self.ending = False
            data += frames.frame(self._end)
        return data


class ContainerBox(Box):
    def __init__(self, stream: Attached, job: Job) -> None:
        super().__init__(job)
        self._stream = stream
        self._cap = job.limits.output_kb * 1024
        self._texts = {frames.OUT: bytearray(), frames.ERR: bytearray()}
        self._talk = bytearray()
        self._feeds = {
            frames.INPUT: _Feed(frames.INPUT, frames.INPUT_END),
            frames.TALK: _Feed(frames.TALK, frames.TALK_END),
        }
        stdin = self._feeds[frames.INPUT]
        stdin.pending += job.stdin
        stdin.ending = True
        stream.send(order(job) + stdin.due())

    @property
    def finished(self) -> bool:
        return self.end is not None or self.fault is not None

    def text(self, stream: str) -> str:
        data = self._texts[frames.OUT if stream == "stdout" else frames.ERR]
        return bytes(data).decode("utf-8", "replace")

    def send(self, message: dict[str, Any]) -> None:
        feed = self._feeds[frames.TALK]
        feed.pending += wire.pack_for_box(message)
        self._stream.send(feed.due())

    def take(self, stream: str) -> bytes:
        data = self._texts[frames.OUT if stream == "stdout" else frames.ERR]
        taken = bytes(data)
        data.clear()
        return taken

    def renew(self, cpu_seconds: float, most_cpu_seconds: float, resting: bool) -> None:
        limits = {"cpu_seconds": cpu_seconds, "most_cpu_seconds": most_cpu_seconds, "rest": resting}
        self._stream.send(frames.frame(frames.RENEW, marshal.dumps(limits, 2)))

    def hang_up(self) -> None:
        feed = self._feeds[frames.TALK]
        feed.ending = True
        self._stream.send(feed.due())

    def _kill(self) -> None:
        self._stream.send(frames.frame(frames.KILL))

    def next_frame(self) -> bytes | None:
        return take_frame(self._talk, self.job.frame_cap)

    def watched(self) -> list[tuple[int, int]]:
        return [] if self.finished else [(self._stream.fd, self._stream.mask)]

    def pump(self, ready: set[int]) -> None:
        stream = self._stream
        if self.finished or stream.fd not in ready:
            return
        stream.pump()
        while not self.finished and (received := stream.next()) is not None:
            self._take(*received)
        if stream.ended and not self.finished:
            complaint = stream.complaint()
            self.fault = "the container ended during the run" + (
                f": {complaint}" if complaint else ""
            )

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind in self._texts:
            self._keep(self._texts[kind], body, self._cap)
        elif kind == frames.TALK:
            self._keep(self._talk, body, self.job.frame_cap + frames.LARGEST)
        elif kind == frames.TAKEN and len(body) == frames.TAKEN_BODY.size:
            which, count = frames.TAKEN_BODY.unpack(body)
            if which in self._feeds:
                self._feeds[which].give(count)
                self._stream.send(self._feeds[which].due())
        elif kind == frames.STARTED:
            self.started = time.monotonic()
        elif kind == frames.WATCH:
            facts = self._stream.facts(body)
            self.waited, self.over = _seconds(facts.get("waited")), facts.get("over") is True
        elif kind == frames.RENEWED:
            facts = self._stream.facts(body)
            self.waited, self.spent = _seconds(facts.get("waited")), _seconds(facts.get("cpu"))
            self.over = False
            self.renewals += 1
        elif kind == frames.END:
            facts = self._stream.facts(body)
            self.end = read_end(facts)
            self.waited = _seconds(facts.get("waited"))
            born = time.monotonic() if self.started is None else self.started
            self.ended = born + _seconds(facts.get("wall"))  # by init's clock
        else:
            self.fault = body.decode("utf-8", "replace")[:300] or "no reason was given"

    def _keep(self, data: bytearray, more: bytes, cap: int) -> None:
        room = cap - len(data)
        data += more[:room]
        if len(more) > room:
            self.kill("output")

    def settle(self) -> bool:
        """Wait until the container has cleaned up after the program; return whether it succeeded."""
        if self.fault is not None or self._stream.ended:
            return False
        if self.end is None:
            self.kill("closed")
        deadline = time.monotonic() + CLEAN_SECONDS
        while (received := self._stream.wait_frame(deadline)) is not None:
            kind, body = received
            if kind == frames.CLEAN:
                return self._stream.facts(body).get("clean") is True
            if kind == frames.FAULT:
                return False
        return False


def order(job: Job) -> bytes:
    limits = job.limits
    data = job.artifact if job.artifact is not None else job.source.encode("utf-8", "replace")
    file = frames.chunks(frames.FILE, data)
    head = {
        "name": job.file,
        "chunks": -(-len(data) // frames.CHUNK),
        "cpu_seconds": limits.cpu_seconds,
        "most_cpu_seconds": job.most_cpu_seconds,
        "output_cap": limits.output_kb * 1024,
        "most_wall_seconds": job.most_wall_seconds,
        "most_seconds": limits.wall_seconds * MOST_STRETCH + _GRACE_SECONDS,
        "scratch": frames.FOLDERS[1] if job.mode == "compile" else frames.FOLDERS[0],
    }
    inside = {
        "mode": job.mode,
        "source": job.source,
        "call": job.call,
        "command": asdict(job.command) if job.command is not None else None,
        "folders": job.command.folders if job.command is not None else (),
        "limits": asdict(limits),
        "most_cpu_seconds": job.most_cpu_seconds,
        "frame_cap": job.frame_cap,
        "prelude": job.prelude,
        "program": f"{frames.PROGRAM_FOLDER}/{job.file}",
    }
    return (
        frames.frame(frames.ORDER, marshal.dumps(head, 2))
        + file
        + frames.chunks(frames.JOB, marshal.dumps(inside, 2))
        + frames.frame(frames.GO)
    )


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def read_end(facts: dict[str, Any]) -> End:
    """Return how a program ended, as reported by the container. A malformed status counts as killed."""
    status, peak = facts.get("status"), facts.get("peak_kb")
    return End(
        status if type(status) is int and 0 <= status < 1 << 16 else 9,
        _seconds(facts.get("cpu")),
        peak if type(peak) is int else 0,
        facts.get("oom") is True,
    )
