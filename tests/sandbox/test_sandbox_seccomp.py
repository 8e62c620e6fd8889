from __future__ import annotations

import pytest

from prorl_sandbox.box import seccomp
from prorl_sandbox.box.seccomp import NUMBERS

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
ALLOW, EPERM, ENOTTY, ENOSYS, PRETEND = 0x7FFF0000, 0x50001, 0x50019, 0x50026, 0x50000


def verdict(machine: str, number: int, *arguments: int, rules: object = None) -> int:
    """Return the filter's result for a call."""
    program = seccomp.build_filter(machine) if rules is None else rules
    words = {0: number, 4: MACHINES[machine][1]}
    words |= {16 + 8 * i: value & 0xFFFFFFFF for i, value in enumerate(arguments)}
    place, a = 0, 0
    while True:
        code, true, false, k = program[place]  # type: ignore[index]
        place += 1
        if code == 0x20:
            a = words.get(k, 0)
        elif code == 0x54:
            a &= k
        elif code == 0x05:
            place += k
        elif code == 0x06:
            return int(k)
        else:
            test = {0x15: a == k, 0x35: a >= k, 0x45: bool(a & k)}[code]
            place += true if test else false


def number(machine: str, name: str) -> int:
    found = NUMBERS[name][MACHINES[machine][0]]
    if found is None:
        pytest.skip(f"{machine} has no {name}")
    return found


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", (), ALLOW),
        ("openat", (), ALLOW),
        ("execve", (), ALLOW),
        ("clone", (0x11,), ALLOW),
        ("clone", (0x10000011,), EPERM),
        ("clone", (0x1011,), EPERM),  # CLONE_PIDFD
        ("fcntl", (3, 1), ALLOW),
        ("fcntl", (3, 6), PRETEND),  # F_SETLK
        ("fcntl", (3, 37), EPERM),  # F_OFD_SETLK
        ("fcntl", (3, 1024), EPERM),  # F_SETLEASE
        ("fcntl", (3, 1031), EPERM),  # F_SETPIPE_SZ
        ("futex", (0, 128 | 1), ALLOW),
        ("futex", (0, 256 | 9), ALLOW),
        ("futex", (0, 1), PRETEND),
        ("futex", (0, 6), EPERM),
        ("getsockopt", (0, 1, 3), ALLOW),
        ("getsockopt", (0, 1, 57), EPERM),  # SO_COOKIE
        ("getsockopt", (0, 6, 3), EPERM),
        ("setsockopt", (0, 1, 2), ALLOW),  # SO_REUSEADDR
        ("setsockopt", (0, 1, 26), EPERM),  # SO_ATTACH_FILTER
        ("setsockopt", (0, 1, 4), EPERM),  # SO_ERROR
        ("setsockopt", (0, 6, 2), EPERM),
        ("sendto", (0, 0, 0, 0x4040), ALLOW),
        ("sendto", (0, 0, 0, 0x4041), EPERM),  # MSG_OOB
        ("sendmsg", (0, 0, 1), EPERM),
        ("sendmmsg", (0, 0, 1, 0), ALLOW),
        ("sendmmsg", (0, 0, 1, 1), EPERM),
        ("recvfrom", (0, 0, 1, 2), ALLOW),
        ("recvfrom", (0, 0, 1, 3), EPERM),
        ("recvmsg", (0, 1, 0x40000000), ALLOW),
        ("recvmsg", (0, 1, 1), EPERM),
        ("recvmmsg", (0, 0, 1, 1), EPERM),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), EPERM),
        ("ioctl", (0, 0x40049409), ENOTTY),
        ("madvise", (0, 0, 4), ALLOW),
        ("madvise", (0, 0, 21), EPERM),
        ("membarrier", (8,), ALLOW),
        ("membarrier", (1,), EPERM),
        ("mmap", (0, 0, 3, 0x22), ALLOW),
        ("mmap", (0, 0, 3, 0x40022), EPERM),
        ("prctl", (15,), ALLOW),
        ("prctl", (4,), EPERM),
        ("preadv2", (0, 0, 0, 0, 0, 0), ALLOW),
        ("preadv2", (0, 0, 0, 0, 0, 8), 0x5005F),
        ("prlimit64", (0,), ALLOW),
        ("prlimit64", (1,), EPERM),
        ("socket", (1,), ALLOW),
        ("socket", (2,), EPERM),
        ("setpriority", (), EPERM),
        ("sched_setaffinity", (), EPERM),
        ("flock", (), EPERM),
        ("sync", (), PRETEND),
        ("fadvise64", (), PRETEND),
        ("setxattr", (), 0x5005F),
        ("statfs", (), ENOSYS),
        ("statx", (), ENOSYS),
        ("set_robust_list", (), ENOSYS),
        ("pidfd_open", (), ENOSYS),
        ("splice", (), ENOSYS),
    ],
)
def test_a_call_gets_its_verdict(
    machine: str, name: str, arguments: tuple[int, ...], expected: int
) -> None:
    assert verdict(machine, number(machine, name), *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_that_is_not_named_is_refused(machine: str) -> None:
    named = {numbers[MACHINES[machine][0]] for numbers in NUMBERS.values()}
    for one in set(range(600)) - named:
        assert verdict(machine, one) == (ENOSYS if one >= 424 else EPERM), one


@pytest.mark.parametrize("machine", MACHINES)
def test_every_allowed_call_is_allowed(machine: str) -> None:
    for name in seccomp.ALLOWED:
        one = NUMBERS[name][MACHINES[machine][0]]
        assert one is None or verdict(machine, one) == ALLOW, name


def test_another_abi_is_killed() -> None:
    assert verdict("x86_64", 0x40000000) == 0x80000000
    program = seccomp.build_filter("aarch64")
    assert verdict("x86_64", 0, rules=program) == 0x80000000
    with pytest.raises(OSError, match="no filter for riscv64"):
        seccomp.build_filter("riscv64")


@pytest.mark.parametrize("machine", MACHINES)
def test_without_a_control_group_children_are_not_left_to_be_forgotten(machine: str) -> None:
    rules = seccomp.build_child_filter(machine)
    sigaction, setsid = number(machine, "rt_sigaction"), number(machine, "setsid")
    assert verdict(machine, sigaction, 17, rules=rules) == PRETEND
    assert verdict(machine, sigaction, 2, rules=rules) == ALLOW
    assert verdict(machine, setsid, rules=rules) == PRETEND
    assert verdict(machine, number(machine, "read"), rules=rules) == ALLOW
