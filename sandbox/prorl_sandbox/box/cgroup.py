"""Linux control groups (version 1 or 2) that limit and measure sandboxed programs."""

from __future__ import annotations

import contextlib
import os

PREFIX = "prorl-"
_SLACK = 16 * 1024 * 1024
_OWN_PROCESSES = 1  # the slot
_V1 = "/sys/fs/cgroup"
_NAMES = {
    1: ("memory.limit_in_bytes", "memory.oom_control", "memory.usage_in_bytes"),
    2: ("memory.max", "memory.events", "memory.current"),
}
_TIME = {1: "cpuacct.usage", 2: "cpu.stat"}
_HITS = {1: ("memory.failcnt", b""), 2: ("memory.events", b"max ")}
"""File and key of the counter of failed allocations at the memory limit, by cgroup version."""
_KERNEL = {1: ("memory.kmem.usage_in_bytes", b""), 2: ("memory.stat", b"kernel ")}
KERNEL_BYTES = 64 * 1024 * 1024
"""Maximum bytes of kernel memory, such as page tables, that a sandboxed program may cause."""
_WEIGHT = {1: ("cpu.shares", 1024), 2: ("cpu.weight", 100)}
"""File with a group's CPU weight, and its default value."""


class Group:
    """Control group of a process that forks sandboxed programs one after another."""

    def __init__(self, version: int, folders: list[str]) -> None:
        """Create ``folders`` (one for cgroup v2, one per controller for v1) and open their files. Raises OSError."""
        self.version = version
        self._folders = folders
        self._limits: tuple[int, int] | None = None
        self._base = 0
        for folder in folders:
            os.mkdir(folder)
        memory, pids = folders[0], folders[min(1, len(folders) - 1)]
        limit, events, usage = _NAMES[version]
        self._limit_fd = os.open(f"{memory}/{limit}", os.O_RDWR | os.O_CLOEXEC)
        self._events_fd = os.open(f"{memory}/{events}", os.O_RDONLY | os.O_CLOEXEC)
        self._usage_fd = os.open(f"{memory}/{usage}", os.O_RDONLY | os.O_CLOEXEC)
        self._time_fd = -1
        self._counts = []
        for name, key in (_KERNEL[version], _HITS[version]):
            fd = -1
            with contextlib.suppress(FileNotFoundError):
                fd = os.open(f"{memory}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            self._counts.append((fd, key))
        for folder in folders:
            with contextlib.suppress(FileNotFoundError):
                self._time_fd = os.open(f"{folder}/{_TIME[version]}", os.O_RDONLY | os.O_CLOEXEC)
                break
        self._pids_fd = os.open(f"{pids}/pids.max", os.O_RDWR | os.O_CLOEXEC)
        swap = ("memory.swappiness", "0") if version == 1 else ("memory.swap.max", "0")
        with contextlib.suppress(OSError):  # the file is absent if the kernel counts no swap
            write(f"{memory}/{swap[0]}", swap[1])

    def join(self) -> None:
        while self._folders:
            write(f"{self._folders.pop()}/cgroup.procs", "0")

    def take_base(self) -> None:
        """Record the memory that the group uses now; ``set_limits`` does not count this against a program."""
        self._base = int(os.pread(self._usage_fd, 64, 0))

    def set_limits(self, memory_mb: int, processes: int) -> None:
        """Limit the next program to ``memory_mb`` MiB, and to ``processes`` processes and threads."""
        limits = (memory_mb, processes)
        if self._limits == limits:
            return
        self._limits = None
        total = self._base + _SLACK + memory_mb * 1024 * 1024
        os.pwrite(self._limit_fd, str(total).encode(), 0)
        os.pwrite(self._pids_fd, str(processes + _OWN_PROCESSES).encode(), 0)
        self._limits = limits

    def oom_kills(self) -> int:
        return read_counter(self._events_fd, b"oom_kill ")

    def kernel_bytes(self) -> int:
        return read_counter(*self._counts[0])

    def memory_hits(self) -> int:
        return read_counter(*self._counts[1])

    @property
    def counts_time(self) -> bool:
        return self._time_fd >= 0

    def cpu_seconds(self) -> float:
        text = os.pread(self._time_fd, 4096, 0)
        if self.version == 1:
            return int(text) / 1e9
        return int(text.split(b"usage_usec ")[1].split()[0]) / 1e6

    def close(self) -> None:
        fds = (self._limit_fd, self._events_fd, self._usage_fd, self._pids_fd)
        for fd in (*fds, self._time_fd, *(fd for fd, _ in self._counts)):
            if fd >= 0:
                os.close(fd)


def read_counter(fd: int, key: bytes) -> int:
    """Return the number after ``key`` in an open file, or 0 if ``key`` is absent."""
    lines = os.pread(fd, 8192, 0).split(b"\n") if fd >= 0 else []
    numbers = [line.removeprefix(key) for line in lines if line.startswith(key)]
    return int(numbers[0] or 0) if numbers else 0


def find(lines: list[str]) -> tuple[int, list[str], str]:
    """Return (version, parent folders for new groups, "") from /proc/self/cgroup, or (0, [], reason)."""
    paths = {}  # the path of each controller; the unified hierarchy's is ''
    for line in lines:
        _, names, path = line.rstrip("\n").split(":", 2)
        paths.update(dict.fromkeys(names.split(","), path.rstrip("/")))
    reasons = []
    folders = [f for name in ("memory", "pids") if (f := _folder_of(name, paths))]
    if len(folders) == 2:
        reason = next((r for f in folders if (r := _try_folder(f))), "")
        if not reason:
            for name in ("cpuacct", "cpu"):  # often one hierarchy under two names
                folder = _folder_of(name, paths)
                listed = folder and any(os.path.samefile(folder, other) for other in folders)
                if folder and not listed and not _try_folder(folder):
                    folders.append(folder)
            return 1, folders, ""
        reasons.append(reason)
    if "" in paths:
        for root in (_V1, f"{_V1}/unified"):
            folder, reason = _find_unified(root, (root + paths[""]).rstrip("/"))
            if folder:
                return 2, [folder], ""
            reasons += [reason] if reason else []
    return 0, [], "; ".join(reasons) or "no memory and pids controllers are mounted"


def _folder_of(controller: str, paths: dict[str, str]) -> str:
    folder = f"{_V1}/{controller}"
    if controller not in paths or not os.path.isdir(folder):
        return ""
    below = folder + paths[controller]
    return below if os.path.isdir(below) else folder


def _find_unified(root: str, start: str) -> tuple[str, str]:
    """Return the nearest parent folder in which control groups can be made, as (folder, ""), or ("", reason)."""
    # A folder with processes cannot delegate controllers, so look for an ancestor that already delegates them.
    folder, first = start, ""
    while os.path.exists(f"{folder}/cgroup.controllers"):
        reason = _try_unified(folder, ask=folder == start)
        if not reason:
            return folder, ""
        first = first or reason
        if folder == root:
            break
        folder = os.path.dirname(folder)
    return "", first


def _try_unified(folder: str, ask: bool) -> str:
    with open(f"{folder}/cgroup.controllers", encoding="utf-8") as file:
        offered = file.read().split()
    if not {"memory", "pids"} <= set(offered):
        return "the unified hierarchy offers no memory and pids controllers here"
    with open(f"{folder}/cgroup.subtree_control", encoding="utf-8") as file:
        passed_on = file.read().split()
    if not {"memory", "pids"} <= set(passed_on):
        if not ask:
            return f"{folder} does not pass memory and pids on"
        try:
            _pass_on(folder, with_cpu="cpu" in offered)
        except OSError as error:
            return f"{folder} does not pass memory and pids on: {error.strerror}"
    return _try_folder(folder)


def _pass_on(folder: str, with_cpu: bool) -> None:
    write(f"{folder}/cgroup.subtree_control", "+memory +pids" + " +cpu" * with_cpu)


def _try_folder(parent: str) -> str:
    trial = f"{parent}/{PREFIX}trial-{os.getpid()}"
    try:
        os.mkdir(trial)
    except OSError as error:
        return f"{parent} is not writable: {error.strerror}"
    os.rmdir(trial)
    return ""


def make_parents(version: int, folders: list[str], name: str) -> list[str]:
    """Create the folder ``name`` in each of ``folders`` and return the new folders. Raises OSError."""
    made = [f"{folder}/{PREFIX}{name}" for folder in folders]
    name, usual = _WEIGHT[version]
    for folder in made:
        os.mkdir(folder)
        if version == 2:
            with open(f"{folder}/cgroup.controllers", encoding="utf-8") as file:
                _pass_on(folder, with_cpu="cpu" in file.read().split())
        # All boxes together weigh as much as one busy process per CPU.
        with contextlib.suppress(OSError):
            write(f"{folder}/{name}", str(usual * (os.cpu_count() or 1)))
    return made


def remove(folders: list[str]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    remove([entry.path])
            os.rmdir(folder)


def sweep(folders: list[str]) -> None:
    """Remove control groups that earlier processes left behind when they were killed."""
    for folder in folders:
        for entry in os.scandir(folder):
            owner, _, start = entry.name.removeprefix(PREFIX).partition("-")
            named = entry.name.startswith(PREFIX) and owner.isdigit() and start.isdigit()
            if named and start_time(owner) != start:
                remove([entry.path])


def start_time(process: str) -> str:
    """Return a process's start time in clock ticks since boot, or "" if the process has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
