"""Isolate processes with Linux namespaces, with or without root. Failures raise OSError."""

from __future__ import annotations

# ``signal`` itself creates enumerations that make every later fork slower.
import _signal as signal  # type: ignore[import-not-found]
import _socket
import contextlib
import gc
import os
import socket
import stat
import struct
import time

from prorl_sandbox.box import limits, seccomp, syscalls, wire
from prorl_sandbox.box.cgroup import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Settings = dict[str, Any]

SCRATCH, PROGRAM_FOLDER = "/scratch", "/box"
"""Writable folder of a program, and the folder with its source."""
STDIN_FILE = "/box/stdin"
DEVICES = ("null", "zero", "urandom", "random", "full")
INSIDE_ID = 1000
CHANNEL = 3
STREAMS = 3
"""Number of file descriptors sent with a job: standard output, standard error and the channel to the host."""
STARTED, FAULT = b"s", b"x"
WHEN = struct.Struct("=dd")
"""Body of STARTED: start time (``time.monotonic``) and the CPU seconds used before it."""
_RIGHTS = _socket.CMSG_SPACE(4 * (STREAMS + 1))
_LONGEST_FAULT = 1000
_FIRST_OUTSIDE_ID = 1_000_000_000
_IDS_PER_SLOT = 65_536
_SLOT_RANGES = 40_000
_NOBODY = 65534
_LARGEST_PROGRAM_MB = 32
_CAP_SYS_ADMIN = 21
_PLAIN = syscalls.MS_NOSUID | syscalls.MS_NODEV
_SURROUNDINGS = {
    "net": syscalls.CLONE_NEWNET,
    "ipc": syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS,
}


def is_privileged() -> bool:
    if os.geteuid() != 0:
        return False
    with open("/proc/self/status", encoding="utf-8") as file:
        effective = next(line.split()[1] for line in file if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> _CAP_SYS_ADMIN & 1)


def shed_hollow_root(walls: tuple[str, ...]) -> None:
    """Become an ordinary user if root lacks CAP_SYS_ADMIN, because process limits do not apply to root."""
    if os.geteuid() == 0 and "user" in walls and not is_privileged():
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # otherwise /proc/self stays owned by root


def separate_slot(settings: Settings, ask_for_map: Any) -> None:
    """Enter new user, mount and pid namespaces. The pid namespace applies to processes forked later.

    ``ask_for_map`` has the parent process write the id maps.
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
    try_write(f"/proc/{process}/setgroups", "deny")  # required of unprivileged writers only
    write(f"/proc/{process}/uid_map", users)
    write(f"/proc/{process}/gid_map", groups)


def map_slot(process: int, number: int) -> None:
    """As root, run a process with user ids of its own if possible, else as the user nobody."""
    first = _FIRST_OUTSIDE_ID + (number % _SLOT_RANGES) * _IDS_PER_SLOT
    try:
        line = f"0 {first} {_IDS_PER_SLOT}"
        write_id_maps(str(process), line, line)
    except OSError:
        write_id_maps(str(process), f"0 {_NOBODY} 1", f"0 {_NOBODY} 1")


def try_write(path: str, text: str) -> None:
    try:
        write(path, text)
    except OSError:
        return


def enter_root(root: str) -> None:
    """Enter a mount namespace in which the folder ``root`` is the read-only root."""
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    syscalls.mount(root, root, None, syscalls.MS_BIND)
    for name in DEVICES:
        device = f"{root}/dev/{name}"
        is_node = stat.S_ISCHR(os.stat(device).st_mode)
        syscalls.mount(device if is_node else f"/dev/{name}", device, None, syscalls.MS_BIND)
        # Read-only applies to the node, its times and its mode; the device itself stays writable.
        _remount_read_only(device, syscalls.MS_NOSUID)
    os.chdir(root)
    syscalls.pivot_root(".", ".")  # the old root then lies on the new one
    syscalls.unmount(".")
    os.chdir("/")
    _remount_read_only("/")


def _remount_read_only(path: str, added: int = _PLAIN) -> None:
    old_flags = os.statvfs(path).f_flag & (os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    flags = syscalls.MS_REMOUNT | syscalls.MS_BIND | syscalls.MS_RDONLY
    # The ST_ and MS_ values of these three flags are the same numbers.
    syscalls.mount(None, path, None, flags | old_flags | added)


def separate_surroundings(walls: tuple[str, ...]) -> None:
    """Enter new network, IPC and UTS namespaces, which one program after another uses."""
    flags = 0
    for wall, flag in _SURROUNDINGS.items():
        flags |= flag if wall in walls else 0
    if flags:
        syscalls.unshare(flags)
    if flags & syscalls.CLONE_NEWUTS:
        socket.sethostname("box")


def sockets_left(proc: int) -> bool:
    """Return whether an earlier program left sockets in this network namespace, or True if that is unknown."""
    # Sockets end with their processes, except those that are in flight inside one another. These keep abstract names
    # until the kernel collects such cycles.
    try:
        fd = os.open("self/net/unix", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return True
    try:
        return os.read(fd, 4096).count(b"\n") != 1  # the header line
    finally:
        os.close(fd)


class Isolation:
    """Isolates the calling process."""

    def __init__(self, settings: Settings) -> None:
        walls = settings["walls"]
        self._user = "user" in walls
        self._names: tuple[str, ...] = settings["files"] if "mount" in walls else ()
        self._mounts: tuple[syscalls.Prepared, ...] = ()
        self._filters: tuple[syscalls.Prepared, ...] = ()
        prctl = syscalls.prepared_prctl
        if "mount" in walls:
            program = f"size={_LARGEST_PROGRAM_MB}m,nr_inodes=8,mode=755"
            scratch = f"size={settings['scratch_mb']}m,nr_inodes=4096,mode=777"
            flags = _PLAIN | syscalls.MS_NOEXEC
            self._mounts = (
                syscalls.Prepared("unshare", "unshare", syscalls.CLONE_NEWNS),
                syscalls.prepared_tmpfs(PROGRAM_FOLDER, _PLAIN, program),
                syscalls.prepared_tmpfs(SCRATCH, flags, scratch),
            )
        self._rights: tuple[syscalls.Prepared, ...] = (
            prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL),
            syscalls.prepared_drop_capabilities(),
            prctl(syscalls.PR_SET_DUMPABLE, 0),
            prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1),
        )
        self._fence = None
        if settings["landlock"] and "mount" in walls:
            self._fence = syscalls.Fence((SCRATCH, "/dev"), ("/",), settings["landlock"])
        if "seccomp" in walls:
            self._rights += (syscalls.prepared_drop_robust_list(),)
            self._filters = tuple(seccomp.prepared(blob) for blob in settings["filters"])
        self._signals = "seccomp" in walls and "pid" not in walls

    def enter(self) -> list[int]:
        """Enter namespaces, mount folders, switch to an ordinary user and give up all privileges. Raises OSError.

        Returns descriptors to write the program and its standard input, or [] without a mount namespace.
        """
        for mount in self._mounts:
            mount()
        os.setsid()
        files = []
        if self._names:
            path = f"{PROGRAM_FOLDER}/{self._names[0]}"
            files.append(os.open(path, os.O_CREAT | os.O_WRONLY, 0o755))
            for name in self._names[1:]:
                os.link(path, f"{PROGRAM_FOLDER}/{name}")
            files.append(os.open(STDIN_FILE, os.O_CREAT | os.O_WRONLY, 0o444))
            os.chdir(SCRATCH)
        if os.geteuid() == 0:
            self._become_user()
        for right in self._rights:
            right()
        if self._fence is not None:
            self._fence.put_up()
        if self._signals:
            seccomp.install(seccomp.build_signal_filter(syscalls.machine(), os.getpid()))
        for install in self._filters:  # the last filter forbids adding filters
            install()
        return files

    def _become_user(self) -> None:
        inside = INSIDE_ID
        if not self._user:  # weak isolation was allowed: use another user if possible
            inside = _FIRST_OUTSIDE_ID + os.getpid()
            with contextlib.suppress(PermissionError):
                os.setgroups([])
        try:
            os.setresgid(inside, inside, inside)
            os.setresuid(inside, inside, inside)
        except OSError:  # ids are scarce: stay nobody, without any rights
            return


class OomScore:
    """Makes the kernel kill the sandboxed program, not its parent process, when memory runs out."""

    def __init__(self, proc: int) -> None:
        dumpable = syscalls.prctl(syscalls.PR_GET_DUMPABLE) == 1
        syscalls.prctl(
            syscalls.PR_SET_DUMPABLE, 1
        )  # without it, a process that changed its user may not write
        try:
            self._fd = os.open("self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC, dir_fd=proc)
        except OSError:  # not permitted: the kernel then kills the largest process
            self._fd = -1
        finally:
            syscalls.prctl(syscalls.PR_SET_DUMPABLE, int(dumpable))
        self._own = os.read(self._fd, 16) if self._fd >= 0 else b""

    def offer(self) -> None:
        """Make the kernel kill this process and its later children first when memory runs out."""
        self._write(b"1000")

    def withdraw(self) -> None:
        self._write(self._own)

    def _write(self, score: bytes) -> None:
        if self._fd >= 0:
            os.pwrite(self._fd, score, 0)


def receive_job(
    settings: dict[str, Any], isolation: Isolation, connection: _socket.socket, summed: bool
) -> dict[str, Any]:
    """Isolate this process, receive its job on the socket ``connection`` and return the job.

    Sends STARTED, or FAULT if the isolation fails.
    """
    gc.disable()  # until the program starts: there is nothing to collect
    try:
        files = isolation.enter()
        warm_up()
        _, rights, _, _ = connection.recvmsg(64, _RIGHTS)
        if not rights:
            os._exit(0)
        fds = list(struct.unpack(f"={len(rights[0][2]) // 4}i", rights[0][2]))
        job: dict[str, Any] = wire.read_frame(fds[2])
        job["program"], stdin = f"{PROGRAM_FOLDER}/{job['file']}", STDIN_FILE
        if not files:  # no root of its own: use the folder that the host made
            scratch = job["scratch"]
            os.chdir(scratch)
            os.environ.update(HOME=scratch, TMPDIR=scratch)
            job["program"], stdin = f"{scratch}/.{job['file']}", f"{scratch}/.stdin"
            flags = os.O_CREAT | os.O_WRONLY
            files = [os.open(job["program"], flags, 0o700), os.open(stdin, flags, 0o600)]
        wire.write_all(files[0], job["artifact"] or job["source"].encode("utf-8", "replace"))
        if job["stdin"] is not None:
            wire.write_all(files[1], job["stdin"])
            fds.append(os.open(stdin, os.O_RDONLY))
        # Input, output and error become descriptors 0 to 2, the channel 3 and ``connection`` 4.
        for number, fd in enumerate((fds[3], fds[0], fds[1], fds[2], connection.fileno())):
            os.dup2(fd, number, inheritable=number < CHANNEL)
        connection.detach()
        connection = _socket.socket(fileno=CHANNEL + 1)
        os.closerange(CHANNEL + 2, 4096)
        limits.set_limits(job, settings["others"], summed)
    except Exception as error:  # noqa: BLE001 - our own fault: the program has not started
        connection.send(FAULT + f"{type(error).__name__}: {error}".encode()[:_LONGEST_FAULT])
        os._exit(1)
    connection.send(STARTED + WHEN.pack(time.monotonic(), time.process_time()))
    connection.close()
    return job


def hold_low_numbers() -> None:
    """Occupy the lowest file descriptors, which are needed for a program's streams."""
    while (fd := os.dup(0)) <= CHANNEL + 1:
        continue
    os.close(fd)


def warm_up() -> None:
    exec(compile("x = [1, 2]\nfor i in x: str(i)", "", "exec"), {})  # noqa: S102 - our own line
