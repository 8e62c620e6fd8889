"""Resource limits of the processes of a box, and what they have used, as /proc says.

The kernel's rlimits hold for a process at a time; the sum over a box is the control group's
business where there is one (``cgroup``), else bounded by the number of processes.
"""

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
    """Note what this process holds now, an environment's packages: what is forked from it may use its
    memory limit beside that."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        pages = [int(number) for number in file.read().split()]
    _base["space"], _base["data"] = (
        pages[0] * resource.getpagesize(),
        pages[5] * resource.getpagesize(),
    )


def base_mb() -> int:
    """Return the MiB of data that ``note_base`` found."""
    return -(-_base["data"] // MIB)


def set_fixed_limits() -> None:
    """Put on the calling process the limits that are the same for every program."""
    # Of a core no file is written, and unlike 0 it starts no program of the host's (core(5)).
    _limit(resource.RLIMIT_CORE, 1)
    _limit(resource.RLIMIT_NOFILE, 64)
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    _limit(resource.RLIMIT_SIGPENDING, 1024)  # timers too; the kernel counts them by user
    _limit(resource.RLIMIT_RTPRIO, 0)


def set_limits(job: dict[str, Any], others: int, summed: bool) -> None:
    """Put the limits of ``job["limits"]`` on the calling process.

    ``others``: processes of this user that RLIMIT_NPROC counts beside the program's own.
    ``summed``: a control group or container holds the memory of the whole box, so that address
    space is free (other languages reserve far more than they use); without one a process's address
    space is limited too, to that and to what its runtime reserves.
    """
    limits = job["limits"]
    memory = limits["memory_mb"] * MIB
    cpu = int(-(-job["most_cpu_seconds"] // 1)) + 1  # a backstop: the slot's clock is the limit
    _limit(resource.RLIMIT_CPU, cpu)
    _limit(resource.RLIMIT_FSIZE, limits["scratch_mb"] * MIB)
    _limit(resource.RLIMIT_STACK, min(64 * MIB, memory))
    _limit(resource.RLIMIT_NPROC, limits["processes"] + others)
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
    if now != (min(soft, top), top):  # gVisor refuses to set some limits, even to what they are
        resource.setrlimit(which, (min(soft, top), top))


def release_reserve() -> None:
    """Let the harness use the last few mebibytes, to report that memory ran out."""
    for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        _, hard = resource.getrlimit(which)
        resource.setrlimit(which, (hard, hard))


def keep_reserve() -> None:
    """Set them aside again, for the next message of a session."""
    for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        _, hard = resource.getrlimit(which)
        if hard != resource.RLIM_INFINITY:
            soft = max(0, hard - _HARNESS_RESERVE_MB * MIB)
            resource.setrlimit(which, (soft, hard))


def processes_of_this_user(proc: int) -> int:
    """Return how many processes and threads this user runs, through a descriptor of /proc.

    Needed where RLIMIT_NPROC counts all of them: an ordinary user on Linux before 5.14.
    """
    total = 0
    for name in os.listdir(proc):
        if name.isdigit():
            try:
                if os.stat(name, dir_fd=proc).st_uid == os.getuid():
                    total += os.stat(f"{name}/task", dir_fd=proc).st_nlink - 2
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile
    return total


def processor_time(process: int) -> float:
    """Return the seconds of processor time of a living process, 0 when it has just ended."""
    try:
        return time.clock_gettime((~process << 3) | 2)  # the kernel's id of that process's clock
    except OSError:
        return 0.0


_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
_CHUNK = 65536


class Tally:
    """Running sums over all processes that ``numbers()`` names, or has ever named.

    ``proc`` is a descriptor of a /proc that shows them; what it does not show is not counted.
    ``seconds``: processor time (utime, stime, cutime and cstime of proc_pid_stat(5), in the
    kernel's ticks). ``wanted``: the longest time that one thread has run or been ready to run
    (``schedstat``).
    """

    def __init__(self, proc: int, numbers: Callable[[], Iterable[int]]) -> None:
        self.seconds = 0.0
        self.wanted = 0.0
        self._proc = proc
        self._numbers = numbers
        self._known: dict[tuple[int, bytes], tuple[int, int]] = {}
        self._gone = self._gone_lately = 0
        self.look()

    def look(self) -> None:
        """Bring the sums up to date."""
        now: dict[tuple[int, bytes], tuple[int, int]] = {}
        for number in self._numbers():
            fields = read(self._proc, f"{number}/stat").rpartition(b")")[2].split()
            if len(fields) < 20:
                continue  # it has ended meanwhile
            own, children = (int(fields[i]) + int(fields[i + 1]) for i in (11, 13))
            now[number, fields[19]] = own, children
            for thread in names(self._proc, f"{number}/task"):
                ran, ready = _schedule(self._proc, f"{number}/task/{thread}")
                self.wanted = max(self.wanted, ran + ready)
        self._note_gone(now)
        self._known = now
        sum_now = self._gone + sum(own + children for own, children in now.values())
        self.seconds = max(self.seconds, sum_now * _TICK)

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self._proc)

    def waited(self, spent: float) -> float:
        """Return for how many seconds at least all of the box was kept from a processor.

        ``spent``: the processor seconds of the whole box since its birth. While a thread is ready
        and does not run, either another one of the box runs, or one that is not of the box.
        """
        return max(0.0, self.wanted - spent)

    def _note_gone(self, now: dict[tuple[int, bytes], tuple[int, int]]) -> None:
        """Keep the time of processes that have ended, unless a parent has taken it over.

        A process that ends while this looks may be missing with its parent not yet read anew: what
        is then kept too much is taken back at the next look.
        """
        gone = sum(sum(spent) for key, spent in self._known.items() if key not in now)
        taken = sum(
            max(0, children - self._known[key][1])
            for key, (_, children) in now.items()
            if key in self._known
        )
        if gone > taken:
            self._gone_lately = gone - taken
            self._gone += self._gone_lately
        else:
            self._gone -= min(self._gone_lately, taken - gone)
            self._gone_lately = 0


def _schedule(proc: int, path: str) -> tuple[float, float]:
    """Return the seconds that a thread has run, and been ready to run; zeros where not told."""
    fields = read(proc, f"{path}/schedstat").split()
    return (int(fields[0]) * 1e-9, int(fields[1]) * 1e-9) if len(fields) > 1 else (0.0, 0.0)


def read(proc: int, path: str) -> bytes:
    """Return what a file of /proc says, nothing where it is gone or closed to us."""
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
    """Return the names in a folder of /proc, none where it is gone or closed to us."""
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
    """Return the numbers of the children of a process, which is named as /proc does (``self``).

    None where the kernel does not tell (CONFIG_PROC_CHILDREN).
    """
    threads = names(proc, f"{process}/task")
    found = [read(proc, f"{process}/task/{thread}/children").split() for thread in threads]
    return [int(number) for one in found for number in one]


def with_all_below(proc: int, processes: Iterable[int]) -> list[int]:
    """Return the numbers of these processes and of all that came from them."""
    found = list(processes)
    for number in found:
        found += children(proc, str(number))
    return found
