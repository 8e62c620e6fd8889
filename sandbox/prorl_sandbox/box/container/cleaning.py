"""Remove the processes and files of a program after its run, with the program's user rights only."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

CLEANING_SECONDS = 10.0
_WORLD_WRITABLE = (b"/dev/mqueue", b"/dev/shm")


def kill_all(uid: int, killer: int) -> None:
    """Kill all processes of the user ``uid`` in one system call. ``killer`` is a user without processes."""
    # As effective user ``uid`` this process can signal only that user's processes. They cannot signal it, because its
    # saved user is root and its real user ``killer`` is unused elsewhere.
    os.setresuid(killer, uid, 0)
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return  # no process is left
    finally:
        os.setresuid(0, 0, 0)


def empty_as(uid: int, killer: int, folder: str) -> bool:
    """Empty ``folder`` with the rights of ``uid`` and the real user id ``killer``; return False on failure."""
    os.setresuid(killer, uid, 0)
    try:
        empty(os.fsencode(folder))
    except OSError as error:
        os.write(2, f"scratch: {error!r}\n".encode("utf-8", "replace"))
        return False
    finally:
        os.setresuid(0, 0, 0)
    return True


def strangers(mine: Collection[int]) -> list[int]:
    """Return the ids of all processes in the container except ``mine``."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in mine]


def empty(top: bytes) -> None:
    # Nested folders are first moved up, so neither depth nor path length matters.
    number = 0
    while names := os.listdir(top):
        for name in names:
            path = top + b"/" + name
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
                continue
            os.chmod(path, 0o700)
            number = _flatten(path, top, number)
            os.rmdir(path)


def _flatten(folder: bytes, top: bytes, number: int) -> int:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for name in os.listdir(handle):
            inner = os.fsencode(name)
            if not stat.S_ISDIR(os.lstat(inner, dir_fd=handle).st_mode):
                os.unlink(inner, dir_fd=handle)
                continue
            os.chmod(inner, 0o700, dir_fd=handle)
            while os.path.lexists(target := b"%s/moved-%d" % (top, number)):
                number += 1
            os.rename(inner, target, src_dir_fd=handle)
    finally:
        os.close(handle)
    return number


def files_left(folders: Collection[str]) -> list[str]:
    """Return the paths of all files in ``folders`` and in other world-writable folders."""
    paths = []
    for folder in (*map(os.fsencode, folders), *_WORLD_WRITABLE):
        if os.path.isdir(folder):
            paths += [repr(folder + b"/" + name) for name in os.listdir(folder)]
    return paths
