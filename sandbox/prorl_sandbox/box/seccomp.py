"""Seccomp filters: lists of the system calls that sandboxed programs may use.

All other calls fail with EPERM or ENOSYS.
"""

from __future__ import annotations

import ctypes
import struct

from prorl_sandbox.box import syscalls

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "accept": (43, 202), "accept4": (288, 242), "access": (21, None), "alarm": (37, None),
    "arch_prctl": (158, None), "bind": (49, 200), "brk": (12, 214), "capget": (125, 90),
    "chdir": (80, 49), "chmod": (90, None), "chown": (92, None), "clock_getres": (229, 114),
    "clock_gettime": (228, 113), "clock_nanosleep": (230, 115), "clone": (56, 220),
    "close": (3, 57), "close_range": (436, 436), "connect": (42, 203),
    "copy_file_range": (326, 285), "creat": (85, None), "dup": (32, 23), "dup2": (33, None),
    "dup3": (292, 24), "epoll_create": (213, None), "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441),
    "epoll_wait": (232, None), "eventfd": (284, None), "eventfd2": (290, 19), "execve": (59, 221),
    "execveat": (322, 281), "exit": (60, 93), "exit_group": (231, 94), "faccessat": (269, 48),
    "faccessat2": (439, 439), "fadvise64": (221, 223), "fallocate": (285, 47), "fchdir": (81, 50),
    "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "fchown": (93, 55),
    "fchownat": (260, 54), "fcntl": (72, 25), "fdatasync": (75, 83), "fgetxattr": (193, 10),
    "flistxattr": (196, 13), "flock": (73, 32), "fork": (57, None), "fremovexattr": (199, 16),
    "fsetxattr": (190, 7), "fstat": (5, 80), "fstatfs": (138, 44), "fsync": (74, 82),
    "ftruncate": (77, 46), "futex": (202, 98), "futex_waitv": (449, 449),
    "futimesat": (261, None), "get_mempolicy": (239, 236), "get_robust_list": (274, 100),
    "getcpu": (309, 168), "getcwd": (79, 17), "getdents": (78, None), "getdents64": (217, 61),
    "getegid": (108, 177), "geteuid": (107, 175), "getgid": (104, 176), "getgroups": (115, 158),
    "getitimer": (36, 102), "getpeername": (52, 205), "getpgid": (121, 155),
    "getpgrp": (111, None), "getpid": (39, 172), "getppid": (110, 173), "getpriority": (140, 141),
    "getrandom": (318, 278), "getresgid": (120, 150), "getresuid": (118, 148),
    "getrlimit": (97, 163), "getrusage": (98, 165), "getsid": (124, 156),
    "getsockname": (51, 204), "getsockopt": (55, 209), "gettid": (186, 178),
    "gettimeofday": (96, 169), "getuid": (102, 174), "getxattr": (191, 8), "ioctl": (16, 29),
    "ioprio_get": (252, 31), "ioprio_set": (251, 30), "kill": (62, 129), "lchown": (94, None),
    "lgetxattr": (192, 9), "link": (86, None), "linkat": (265, 37), "listen": (50, 201),
    "listxattr": (194, 11), "llistxattr": (195, 12), "lremovexattr": (198, 15), "lseek": (8, 62),
    "lsetxattr": (189, 6), "lstat": (6, None), "madvise": (28, 233), "membarrier": (324, 283),
    "mkdir": (83, None), "mkdirat": (258, 34), "mlock": (149, 228), "mmap": (9, 222),
    "mprotect": (10, 226), "mremap": (25, 216), "msync": (26, 227), "munlock": (150, 229),
    "munmap": (11, 215), "nanosleep": (35, 101), "newfstatat": (262, 79), "open": (2, None),
    "openat": (257, 56), "openat2": (437, 437), "pause": (34, None), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pipe": (22, None), "pipe2": (293, 59),
    "pkey_alloc": (330, 289), "pkey_free": (331, 290), "pkey_mprotect": (329, 288),
    "poll": (7, None), "ppoll": (271, 73), "prctl": (157, 167), "pread64": (17, 67),
    "preadv": (295, 69), "preadv2": (327, 286), "prlimit64": (302, 261), "pselect6": (270, 72),
    "pwrite64": (18, 68), "pwritev": (296, 70), "pwritev2": (328, 287), "read": (0, 63),
    "readahead": (187, 213), "readlink": (89, None), "readlinkat": (267, 78), "readv": (19, 65),
    "recvfrom": (45, 207), "recvmmsg": (299, 243), "recvmsg": (47, 212), "removexattr": (197, 14),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "restart_syscall": (219, 128), "rmdir": (84, None), "rseq": (334, 293),
    "rt_sigaction": (13, 134), "rt_sigpending": (127, 136), "rt_sigprocmask": (14, 135),
    "rt_sigqueueinfo": (129, 138), "rt_sigreturn": (15, 139), "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137), "rt_tgsigqueueinfo": (297, 240),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "sched_getaffinity": (204, 123), "sched_getattr": (315, 275), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "sched_rr_get_interval": (148, 127),
    "sched_setaffinity": (203, 122), "sched_yield": (24, 124), "select": (23, None),
    "sendfile": (40, 71), "sendmmsg": (307, 269), "sendmsg": (46, 211), "sendto": (44, 206),
    "set_robust_list": (273, 99), "set_tid_address": (218, 96), "setfsgid": (123, 152),
    "setfsuid": (122, 151), "setgid": (106, 144), "setgroups": (116, 159), "setitimer": (38, 103),
    "setpgid": (109, 154), "setpriority": (141, 140), "setregid": (114, 143),
    "setresgid": (119, 149), "setresuid": (117, 147), "setreuid": (113, 145),
    "setrlimit": (160, 164), "setsid": (112, 157), "setsockopt": (54, 208), "setuid": (105, 146),
    "setxattr": (188, 5), "shutdown": (48, 210), "sigaltstack": (131, 132),
    "signalfd": (282, None), "signalfd4": (289, 74), "socket": (41, 198), "socketpair": (53, 199),
    "splice": (275, 76), "stat": (4, None), "statfs": (137, 43), "statx": (332, 291),
    "symlink": (88, None), "symlinkat": (266, 36), "sync": (162, 81),
    "sync_file_range": (277, 84), "syncfs": (306, 267), "sysinfo": (99, 179), "tee": (276, 77),
    "tgkill": (234, 131), "time": (201, None), "timer_create": (222, 107),
    "timer_delete": (226, 111), "timer_getoverrun": (225, 109), "timer_gettime": (224, 108),
    "timer_settime": (223, 110), "timerfd_create": (283, 85), "timerfd_gettime": (287, 87),
    "timerfd_settime": (286, 86), "times": (100, 153), "tkill": (200, 130), "truncate": (76, 45),
    "umask": (95, 166), "uname": (63, 160), "unlink": (87, None), "unlinkat": (263, 35),
    "utime": (132, None), "utimensat": (280, 88), "utimes": (235, None), "vfork": (58, None),
    "vmsplice": (278, 75), "wait4": (61, 260), "waitid": (247, 95), "write": (1, 64),
    "writev": (20, 66),
}  # fmt: skip


ALLOWED = (
    # Files and folders.
    "access", "chdir", "chmod", "chown", "copy_file_range", "creat", "faccessat", "faccessat2",
    "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "fdatasync",
    "fgetxattr", "flistxattr", "fstat", "fsync", "ftruncate", "futimesat", "getcwd",
    "getdents", "getdents64", "getxattr", "lchown", "lgetxattr", "link", "linkat", "listxattr",
    "llistxattr", "lseek", "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat", "openat2",
    "pread64", "preadv", "pwrite64", "pwritev", "read", "readlink", "readlinkat", "readv",
    "rename", "renameat", "renameat2", "rmdir", "sendfile", "stat", "symlink",
    "symlinkat", "truncate", "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes",
    "write", "writev",
    # Descriptors.
    "close", "close_range", "dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl",
    "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "pipe", "pipe2", "poll",
    "ppoll", "pselect6", "select", "signalfd", "signalfd4", "timerfd_create",
    "timerfd_gettime", "timerfd_settime",
    # Memory.
    "brk", "mprotect", "mremap", "msync", "munlock", "munmap", "pkey_alloc",
    "pkey_free", "pkey_mprotect",
    # Processes, threads and queries about themselves.
    "alarm", "arch_prctl", "capget", "execve", "execveat", "exit", "exit_group", "fork",
    "getcpu", "getegid", "geteuid", "getgid", "getgroups",
    "getitimer", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getresgid", "getresuid",
    "getrlimit", "getrusage", "getsid", "gettid", "getuid", "kill", "pause",
    "restart_syscall", "rseq", "sched_get_priority_max",
    "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam",
    "sched_getscheduler", "sched_rr_get_interval", "sched_yield",
    "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups", "setitimer", "setpgid",
    "setregid", "setresgid", "setresuid", "setreuid", "setrlimit", "setsid", "setuid", "tgkill",
    "times", "tkill", "uname", "vfork", "wait4", "waitid",
    # Signals and time.
    "clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep",
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn",
    "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sigaltstack", "time", "timer_create",
    "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
    # Sockets between its own processes.
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "listen",
    "shutdown", "getrandom",
)  # fmt: skip
PRETENDED = ("fadvise64", "readahead", "sync", "sync_file_range", "syncfs")
"""Calls that do nothing and succeed, because they would affect the page cache of the whole machine."""
WITHOUT_MARKS = (
    "fsetxattr",
    "lsetxattr",
    "setxattr",
    "fremovexattr",
    "lremovexattr",
    "removexattr",
)
"""Calls that set extended attributes. They fail as on a file system without such attributes."""

ABSENT = (
    "fstatfs", "futex_waitv", "get_robust_list", "pidfd_open", "pidfd_send_signal",
    "set_robust_list", "splice", "statfs", "statx", "tee", "vmsplice",
)  # fmt: skip
"""Calls that fail with ENOSYS, because they reveal facts about the machine."""

NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag that clone(2) knows
_CLONE_PIDFD = 0x1000  # its inode number counts the processes of the machine
_AF_UNIX = 1
SOCKET_LEVEL = 1
_SET_OPTIONS = (2, 6, 7, 8, 9, 13, 15, 16, 18, 20, 21, 66, 67)
SOCKET_OPTIONS = {
    "setsockopt": _SET_OPTIONS,
    "getsockopt": (*_SET_OPTIONS, 3, 4, 17, 30, 38, 39, 42),
}
"""Permitted SOL_SOCKET options. TYPE, ERROR, PEERCRED, ACCEPTCONN, PROTOCOL, DOMAIN and PEEK_OFF can only be read."""
MESSAGE_FLAGS = {
    "recvfrom": 3, "recvmmsg": 3, "recvmsg": 2, "sendmmsg": 3, "sendmsg": 2, "sendto": 3,
}  # fmt: skip
"""Index of the ``flags`` argument of each call."""
MSG_OOB = 1
"""Refused message flag: out-of-band bytes on unix sockets (CVE-2025-38236)."""
_BARRIERS = (0, 8, 16, 32, 64, 128, 256)
"""MEMBARRIER_CMD_QUERY and the private commands. The others interrupt every CPU."""
_MAP_HUGETLB, _MAP_LOCKED = 0x40000, 0x2000
_PRIVATE_FUTEX = 128
_FUTEX_WAIT, _FUTEX_WAKE, _FUTEX_WAIT_BITSET, _FUTEX_WAKE_BITSET = 0, 1, 9, 10
_SIGCHLD = 17
_SET_LOCKS = (6, 7)  # F_SETLK, F_SETLKW
_FCNTLS = (0, 1, 2, 3, 4, 5, 8, 9, 36, 1030, 1032, 1034)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETOWN, F_GETOWN, F_OFD_GETLK,
F_DUPFD_CLOEXEC, F_GETPIPE_SZ, F_GET_SEALS."""
_IOCTLS = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452, 0x802C542A)
"""TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC, TCGETS2."""
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_ADVICE = (0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19)
"""MADV_NORMAL to DONTNEED, FREE, REMOVE, DONTFORK, DOFORK, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP,
WIPEONFORK, KEEPONFORK; not COLD, PAGEOUT, POPULATE_*, MERGEABLE, COLLAPSE."""
_PRCTLS = (1, 2, 3, 15, 16, 23, 27, 29, 30, 36, 37, 38, 39, 40, 41, 42, 0x53564D41)
"""PR_[GS]ET_PDEATHSIG, GET_DUMPABLE, [GS]ET_NAME, CAPBSET_READ, GET_SECUREBITS, [GS]ET_TIMERSLACK,
[GS]ET_CHILD_SUBREAPER, [GS]ET_NO_NEW_PRIVS, GET_TID_ADDRESS, [GS]ET_THP_DISABLE, SET_VMA."""

_FIRST_NEW_CALL = 424
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_LOAD, _AND, _JA, _JEQ, _JGE, _JSET, _RET = 0x20, 0x54, 0x05, 0x15, 0x35, 0x45, 0x06
_LONGEST_BRANCH = 255
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000
_EPERM, _ENOTTY, _ENOSYS, _EOPNOTSUPP = (_ERRNO | code for code in (1, 25, 38, 95))
_PRETEND = _ERRNO
_NR, _ARCH = 0, 4

Instruction = tuple[int, int, int, int]


def _argument(number: int) -> Instruction:
    return (_LOAD, 0, 0, 16 + 8 * number)


def _when(values: tuple[int, ...], verdict: int) -> list[Instruction]:
    return [rule for value in values for rule in ((_JEQ, 0, 1, value), (_RET, 0, 0, verdict))]


def _checks() -> dict[str, list[Instruction]]:
    otherwise = (_RET, 0, 0, _EPERM)
    only_unix = [_argument(0), *_when((_AF_UNIX,), _ALLOW), otherwise]
    no_flags = [_argument(5), *_when((0,), _ALLOW), (_RET, 0, 0, _EOPNOTSUPP)]  # RWF_*
    options = {
        name: [
            _argument(1),
            (_JEQ, 1, 0, SOCKET_LEVEL),
            otherwise,
            _argument(2),
            *_when(allowed, _ALLOW),
            otherwise,
        ]
        for name, allowed in SOCKET_OPTIONS.items()
    }
    messages = {
        name: [_argument(at), (_JSET, 0, 1, MSG_OOB), otherwise, (_RET, 0, 0, _ALLOW)]
        for name, at in MESSAGE_FLAGS.items()
    }
    return {
        **options,
        **messages,
        "clone": [
            _argument(0),
            (_JSET, 0, 1, NEW_NAMESPACES | _CLONE_PIDFD),
            otherwise,
            (_RET, 0, 0, _ALLOW),
        ],
        "fcntl": [
            _argument(1),
            *_when(_FCNTLS, _ALLOW),
            *_when(_SET_LOCKS, _PRETEND),  # SQLite sets them on its own files
            otherwise,
        ],
        # A wake-up reaches every waiter on the same place of a shared file, so it is limited to private memory. Waiting
        # is always allowed: it is how a thread waits for another's end, which the kernel signals.
        "futex": [
            _argument(1),
            (_JSET, 0, 1, _PRIVATE_FUTEX),
            (_RET, 0, 0, _ALLOW),
            (_AND, 0, 0, 127),
            *_when((_FUTEX_WAIT, _FUTEX_WAIT_BITSET), _ALLOW),
            *_when((_FUTEX_WAKE, _FUTEX_WAKE_BITSET), _PRETEND),
            otherwise,
        ],
        "ioctl": [
            _argument(1),
            *_when(_IOCTLS, _ALLOW),
            *_when(_TERMINAL_INPUT, _EPERM),
            (_RET, 0, 0, _ENOTTY),
        ],
        "madvise": [_argument(2), *_when(_ADVICE, _ALLOW), otherwise],
        "membarrier": [_argument(0), *_when(_BARRIERS, _ALLOW), otherwise],
        "mmap": [
            _argument(3),
            (_JSET, 0, 1, _MAP_HUGETLB | _MAP_LOCKED),
            otherwise,
            (_RET, 0, 0, _ALLOW),
        ],
        "prctl": [_argument(0), *_when(_PRCTLS, _ALLOW), otherwise],
        "preadv2": no_flags,
        "pwritev2": no_flags,
        "prlimit64": [_argument(0), *_when((0,), _ALLOW), otherwise],
        "socket": only_unix,
        "socketpair": only_unix,
    }


def _guard(number: int, body: list[Instruction]) -> list[Instruction]:
    return [(_JEQ, 0, len(body), number), *body]


def named_calls() -> set[str]:
    return {*ALLOWED, *PRETENDED, *WITHOUT_MARKS, *_checks()}


def build_filter(machine: str) -> list[Instruction]:
    """Return the filter for a machine. Raises OSError unless it is ``x86_64`` or ``aarch64``."""
    rules = _arch_check(machine)
    if machine == "x86_64":
        rules += [(_JGE, 0, 1, _X32_BIT), (_RET, 0, 0, _KILL_PROCESS)]
    bodies: dict[int, list[Instruction]] = {}
    for names, verdict in (
        (ALLOWED, _ALLOW),
        (PRETENDED, _PRETEND),
        (WITHOUT_MARKS, _EOPNOTSUPP),
        (ABSENT, _ENOSYS),
    ):
        for name in names:
            if (number := _number(name, machine)) is not None:
                bodies[number] = [(_RET, 0, 0, verdict)]
    for name, body in _checks().items():
        if (number := _number(name, machine)) is not None:
            bodies[number] = body
    spans: list[tuple[int, list[Instruction]]] = []
    for number in range(max(*bodies, _FIRST_NEW_CALL) + 2):
        new = number >= _FIRST_NEW_CALL
        body = bodies.get(number, [(_RET, 0, 0, _ENOSYS if new else _EPERM)])
        if not spans or body != spans[-1][1]:
            spans.append((number, body))
    return rules + _search(spans)  # fast, as each installation makes the kernel try every call


def _search(spans: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    below, above = _search(spans[:middle]), _search(spans[middle:])
    first = spans[middle][0]
    if len(below) <= _LONGEST_BRANCH:
        return [(_JGE, len(below), 0, first), *below, *above]
    return [(_JGE, 0, 1, first), (_JA, 0, 0, len(below)), *below, *above]


def build_child_filter(machine: str) -> list[Instruction]:
    """Return an additional filter for programs whose CPU time is not measured by a control group.

    It prevents programs from ignoring SIGCHLD or starting a session, which would distort the measured time.
    """
    # Ignoring SIGCHLD would make the kernel forget the children's time. The scheduler divides CPU time by session
    # (sched(7), autogroup).
    rules = _arch_check(machine)
    sigaction, setsid = (_number(name, machine) or 0 for name in ("rt_sigaction", "setsid"))
    rules += _guard(sigaction, [_argument(0), *_when((_SIGCHLD,), _PRETEND), (_RET, 0, 0, _ALLOW)])
    return [*rules, *_guard(setsid, [(_RET, 0, 0, _PRETEND)]), (_RET, 0, 0, _ALLOW)]


def _number(name: str, machine: str) -> int | None:
    return NUMBERS[name][0 if machine == "x86_64" else 1]


def build_signal_filter(machine: str, own_pid: int) -> list[Instruction]:
    """Return a filter that lets a process send signals only to itself, for use without a pid namespace."""
    rules = _arch_check(machine)
    kill, tgkill, tkill = (_number(name, machine) or 0 for name in ("kill", "tgkill", "tkill"))
    for number in (kill, tgkill):
        rules += _guard(
            number,
            [
                _argument(0),
                (_JEQ, 0, 1, own_pid),
                (_RET, 0, 0, _ALLOW),
                (_RET, 0, 0, _EPERM),
            ],
        )
    return [*rules, (_JEQ, 0, 1, tkill), (_RET, 0, 0, _EPERM), (_RET, 0, 0, _ALLOW)]


def _arch_check(machine: str) -> list[Instruction]:
    if machine not in _AUDIT_ARCH:
        raise OSError(38, f"seccomp: no filter for {machine}, only for x86_64 and aarch64")
    return [
        (_LOAD, 0, 0, _ARCH),
        (_JEQ, 1, 0, _AUDIT_ARCH[machine]),
        (_RET, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NR),
    ]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(rules: list[Instruction]) -> None:
    """Install a filter permanently, also for child processes. Requires ``no_new_privs``."""
    install_blob(assemble(rules))


def assemble(rules: list[Instruction]) -> bytes:
    return b"".join(struct.pack("=HBBI", *rule) for rule in rules)


def prepared(blob: bytes) -> syscalls.Prepared:
    program = ctypes.byref(_Program(len(blob) // 8, blob))
    return syscalls.prepared_prctl(syscalls.PR_SET_SECCOMP, 2, program)


def install_blob(blob: bytes) -> None:
    prepared(blob)()
