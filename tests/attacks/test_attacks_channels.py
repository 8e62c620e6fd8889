"""Covert channels between two sandboxes, and between two boxes of one sandbox (docs/concepts/sandbox.md)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from prorl_sandbox import Limits, Outcome, Program, Sandbox

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=10.0)
LIBRARY = "import glob\nname = glob.glob('/usr/lib/*/libc.so.6')[0]\n"
PAGE = (
    LIBRARY + "import ctypes, os, threading, time\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "libc.mmap.restype = ctypes.c_void_p\n"
    "L, V = ctypes.c_long, ctypes.c_void_p\n"
    "x86 = os.uname().machine == 'x86_64'\n"
    "at = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, os.open(name, os.O_RDONLY), L(0)) + 12\n"
)
WAIT = (
    "class Spec(ctypes.Structure):\n"
    "    _fields_ = [('s', L), ('ns', L)]\n"
    "limit = Spec(3, 0)\n"
    "got = libc.syscall(L(202 if x86 else 98), V(at), L(0), L(0), ctypes.byref(limit), None, L(0))\n"
    "print('woken' if got == 0 else 'not woken')\n"
)
WAKE = (
    "def leave():\n"
    "    libc.syscall(L(218 if x86 else 96), V(at))\n"
    "    libc.syscall(L(60 if x86 else 93), L(0))\n"
    "end = time.monotonic() + 2.5\n"
    "while time.monotonic() < end:\n"
    "    threading.Thread(target=leave, daemon=True).start()\n"
    "    time.sleep(0.1)\n"
    "os._exit(0)\n"
)


def run_both(one: Sandbox, other: Sandbox) -> str:
    """Wait in ``one`` on a page of the C library while threads that end in ``other`` wake it."""
    said: list[Outcome] = []
    wait = threading.Thread(target=lambda: said.append(one.run(Program(PAGE + WAIT), LIMITS)))
    wait.start()
    other.run(Program(PAGE + WAKE), LIMITS)
    wait.join()
    return said[0].stdout.strip() or said[0].stderr


def test_a_page_of_a_library_wakes_nobody_in_another_sandbox(
    open_local: Callable[[], Sandbox],
) -> None:
    one, other = open_local(), open_local()
    try:
        assert run_both(one, other) == "not woken"
    finally:
        one.close()
        other.close()


def test_two_boxes_of_one_sandbox_share_their_library_files(local: Sandbox) -> None:
    assert run_both(local, local) == "woken"


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_no_sandbox_has_a_file_of_this_machine_or_of_another_sandbox(
    open_local: Callable[[], Sandbox], language: str
) -> None:
    source = {
        "python": LIBRARY + "import os\nprint(os.stat(name).st_dev, os.stat('/').st_dev)",
        "cpp": "#include <sys/stat.h>\n#include <cstdio>\n#include <dlfcn.h>\n#include <cstdlib>\n"
        "int main() { Dl_info at; struct stat s, r; dladdr((void *)&malloc, &at);\n"
        'stat(at.dli_fname, &s); stat("/", &r); printf("%ld %ld", (long)s.st_dev, (long)r.st_dev); }',
    }[language]
    sandboxes = [open_local(), open_local()]
    try:
        told = [s.run(Program(source, language=language), LIMITS).stdout.split() for s in sandboxes]
    finally:
        for sandbox in sandboxes:
            sandbox.close()
    assert all(len(numbers) == 2 and len(set(numbers)) == 1 for numbers in told), told
    places = [int(numbers[0]) for numbers in told] + [os.stat(os.__file__).st_dev]
    assert len(set(places)) == 3
