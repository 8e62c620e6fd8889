"""What ``prorl doctor`` looks at on every machine: Python, memory, disk."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

State = Literal["ok", "note", "problem"]

_QUICKSTART_GB = 6.0
_LEAST_GB = 3.0
_DISK_GB = 2.0


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: its state, what was found and, unless it is fine, the cure."""

    name: str
    state: State
    detail: str
    cure: str = ""


def check_python() -> Check:
    """Look at the Python version and the operating system."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    detail = f"{version} on {sys.platform}"
    if sys.platform != "linux":
        return Check("python", "problem", detail, "use Linux: the sandbox needs its namespaces")
    return Check("python", "ok", detail)


def check_memory() -> Check:
    """Compare free memory, under the container's limit, with what the quickstart takes."""
    free = free_memory_gb()
    if free is None:
        return Check("memory", "note", "unknown on this system", "make sure 6 GB are free")
    detail = f"{free:.1f} GB free"
    if free < _LEAST_GB:
        return Check("memory", "problem", detail, f"free at least {_QUICKSTART_GB:.0f} GB")
    if free < _QUICKSTART_GB:
        return Check(
            "memory", "note", detail, f"the quickstart may take {_QUICKSTART_GB:.0f} GB: free some"
        )
    return Check("memory", "ok", detail)


def free_memory_gb(
    meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """Return gigabytes of memory that can still be used, or None where Linux does not say.

    The smaller of the kernel's MemAvailable and what the control group (v2) leaves.
    """
    try:
        lines = meminfo.read_text().splitlines()
        kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return None
    free = kilobytes * 1024
    try:
        limit = (cgroup / "memory.max").read_text().strip()
        used = int((cgroup / "memory.current").read_text())
    except OSError:  # no control group v2: no limit to look at
        limit, used = "max", 0
    if limit != "max":
        free = min(free, int(limit) - used)
    return free / 1e9


def check_disk() -> Iterator[Check]:
    """Look at the free room here and in the model cache, and whether both can be written."""
    from prorl_inference import cache_root

    for name, folder, cure in (
        ("disk here", Path.cwd(), "work in another folder"),
        ("disk cache", cache_root(), "set PRORL_CACHE to another folder"),
    ):
        place = next(p for p in (folder, *folder.parents) if p.exists())
        free = shutil.disk_usage(place).free / 1e9
        detail = f"{free:.1f} GB free in {folder}"
        if not os.access(place, os.W_OK | os.X_OK) or not place.is_dir():
            yield Check(name, "problem", f"{folder} cannot be written", cure)
        elif free < _DISK_GB:
            yield Check(name, "problem", detail, f"make room ({_DISK_GB:.0f} GB) or {cure}")
        else:
            yield Check(name, "ok", detail)
