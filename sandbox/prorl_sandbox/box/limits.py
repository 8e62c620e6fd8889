"""Resource limits of one process of the box, set just before its program runs.

The kernel's rlimits hold for a process at a time; the sum over a box is the control group's
business where there is one (``cgroup``), else bounded by the number of processes.
"""

from __future__ import annotations

import os
import resource
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MIB = 1024 * 1024
_BASELINE_MB = 96
_HARNESS_RESERVE_MB = 16
_MODES_WITHOUT_MEMORY_RLIMITS = ("exec", "compile", "build")
_base = {"data": 0, "space": 0}


def note_base() -> None:
    """Note what this process holds now, an environment's packages: what is forked from it may use its
    memory limit beside that."""
    with open("/proc/self/statm", encoding="ascii") as file:
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
