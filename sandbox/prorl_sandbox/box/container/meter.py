"""What a container's own control group counts, read from inside, where it is in sight.

Version 1 or 2. Without a group in sight (gVisor) processor time is what the processes themselves
report, and nothing is known of memory kills.
"""

from __future__ import annotations

import os
import time

_CPU = (
    ("/sys/fs/cgroup/cpuacct/cpuacct.usage", b"", 1e-9),
    ("/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", b"", 1e-9),
    ("/sys/fs/cgroup/cpu.stat", b"usage_usec ", 1e-6),
)
_KERNEL = (
    ("/sys/fs/cgroup/memory/memory.kmem.usage_in_bytes", b""),
    ("/sys/fs/cgroup/memory.stat", b"kernel "),
)
KERNEL_BYTES = 64 * 1024 * 1024
"""See ``namespaces.cgroup``."""
_OOM = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")


class Meter:
    """Open descriptors of the group's counters; ``sees_memory`` tells whether kills are counted."""

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
        """Return the processor time of all the container's processes but the calling one."""
        if self._cpu < 0:
            return 0.0
        return _number(self._cpu, self._cpu_key) * self._unit - time.process_time()

    def oom_kills(self) -> int:
        """Return how many processes have been killed for want of memory since the start."""
        return _number(self._oom, b"oom_kill ") if self.sees_memory else 0

    def holds_too_much(self) -> bool:
        """Tell whether the kernel holds more than KERNEL_BYTES for this container."""
        return self._kernel is not None and _number(*self._kernel) > KERNEL_BYTES


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def _number(fd: int, key: bytes) -> int:
    for line in os.pread(fd, 4096, 0).splitlines():
        if line.startswith(key):
            return int(line[len(key) :])
    return 0
