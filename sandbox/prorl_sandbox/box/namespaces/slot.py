"""Process that forks and watches sandboxed programs, one after another.

It is the first process of a pid namespace, so its programs end with it.
"""

from __future__ import annotations

# ``signal`` itself creates enumerations that make every later fork slower.
import _signal as signal  # type: ignore[import-not-found]
import _socket
import contextlib
import errno
import gc
import marshal
import os
import select
import socket
import struct
import time

from prorl_sandbox.box import limits, syscalls
from prorl_sandbox.box.cgroup import KERNEL_BYTES
from prorl_sandbox.box.limits import processor_time
from prorl_sandbox.box.namespaces import isolate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from prorl_sandbox.box.cgroup import Group

_USUAL_SCRATCH_MB = 64
_TICK_MS = 50
_REST_TICK_MS = 1000
_BLIND_TICK_MS = 3
_LOOKS_SHARE = 50
"""Minimum ratio of the pause between two reads of /proc to the duration of a read."""
_PRESSING_HITS, _PRESSED_LOOKS = 20, 20
"""A program is killed if 20 checks in a row (about a second) each find more than 20 new hits of its memory limit."""
_WAIT_REPORT_SECONDS = 0.02
_FOREVER = float("inf")
_MESSAGE = 65536


class _Box:
    """A forked process that runs or awaits a program, and its CPU clock.

    ``made`` and ``before`` are the CPU seconds used before the job arrived and before the program started. ``waited``
    is the seconds without a CPU.
    """

    def __init__(self, pid: int, way: _socket.socket, group: Group | None, proc: int) -> None:
        self.pid = pid
        self.way = way
        self.started: float | None = None
        self.fault = ""
        self.made = self.before = self.waited = 0.0
        self._group = group if group is not None and group.counts_time else None
        self._proc = proc
        self._base = self._own = 0.0
        self._tally: limits.Tally | None = None
        try:
            self.handle = os.pidfd_open(pid)
        except OSError:  # before Linux 5.3: poll in short ticks
            self.handle = -1

    def start_clock(self) -> None:
        self.made = self.before = processor_time(self.pid)
        self._base = self._group.cpu_seconds() if self._group is not None else 0.0
        self._own = time.process_time()

    def read_report(self) -> None:
        if self.started is not None:
            return
        try:
            report = self.way.recv(_MESSAGE)
        except OSError:
            return
        if report[:1] == isolate.STARTED:
            self.started, self.before = isolate.WHEN.unpack(report[1:])
        else:
            self.fault = report[1:].decode("utf-8", "replace")

    @property
    def by_group(self) -> bool:
        return self._group is not None

    def look(self) -> None:
        if self._tally is None:
            numbers = limits.children(self._proc, "self")  # pids outside this namespace
            self._tally = limits.Tally(
                self._proc, lambda: limits.with_all_below(self._proc, numbers)
            )
        else:
            self._tally.look()
        if self.started is not None:
            spent = self.whole()
            # Part of the waiting may predate the program: count at most the time in which it did not run.
            most = time.monotonic() - self.started - (spent - self.before)
            self.waited = max(self.waited, min(self._tally.waited(spent), most))

    def ran(self) -> float:
        return time.monotonic() - self.started - self.waited if self.started is not None else 0.0

    def seconds(self) -> float:
        return self.whole() - self.before

    def whole(self) -> float:
        if self._group is not None:
            slot_seconds = time.process_time() - self._own  # the slot is in the group too
            return self._group.cpu_seconds() - self._base - slot_seconds + self.made
        tallied = self._tally.seconds if self._tally is not None else 0.0
        return max(processor_time(self.pid), tallied)

    def close(self) -> None:
        self.way.close()
        if self.handle >= 0:
            os.close(self.handle)


class _Pressure:
    """Detects two kinds of excessive memory use: kernel memory, and constant reclaiming at the memory limit."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._hits = group.memory_hits()
        self._looks = 0

    def too_much(self) -> bool:
        hits = self._group.memory_hits()
        pressed = hits - self._hits > _PRESSING_HITS
        self._looks = self._looks + 1 if pressed else 0
        self._hits = hits
        return self._looks >= _PRESSED_LOOKS or self._group.kernel_bytes() > KERNEL_BYTES


class Slot:
    """Runs programs. Exits when its connection to its parent (``life``) or to the host (``control``) closes."""

    def __init__(
        self, settings: dict[str, Any], control: socket.socket, life: int, group: Group | None
    ) -> None:
        self._settings = settings
        self._control = control
        self._life = life
        self._group = group
        self._own_pids = -1
        settings["scratch_mb"] = _USUAL_SCRATCH_MB
        walls = settings["walls"]
        # A network namespace may be reused only if the filter allows nothing but AF_UNIX.
        self._one_network = "seccomp" in walls if "net" in walls else None
        self._words = select.poll()
        self._words.register(control.fileno(), select.POLLIN)
        self._words.register(life, select.POLLIN)
        if not settings["counts_all"]:
            settings["others"] = 0 if settings["by_right"] else 1  # the slot itself
        self._isolation = isolate.Isolation(settings)
        self._oom_score = isolate.OomScore(settings["proc"])

    def serve(self) -> dict[str, Any]:
        """Run programs until the host disconnects. Returns only in a forked process, with its job."""
        if not self._prepare():
            os._exit(1)
        while True:
            made = self._make()
            if isinstance(made, dict):
                return made
            header, fds = self._await_job()
            if header is None:  # "kill" for a box that had already ended
                self._discard(made)
                continue
            if header["scratch_mb"] != self._settings["scratch_mb"]:
                self._discard(made)
                self._settings["scratch_mb"] = header["scratch_mb"]
                self._isolation = isolate.Isolation(self._settings)
                made = self._make()
                if isinstance(made, dict):
                    return made
            self._run(made, header, fds)
            made.close()

    def forget(self) -> None:
        """Delete settings that sandboxed programs must not read."""
        self._settings.clear()

    def _prepare(self) -> bool:
        try:
            if "pid" in self._settings["walls"]:
                proc = self._settings["proc"]
                self._own_pids = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
            isolate.separate_surroundings(self._settings["walls"])
            isolate.hold_low_numbers()
            limits.set_fixed_limits()  # inherited by its boxes
            if self._group is not None:
                self._group.take_base()
        except OSError as error:
            self._send_event(event="error", message=f"{error}")
            return False
        gc.freeze()
        self._send_event(event="ready")
        return True

    def _send_event(self, **event: Any) -> None:
        try:
            self._control.send(marshal.dumps(event, 2))
        except OSError:
            os._exit(0)  # the host is gone

    def _make(self) -> _Box | dict[str, Any]:
        if self._one_network is not None and (
            not self._one_network or isolate.sockets_left(self._settings["proc"])
        ):
            syscalls.unshare(syscalls.CLONE_NEWNET)
        mine, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        if self._own_pids >= 0:
            syscalls.setns(self._own_pids, syscalls.CLONE_NEWPID)
            syscalls.unshare(syscalls.CLONE_NEWPID)
        self._oom_score.offer()
        pid = os.fork()
        if pid:
            self._oom_score.withdraw()
            theirs.close()
            mine.setblocking(False)
            return _Box(pid, mine, self._group, self._settings["proc"])
        os.close(mine.detach())
        self._control.detach()  # closed later with the rest, to keep low numbers taken
        return isolate.receive_job(self._settings, self._isolation, theirs, self._group is not None)

    def _await_job(self) -> tuple[dict[str, Any] | None, list[int]]:
        for fd, _ in self._words.poll():
            if fd == self._life:
                os._exit(0)
        data, fds = self._receive()
        if len(fds) < isolate.STREAMS:
            _close_all(fds)
            return None, []
        return marshal.loads(data), fds

    def _discard(self, box: _Box) -> None:
        _kill(box.pid)
        os.waitpid(box.pid, 0)
        box.close()

    def _receive(self) -> tuple[bytes, list[int]]:
        try:
            data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE, isolate.STREAMS + 1)
        except OSError:
            data, fds = b"", []
        if not data:
            os._exit(0)  # the host is gone
        return data, fds

    def _run(self, box: _Box, header: dict[str, Any], fds: list[int]) -> None:
        kills = 0
        try:
            if self._group is not None:
                _retry_while_busy(self._group.set_limits, header["memory_mb"], header["processes"])
                kills = self._group.oom_kills()
            box.start_clock()
            rights = struct.pack(f"={len(fds)}i", *fds)
            box.way.sendmsg([b"job"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        except OSError as error:  # limits failed, or the box died before its job and said why
            box.read_report()
            _kill(box.pid)
            os.waitpid(box.pid, 0)
            self._send_event(event="error", message=box.fault or f"{error}")
            return
        finally:
            _close_all(fds)
        status, rusage, too_much = self._watch(box, header, kills)
        ended = time.monotonic()
        box.read_report()
        if box.fault:  # it took the job but failed to isolate itself
            self._send_event(event="error", message=box.fault)
            return
        spent = max(rusage.ru_utime + rusage.ru_stime, box.whole())
        self._send_event(
            event="end",
            started=box.started,
            at=ended,
            status=status,
            cpu=max(0.0, spent - box.before),
            waited=box.waited,
            peak_kb=rusage.ru_maxrss,
            oom=too_much or (self._group is not None and self._group.oom_kills() > kills),
        )

    def _watch(self, box: _Box, limits: dict[str, Any], kills: int) -> tuple[int, Any, bool]:
        """Wait for the program to end; kill it if the host asks for it or if a limit is exceeded.

        Returns (wait status, rusage, whether the program used too much memory).
        """
        over, reported, started, too_much = False, 0.0, False, False
        before, look_next = 0.0, time.monotonic() + _TICK_MS / 1000
        poller = select.poll()
        for fd in (self._control.fileno(), self._life, box.handle):
            if fd >= 0:
                poller.register(fd, select.POLLIN)
        tick = _TICK_MS if box.handle >= 0 else _BLIND_TICK_MS
        press = None
        while True:
            for fd, _ in poller.poll(_REST_TICK_MS if limits.get("rest") else tick):
                if fd != box.handle and (renewed := self._handle_word(box.pid, fd)) is not None:
                    box.read_report()
                    box.look()
                    spent = box.seconds()
                    self._send_event(event="renewed", cpu=spent - before, waited=box.waited)
                    limits, before, over, reported = renewed, spent, False, box.waited
            pid, status, rusage = os.wait4(box.pid, os.WNOHANG)
            if pid:
                return status, rusage, too_much
            if time.monotonic() >= look_next:
                begun = time.process_time()
                box.read_report()
                box.look()
                took = _LOOKS_SHARE * (time.process_time() - begun) if box.by_group else 0.0
                look_next = time.monotonic() + max(_TICK_MS / 1000, took)
                if self._group is not None:
                    press = press or _Pressure(self._group)
                    too_much = too_much or press.too_much()
            if box.started is not None and not started:
                self._send_event(event="started", at=box.started)
                started = True
            spent = box.seconds() - before
            late = box.ran() > limits.get("most_wall_seconds", _FOREVER)
            out_of_memory = self._group is not None and self._group.oom_kills() > kills
            if spent > limits["most_cpu_seconds"] or late or out_of_memory or too_much:
                self._end(box.pid)
            passed = not over and spent > limits["cpu_seconds"]
            if passed or box.waited > reported + _WAIT_REPORT_SECONDS:
                over, reported = over or passed, box.waited
                self._send_event(event="watch", waited=reported, over=over)

    def _handle_word(self, box: int, fd: int) -> dict[str, Any] | None:
        if fd == self._life:
            os._exit(0)
        word, fds = self._receive()
        _close_all(fds)
        if word != b"kill":
            renewed: dict[str, Any] = marshal.loads(word)
            return renewed
        self._end(box)
        return None

    def _end(self, box: int) -> None:
        if self._own_pids < 0:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(box, signal.SIGKILL)
        _kill(box)


def _retry_while_busy(call: Any, *arguments: int) -> None:
    for _ in range(50):
        try:
            call(*arguments)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            time.sleep(0.01)
        else:
            return
    raise OSError(errno.EBUSY, "the memory of the previous program has not been freed")


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _close_all(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
