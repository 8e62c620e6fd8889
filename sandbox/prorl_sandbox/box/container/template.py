"""Process inside a container from which programs are forked."""

from __future__ import annotations

import _socket
import fcntl
import gc
import marshal
import os
import struct

from prorl_sandbox.box import limits, seccomp, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHANNEL = 3
STREAMS = 6
"""Number of file descriptors per job: stdin, stdout, stderr, channel to the host, job and start report."""
ORDER = struct.Struct("=I64s")
BORN = struct.Struct("=ci")
GONE = struct.Struct("=cidi")
SCRATCH_NAME = "box"
_FIRST_KEPT = 100
_LAST_FD = 1024
_READABLE = (
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/box",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
)
_WRITABLE = ("/dev/null",)


class Template:
    def __init__(self, control: _socket.socket) -> None:
        self._control = control
        self._filter = seccomp.assemble(seccomp.build_filter(syscalls.machine()))
        self._landlock_abi = syscalls.landlock_abi()

    def serve(self) -> dict[str, Any]:
        """Fork a process for each program. Returns only in a forked process, with its job."""
        space = _socket.CMSG_SPACE(STREAMS * 4)
        while True:
            data, extra, _, _ = self._control.recvmsg(ORDER.size, space, _socket.MSG_CMSG_CLOEXEC)
            if not data:
                os._exit(0)
            streams = list(struct.unpack(f"={STREAMS}i", extra[0][2]))
            uid, parent = ORDER.unpack(data)
            scratch = f"{parent.rstrip(bytes(1)).decode()}/{SCRATCH_NAME}"
            try:
                pid = os.fork()
            except OSError as error:
                self._control.send(BORN.pack(b"x", error.errno or 0))
                _close(streams)
                continue
            if not pid:
                self._control.close()
                return self._become_program(uid, scratch, streams)
            _close(streams)
            self._control.send(BORN.pack(b"b", pid))
            _, status, usage = os.wait4(pid, 0)
            spent = usage.ru_utime + usage.ru_stime
            self._control.send(GONE.pack(b"g", status, spent, usage.ru_maxrss))

    def _become_program(self, uid: int, scratch: str, streams: list[int]) -> dict[str, Any]:
        gc.disable()  # until the program starts: there is nothing to collect
        copies = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_KEPT) for fd in streams]
        for number, fd in enumerate(copies[: CHANNEL + 1]):
            os.dup2(fd, number, inheritable=number < CHANNEL)
        os.closerange(CHANNEL + 1, copies[CHANNEL + 1])
        os.closerange(copies[-1] + 1, _LAST_FD)
        job_fd, report = copies[-2], copies[-1]
        try:
            offer_for_memory()
            os.setsid()
            become(uid)
            os.umask(0o022)
            os.mkdir(scratch, 0o700)
            os.chdir(scratch)
            with os.fdopen(job_fd, "rb", buffering=0) as file:
                job: dict[str, Any] = marshal.loads(file.read())
            limits.set_fixed_limits()
            limits.set_limits(job, other_processes=0, summed=True)
            self._give_up_rights(scratch, job["folders"])
        except (OSError, ValueError) as error:
            os.write(report, b"x" + str(error).encode("utf-8", "replace")[:500])
            os._exit(1)
        os.write(report, b"s")
        os.close(report)
        return job

    def _give_up_rights(self, scratch: str, folders: tuple[str, ...]) -> None:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
        syscalls.drop_bounding_set()
        syscalls.drop_capabilities()
        if self._landlock_abi:
            readable = (*_READABLE, *folders)
            syscalls.Fence((scratch, *_WRITABLE), readable, self._landlock_abi).put_up()
        syscalls.prepared_drop_robust_list()()
        seccomp.install_blob(self._filter)


def become(uid: int) -> None:
    """Permanently become the user ``uid`` without any groups."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def offer_for_memory() -> None:
    """Make the kernel kill this process first when memory runs out."""
    fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, b"1000")
    finally:
        os.close(fd)


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
