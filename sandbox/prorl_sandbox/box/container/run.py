"""Run one program inside a container, and send its output and result to the host."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import _socket
import contextlib
import marshal
import math
import os
import select
import struct
import time

from prorl_sandbox.box import limits
from prorl_sandbox.box.cgroup import KERNEL_BYTES, read_counter
from prorl_sandbox.box.container import cleaning, frames, template
from prorl_sandbox.box.container.frames import CHUNK, WINDOW, Inlet, Link
from prorl_sandbox.box.limits import processor_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_CPU = (
    ("/sys/fs/cgroup/cpuacct/cpuacct.usage", b"", 1e-9),
    ("/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", b"", 1e-9),
    ("/sys/fs/cgroup/cpu.stat", b"usage_usec ", 1e-6),
)
_KERNEL = (
    ("/sys/fs/cgroup/memory/memory.kmem.usage_in_bytes", b""),
    ("/sys/fs/cgroup/memory.stat", b"kernel "),
)
_OOM = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")


class Meter:
    """Reads the container's CPU and memory counters. ``sees_memory``: whether out-of-memory kills are counted."""

    def __init__(self) -> None:
        self._cpu, self._cpu_key, self._unit = -1, b"", 0.0
        for path, key, unit in _CPU:
            fd = _open(path)
            if fd >= 0:
                self._cpu, self._cpu_key, self._unit = fd, key, unit
                break
        self._oom = next((fd for path in _OOM if (fd := _open(path)) >= 0), -1)
        self.sees_memory = self._oom >= 0
        self._kernel = next((one for p, key in _KERNEL if (one := (_open(p), key))[0] >= 0), None)

    def others_seconds(self) -> float:
        if self._cpu < 0:
            return 0.0
        return read_counter(self._cpu, self._cpu_key) * self._unit - time.process_time()

    def oom_kills(self) -> int:
        return read_counter(self._oom, b"oom_kill ")

    def holds_too_much(self) -> bool:
        return self._kernel is not None and read_counter(*self._kernel) > KERNEL_BYTES


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


_TICK_MS = 50
_REST_TICK_MS = 1000
_END_TICK_MS = 1
_QUIET_MS, _QUIET_TALK_MS = 20, 5
"""Milliseconds to wait after a short read of an output stream (or of the channel to the host) before reading again."""
_WAIT_REPORT_SECONDS = 0.02
_HIGH_WATER = 4 * CHUNK
_INPUTS = {
    frames.JOB: "job",
    frames.INPUT: "stdin",
    frames.TALK: "talk",
}
_ENDS = {
    frames.GO: "job",
    frames.INPUT_END: "stdin",
    frames.TALK_END: "talk",
}


class Run:
    def __init__(
        self, link: Link, template: _socket.socket, meter: Meter, order: dict[str, Any]
    ) -> None:
        self._link, self._template, self._meter, self._order = link, template, meter, order
        self._inlets: dict[str, Inlet] = {}
        self._outlets: dict[int, bytes] = {}
        self._passed: dict[bytes, int] = {}
        self._quiet: dict[int, float] = {}
        self._awaiting_answer = False  # the host's message awaits an answer
        self._report = -1
        self._program = 0
        self._end: tuple[int, float, int] | None = None
        self._killed = self._over = self._alone = self._stuck = self._too_much = False
        self._spent, self._group_spent, self._peak = 0.0, 0.0, 0
        self._began, self._wall = 0.0, 0.0
        self._base = meter.others_seconds()
        self._tally: limits.Tally | None = None
        self._reported = self._waited = self._before = 0.0
        self._looked = time.monotonic()
        self._kills = meter.oom_kills()
        self._deadline = time.monotonic() + order["most_seconds"]

    def go(self, uid: int, killer: int, mine: tuple[int, ...]) -> bool:
        """Run the program as user ``uid``; return whether all its processes and files were removed.

        ``killer`` is a user id without processes. ``mine`` are the ids of the container's own processes.
        """
        self._uid, self._killer, self._mine = uid, killer, mine
        self._start_program(uid)
        self._take_frames()
        while not (self._stuck or (self._alone and not self._outlets)):
            self._step()
        if self._end is not None:
            self._send_end(*self._end)
        self._link.flush_all()
        clean = self._alone and cleaning.empty_as(uid, killer, self._order["scratch"])
        for inlet in self._inlets.values():
            inlet.close()
        for fd in (*self._outlets, self._report):
            if fd >= 0:
                os.close(fd)
        if self._tally is not None:
            self._tally.close()
        return clean

    def _start_program(self, uid: int) -> None:
        job, stdin, stdout, stderr, report = (os.pipe() for _ in range(5))
        os.fchmod(stdin[0], 0o444)  # many JavaScript programs reopen it as /dev/stdin
        ends = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        channel, program_channel = (end.detach() for end in ends)
        passed = (stdin[0], stdout[1], stderr[1], program_channel, job[0], report[1])
        order = template.ORDER.pack(uid, self._order["scratch"].encode())
        rights = [
            (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack(f"={len(passed)}i", *passed))
        ]
        self._template.sendmsg([order], rights)
        for fd in passed:
            os.close(fd)
        self._inlets = {
            "job": Inlet(job[1]),
            "stdin": Inlet(stdin[1]),
            "talk": Inlet(os.dup(channel), is_socket=True),
        }
        self._outlets = {
            stdout[0]: frames.OUT,
            stderr[0]: frames.ERR,
            channel: frames.TALK,
        }
        self._passed = dict.fromkeys(self._outlets.values(), 0)
        self._report = report[0]
        for fd in (*self._outlets, *(inlet.fd for inlet in self._inlets.values())):
            os.set_blocking(fd, False)

    def _step(self) -> None:
        poller = select.poll()
        poller.register(self._link.incoming, select.POLLIN)
        poller.register(self._template.fileno(), select.POLLIN)
        if self._link.waiting:
            poller.register(self._link.outgoing, select.POLLOUT)
        if self._report >= 0:
            poller.register(self._report, select.POLLIN)
        now, tick = time.monotonic(), _END_TICK_MS
        if self._end is None:
            tick = _REST_TICK_MS if self._order.get("rest") else _TICK_MS
        for fd, kind in self._outlets.items():
            quiet_left = self._quiet.get(fd, 0.0) - now
            if self._end is None and quiet_left > 0:
                tick = min(tick, math.ceil(quiet_left * 1000))
            elif self._may_read(kind):
                poller.register(fd, select.POLLIN)
        for inlet in self._inlets.values():
            if inlet.fd >= 0 and (inlet.pending or inlet.ending):
                poller.register(inlet.fd, select.POLLOUT)
        ready = {fd for fd, _ in poller.poll(tick)}
        self._move(ready)
        self._reap()
        if self._end is None:
            self._watch()
        elif not self._alone:
            self._clear()

    def _may_read(self, kind: bytes) -> bool:
        if self._killed:
            return True
        full = self._passed[kind] > self._order["output_cap"] and kind != frames.TALK
        return not full and self._link.waiting < _HIGH_WATER

    def _move(self, ready: set[int]) -> None:
        if self._link.incoming in ready:
            self._link.receive()
            self._take_frames()
        self._link.flush()
        for name, inlet in self._inlets.items():
            if inlet.fd in ready:
                inlet.write()
            if inlet.taken > WINDOW // 2 and name != "job":
                kind = frames.INPUT if name == "stdin" else frames.TALK
                body = frames.TAKEN_BODY.pack(kind, inlet.taken)
                self._link.send(frames.TAKEN, body)
                inlet.taken = 0
        for fd in [fd for fd in self._outlets if fd in ready]:
            self._read(fd)
        if self._report in ready:
            self._read_report()
        if self._template.fileno() in ready:
            self._read_template()

    def _take_frames(self) -> None:
        while (received := self._link.next()) is not None:
            self._handle_frame(*received)

    def _handle_frame(self, kind: bytes, body: bytes) -> None:
        if kind == frames.KILL:
            self._kill()
        elif kind == frames.RENEW:
            self._renew(marshal.loads(body))
        elif kind in _INPUTS:
            self._awaiting_answer = self._awaiting_answer or kind == frames.TALK
            inlet = self._inlets[_INPUTS[kind]]
            if inlet.fd >= 0:
                inlet.pending += body
            else:
                inlet.taken += len(body)
        elif kind in _ENDS:
            self._inlets[_ENDS[kind]].ending = True

    def _read(self, fd: int) -> None:
        kind = self._outlets[fd]
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            os.close(fd)
            del self._outlets[fd]
        elif not self._killed:
            self._passed[kind] += len(data)
            self._link.send(kind, data)
            answer = kind == frames.TALK and self._awaiting_answer
            if answer:
                self._quiet.clear()  # send printed output with the answer
            elif len(data) < CHUNK:
                quiet_ms = _QUIET_TALK_MS if kind == frames.TALK else _QUIET_MS
                self._quiet[fd] = time.monotonic() + quiet_ms / 1000
            self._awaiting_answer = self._awaiting_answer and not answer

    def _read_report(self) -> None:
        data = os.read(self._report, 4096)
        if data == b"s":
            self._base = self._meter.others_seconds()
            self._began = time.monotonic()
            self._link.send(frames.STARTED)
        elif data:
            self._link.send(frames.FAULT, data[1:])
        os.close(self._report)
        self._report = -1

    def _read_template(self) -> None:
        data = self._template.recv(256)
        if not data:
            _give_up("the template hung up")
        if data[:1] == b"g":
            _, status, spent, peak = template.GONE.unpack(data)
            self._end = (status, spent, peak)
            self._wall = time.monotonic() - self._began if self._began else 0.0
            self._group_spent = self._meter.others_seconds() - self._base
            self._deadline = time.monotonic() + cleaning.CLEANING_SECONDS
            return
        kind, number = template.BORN.unpack(data)
        if kind == b"b":
            self._program = number
            if self._killed:
                self._kill()
            return
        self._program = -1
        self._link.send(frames.FAULT, f"fork: {os.strerror(number)}".encode())
        self._stuck = True

    def _kill(self) -> None:
        self._killed = True
        if self._program > 0 and self._end is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._program, signal.SIGKILL)
            cleaning.kill_all(self._uid, self._killer)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                _give_up("the template is not a child any more")
            if not pid:
                return
            if pid in self._mine:
                _give_up(f"the template ended with status {status}")
            self._spent += usage.ru_utime + usage.ru_stime
            self._peak = max(self._peak, usage.ru_maxrss)

    def _clear(self) -> None:
        cleaning.kill_all(self._uid, self._killer)
        self._alone = not cleaning.strangers(self._mine)
        self._stuck = not self._alone and time.monotonic() > self._deadline

    def _watch(self) -> None:
        if self._killed or self._program <= 0 or self._report >= 0:
            return
        spent = self._seconds() - self._before
        if time.monotonic() - self._looked >= _TICK_MS / 1000:
            self._look()
            self._too_much = self._too_much or self._meter.holds_too_much()
        now = time.monotonic()
        late = now > self._deadline
        late = late or now - self._began - self._waited > self._order["most_wall_seconds"]
        out_of_memory = self._too_much or self._meter.oom_kills() > self._kills
        if spent > self._order["most_cpu_seconds"] or late or out_of_memory:
            self._kill()
        passed = not self._over and spent > self._order["cpu_seconds"]
        if passed or self._waited > self._reported + _WAIT_REPORT_SECONDS:
            self._over, self._reported = self._over or passed, self._waited
            self._link.send_json(frames.WATCH, waited=self._reported, over=self._over)

    def _seconds(self) -> float:
        spent = processor_time(self._program) + self._spent
        return max(spent, self._meter.others_seconds() - self._base)

    def _renew(self, limits: dict[str, Any]) -> None:
        if self._program <= 0 or self._end is not None:
            return  # the host will receive END
        self._look()
        spent = self._seconds()
        self._link.send_json(frames.RENEWED, cpu=spent - self._before, waited=self._waited)
        self._order.update(limits)
        self._before, self._over, self._reported = spent, False, self._waited
        self._passed = dict.fromkeys(self._passed, 0)

    def _look(self) -> None:
        if self._tally is None:
            proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._tally = limits.Tally(proc, lambda: cleaning.strangers(self._mine))
        else:
            self._tally.look()
        self._waited = max(self._waited, self._tally.waited(self._seconds()))
        self._looked = time.monotonic()

    def _send_end(self, status: int, spent: float, peak: int) -> None:
        self._link.send_json(
            frames.END,
            status=status,
            wall=self._wall,
            cpu=max(spent + self._spent, self._group_spent),
            peak_kb=max(peak, self._peak),
            waited=self._waited,
            oom=self._too_much or self._meter.oom_kills() > self._kills,
        )


def _give_up(why: str) -> NoReturn:
    os.write(2, f"init: {why}\n".encode())
    os._exit(1)
