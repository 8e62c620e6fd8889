"""The system-call filter of the box, as classic BPF built by hand.

A deny list for the calls that open kernel surface a program of text has no use for, argument checks
on clone, socket, ioctl, kill-like and prlimit calls, and ENOSYS for every call newer than Linux 5.0
that is not on a short list.
"""

from __future__ import annotations

import ctypes
import struct

from prorl_sandbox.box import syscalls

# name: (x86_64, aarch64); None where the machine has no such call.
DENIED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "vhangup": (153, 58),
    "fanotify_init": (300, 262),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "personality": (135, 92),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    # Marks and messages between boxes through the files that all of them see.
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "flock": (73, 32),
    # Memory that no limit of ours counts: anonymous files and System V or POSIX queues.
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
}
_CLONE = (56, 220)
_SOCKET = (41, 198)
_SOCKETPAIR = (53, 199)
_IOCTL = (16, 29)
_PRLIMIT = (302, 261)
_FCNTL = (72, 25)
_FCNTL_DENIED = (37, 38, 1024, 1026)  # locks of open files, leases, notes of changed folders
_KILL = (62, 129)
_TGKILL = (234, 131)
_TKILL = (200, 130)

# The numbers from 424 on are the same on every machine. Of these only the harmless and useful pass:
# pidfd_open, close_range, openat2, faccessat2, epoll_pwait2, futex_waitv, fchmodat2, futex_*.
_FIRST_NEW_CALL = 424
_NEW_CALLS_ALLOWED = (434, 436, 437, 439, 441, 449, 452, 454, 455, 456)

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag that clone(2) knows
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
_AF_UNIX = 1

_LOAD, _JEQ, _JGE, _JSET, _RET = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_EPERM = 0x00050000 | 1
_ENOSYS = 0x00050000 | 38
_NR, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24

Instruction = tuple[int, int, int, int]


def _guard(number: int, body: list[Instruction]) -> list[Instruction]:
    """Run ``body`` (which must end in a return) only for this call."""
    return [(_JEQ, 0, len(body), number), *body]


def build_filter(machine: str) -> list[Instruction]:
    """Return the box's filter for ``x86_64`` or ``aarch64``; raises OSError for another machine."""
    if machine not in _AUDIT_ARCH:
        raise OSError(38, f"seccomp: no filter for {machine}")
    index = 0 if machine == "x86_64" else 1
    rules = _arch_check(machine)
    if machine == "x86_64":
        rules += [(_JGE, 0, 1, _X32_BIT), (_RET, 0, 0, _KILL_PROCESS)]
    for numbers in DENIED.values():
        number = numbers[index]
        if number is not None:
            rules += [(_JEQ, 0, 1, number), (_RET, 0, 0, _EPERM)]
    newer: list[Instruction] = []
    for number in _NEW_CALLS_ALLOWED:
        newer += [(_JEQ, 0, 1, number), (_RET, 0, 0, _ALLOW)]
    newer.append((_RET, 0, 0, _ENOSYS))
    rules += [(_JGE, 0, len(newer), _FIRST_NEW_CALL), *newer]
    # Calls whose arguments matter, of which only the low 32 bits do.
    only_unix: list[Instruction] = [
        (_LOAD, 0, 0, _ARG0),
        (_JEQ, 0, 1, _AF_UNIX),
        (_RET, 0, 0, _ALLOW),
        (_RET, 0, 0, _EPERM),
    ]
    rules += _guard(_SOCKET[index], only_unix) + _guard(_SOCKETPAIR[index], only_unix)
    rules += _guard(
        _CLONE[index],
        [
            (_LOAD, 0, 0, _ARG0),
            (_JSET, 0, 1, NEW_NAMESPACES),
            (_RET, 0, 0, _EPERM),
            (_RET, 0, 0, _ALLOW),
        ],
    )
    rules += _guard(
        _IOCTL[index],
        [
            (_LOAD, 0, 0, _ARG1),
            (_JEQ, 1, 0, TIOCSTI),
            (_JEQ, 0, 1, TIOCLINUX),
            (_RET, 0, 0, _EPERM),
            (_RET, 0, 0, _ALLOW),
        ],
    )
    denied = [r for cmd in _FCNTL_DENIED for r in ((_JEQ, 0, 1, cmd), (_RET, 0, 0, _EPERM))]
    rules += _guard(_FCNTL[index], [(_LOAD, 0, 0, _ARG1), *denied, (_RET, 0, 0, _ALLOW)])
    rules += _guard(
        _PRLIMIT[index],
        [
            (_LOAD, 0, 0, _ARG0),
            (_JEQ, 0, 1, 0),
            (_RET, 0, 0, _ALLOW),
            (_RET, 0, 0, _EPERM),
        ],
    )
    return [*rules, (_RET, 0, 0, _ALLOW)]


def build_signal_filter(machine: str, own_pid: int) -> list[Instruction]:
    """Return a filter that lets a process signal itself alone: for want of a pid namespace."""
    index = 0 if machine == "x86_64" else 1
    rules = _arch_check(machine)
    for numbers in (_KILL, _TGKILL):
        rules += _guard(
            numbers[index],
            [
                (_LOAD, 0, 0, _ARG0),
                (_JEQ, 0, 1, own_pid),
                (_RET, 0, 0, _ALLOW),
                (_RET, 0, 0, _EPERM),
            ],
        )
    return [*rules, (_JEQ, 0, 1, _TKILL[index]), (_RET, 0, 0, _EPERM), (_RET, 0, 0, _ALLOW)]


def _arch_check(machine: str) -> list[Instruction]:
    return [
        (_LOAD, 0, 0, _ARCH),
        (_JEQ, 1, 0, _AUDIT_ARCH[machine]),
        (_RET, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NR),
    ]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(rules: list[Instruction]) -> None:
    """Put a filter on the calling process and all its children, for good. Needs no_new_privs."""
    install_blob(assemble(rules))


def assemble(rules: list[Instruction]) -> bytes:
    """Return the kernel's form of a filter."""
    return b"".join(struct.pack("=HBBI", *rule) for rule in rules)


def install_blob(blob: bytes) -> None:
    """Install an assembled filter (see ``install``)."""
    buffer = ctypes.create_string_buffer(blob)
    program = _Program(len(blob) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    syscalls.prctl(syscalls.PR_SET_SECCOMP, 2, program)
