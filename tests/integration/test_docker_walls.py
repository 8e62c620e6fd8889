"""What a program in a container can see and do. ``BREACH`` is printed if an attack succeeds."""

from __future__ import annotations

import platform

import pytest

from prorl_sandbox.docker_backend.sandbox import DockerSandbox
from prorl_sandbox.types import Limits, Program

FAST = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)

# The status file of a process is closed to it, so the kernel is asked for its contents.
FACTS = """
import ctypes, os, resource, struct
libc = ctypes.CDLL(None, use_errno=True)
header = struct.pack("Ii", 0x20080522, 0)
data = ctypes.create_string_buffer(24)
number = {"x86_64": 125, "aarch64": 90}[os.uname().machine]
libc.syscall(ctypes.c_long(number), header, data)
print("capabilities", sum(data.raw))
print("new privileges forbidden", libc.prctl(39, 0, 0, 0, 0))
print("filtered", libc.prctl(21, 0, 0, 0, 0) != 0)
print("root", 0 in (os.getuid(), os.geteuid(), os.getgid()), os.getgroups() in ([], [os.getgid()]))
print("core", resource.getrlimit(resource.RLIMIT_CORE))
"""

ATTEMPTS: dict[str, str] = {
    "write to the system": "open('/usr/bin/x', 'w')",
    "write at the top": "open('/x', 'w')",
    "write to /tmp": "open('/tmp/x', 'w')",
    "write beside its scratch": "open('/scratch/x', 'w')",
    "write to its own program": "open('/box/program.py', 'w')",
    "write to the queues' folder": "open('/dev/mqueue/x', 'w')",
    "write to shared memory": "open('/dev/shm/x', 'w')",
    "read the environment of init": "print(open('/proc/1/environ').read())",
    "list processes": "print(os.listdir('/proc'))",
    "read a user list": "print(open('/etc/passwd').read())",
    "read the system": "print(os.listdir('/sys/fs/cgroup'))",
    "run what it wrote": (
        "open('run.sh', 'w').write('#!/bin/sh\\necho BREACH')\nos.chmod('run.sh', 0o755)\n"
        "os.execv(os.path.abspath('run.sh'), ['x'])"
    ),
    "become root": "os.setuid(0)",
    "kill init": "os.kill(1, 9)",
    "kill the template": "os.kill(os.getppid(), 9)",
    "open a network socket": "import socket\nsocket.socket()",
    "make a namespace": "if libc.unshare(0x10000000): raise OSError",
    "mount": "if libc.mount(b'x', b'/scratch', b'tmpfs', 0, None): raise OSError",
    "trace": "if libc.ptrace(0, 0, 0, 0) == -1: raise OSError",
    "keep memory in a file": "if libc.memfd_create(b'x', 0) == -1: raise OSError",
    "leave shared memory": "if libc.shmget(1, 4096, 0o1666) == -1: raise OSError",
    "leave a queue": "if libc.mq_open(b'/x', 0o102, 0o666, None) == -1: raise OSError",
    "start io_uring": "if libc.syscall(425, 1, None) == -1: raise OSError",
    "load a program into the kernel": "if libc.syscall(321, 0, None, 0) == -1: raise OSError",
}


def _lines(sandbox: DockerSandbox, source: str) -> list[str]:
    outcome = sandbox.run(Program(source), FAST)
    assert outcome.status == "ok", outcome.stderr
    return outcome.stdout.splitlines()


def test_a_program_is_nobody_without_rights(docker_sandbox: DockerSandbox) -> None:
    assert _lines(docker_sandbox, FACTS) == [
        "capabilities 0",
        "new privileges forbidden 1",
        "filtered True",
        "root False True",
        "core (0, 0)",
    ]


@pytest.mark.parametrize("name", ATTEMPTS)
def test_attempts_are_refused(docker_sandbox: DockerSandbox, name: str) -> None:
    if name.startswith("load") and platform.machine() != "x86_64":
        pytest.skip("the call's number is x86_64's")
    body = "\n    ".join(ATTEMPTS[name].splitlines())
    source = (
        "import os, ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"try:\n    {body}\n    print('BREACH')\nexcept OSError: print('refused')"
    )
    assert _lines(docker_sandbox, source) == ["refused"]


def test_the_environment_holds_nothing_of_ours(
    docker_sandbox: DockerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRORL_SECRET", "x")
    lines = _lines(docker_sandbox, "import os\nprint(sorted(os.environ))\nprint(os.listdir())")
    assert lines == ["['HOME', 'LANG', 'PATH', 'TMPDIR']", "[]"]


def test_no_earlier_program_is_in_memory(docker_sandbox: DockerSandbox) -> None:
    word = "quince" * 3
    for _ in range(4):
        assert docker_sandbox.run(Program(f"x = '{word}'", stdin=word), FAST).status == "ok"
    source = (
        "import gc, ctypes\n"
        "def parts():\n"
        "    import sys\n"
        "    frame = sys._getframe()\n"
        "    while frame is not None:\n"
        "        yield repr(frame.f_locals) + repr(list(frame.f_globals))\n"
        "        frame = frame.f_back\n"
        "    for thing in gc.get_objects():\n"
        "        if type(thing) in (dict, list, tuple): yield ''.join(map(repr, thing))[:10**5]\n"
        "backwards = 'ecniuq' * 3\n"
        "print(sum(backwards[::-1] in part for part in parts()))"
    )
    assert _lines(docker_sandbox, source)[-1] == "0"


def test_each_run_is_a_user_of_its_own(docker_sandbox: DockerSandbox) -> None:
    users = [_lines(docker_sandbox, "import os; print(os.getuid())")[0] for _ in range(12)]
    assert len(set(users)) == 12
