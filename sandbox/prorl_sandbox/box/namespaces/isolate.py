"""Walls of the box: namespaces, private roots, an unprivileged user, no rights.

A slot takes a user, pid and mount namespace of its own with its root once; every box then takes fresh pid, mount, network, IPC and UTS namespaces below it, with scratch and program folders
of its own. The same way holds for root and for an ordinary user. Each step raises OSError.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat

from prorl_sandbox.box import landlock, seccomp, syscalls
from prorl_sandbox.box.namespaces.image import DEVICES, PROGRAM_FOLDER, SCRATCH, STDIN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Settings = dict[str, Any]

INSIDE_ID = 1000
_FIRST_OUTSIDE_ID = 1_000_000_000
_IDS_PER_SLOT = 65_536
_SLOT_RANGES = 40_000
_NOBODY = 65534
_LARGEST_PROGRAM_MB = 32
_CAP_SYS_ADMIN = 21
_PLAIN = syscalls.MS_NOSUID | syscalls.MS_NODEV
_BOX_NAMESPACES = {
    "mount": syscalls.CLONE_NEWNS,
    "net": syscalls.CLONE_NEWNET,
    "ipc": syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS,
}


def is_privileged() -> bool:
    """Tell whether this process may separate by its own right: root that still has
    CAP_SYS_ADMIN."""
    if os.geteuid() != 0:
        return False
    with open("/proc/self/status", encoding="ascii") as file:
        effective = next(line.split()[1] for line in file if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> _CAP_SYS_ADMIN & 1)


def shed_hollow_root(walls: tuple[str, ...]) -> None:
    """Where root has no rights (a plain container), become an ordinary user and go that user's way.

    As root, even a powerless one, the limit on processes would not count.
    """
    if os.geteuid() == 0 and "user" in walls and not is_privileged():
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # else /proc/self stays root's


def separate_slot(settings: Settings, ask_for_map: Any) -> None:
    """Enter the slot's user and mount namespaces and its root, and have the next child be the first
    of a pid namespace.

    Root enters the root while it still may read every folder, then enters a user namespace where
    ``ask_for_map()`` has the template write the id maps; an ordinary user needs that namespace
    first.
    """
    walls, by_right = settings["walls"], settings["by_right"]
    if by_right and "mount" in walls:
        enter_root(settings["root"])
    if "user" in walls and by_right:
        os.setgroups([])
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        ask_for_map()
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    elif "user" in walls:
        uid, gid = os.geteuid(), os.getegid()
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        write_id_maps("self", f"{INSIDE_ID} {uid} 1", f"{INSIDE_ID} {gid} 1")
    if not by_right and "mount" in walls:
        enter_root(settings["root"])
    syscalls.drop_bounding_set()
    if "pid" in walls:
        syscalls.unshare(syscalls.CLONE_NEWPID)


def write_id_maps(process: str, users: str, groups: str) -> None:
    """Write the maps of a process that has just entered a user namespace."""
    try_write(f"/proc/{process}/setgroups", "deny")  # a duty of unprivileged writers only
    _write(f"/proc/{process}/uid_map", users)
    _write(f"/proc/{process}/gid_map", groups)


def map_slot(process: int, number: int) -> None:
    """As root: give a slot a range of ids of its own, or nobody's where ids are scarce."""
    first = _FIRST_OUTSIDE_ID + (number % _SLOT_RANGES) * _IDS_PER_SLOT
    try:
        line = f"0 {first} {_IDS_PER_SLOT}"
        write_id_maps(str(process), line, line)
    except OSError:
        write_id_maps(str(process), f"0 {_NOBODY} 1", f"0 {_NOBODY} 1")


def try_write(path: str, text: str) -> None:
    """Write to a kernel file that may be absent or closed to us."""
    try:
        _write(path, text)
    except OSError:
        return


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def enter_root(root: str) -> None:
    """Give this slot a mount namespace with a folder of the image as its root, read-only.

    ``/scratch`` and ``/box`` are empty places where each box mounts its own.
    """
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    syscalls.mount(root, root, None, syscalls.MS_BIND)
    for name in DEVICES:
        device = f"{root}/dev/{name}"
        own = stat.S_ISCHR(os.stat(device).st_mode)
        syscalls.mount(device if own else f"/dev/{name}", device, None, syscalls.MS_BIND)
        # Read-only for the node itself, its times and its mode; the device behind it can be written.
        _remount_read_only(device, syscalls.MS_NOSUID)
    os.chdir(root)
    syscalls.pivot_root(".", ".")  # the old root then lies on the new one
    syscalls.unmount(".")
    os.chdir("/")
    _remount_read_only("/")


def _remount_read_only(path: str, added: int = _PLAIN) -> None:
    kept = os.statvfs(path).f_flag & (os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    flags = syscalls.MS_REMOUNT | syscalls.MS_BIND | syscalls.MS_RDONLY
    # The ST_ and MS_ values of these three flags are the same numbers.
    syscalls.mount(None, path, None, flags | kept | added)


def separate_box(walls: tuple[str, ...]) -> None:
    """Enter the box's own namespaces (its pid namespace came with its making)."""
    flags = 0
    for wall, flag in _BOX_NAMESPACES.items():
        flags |= flag if wall in walls else 0
    if flags:
        syscalls.unshare(flags)
    if flags & syscalls.CLONE_NEWUTS:
        socket.sethostname("box")


def mount_box(scratch_mb: int, names: tuple[str, ...]) -> list[int]:
    """Mount this box's scratch and the folder of its program, go to scratch.

    Returns descriptors for writing two empty files: the program's, under each of ``names``, for its
    job is not known yet, and its standard input's.
    """
    options = f"size={_LARGEST_PROGRAM_MB}m,nr_inodes=8,mode=755"
    syscalls.mount("tmpfs", PROGRAM_FOLDER, "tmpfs", _PLAIN, options)
    first, *others = (f"{PROGRAM_FOLDER}/{name}" for name in names)
    files = [os.open(first, os.O_CREAT | os.O_WRONLY, 0o755)]
    for name in others:
        os.link(first, name)
    files.append(os.open(STDIN_FILE, os.O_CREAT | os.O_WRONLY, 0o444))
    options = f"size={scratch_mb}m,nr_inodes=4096,mode=777"
    syscalls.mount("tmpfs", SCRATCH, "tmpfs", _PLAIN | syscalls.MS_NOEXEC, options)
    os.chdir(SCRATCH)
    return files


def become_user(walls: tuple[str, ...]) -> None:
    """As the slot's root: turn into the box's user, the same number in every box, another outside.

    A slot runs one box at a time and its ids are its own, so no two boxes ever share a user.
    """
    if os.geteuid() != 0:
        return
    inside = INSIDE_ID
    if "user" not in walls:  # a weak box, which was asked for: another user if that can be had
        inside = _FIRST_OUTSIDE_ID + os.getpid()
    # Some user namespaces may not change groups: then the list is empty already.
    with contextlib.suppress(PermissionError):
        os.setgroups([])
    try:
        os.setresgid(inside, inside, inside)
        os.setresuid(inside, inside, inside)
    except OSError:  # ids are scarce: nobody's stays, without any right
        return


def give_up_rights(settings: Settings) -> None:
    """Drop capabilities, forbid new privileges, add Landlock's fence, filter system calls."""
    syscalls.drop_capabilities()
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    walls = settings["walls"]
    if settings["landlock"] and "mount" in walls:
        landlock.restrict((SCRATCH, "/dev"), ("/",), settings["landlock"])
    if "seccomp" in walls:
        syscalls.drop_robust_list()
        if "pid" not in walls:
            seccomp.install(seccomp.build_signal_filter(syscalls.machine(), os.getpid()))
        for blob in settings["filters"]:  # the last one forbids to add more
            seccomp.install_blob(blob)
