"""What a program in a container can see. What it can do is tried by tests/attacks/test_attacks_docker.py."""

from __future__ import annotations

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
