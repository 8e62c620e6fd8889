"""Landlock: a second, independent fence around files, sockets and signals, where the kernel has it.

A process gives up rights for itself and its children for good. Needs no privilege but no_new_privs.
Source of the numbers: linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import os

from prorl_sandbox.box import syscalls

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FIRST_ABI_RIGHTS = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_TCP = 0b11
_SCOPES = 0b11  # abstract unix sockets, signals
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READING = _EXECUTE | _READ_FILE | _READ_DIR


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_fs", ctypes.c_uint64),
        ("handled_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def restrict(writable: tuple[str, ...], readable: tuple[str, ...], abi: int) -> None:
    """Leave this process reading and executing below ``readable``, and all but executing below
    ``writable``; no TCP (ABI 4), no abstract sockets or signals out of the box (ABI 6).

    ``abi``: what ``syscalls.landlock_abi`` gave, at least 1. Paths that do not exist are left out.
    """
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    rights = _FIRST_ABI_RIGHTS  # and all later ones that a kernel of this ABI knows
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if abi >= since else 0
    ruleset = _Ruleset(rights, _TCP, _SCOPES)
    fd = syscalls.call(_CREATE_RULESET, "landlock", ctypes.byref(ruleset), size, 0)
    try:
        for path in readable:
            _allow(fd, path, _READING)
        for path in writable:
            _allow(fd, path, rights & ~_EXECUTE)
        syscalls.call(_RESTRICT_SELF, "landlock", fd, 0)
    finally:
        os.close(fd)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _FOR_FILES
        rule = _PathBeneath(rights, parent)
        syscalls.call(
            _ADD_RULE, f"landlock({path})", ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0
        )
    finally:
        os.close(parent)
