"""Which parts of this machine a box can see: the interpreter's library and the system's, read-only.

Computed once on the host. Leaves out everything else: no home, no working folder, no /tmp, no
/proc, no /etc but the loader's cache and the time zone; site-packages are covered by empty folders,
for they may hold data sets and graders.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

_LIBRARY_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
_TOOL_FOLDERS = (
    "/bin",
    "/usr/bin",
    "/usr/lib",
    "/usr/libexec",
    "/usr/include",
    "/usr/local/bin",
    "/usr/local/include",
    "/usr/local/lib",
    "/usr/share/nodejs",
    "/etc/alternatives",
)
_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")


@dataclass(frozen=True, slots=True)
class View:
    """Bind mounts (origin, target), symbolic links (path, target) and folders to show empty."""

    binds: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]
    masks: tuple[str, ...]


def interpreter() -> str:
    """Return the interpreter behind any virtual environment, which needs no environment's files."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def system_view(packages: str = "") -> View:
    """Return what this interpreter needs of this machine, and nothing more but the folder
    ``packages`` of an environment."""
    links: list[tuple[str, str]] = []
    wanted: list[str] = []
    for path in _LIBRARY_FOLDERS:
        if os.path.islink(path):
            links.append((path, os.readlink(path)))
        else:
            # Debian keeps shared libraries in a multiarch folder below.
            multiarch = os.path.join(path, f"{os.uname().machine}-linux-gnu")
            wanted.append(multiarch if os.path.isdir(multiarch) else path)
    # The standard library's folders; all of ``lib`` for a prefix of the interpreter's own.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for prefix in (sys.base_prefix, sys.base_exec_prefix):
        for name in ("lib", sys.platlibdir):
            folder = os.path.join(prefix, name)
            if prefix in ("/usr", "/usr/local"):
                folder = os.path.join(folder, version)
            wanted += [folder, os.path.realpath(folder)]
    targets: list[str] = []
    for path in sorted(set(wanted)):
        covered = any(Path(path).is_relative_to(known) for known in targets)
        if os.path.isdir(path) and not covered and not os.path.islink(path):
            targets.append(path)
    binds = [(os.path.realpath(path), path) for path in (*targets, *_FILES)]
    own = [(os.path.realpath(packages), packages)] if packages else []
    return View((*binds, *own), tuple(links), _package_folders(targets))


def tools_view(folders: tuple[str, ...] = ()) -> View:
    """Return what compilers and interpreters need: the system's programs and headers as well, and
    ``folders`` of their own, read-only."""
    base = system_view()
    links = list(base.links)
    wanted: list[str] = [target for _, target in base.binds if target not in _FILES]
    for path in (*_TOOL_FOLDERS, *folders):
        if os.path.islink(path):
            links.append((path, os.readlink(path)))
        elif os.path.isdir(path):
            wanted.append(path)
    covered = [
        path
        for path in sorted(set(wanted))
        if not any(path != other and Path(path).is_relative_to(other) for other in wanted)
    ]
    binds = [(os.path.realpath(path), path) for path in (*covered, *_FILES)]
    return View(tuple(binds), tuple(links), _package_folders(covered))


def _package_folders(libraries: list[str]) -> tuple[str, ...]:
    """Return the site-packages and dist-packages folders below the bound libraries."""
    found = [
        str(folder)
        for library in libraries
        for pattern in ("python3*/*-packages", "*-packages")
        for folder in sorted(Path(library).glob(pattern))
        if folder.is_dir() and not folder.is_symlink()
    ]
    return tuple(found)
