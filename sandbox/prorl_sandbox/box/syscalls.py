"""Linux system calls that the standard library lacks, for x86_64 and aarch64. Errors raise OSError."""

from __future__ import annotations

import ctypes
import errno
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE, MS_SLAVE = 4096, 16384, 1 << 18, 1 << 19
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE = 1, 3, 4
PR_SET_SECCOMP, PR_CAPBSET_DROP = 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38

_CAPABILITY_VERSION_3 = 0x20080522
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SET_ROBUST_LIST = {"x86_64": 273, "aarch64": 99}
_LANDLOCK_CREATE_RULESET = 444
_MADV_COLLAPSE = 25
_HUGE_PAGE = 2 * 1024 * 1024

_libc = ctypes.CDLL(None, use_errno=True)


def machine() -> str:
    return os.uname().machine


def _check(result: int, call_name: str) -> int:
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{call_name}: {os.strerror(code)}")
    return result


def _number(table: dict[str, int], call_name: str) -> int:
    architecture = machine()
    if architecture not in table:
        raise OSError(38, f"{call_name} is not supported on {architecture}: use x86_64 or aarch64")
    return table[architecture]


class Prepared:
    """A C library call with arguments that are converted in advance, which makes the call faster after a fork."""

    def __init__(self, function: str, call_name: str, *arguments: object) -> None:
        self._function = getattr(_libc, function)
        self._call_name = call_name
        self._arguments = tuple(_word(one) for one in arguments)

    def __call__(self) -> int:
        result: int = self._function(*self._arguments)
        return result if result != -1 else _check(result, self._call_name)


def _word(argument: object) -> object:
    if isinstance(argument, int):
        return ctypes.c_long(argument)
    return (
        ctypes.c_char_p(argument) if argument is None or isinstance(argument, bytes) else argument
    )


def prepared_tmpfs(target: str, flags: int, data: str) -> Prepared:
    words = (b"tmpfs", target.encode(), b"tmpfs", flags, data.encode())
    return Prepared("mount", f"mount(tmpfs on {target})", *words)


def prepared_prctl(option: int, value: int = 0, pointer: object = None) -> Prepared:
    last = 0 if pointer is None else pointer
    return Prepared("prctl", f"prctl({option})", option, value, last, 0, 0)


def setns(fd: int, kind: int) -> None:
    """Enter a namespace; a pid namespace applies to children only."""
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), f"setns({kind:#x})")


def unshare(flags: int) -> None:
    """Enter new namespaces; CLONE_NEWPID applies to children only."""
    _check(_libc.unshare(ctypes.c_int(flags)), f"unshare({flags:#x})")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    _check(
        _libc.mount(
            source.encode() if source is not None else None,
            target.encode(),
            kind.encode() if kind is not None else None,
            ctypes.c_ulong(flags),
            data.encode() or None,
        ),
        f"mount({source} on {target})",
    )


def unmount(target: str) -> None:
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount({target})")


def pivot_root(new: str, old: str) -> None:
    number = _number(_PIVOT_ROOT, "pivot_root")
    _check(_libc.syscall(ctypes.c_long(number), new.encode(), old.encode()), "pivot_root")


def prctl(option: int, value: int = 0) -> int:
    zero = ctypes.c_ulong(0)
    result = _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)
    return _check(result, f"prctl({option})")


def prepared_drop_robust_list() -> Prepared:
    # When a process ends, the kernel writes to the locks in its list, which a program could point to a shared file.
    number = _number(_SET_ROBUST_LIST, "set_robust_list")
    return Prepared("syscall", "set_robust_list", number, None, 3 * ctypes.sizeof(ctypes.c_void_p))


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_bounding_set() -> None:
    """Remove all capabilities from the bounding set, so that later programs cannot gain them.

    Does nothing without CAP_SETPCAP.
    """
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno in (1, 22):  # not permitted, or beyond the last capability
                return
            raise


def prepared_drop_capabilities() -> Prepared:
    header = _CapHeader(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)()
    number = _number(_CAPSET, "capset")
    return Prepared("syscall", "capset", number, ctypes.byref(header), ctypes.byref(data))


def drop_capabilities() -> None:
    """Permanently give up all capabilities of this process."""
    prepared_drop_capabilities()()


def use_huge_pages() -> None:
    """Ask the kernel to back this process's memory with huge pages."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        lines = [line.split() for line in file]
    for span, rights, *_, name in (line if len(line) > 5 else [*line, ""] for line in lines):
        if rights != "rw-p" or name not in ("", "[heap]"):
            continue
        start, end = (int(text, 16) for text in span.split("-"))
        for at in range(-(-start // _HUGE_PAGE) * _HUGE_PAGE, end - _HUGE_PAGE + 1, _HUGE_PAGE):
            _libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(_HUGE_PAGE), _MADV_COLLAPSE)


def landlock_abi() -> int:
    """Return the kernel's Landlock ABI version, or 0 without Landlock."""
    result = _libc.syscall(
        ctypes.c_long(_LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(1)
    )
    return max(0, int(result))


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
    """A Landlock restriction of file access, for a kernel with Landlock version ``abi`` (at least 1).

    Processes can read and execute files below ``readable``, and do everything except execute below ``writable``. Newer
    versions also block TCP, and signals and abstract sockets to other processes.
    """

    def __init__(self, writable: tuple[str, ...], readable: tuple[str, ...], abi: int) -> None:
        size = 8 if abi < 4 else 16 if abi < 6 else 24
        rights = _FIRST_ABI_RIGHTS  # plus all later rights that this ABI knows
        for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
            rights |= right if abi >= since else 0
        attributes = ctypes.byref(_Ruleset(rights, _TCP, _SCOPES))
        self._ruleset = ctypes.c_long(-1)
        self._rule = _PathBeneath()
        self._paths = [(path, _READING) for path in readable]
        self._paths += [(path, rights & ~_EXECUTE) for path in writable]
        self._create = Prepared("syscall", "landlock", _CREATE_RULESET, attributes, size, 0)
        rule = ctypes.byref(self._rule)
        self._add = Prepared(
            "syscall", "landlock", _ADD_RULE, self._ruleset, _RULE_PATH_BENEATH, rule, 0
        )
        self._restrict = Prepared("syscall", "landlock", _RESTRICT_SELF, self._ruleset, 0)

    def put_up(self) -> None:
        """Apply the restriction permanently. Missing paths are skipped. Raises OSError."""
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
                self._rule.allowed = rights & _FOR_FILES  # not a folder
                self._add()
        finally:
            os.close(parent)
