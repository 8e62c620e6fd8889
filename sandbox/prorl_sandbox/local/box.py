"""A program in the local sandbox. Reading its output never blocks."""

from __future__ import annotations

import contextlib
import math
import os
import select
import socket
import time
from dataclasses import asdict, fields
from typing import Any

from prorl_common.frames import holds_frame, take_frame
from prorl_sandbox.box import wire
from prorl_sandbox.local.slots import Slot
from prorl_sandbox.run.conversation import QUIET_SECONDS, QUIET_TALK_SECONDS, Box, End
from prorl_sandbox.run.plan import Job
from prorl_sandbox.types import Limits, SandboxError

_CHUNK = 65536
_LARGEST_STDIN_FILE = 4 * 1024 * 1024
_LIMITS = tuple(field.name for field in fields(Limits))


class _Input:
    __slots__ = ("cap", "data", "fd", "quiet_until")

    def __init__(self, fd: int, cap: int) -> None:
        self.fd = fd
        self.cap = cap
        self.data = bytearray()
        # Do not poll at first: most programs end before a stream's buffer is full.
        self.quiet_until = time.monotonic() + QUIET_TALK_SECONDS


class _Output:
    __slots__ = ("fd", "last", "pending")

    def __init__(self, fd: int, data: bytes, last: bool = False) -> None:
        self.fd = fd
        self.pending = bytearray(data)
        self.last = last

    def write(self) -> bool:
        try:
            while self.pending:
                del self.pending[: os.write(self.fd, self.pending[:_CHUNK])]
        except BlockingIOError:
            return False
        except (BrokenPipeError, ConnectionResetError):  # the program has closed its end
            self.pending.clear()
            return True
        return self.last


class LocalBox(Box):
    def __init__(self, slot: Slot, job: Job, scratch: str) -> None:
        """Start a job. Raises SandboxError if the slot has ended, OSError if no file descriptors are free."""
        super().__init__(job)
        self._slot = slot
        self._inputs: dict[str, _Input] = {}
        self._outputs: dict[str, _Output] = {}
        self._open_inputs: set[str] = set()
        stdin_file = len(job.stdin) <= _LARGEST_STDIN_FILE
        plain = {
            "mode": job.mode,
            "source": job.source,
            "call": job.call,
            "file": job.file,
            "command": asdict(job.command) if job.command is not None else None,
            "artifact": job.artifact,
            "stdin": job.stdin if stdin_file else None,
            "limits": {name: getattr(job.limits, name) for name in _LIMITS},
            "most_cpu_seconds": job.most_cpu_seconds,
            "frame_cap": job.frame_cap,
            "prelude": job.prelude,
            "scratch": scratch,
        }
        cap = job.limits.output_kb * 1024
        passed: list[int] = []
        try:
            for name in ("stdout", "stderr"):
                mine, theirs = os.pipe()
                passed.append(theirs)
                self._read_from(name, mine, cap)
            self._channel, end = socket.socketpair()
            passed.append(end.detach())
            channel = self._channel.fileno()
            # A complete frame is taken before more than a chunk of the next one is read.
            self._read_from("channel", channel, job.frame_cap + 2 * _CHUNK)
            self._outputs["channel"] = _Output(channel, wire.pack_for_box(plain))
            if not stdin_file:
                theirs, mine = os.pipe()
                passed.append(theirs)
                os.set_blocking(mine, False)
                self._outputs["stdin"] = _Output(mine, job.stdin, last=True)
            # The slot gets only the limits, nothing else of the job.
            header = {
                "memory_mb": job.limits.memory_mb,
                "processes": job.limits.processes,
                "scratch_mb": job.limits.scratch_mb,
                "cpu_seconds": job.limits.cpu_seconds,
                "most_cpu_seconds": job.most_cpu_seconds,
                "most_wall_seconds": job.most_wall_seconds,
            }
            self._outputs["channel"].write()
            slot.start(header, passed)
        except (OSError, SandboxError):
            self.close()
            raise
        finally:
            for fd in passed:
                os.close(fd)

    def _read_from(self, name: str, fd: int, cap: int) -> None:
        self._inputs[name] = _Input(fd, cap)
        self._open_inputs.add(name)
        os.set_blocking(fd, False)

    @property
    def finished(self) -> bool:
        return (self.end is not None or self.fault is not None) and not self._open_inputs

    def text(self, stream: str) -> str:
        return self._inputs[stream].data.decode("utf-8", "replace")

    def send(self, message: dict[str, Any]) -> None:
        if "channel" in self._outputs:
            self._outputs["channel"].pending += wire.pack_for_box(message)
            self._inputs["channel"].quiet_until = 0.0  # poll: an answer will come
            self._write("channel")

    def take(self, stream: str) -> bytes:
        while stream in self._open_inputs and self._read(stream):
            continue
        data = self._inputs[stream].data
        taken = bytes(data)
        data.clear()
        return taken

    def renew(self, cpu_seconds: float, most_cpu_seconds: float, resting: bool) -> None:
        limits = {"cpu_seconds": cpu_seconds, "most_cpu_seconds": most_cpu_seconds, "rest": resting}
        self._slot.renew(limits)

    def hang_up(self) -> None:
        if "channel" in self._outputs:
            self._outputs["channel"].last = True
            self._inputs["channel"].quiet_until = time.monotonic() + QUIET_TALK_SECONDS
            self._write("channel")

    def _kill(self) -> None:
        self._slot.kill_box()

    def next_frame(self) -> bytes | None:
        return take_frame(self._inputs["channel"].data, self.job.frame_cap)

    def watched(self) -> list[tuple[int, int]]:
        now = time.monotonic()
        inputs = [self._inputs[name] for name in self._open_inputs]
        masks = {one.fd: select.POLLIN for one in inputs if one.quiet_until <= now}
        self.quiet_until = min(
            (o.quiet_until for o in inputs if o.quiet_until > now), default=math.inf
        )
        for output in self._outputs.values():
            if output.pending:
                masks[output.fd] = masks.get(output.fd, 0) | select.POLLOUT
        if self._slot.busy:
            masks[self._slot.fileno()] = select.POLLIN
        return list(masks.items())

    def pump(self, ready: set[int]) -> None:
        for name in [name for name, one in self._outputs.items() if one.fd in ready]:
            self._write(name)
        for name in [name for name in self._open_inputs if self._inputs[name].fd in ready]:
            self._read(name)
        if self._slot.busy and self._slot.fileno() in ready:
            event = self._slot.event()
            if event is not None:
                self._take(event)

    def _write(self, name: str) -> None:
        if not self._outputs[name].write():
            return
        fd = self._outputs.pop(name).fd
        if name == "channel":
            with contextlib.suppress(OSError):  # the other end is gone
                self._channel.shutdown(socket.SHUT_WR)
        else:
            os.close(fd)

    def _read(self, name: str) -> bool:
        one = self._inputs[name]
        try:
            chunk = os.read(one.fd, _CHUNK)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            self._close_input(name)
        elif len(one.data) + len(chunk) > one.cap:
            one.data += chunk[: max(0, one.cap - len(one.data))]
            self.kill("output")
        else:
            one.data += chunk
            if len(chunk) < _CHUNK and (name != "channel" or not holds_frame(one.data)):
                quiet_seconds = QUIET_TALK_SECONDS if name == "channel" else QUIET_SECONDS
                one.quiet_until = time.monotonic() + quiet_seconds
            return True
        return False

    def _take(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "started":
                self.started = event["at"]
            case "watch":
                self.waited, self.over = event["waited"], event["over"]
            case "renewed":
                self.waited, self.spent, self.over = event["waited"], event["cpu"], False
                self.renewals += 1
            case "end":
                # No process of the box is left, but its streams may stay open: a fork of this process may hold the
                # writing ends.
                for name in tuple(self._open_inputs):
                    while name in self._open_inputs and self._read(name):
                        pass
                    self._close_input(name)
                self.started = event["started"]
                self.end = End(event["status"], event["cpu"], event["peak_kb"], event["oom"])
                self.ended, self.waited = event["at"], event["waited"]
            case _:
                self.fault = event["message"]
                for name in tuple(self._open_inputs):
                    self._close_input(name)

    def _close_input(self, name: str) -> None:
        if name not in self._open_inputs:
            return
        self._open_inputs.discard(name)
        if name == "channel":
            self._outputs.pop("channel", None)
            self._channel.close()
        else:
            os.close(self._inputs[name].fd)

    def close(self) -> None:
        self.kill("closed")
        for name in tuple(self._open_inputs):
            self._close_input(name)
        while self._outputs:
            os.close(self._outputs.popitem()[1].fd)
