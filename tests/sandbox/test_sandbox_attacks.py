"""Hostile programs fail and leave nothing behind. They print ``BREACH`` only if an attack succeeds."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_sandbox import Limits, LocalSandbox, Outcome, Program

Main = Callable[..., Outcome]
SHORT = Limits(wall_seconds=1.0, cpu_seconds=8.0, memory_mb=200, output_kb=64, scratch_mb=16)

SYSCALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def denied(number, *args):
    result = libc.syscall(number, *(ctypes.c_long(a) for a in args))
    if result != -1 or ctypes.get_errno() not in (1, 22, 38):
        print("BREACH", number, result, ctypes.get_errno())
    elif ctypes.get_errno() == 22:
        print("BREACH: reached the kernel", number)
"""

KILLED: dict[str, tuple[str, set[str]]] = {
    "R01 fork bomb": ("import os\nwhile True:\n    os.fork()", {"timeout", "runtime-error"}),
    "R01 fork bomb that catches errors": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        {"timeout"},
    ),
    "R02 thread bomb": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
        {"timeout", "runtime-error", "memory"},
    ),
    "R03 memory at once": ("x = 'x' * 10**11", {"memory"}),
    "R03 shared memory": (
        "import mmap\nm = mmap.mmap(-1, 10**9)\nfor i in range(0, 10**9, 4096): m[i] = 1",
        {"memory", "runtime-error"},
    ),
    "R03 shared memory of many processes": (
        (
            "import mmap, os, time\nm = mmap.mmap(-1, 10**9)\nme = 0\n"
            "for i in range(8):\n    if os.fork() == 0: me = i + 1; break\n"
            "for i in range(me * 10**8, (me + 1) * 10**8, 4096): m[i] = 1\ntime.sleep(9)"
        ),
        {"memory", "runtime-error", "timeout"},
    ),
    "R03 memory of many processes": (
        "import os, time\nfor _ in range(4): os.fork()\nx = bytearray(10**9)\ntime.sleep(9)",
        {"memory", "runtime-error", "timeout"},
    ),
    "R05 sparse file": (
        "f = open('big', 'wb')\nf.truncate(10**12)\nprint('BREACH')",
        {"runtime-error"},
    ),
    "R05 full scratch": (
        "for i in range(99): open(str(i), 'wb').write(b'x' * 10**6)\nprint('BREACH')",
        {"runtime-error"},
    ),
    "R05 many files": (
        "for i in range(10**5): open(str(i), 'w').close()\nprint('BREACH')",
        {"runtime-error"},
    ),
    "R06 endless stdout": ("while True: print('y' * 999)", {"output-limit"}),
    "R06 endless stdout of a child": (
        "import os, time\npid = os.fork()\nwhile pid == 0: os.write(1, b'y' * 999)\ntime.sleep(99)",
        {"output-limit"},
    ),
    "R09 nested parentheses": ("(" * 10**5, {"compile-error"}),
    "R09 bomb in eval": ("eval('-' * 10**6 + '1')", {"runtime-error", "memory", "timeout"}),
    "R10 quadratic C code": ("import re\nre.match('(a+)+$', 'a' * 60 + 'b')", {"timeout"}),
    "R11 descriptors": ("x = []\nwhile True: x.append(open('/dev/null'))", {"runtime-error"}),
    "A25 ignores every signal": (
        (
            "import signal\n"
            "for s in range(1, 65):\n"
            "    try: signal.signal(s, signal.SIG_IGN)\n"
            "    except (OSError, ValueError): pass\n"
            "while True:\n"
            "    try:\n"
            "        while True: pass\n"
            "    except BaseException: pass"
        ),
        {"timeout"},
    ),
    "A26 deep recursion in C": (
        "import sys\nsys.setrecursionlimit(10**9)\n"
        + "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        {"runtime-error", "memory"},
    ),
    "A27 null pointer": ("import ctypes\nctypes.string_at(0)", {"runtime-error"}),
    "A28 deadlock": (
        "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()",
        {"timeout"},
    ),
    "A29 sleeping poll": ("import time\nwhile True: time.sleep(0.001)", {"timeout"}),
    "A37 huge integer": ("print(10**10**5)", {"runtime-error"}),
    "K01 kills everybody": (
        "import os\nos.kill(-1, 9)\nos.kill(1, 9)\nos.kill(1, 2)\nos.kill(os.getpid(), 9)",
        {"runtime-error"},
    ),
}

DENIED: dict[str, str] = {
    "A16 no proc to read memory from": (
        "import os\n"
        "for p in ('/proc/self/mem', '/proc/1/mem', '/proc/1/environ', '/proc/net', '/sys'):\n"
        "    if os.path.exists(p): print('BREACH', p)"
    ),
    "A17 no files of this machine": (
        "import os\n"
        "for p in ('/work', '/home', '/tmp', '/var', '/opt', '/mnt', '/run', '/boot', '/old',\n"
        "          '/etc/passwd', '/etc/hosts', '/bin/su', '/usr/bin/su', '/usr/bin/python3',\n"
        "          '/dev/mem', '/dev/kmsg', '/dev/tty', '/dev/pts', '/var/run/docker.sock'):\n"
        "    if os.path.exists(p): print('BREACH', p)\n"
        "seen = set(os.listdir('/')) - {'box', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'opt',\n"
        "                               'root', 'scratch', 'usr', 'home'}\n"
        "if seen: print('BREACH', seen)\n"
        "for folder, folders, files in os.walk('/'):\n"
        "    if folder.endswith('-packages') and (folders or files): print('BREACH', folder)\n"
        "    if 'prorl' in folder: print('BREACH', folder)\n"
    ),
    "A17 scratch is empty and arguments are clean": (
        "import os, sys\n"
        "if os.listdir('.') or sys.argv != ['/box/program.py']: print('BREACH', os.listdir('.'))"
    ),
    "A15 frames and garbage hold only the program": (
        "import gc, sys\n"
        "names = set()\n"
        "f = sys._getframe()\n"
        "while f:\n"
        "    names |= set(f.f_locals)\n"
        "    f = f.f_back\n"
        "if {'expected', 'gold', 'tests', 'checker', 'reference'} & names: print('BREACH')\n"
    ),
    "N03 the environment is built from nothing": (
        "import os\n"
        "extra = set(os.environ) - {'HOME', 'TMPDIR', 'LANG', 'PATH'}\n"
        "if extra: print('BREACH', extra)\n"
        "import ctypes\n"
        "c = ctypes.CDLL(None)\n"
        "c.getenv.restype = ctypes.c_char_p\n"
        "if c.getenv(b'PRORL_TEST_SECRET'): print('BREACH')"
    ),
    "N01 no network": (
        "import socket\n"
        "for family in (socket.AF_INET, socket.AF_INET6, 16, 17, 38, 40):\n"
        "    try:\n"
        "        s = socket.socket(family, socket.SOCK_DGRAM)\n"
        "        s.connect(('127.0.0.1', 80))\n"
        "        print('BREACH', family)\n"
        "    except OSError: pass\n"
        "try: print('BREACH', socket.getaddrinfo('example.com', 80))\n"
        "except OSError: pass"
    ),
    "F01 nothing but scratch is writable": (
        "import os, sys\n"
        "root = os.path.dirname(os.__file__)\n"
        "for p in ('/x', '/etc/x', '/usr/lib/x', '/lib/x', '/dev/x', '/box/program.py', '/box/x', root + '/x',\n"
        "          os.__file__, '/etc/localtime', root + '/site-packages/x'):\n"
        "    try:\n"
        "        open(p, 'a').write('x')\n"
        "        print('BREACH', p)\n"
        "    except OSError: pass\n"
        "open('mine', 'w').write('x')"
    ),
    "F05 no new namespaces, mounts or roots": (
        SYSCALL + "for f in (0x20000, 0x10000000, 0x20000000, 0x40000000, 0x04000000):\n"
        "    if libc.unshare(f) != -1: print('BREACH')\n"
        "if libc.mount(b'none', b'/scratch', b'tmpfs', 0, None) != -1: print('BREACH')\n"
        "if libc.umount2(b'/scratch', 2) != -1 or libc.chroot(b'.') != -1: print('BREACH')\n"
        "if libc.setns(0, 0) != -1: print('BREACH')\n"
        "for n in (428, 429, 430, 432, 442): denied(n, 0, 0, 0, 0, 0)"
    ),
    "K02 no tracing": (
        SYSCALL + "import os\n"
        "if libc.ptrace(0, 0, 0, 0) != -1: print('BREACH')\n"
        "if libc.process_vm_readv(os.getpid(), 0, 0, 0, 0, 0) != -1: print('BREACH')\n"
        "denied(438, 0, 0, 0)"
    ),
    "K04 no exotic kernel surface": (
        SYSCALL + "for n in (425, 426, 427, 435, 447): denied(n, 0, 0, 0, 0, 0)\n"
        "for name in ('keyctl', 'add_key', 'init_module', 'memfd_create', 'shmget', 'reboot',\n"
        "             'settimeofday', 'sethostname', 'swapon', 'acct', 'personality'):\n"
        "    f = getattr(libc, name, None)\n"
        "    if f is None: continue\n"
        "    ctypes.set_errno(0)\n"
        "    if f(bytes(64), 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1: print('BREACH', name)"
    ),
    "K06 no terminal": (
        "import fcntl, os\n"
        "try:\n"
        "    fcntl.ioctl(0, 0x5412, b'x')\n"
        "    print('BREACH')\n"
        "except PermissionError: pass\n"
        "if os.getsid(0) != os.getpid(): print('BREACH')"
    ),
    "R13 no better priority and no limits of others": (
        "import os, resource\n"
        "for attempt in (lambda: os.nice(-5),\n"
        "                lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),\n"
        "                lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)),\n"
        "                lambda: resource.setrlimit(resource.RLIMIT_NPROC, (999, 999)),\n"
        "                lambda: os.setuid(0)):\n"
        "    try:\n"
        "        attempt()\n"
        "        print('BREACH')\n"
        "    except (OSError, ValueError): pass"
    ),
    "K03 no root inside and no capabilities": (
        "import os, ctypes\n"
        "if os.getuid() == 0 or os.geteuid() == 0 or os.getgroups() not in ([], [65534]):\n"
        "    print('BREACH', os.getuid(), os.getgroups())\n"
        "c = ctypes.CDLL(None)\n"
        "if c.prctl(39, 0, 0, 0, 0) != 1: print('BREACH')\n"
        "if any(c.prctl(23, n, 0, 0, 0) == 1 for n in range(40)): print('BREACH')"
    ),
    "A16 only the channel and the standard streams are open": (
        "import os\n"
        "opened = []\n"
        "for fd in range(1024):\n"
        "    try: os.fstat(fd); opened.append(fd)\n"
        "    except OSError: pass\n"
        "if opened != [0, 1, 2, 3]: print('BREACH', opened)"
    ),
}


@pytest.mark.parametrize("name", KILLED)
def test_hostile_program_is_stopped(sandbox: LocalSandbox, main: Main, name: str) -> None:
    source, statuses = KILLED[name]
    outcome = main(source, limits=SHORT)
    assert outcome.status in statuses, outcome
    assert "BREACH" not in outcome.stdout
    honest = sandbox.run(Program("def f(x):\n    return x + 1", call="f", args=(1,)))
    assert (honest.status, honest.value) == ("ok", 2)


@pytest.mark.parametrize("name", DENIED)
def test_attempt_is_denied(main: Main, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("PRORL_TEST_SECRET", "hunter2")
    outcome = main(DENIED[name])
    assert (outcome.status, outcome.stdout) == ("ok", ""), outcome


def processes_named(name: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/comm"):
        try:
            if entry.read_text().strip() == name:
                found.append(entry.parent.name)
        except OSError:
            continue  # it ended during the scan
    return found


@pytest.mark.parametrize("ending", ["print('done')", "time.sleep(99)", "os.kill(os.getpid(), 9)"])
def test_no_process_outlives_its_run(main: Main, ending: str) -> None:
    name = f"orphan{os.getpid()}"
    source = (
        "import ctypes, os, signal, time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        f"ctypes.CDLL(None).prctl(15, b'{name}')\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    while True: time.sleep(1)\n"
        f"os.wait()\n{ending}"
    )
    outcome = main(source, limits=SHORT)
    assert outcome.status in ("ok", "timeout", "runtime-error")
    deadline = time.monotonic() + 10
    while processes_named(name) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_named(name) == []


def test_a_program_that_closes_its_streams_still_ends_at_the_wall(main: Main) -> None:
    source = "import os, time\nos.closerange(0, 64)\ntime.sleep(99)"
    outcome = main(source, limits=SHORT)
    assert (outcome.status, outcome.limit) == ("timeout", "wall")


def test_the_number_of_processes_is_limited_for_each_box_alone(main: Main) -> None:
    source = (
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    while made < 200:\n"
        "        if os.fork() == 0: time.sleep(99)\n"
        "        made += 1\n"
        "except BlockingIOError: pass\n"
        "print(made + 1)"
    )
    assert main(source).stdout == "16\n"


def test_verdicts_printed_by_a_program_are_only_output(main: Main) -> None:
    outcome = main(
        'print(\'{"event": "end", "status": 0}\\nall tests passed\')\nraise SystemExit(5)'
    )
    assert outcome.status == "wrong-exit"


def test_what_one_program_writes_is_gone_for_the_next(main: Main) -> None:
    main("open('/scratch/note', 'w').write('1')")
    assert main("import os; print(os.listdir('/scratch'))").stdout == "[]\n"


def test_patched_builtins_only_hurt_the_program_itself(
    call: Callable[..., Outcome], main: Main
) -> None:
    source = "import builtins\nbuiltins.type = lambda *a: int\ndef f():\n    return object()"
    assert call(source).status in ("runtime-error", "unserialisable")
    assert main("import builtins, sys\nsys.modules.clear()\nbuiltins.exec = None").status == "ok"
    assert call("def f():\n    return 3").value == 3


@pytest.mark.skipif(platform.machine() != "x86_64", reason="32-bit system calls are an x86 matter")
def test_a_system_call_of_another_architecture_is_killed_by_policy(main: Main) -> None:
    source = (
        "import ctypes, mmap\n"
        "m = mmap.mmap(-1, 4096, prot=7)\n"
        "m.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))  # getpid by int 0x80\n"
        "f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n"
        "print('BREACH', f())"
    )
    outcome = main(source)
    assert (outcome.status, outcome.stdout) == ("killed-by-policy", "")
