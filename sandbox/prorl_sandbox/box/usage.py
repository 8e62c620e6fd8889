"""What the processes of a box have used and waited for, as /proc tells.

For want of a control group, and to know how long a box was kept from a processor. A look costs some
tens of microseconds a process, so it is taken now and then. What a process has used stays counted
when it is gone, also where nobody waits for it (the kernel then forgets its time).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
