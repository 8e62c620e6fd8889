"""Landlock: a second, independent fence around files, sockets and signals, where the kernel has it.

A process gives up rights for itself and its children for good. Needs no privilege but no_new_privs.
Source of the numbers: linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import errno
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


class Fence:
    """A fence that is ready to be put up, see ``syscalls.Prepared``.

    It leaves a process reading and executing below ``readable``, and all but executing below
    ``writable``; no TCP (ABI 4), no abstract sockets or signals out of the box (ABI 6). ``abi``:
    what ``syscalls.landlock_abi`` gave, at least 1.
    """

    def __init__(self, writable: tuple[str, ...], readable: tuple[str, ...], abi: int) -> None:
        size = 8 if abi < 4 else 16 if abi < 6 else 24
        rights = _FIRST_ABI_RIGHTS  # and all later ones that a kernel of this ABI knows
        for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
            rights |= right if abi >= since else 0
        attributes = ctypes.byref(_Ruleset(rights, _TCP, _SCOPES))
        self._ruleset = ctypes.c_long(-1)
        self._rule = _PathBeneath()
        self._paths = [(path, _READING) for path in readable]
        self._paths += [(path, rights & ~_EXECUTE) for path in writable]
        self._create = syscalls.Prepared(
            "syscall", "landlock", _CREATE_RULESET, attributes, size, 0
        )
        rule = ctypes.byref(self._rule)
        self._add = syscalls.Prepared(
            "syscall", "landlock", _ADD_RULE, self._ruleset, _RULE_PATH_BENEATH, rule, 0
        )
        self._restrict = syscalls.Prepared("syscall", "landlock", _RESTRICT_SELF, self._ruleset, 0)

    def put_up(self) -> None:
        """Give the rights up for good. Paths that do not exist are left out. Raises OSError."""
        self._ruleset.value = fd = self._create()
        try:
            for path, rights in self._paths:
                self._allow(path, rights)
            self._restrict()
        finally:
            os.close(fd)

    def _allow(self, path: str, rights: int) -> None:
        try:
            self._rule.parent = parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        self._rule.allowed = rights
        try:
            try:
                self._add()
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                self._rule.allowed = rights & _FOR_FILES  # it is not a folder
                self._add()
        finally:
            os.close(parent)
