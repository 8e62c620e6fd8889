"""Walls of the box: namespaces, a private root, an unprivileged user, resource limits.

Two ways to the same walls. Real root separates with its own rights and then becomes a user that owns
nothing outside; an ordinary user first makes a user namespace. Each step raises OSError; the launcher
turns that into a fault of the sandbox. Leaves out control groups: memory is held by rlimits.
"""

from __future__ import annotations

import os
import resource
import stat

from prorl_sandbox.box import seccomp, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Job = dict[str, Any]

INSIDE_ID = 1000
SCRATCH = "/scratch"
PROGRAM_FILE = "/program.py"
_FIRST_OUTSIDE_ID = 1_000_000_000
_NOBODY = 65534
_CAP_SYS_ADMIN = 21
_SIGKILL = 9
_MOUNT_POINTS = ("/tmp", "/mnt", "/run", "/var")
_DEVICES = ("null", "zero", "urandom", "random", "full")
_BASELINE_MB = 96
_HARNESS_RESERVE_MB = 16
_NAMESPACES = {
    "pid": syscalls.CLONE_NEWPID,
    "net": syscalls.CLONE_NEWNET,
    "ipc": syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS,
}


def is_privileged() -> bool:
    """Tell whether this process may separate by its own right: root that still has CAP_SYS_ADMIN."""
    if os.geteuid() != 0:
        return False
    with open("/proc/self/status", encoding="ascii") as file:
        effective = next(line.split()[1] for line in file if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> _CAP_SYS_ADMIN & 1)


def shed_hollow_root(job: Job) -> None:
    """Where root has no rights (a plain container), become an ordinary user and go that user's way.

    As root, even a powerless one, the limit on processes would not count.
    """
    if os.geteuid() == 0 and "user" in job["walls"] and not is_privileged():
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # else /proc/self stays root's


def separate(job: Job) -> None:
    """Enter the namespaces of ``job["walls"]`` that the launcher itself takes (all but mount)."""
    flags = 0
    for wall, flag in _NAMESPACES.items():
        if wall in job["walls"]:
            flags |= flag
    uid, gid = os.geteuid(), os.getegid()
    if "user" in job["walls"] and uid != 0:
        syscalls.unshare(syscalls.CLONE_NEWUSER | flags)
        write_id_maps("self", uid, gid)
    elif flags:
        syscalls.unshare(flags)


def write_id_maps(process: str, uid: int, gid: int) -> None:
    """Map the box's one user and group to ``uid`` and ``gid`` outside."""
    try_write(f"/proc/{process}/setgroups", "deny")  # a duty of unprivileged writers only
    _write(f"/proc/{process}/uid_map", f"{INSIDE_ID} {uid} 1")
    _write(f"/proc/{process}/gid_map", f"{INSIDE_ID} {gid} 1")


def map_to_nobody(process: int) -> None:
    """As root: give ``process`` an outside id of its own, or nobody's where ids are scarce."""
    try:
        outside = _FIRST_OUTSIDE_ID + process
        write_id_maps(str(process), outside, outside)
    except OSError:
        write_id_maps(str(process), _NOBODY, _NOBODY)


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


def build_root(job: Job) -> None:
    """Give this process a mount namespace whose root holds the interpreter and nothing else."""
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    source = job["source"].encode("utf-8", "replace")
    base = next(path for path in _MOUNT_POINTS if os.path.isdir(path))
    plain = syscalls.MS_NOSUID | syscalls.MS_NODEV
    size = f"size={len(source) // 1024 + 4096}k,nr_inodes=1024,mode=755"
    syscalls.mount("tmpfs", base, "tmpfs", plain, size)
    os.chdir(base)
    os.umask(0o022)
    os.mkdir("old")
    syscalls.pivot_root(".", "old")
    os.chdir("/")
    for origin, target in job["binds"]:
        _bind("/old" + origin, target)
    for link, target in job["links"]:
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(target, link)
    for path in job["masks"]:
        _empty(path)
    for name in _DEVICES:
        _bind_device(f"/old/dev/{name}", f"/dev/{name}")
    with open(PROGRAM_FILE, "wb") as file:
        file.write(source)
    os.mkdir(SCRATCH)
    size = f"size={job['limits']['scratch_mb']}m,nr_inodes=4096,mode=777"
    syscalls.mount("tmpfs", SCRATCH, "tmpfs", plain | syscalls.MS_NOEXEC, size)
    syscalls.unmount("/old")
    os.rmdir("/old")
    _remount_read_only("/")


def _bind(origin: str, target: str) -> None:
    """Show ``origin`` read-only at ``target``; a path that is absent outside stays absent."""
    try:
        is_folder = stat.S_ISDIR(os.stat(origin).st_mode)
    except FileNotFoundError:
        return
    if is_folder:
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    syscalls.mount(origin, target, None, syscalls.MS_BIND | syscalls.MS_REC)
    try:
        syscalls.set_tree_read_only(target)
    except OSError as error:
        if error.errno != 38:  # a kernel before 5.12 has no mount_setattr
            raise
        for path in _mounts_below(target):
            _remount_read_only(path)


def _mounts_below(target: str) -> list[str]:
    with open("/old/proc/self/mountinfo", encoding="utf-8") as file:
        points = [line.split()[4] for line in file]
    return [p for p in points if p == target or p.startswith(target + "/")]


def _remount_read_only(path: str) -> None:
    kept = os.statvfs(path).f_flag & (os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    flags = syscalls.MS_REMOUNT | syscalls.MS_BIND | syscalls.MS_RDONLY
    # The ST_ and MS_ values of these three flags are the same numbers.
    flags |= kept | syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount(None, path, None, flags)


def _empty(path: str) -> None:
    """Cover a folder with an empty one (site-packages hold data sets and graders)."""
    if os.path.isdir(path):
        flags = syscalls.MS_RDONLY | syscalls.MS_NOSUID | syscalls.MS_NODEV
        syscalls.mount("tmpfs", path, "tmpfs", flags, "size=4k,nr_inodes=2,mode=755")


def _bind_device(origin: str, target: str) -> None:
    os.makedirs("/dev", exist_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    syscalls.mount(origin, target, None, syscalls.MS_BIND)


def become_nobody(job: Job, ask_for_map: Any) -> None:
    """As root: turn into the box's user. ``ask_for_map()`` has the launcher write the id maps."""
    if os.geteuid() != 0:
        return
    if "user" in job["walls"]:
        os.setgroups([])
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        ask_for_map()
        os.setresgid(INSIDE_ID, INSIDE_ID, INSIDE_ID)
        os.setresuid(INSIDE_ID, INSIDE_ID, INSIDE_ID)
        return
    # A weak box, which was asked for: another user if that can be had.
    outside = _FIRST_OUTSIDE_ID + os.getpid()
    try:
        os.setgroups([])
        os.setresgid(outside, outside, outside)
        os.setresuid(outside, outside, outside)
    except OSError:
        return


def give_up_rights(job: Job) -> None:
    """Drop capabilities, forbid new privileges, die with the launcher, filter system calls."""
    syscalls.drop_capabilities()
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, _SIGKILL)
    if "pid" not in job["walls"]:
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if "seccomp" in job["walls"]:
        seccomp.install(seccomp.build_filter(syscalls.machine()))


def set_limits(job: Job) -> None:
    """Put the resource limits on the calling process (the program's, before it runs)."""
    limits = job["limits"]
    mib = 1024 * 1024
    memory = limits["memory_mb"] * mib
    cpu = int(-(-limits["cpu_seconds"] // 1))
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, max(1, cpu))
    _limit(resource.RLIMIT_FSIZE, limits["scratch_mb"] * mib)
    _limit(resource.RLIMIT_NOFILE, 64)
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    _limit(resource.RLIMIT_STACK, min(64 * mib, memory))
    _limit(resource.RLIMIT_NPROC, limits["processes"] + job["others"])
    reserve = _HARNESS_RESERVE_MB * mib
    _limit(resource.RLIMIT_AS, memory + _BASELINE_MB * mib, reserve)
    _limit(resource.RLIMIT_DATA, memory, reserve)


def count_others(job: Job) -> int:
    """Return how many processes and threads RLIMIT_NPROC counts beside the program's own.

    In a user namespace of its own (Linux 5.14 and later) or as a user of its own these are the
    warden's, and an ordinary user's launcher; else all that this user runs at this moment.
    """
    release = os.uname().release.split(".")
    minor = "".join(c for c in release[1] if c.isdigit())
    if os.geteuid() == 0:
        return 1
    if "user" in job["walls"] and (int(release[0]), int(minor or 0)) >= (5, 14):
        return 2
    total = 2
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    total += len(os.listdir(f"/proc/{entry.name}/task"))
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile
    return total


def _limit(which: int, soft: int, extra: int = 0) -> None:
    _, hard = resource.getrlimit(which)
    top = soft + extra
    if hard != resource.RLIM_INFINITY:
        top = min(top, hard)
    resource.setrlimit(which, (min(soft, top), top))


def release_reserve() -> None:
    """Let the harness use the last few mebibytes, to report that memory ran out."""
    for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        _, hard = resource.getrlimit(which)
        resource.setrlimit(which, (hard, hard))
