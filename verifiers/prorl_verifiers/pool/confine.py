"""Lock a scoring worker down before it sees any model text: limits, no privileges, no writes, no network.

Does: rlimits, no_new_privs, change to an unprivileged user when started as root, a Landlock rule set that
forbids executing, TCP and writing outside a scratch folder where the kernel has it, death with the parent. Leaves out: namespaces
and system-call filters (that is the sandbox room; scorers run our code on text, not the text itself).
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from pathlib import Path

NOBODY = 65534
"""User and group id that own nothing."""

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_SYS_LANDLOCK_CREATE = 444
_SYS_LANDLOCK_ADD_RULE = 445
_SYS_LANDLOCK_RESTRICT = 446
_RULE_PATH_BENEATH = 1
_LANDLOCK_VERSION_FLAG = 1
# Access bits of Landlock's file system rights by the version that brought them (linux/landlock.h).
_FS_EXECUTE = 1 << 0
_FS_WRITE_V1 = (1 << 1) | sum(1 << bit for bit in range(4, 13))
_FS_REFER_V2 = 1 << 13
_FS_TRUNCATE_V3 = 1 << 14
_FS_IOCTL_V5 = 1 << 15
_NET_TCP_V4 = 0b11
_SCOPES_V6 = 0b11


def confine(memory_mb: int, scratch: str) -> str:
    """Confine this process for good and return what holds, e.g. ``worker:nobody+landlock+rlimits``.

    ``memory_mb`` bounds the address space in mebibytes; ``scratch`` is the one folder that stays writable
    (libraries want one for their caches; a file there can hold 1 MiB). Call it once, before reading any request.
    Never fails for a protection that this kernel lacks; the returned string leaves that one out.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    writable = os.open(scratch, os.O_PATH | os.O_DIRECTORY)  # nobody may not reach it by name
    kept = []
    if _become_nobody():
        kept.append("nobody" if os.getuid() == NOBODY else "user")
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        if _landlock(libc, writable):
            kept.append("landlock")
        kept.append("no-new-privs")
    os.close(writable)
    for kind, limit in (
        (resource.RLIMIT_AS, memory_mb * 1024 * 1024),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 1 << 20),
        (resource.RLIMIT_NOFILE, 128),
        (resource.RLIMIT_NPROC, 0),
    ):
        bound = _at_most(limit, resource.getrlimit(kind)[1])
        resource.setrlimit(kind, (bound, bound))
    kept.append("rlimits")
    return "worker:" + "+".join(kept)


def limit_cpu(seconds: float) -> None:
    """Allow this process ``seconds`` more of CPU time; then the kernel kills it with SIGXCPU."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (_at_most(soft, hard), hard))


def _at_most(limit: int, hard: int) -> int:
    """Return ``limit``, or the hard limit that holds already when that is lower: nobody may raise it."""
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def _become_nobody() -> bool:
    """Give up root. True when the process is not root afterwards.

    Root's own Python often lies where nobody may not look (/root/...). Folders of ``sys.path`` and of
    loaded packages are therefore opened first and reached through /proc/self/fd after the change.
    """
    if os.getuid() != 0:
        return True
    _reroute_imports()
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except PermissionError:  # root without CAP_SETUID, as in some containers
        return False
    return True


def _reroute_imports() -> None:
    rerouted: dict[str, str] = {}
    for folder in sys.path:
        path = Path(folder)
        if not path.is_dir():
            continue
        real = path.resolve()  # anyone may search every folder on the way and read the last one?
        searchable = all(folder.stat().st_mode & 0o001 for folder in (real, *real.parents))
        if not searchable or not real.stat().st_mode & 0o004:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            rerouted[str(path)] = f"/proc/self/fd/{handle}"
    if not rerouted:
        return
    sys.path[:] = [rerouted.get(str(Path(folder)), folder) for folder in sys.path]
    for module in list(sys.modules.values()):
        places = getattr(module, "__path__", None)
        if isinstance(places, list):
            for at, place in enumerate(places):
                above = [old for old in rerouted if place == old or place.startswith(old + "/")]
                if above:
                    best = max(above, key=len)
                    places[at] = rerouted[best] + place[len(best) :]
    sys.path_importer_cache.clear()


def _landlock(libc: ctypes.CDLL, writable: int) -> bool:
    """Forbid executing, TCP, signals to others and writing but beneath ``writable``; True when enforced."""
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
