"""Confines a scoring worker to the files it needs, before it processes a model's text.

System calls are not filtered.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import resource
import shlex
import signal
import stat
import struct
import sys
import sysconfig
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from prorl_common import UserError, plugin_files

NOBODY = 65534
"""Id of the user and group ``nobody``."""
_LARGEST_FILE = 256 << 20
"""Maximum bytes of a file. Some libraries write temporary files when they are loaded."""

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_SYS_LANDLOCK_CREATE = 444
_SYS_LANDLOCK_ADD_RULE = 445
_SYS_LANDLOCK_RESTRICT = 446
_RULE_PATH_BENEATH = 1
_LANDLOCK_VERSION_FLAG = 1
# Landlock's file system access bits, by the version that introduced them (linux/landlock.h).
_FS_EXECUTE = 1 << 0
_FS_WRITE_V1 = (1 << 1) | sum(1 << bit for bit in range(4, 13))
_FS_REFER_V2 = 1 << 13
_FS_TRUNCATE_V3 = 1 << 14
_FS_IOCTL_V5 = 1 << 15
_NET_TCP_V4 = 0b11
_SCOPES_V6 = 0b11
_CLONE_NEWNS = 0x00020000
_MS_BIND = 1 << 12
_MS_REC = 1 << 14
_MS_PRIVATE = 1 << 18
_ENTER, _READ = 0o001, 0o004


def confine(memory_mb: int, scratch: str) -> str:
    """Confine this process permanently. Return the protections, such as ``worker:nobody+landlock+rlimits``.

    The process gives up root, ends with its parent, and may use ``memory_mb`` MiB of address space. With Landlock it
    cannot execute files, use TCP, signal other processes or write outside ``scratch``.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    writable = os.open(scratch, os.O_PATH | os.O_DIRECTORY)  # user nobody may not reach it by name
    protections = []
    if _become_nobody():
        protections.append("nobody" if os.getuid() == NOBODY else "user")
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        if _landlock(libc, writable):
            protections.append("landlock")
        protections.append("no-new-privs")
    os.close(writable)
    for kind, limit in (
        (resource.RLIMIT_AS, memory_mb * 1024 * 1024),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_NOFILE, 128),
        (resource.RLIMIT_NPROC, 0),
    ):
        bound = _at_most(limit, resource.getrlimit(kind)[1])
        resource.setrlimit(kind, (bound, bound))
    protections.append("rlimits")
    return "worker:" + "+".join(protections)


def limit_cpu(seconds: float) -> None:
    """Let the kernel kill this process with SIGXCPU after ``seconds`` more of CPU time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (_at_most(soft, hard), hard))


def _at_most(limit: int, hard: int) -> int:
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def _become_nobody() -> bool:
    if os.getuid() != 0:
        return True
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except PermissionError:  # root without CAP_SETUID, as in some containers
        return False
    return True


def _landlock(libc: ctypes.CDLL, writable: int) -> bool:
    version = libc.syscall(_SYS_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION_FLAG)
    if version < 1:
        return False
    files = _FS_EXECUTE | _FS_WRITE_V1
    files |= _FS_REFER_V2 if version >= 2 else 0
    files |= _FS_TRUNCATE_V3 if version >= 3 else 0
    files |= _FS_IOCTL_V5 if version >= 5 else 0
    fields = [files]
    if version >= 4:
        fields.append(_NET_TCP_V4)
    if version >= 6:
        fields.append(_SCOPES_V6)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    rules = libc.syscall(_SYS_LANDLOCK_CREATE, attributes, len(attributes), 0)
    if rules < 0:
        return False
    try:
        allowed = struct.pack("=Qi", files & ~_FS_EXECUTE, writable)
        libc.syscall(_SYS_LANDLOCK_ADD_RULE, rules, _RULE_PATH_BENEATH, allowed, 0)
        return bool(libc.syscall(_SYS_LANDLOCK_RESTRICT, rules, 0) == 0)
    finally:
        os.close(rules)


def needed_folders() -> tuple[Path, ...]:
    folders = {os.path.abspath(folder) for folder in sys.path}
    packages = [m for name, m in list(sys.modules.items()) if "." not in name]
    places = {str(place) for module in packages for place in getattr(module, "__path__", ())}
    # Packages installed as editable may be anywhere.
    folders |= {place for place in places if os.path.dirname(place) not in folders}
    paths = {*map(Path, folders), *(file.path.parent for file in plugin_files())}
    return tuple(sorted(path for path in paths | {p.resolve() for p in paths} if path.is_dir()))


def check_readable() -> None:
    """Raise UserError if workers could not read their modules and plug-ins."""
    if os.getuid() == 0:
        _check_folders(needed_folders(), tuple(file.path for file in plugin_files()))


@functools.cache
def _check_folders(folders: tuple[Path, ...], plugins: tuple[Path, ...]) -> None:
    if not _chmod_commands(folders, plugins):
        return
    commands: list[str] = []

    def show_in_thread() -> None:  # a mount namespace can belong to one thread
        with contextlib.suppress(OSError):
            show(folders)
        commands.append(_chmod_commands(folders, plugins))

    thread = threading.Thread(target=show_in_thread)
    thread.start()
    thread.join()
    if commands != [""]:
        raise UserError(
            "scoring workers run as user nobody, who cannot read some of the Python packages or "
            "plug-ins, and prorl cannot make them readable for workers only: "
            f"run `{commands[0]}`, or run prorl as a user other than root"
        )


def show(folders: Iterable[Path]) -> None:
    """Make ``folders`` readable for all users in this thread or process and its children. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    _mount(libc, "none", "/", None, _MS_REC | _MS_PRIVATE)
    with contextlib.ExitStack() as opened:
        sources = []
        for folder in folders:
            handle = os.open(folder, os.O_PATH)
            opened.callback(os.close, handle)
            sources.append((folder, f"/proc/self/fd/{handle}", os.fstat(handle).st_mode))
        for folder, source, mode in sources:
            closed = _first_closed(folder) if folder.exists() else None
            if folder.exists() and closed is None:
                continue
            if closed is not None:
                _mount(libc, "tmpfs", str(closed), "tmpfs", 0, "mode=755")
            _make_folder(folder)
            if mode & _ENTER and mode & _READ:
                _mount(libc, source, str(folder), None, _MS_BIND | _MS_REC)
                continue
            for name in os.listdir(source):
                if not name.startswith("."):
                    _bind_entry(libc, f"{source}/{name}", folder / name)


def _bind_entry(libc: ctypes.CDLL, source: str, target: Path) -> None:
    if os.path.islink(source):
        target.symlink_to(os.readlink(source))
        return
    if os.path.isdir(source):
        target.mkdir()
    elif os.path.isfile(source):
        target.touch()
    else:
        return
    _mount(libc, source, str(target), None, _MS_BIND | _MS_REC)


def _make_folder(path: Path) -> None:
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            folder.mkdir()
            folder.chmod(0o755)


def _mount(
    libc: ctypes.CDLL, source: str, target: str, kind: str | None, flags: int, data: str = ""
) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    if libc.mount(*words, ctypes.c_ulong(flags), data.encode()) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def _first_closed(path: Path) -> Path | None:
    closed = (folder for folder in reversed(path.parents) if not folder.stat().st_mode & _ENTER)
    return next(closed, None if _is_open(path) else path)


def _is_open(path: Path) -> bool:
    mode = os.stat(path).st_mode
    return bool(mode & _READ) and (bool(mode & _ENTER) or not stat.S_ISDIR(mode))


def _chmod_commands(folders: Iterable[Path], plugins: Iterable[Path]) -> str:
    above = {folder for path in (*folders, *plugins) for folder in path.parents}
    libraries = sysconfig.get_paths()
    installed = {Path(libraries[kind]) for kind in ("stdlib", "purelib", "platlib")}
    closed = {
        "o+x": [folder for folder in above if not folder.stat().st_mode & _ENTER],
        "o+rx": [folder for folder in folders if not _is_open(folder)],
        "o+r": [file for file in plugins if not _is_open(file)],
        "-R o+rX": [folder for folder in installed if not all(map(_is_open, _modules(folder)))],
    }
    commands = [(mode, shlex.join(sorted(map(str, paths)))) for mode, paths in closed.items()]
    return " && ".join(f"chmod {mode} {names}" for mode, names in commands if names)


def _modules(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if not path.name.partition(".")[0].isidentifier():
            continue
        if path.suffix in (".py", ".so"):
            yield path
        elif (first := path / "__init__.py").exists():
            yield from (path, first)
