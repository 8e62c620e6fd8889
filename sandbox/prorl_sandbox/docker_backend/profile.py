"""The seccomp profile of a container, in the engine's JSON.

It holds for everything in the container, init included, and refuses what opens kernel surface that
neither init nor a program has a use for; each program also gets the box's own filter, which is an
allow-list and knows calls by number. Landlock's calls stay open here, for programs are shut in with
them. Leaves out what the engine does when it cannot filter: it refuses the container.
"""

from __future__ import annotations

import json
from typing import Any

from prorl_sandbox.box import seccomp

_DENY = "SCMP_ACT_ERRNO"
_EPERM, _ENOSYS = 1, 38
_AF_UNIX = 1
_LOW_WORD = 0xFFFFFFFF
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_CALLS = (
    "_sysctl", "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime",
    "create_module", "delete_module", "fanotify_init", "finit_module", "flock", "init_module",
    "inotify_add_watch", "inotify_init", "inotify_init1", "ioperm", "iopl", "kcmp",
    "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "mbind", "memfd_create",
    "migrate_pages", "mknod", "mknodat", "modify_ldt", "mount", "move_pages", "mq_open",
    "msgget", "name_to_handle_at", "nfsservctl", "open_by_handle_at", "perf_event_open",
    "personality", "pivot_root", "process_vm_readv", "process_vm_writev", "ptrace", "quotactl",
    "reboot", "request_key", "sched_setattr", "sched_setparam", "sched_setscheduler", "semget",
    "set_mempolicy", "setdomainname", "sethostname", "setns", "settimeofday", "shmat", "shmget",
    "swapoff", "swapon", "sysfs", "syslog", "umount2", "unshare", "uselib", "userfaultfd",
    "ustat", "vhangup",
)  # fmt: skip
# Calls newer than Linux 5.0 that open surface; a C library falls back when it is told ENOSYS.
_NEW_CALLS = (
    "pidfd_send_signal",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "clone3",
    "pidfd_getfd",
    "process_madvise",
    "mount_setattr",
    "quotactl_fd",
    "memfd_secret",
    "process_mrelease",
    "set_mempolicy_home_node",
)


def build_profile() -> dict[str, Any]:
    """Return the profile: all calls but those refused, as the engine's API takes it in JSON."""
    rules: list[dict[str, Any]] = [
        {"names": list(_CALLS), "action": _DENY, "errnoRet": _EPERM},
        {"names": list(_NEW_CALLS), "action": _DENY, "errnoRet": _ENOSYS},
        _when(["socket", "socketpair"], 0, _AF_UNIX, "SCMP_CMP_NE"),
    ]
    flags = seccomp.NEW_NAMESPACES
    bits = [1 << place for place in range(32) if flags >> place & 1]
    rules += [_when(["clone"], 0, bit, "SCMP_CMP_MASKED_EQ", bit) for bit in bits]
    for request in (_TIOCSTI, _TIOCLINUX):
        rules.append(_when(["ioctl"], 1, _LOW_WORD, "SCMP_CMP_MASKED_EQ", request))
    return {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}


def profile_text() -> str:
    """Return the profile as the engine's ``seccomp=`` option takes it."""
    return json.dumps(build_profile())


def _when(names: list[str], index: int, value: int, test: str, other: int = 0) -> dict[str, Any]:
    """Return a rule that denies ``names`` when an argument meets ``test``."""
    argument = {"index": index, "value": value, "valueTwo": other, "op": test}
    return {"names": names, "action": _DENY, "errnoRet": _EPERM, "args": [argument]}
