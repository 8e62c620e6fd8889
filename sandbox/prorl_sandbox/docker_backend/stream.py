"""A box in a container: the ``Box`` of ``conversation`` over the container's one stream.

The frames' form is ``box.container.frames``'s.
"""

from __future__ import annotations

import marshal
import math
import time
from dataclasses import asdict
from typing import Any

from prorl_sandbox.box import wire
from prorl_sandbox.box.container import frames
from prorl_sandbox.docker_backend.container import Container
from prorl_sandbox.run.conversation import MOST_STRETCH, Job

_GRACE_SECONDS = 120.0
CLEAN_SECONDS = 25.0


class _Feed:
    """Bytes for one input of the box, sent no faster than it takes them."""

    def __init__(self, kind: bytes, end: bytes) -> None:
        self.pending = bytearray()
        self.ending = False
        self._kind, self._end = kind, end
        self._room = frames.WINDOW

    def give(self, taken: int) -> None:
        """Note that the box has taken so many bytes."""
        self._room += taken

    def due(self) -> bytes:
        """Return the frames that may be sent now."""
        size = min(len(self.pending), self._room)
        data = frames.chunks(self._kind, bytes(self.pending[:size]))
        del self.pending[:size]
        self._room -= size
        if self.ending and not self.pending:
            self.ending = False
            data += frames.frame(self._end)
        return data


class ContainerBox:
    """One run in a container. See ``conversation.Box`` for the public part."""

    def __init__(self, container: Container, job: Job) -> None:
        """Send the job on its way."""
        self.job = job
        self.container = container
        self.killed_for: str | None = None
        self.started: float | None = None
        self.ended: float | None = None
        self.end: dict[str, Any] | None = None
        self.fault: str | None = None
        self.waited = 0.0
        self.over = False
        self.quiet_until = math.inf  # init sees to it
        self.renewals = 0
        self.spent = 0.0
        self.clean: bool | None = None
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
        container.runs += 1
        container.stream.send(order(job) + stdin.due())

    @property
    def finished(self) -> bool:
        """True when init has told the end, which comes after all output, or cannot any more."""
        return self.end is not None or self.fault is not None

    def text(self, stream: str) -> str:
        """Return what came on ``stdout`` or ``stderr``, at most the cap."""
        data = self._texts[frames.OUT if stream == "stdout" else frames.ERR]
        return bytes(data).decode("utf-8", "replace")

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message for the harness."""
        feed = self._feeds[frames.TALK]
        feed.pending += wire.pack_for_box(message)
        self.container.stream.send(feed.due())

    def take(self, stream: str) -> bytes:
        """Take away what has come on ``stdout`` or ``stderr`` so far."""
        data = self._texts[frames.OUT if stream == "stdout" else frames.ERR]
        taken = bytes(data)
        data.clear()
        return taken

    def renew(self, cpu_seconds: float, most_cpu_seconds: float, rest: bool) -> None:
        """Have init count processor time anew."""
        limits = {"cpu_seconds": cpu_seconds, "most_cpu_seconds": most_cpu_seconds, "rest": rest}
        self.container.stream.send(frames.frame(frames.RENEW, marshal.dumps(limits, 2)))

    def hang_up(self) -> None:
        """End the channel towards the box once all queued messages are sent."""
        feed = self._feeds[frames.TALK]
        feed.ending = True
        self.container.stream.send(feed.due())

    def kill(self, reason: str) -> None:
        """Have init kill every process of the box; the first reason is kept in ``killed_for``."""
        if self.killed_for is None:
            self.killed_for = reason
            self.container.stream.send(frames.frame(frames.KILL))

    def next_frame(self) -> dict[str, Any] | None:
        """Take the next whole message; raises what ``wire.split_frame`` raises."""
        return wire.split_frame(self._talk, self.job.frame_cap)

    def watched(self) -> list[tuple[int, int]]:
        """Return (file descriptor, poll mask) of the container's stream while the box runs."""
        return [] if self.finished else [(self.container.stream.fd, self.container.stream.mask)]

    def pump(self, ready: set[int]) -> None:
        """Move bytes and take in what init says."""
        stream = self.container.stream
        if self.finished or stream.fd not in ready:
            return
        stream.pump()
        while not self.finished and (found := stream.next()) is not None:
            self._take(*found)
        if stream.ended and not self.finished:
            said = stream.complaint()
            self.fault = "the container ended during the run" + (f": {said}" if said else "")

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind in self._texts:
            self._keep(self._texts[kind], body, self._cap)
        elif kind == frames.TALK:
            self._keep(self._talk, body, wire.MAX_FRAME)
        elif kind == frames.TAKEN and len(body) == frames.TAKEN_BODY.size:
            which, count = frames.TAKEN_BODY.unpack(body)
            if which in self._feeds:
                self._feeds[which].give(count)
                self.container.stream.send(self._feeds[which].due())
        elif kind == frames.STARTED:
            self.started = time.monotonic()
        elif kind == frames.WATCH:
            facts = self.container.stream.facts(body)
            self.waited, self.over = _seconds(facts.get("waited")), facts.get("over") is True
        elif kind == frames.RENEWED:
            facts = self.container.stream.facts(body)
            self.waited, self.spent = _seconds(facts.get("waited")), _seconds(facts.get("cpu"))
            self.over = False
            self.renewals += 1
        elif kind == frames.END:
            facts = self.container.stream.facts(body)
            self.end = _end_facts(facts)
            self.waited = _seconds(facts.get("waited"))
            born = time.monotonic() if self.started is None else self.started
            self.ended = born + _seconds(facts.get("wall"))  # the program's, by init's clock
        else:
            self.fault = body.decode("utf-8", "replace")[:300] or "no reason was given"

    def _keep(self, data: bytearray, more: bytes, cap: int) -> None:
        room = cap - len(data)
        data += more[:room]
        if len(more) > room:
            self.kill("output")

    def settle(self) -> bool:
        """Wait until nothing of the run is left in the container; False when that is in doubt."""
        if self.fault is not None or self.container.stream.ended:
            return False
        if self.end is None:
            self.kill("closed")
        deadline = time.monotonic() + CLEAN_SECONDS
        while (found := self.container.wait_frame(deadline)) is not None:
            kind, body = found
            if kind == frames.CLEAN:
                return self.container.stream.facts(body).get("clean") is True
            if kind == frames.FAULT:
                return False
        return False


def order(job: Job) -> bytes:
    """Return the frames that start a run: its order, the program's file and the job."""
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
        "scratch": frames.FOLDERS[1] if job.mode in ("compile", "build") else frames.FOLDERS[0],
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
        "files": dict(job.files),
        "argv": job.argv,
        "program": f"{frames.PROGRAM_FOLDER}/{job.file}",
    }
    return (
        frames.frame(frames.ORDER, marshal.dumps(head, 2))
        + file
        + frames.chunks(frames.JOB, marshal.dumps(inside, 2))
        + frames.frame(frames.GO)
    )


def _seconds(said: object) -> float:
    return float(said) if isinstance(said, int | float) and math.isfinite(said) else 0.0


def _end_facts(said: dict[str, Any]) -> dict[str, Any]:
    """Return what init says of a run's end, of the right types whatever came."""
    status, cpu, peak = said.get("status"), said.get("cpu"), said.get("peak_kb")
    return {
        "status": status if type(status) is int and 0 <= status < 1 << 16 else 9,
        "cpu": _seconds(cpu),
        "peak_kb": peak if type(peak) is int else 0,
        "oom": said.get("oom") is True,
    }
