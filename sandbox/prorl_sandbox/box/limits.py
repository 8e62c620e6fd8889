"""Set resource limits of sandboxed processes, and measure their CPU time."""

from __future__ import annotations

import os
import resource
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

MIB = 1024 * 1024
_BASELINE_MB = 96
_HARNESS_RESERVE_MB = 16
_MODES_WITHOUT_MEMORY_RLIMITS = ("exec", "compile")
_base = {"data": 0, "space": 0}


def note_base() -> None:
    """Record this process's memory. ``set_limits`` allows forked processes this much in addition to their limit."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        pages = [int(number) for number in file.read().split()]
    _base["space"], _base["data"] = (
        pages[0] * resource.getpagesize(),
        pages[5] * resource.getpagesize(),
    )


def base_mb() -> int:
    return -(-_base["data"] // MIB)


def set_fixed_limits() -> None:
    # With 1, no core file is written; 0 would still start a core-dump program of the host (core(5)).
    _limit(resource.RLIMIT_CORE, 1)
    _limit(resource.RLIMIT_NOFILE, 64)
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    _limit(resource.RLIMIT_SIGPENDING, 1024)  # includes timers; the kernel counts them per user
    _limit(resource.RLIMIT_RTPRIO, 0)


def set_limits(job: dict[str, Any], other_processes: int, summed: bool) -> None:
    """Apply ``job["limits"]`` to the calling process.

    ``other_processes`` is added to the process limit, because the kernel counts all processes of the user. ``summed``
    means that a control group limits memory; languages other than Python then get no memory rlimits.
    """
    limits = job["limits"]
    memory = limits["memory_mb"] * MIB
    cpu = int(-(-job["most_cpu_seconds"] // 1)) + 1  # a backstop: the slot's clock is the limit
    _limit(resource.RLIMIT_CPU, cpu)
    _limit(resource.RLIMIT_FSIZE, limits["scratch_mb"] * MIB)
    _limit(resource.RLIMIT_STACK, min(64 * MIB, memory))
    _limit(resource.RLIMIT_NPROC, limits["processes"] + other_processes)
    if summed and job["mode"] in _MODES_WITHOUT_MEMORY_RLIMITS:
        return
    reserve = _HARNESS_RESERVE_MB * MIB
    _limit(resource.RLIMIT_DATA, memory + _base["data"], reserve)
    if not summed:
        reserved = job["command"]["reserved_mb"] * MIB if job["command"] is not None else 0
        space = memory + _BASELINE_MB * MIB + _base["space"] + reserved
        _limit(resource.RLIMIT_AS, space, reserve)


def _limit(which: int, soft: int, extra: int = 0) -> None:
    now = resource.getrlimit(which)
    top = soft + extra
    if now[1] != resource.RLIM_INFINITY:
        top = min(top, now[1])
    if now != (min(soft, top), top):  # gVisor refuses some limits even if unchanged
        resource.setrlimit(which, (min(soft, top), top))


def release_reserve() -> None:
    """Raise the memory limit by the reserved amount, so that a lack of memory can be reported."""
    for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        _, hard = resource.getrlimit(which)
        resource.setrlimit(which, (hard, hard))


def keep_reserve() -> None:
    """Reserve memory again after :func:`release_reserve`."""
    for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        _, hard = resource.getrlimit(which)
        if hard != resource.RLIM_INFINITY:
            soft = max(0, hard - _HARNESS_RESERVE_MB * MIB)
            resource.setrlimit(which, (soft, hard))


def processes_of_this_user(proc: int) -> int:
    """Return how many processes and threads of this user are listed in the folder /proc."""
    total = 0
    for name in os.listdir(proc):
        if name.isdigit():
            try:
                if os.stat(name, dir_fd=proc).st_uid == os.getuid():
                    total += os.stat(f"{name}/task", dir_fd=proc).st_nlink - 2
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
    return total


def processor_time(process: int) -> float:
    """Return the CPU seconds of a process, or 0 if it has ended."""
    try:
        return time.clock_gettime((~process << 3) | 2)  # the kernel's id of that process's clock
    except OSError:
        return 0.0


_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
_CHUNK = 65536


class Tally:
    """CPU time (``seconds``) of all processes whose ids the function ``numbers`` has returned so far.

    ``proc`` is a descriptor of /proc. ``ready_seconds`` is the longest time that one thread ran or waited for a CPU.
    """

    def __init__(self, proc: int, numbers: Callable[[], Iterable[int]]) -> None:
        self.seconds = 0.0
        self.ready_seconds = 0.0
        self._proc = proc
        self._numbers = numbers
        self._known: dict[tuple[int, bytes], tuple[int, int]] = {}
        self._ended = self._ended_lately = 0
        self.look()

    def look(self) -> None:
        now: dict[tuple[int, bytes], tuple[int, int]] = {}
        for number in self._numbers():
            fields = read(self._proc, f"{number}/stat").rpartition(b")")[2].split()
            if len(fields) < 20:
                continue  # it has just ended
            own_ticks, child_ticks = (int(fields[i]) + int(fields[i + 1]) for i in (11, 13))
            now[number, fields[19]] = own_ticks, child_ticks
            for thread in names(self._proc, f"{number}/task"):
                path = f"{number}/task/{thread}/schedstat"
                schedule = read(self._proc, path).split()
                if len(schedule) > 1:
                    ran, ready = int(schedule[0]) * 1e-9, int(schedule[1]) * 1e-9
                    self.ready_seconds = max(self.ready_seconds, ran + ready)
        self._note_ended(now)
        self._known = now
        sum_now = self._ended + sum(
            own_ticks + child_ticks for own_ticks, child_ticks in now.values()
        )
        self.seconds = max(self.seconds, sum_now * _TICK)

    def close(self) -> None:
        os.close(self._proc)

    def waited(self, spent: float) -> float:
        """Return a lower bound of the seconds spent waiting for a CPU, given the ``spent`` CPU seconds."""
        return max(0.0, self.ready_seconds - spent)

    def _note_ended(self, now: dict[tuple[int, bytes], tuple[int, int]]) -> None:
        ended = sum(sum(spent) for key, spent in self._known.items() if key not in now)
        taken = sum(
            max(0, child_ticks - self._known[key][1])
            for key, (_, child_ticks) in now.items()
            if key in self._known
        )
        if ended > taken:
            self._ended_lately = ended - taken
            self._ended += self._ended_lately
        else:
            self._ended -= min(self._ended_lately, taken - ended)
            self._ended_lately = 0


def read(proc: int, path: str) -> bytes:
    """Return the content of a /proc file, or b"" if unreadable."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return b""
    try:
        return os.read(fd, _CHUNK)
    except OSError:
        return b""
    finally:
        os.close(fd)


def names(proc: int, path: str) -> list[str]:
    """Return the names in a /proc folder, or [] if unreadable."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return []
    try:
        return os.listdir(fd)
    except OSError:
        return []
    finally:
        os.close(fd)


def children(proc: int, process: str) -> list[int]:
    """Return the ids of a process's child processes, or [] if the kernel does not list them."""
    threads = names(proc, f"{process}/task")
    lines = [read(proc, f"{process}/task/{thread}/children").split() for thread in threads]
    return [int(number) for line in lines for number in line]


def with_all_below(proc: int, processes: Iterable[int]) -> list[int]:
    pids = list(processes)
    for number in pids:
        pids += children(proc, str(number))
    return pids
