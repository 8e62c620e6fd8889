from __future__ import annotations

import pytest

from prorl_sandbox import LANGUAGES, CheckerError, LanguageError, LanguageSpec
from prorl_sandbox.capabilities import try_languages
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.docker_backend.sandbox import DockerSandbox
from prorl_sandbox.types import Limits, Program

FAST = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)
SHORT = Limits(wall_seconds=1.0, cpu_seconds=8.0, memory_mb=200, output_kb=64, scratch_mb=16)


def test_standard_input_reaches_the_program(docker_sandbox: DockerSandbox) -> None:
    outcome = docker_sandbox.run(Program("print(input()[::-1])", stdin="abc\n"), FAST)
    assert (outcome.status, outcome.stdout, outcome.exit_code) == ("ok", "cba\n", 0)
    assert outcome.isolation.startswith("docker+seccomp+")


def test_input_larger_than_any_pipe_arrives_whole(docker_sandbox: DockerSandbox) -> None:
    source = "import sys, zlib\nd = sys.stdin.buffer.read()\nprint(len(d), zlib.crc32(d))"
    text = "".join(chr(97 + i % 26) for i in range(3_000_000))
    import zlib

    outcome = docker_sandbox.run(Program(source, stdin=text), FAST)
    assert outcome.stdout == f"{len(text)} {zlib.crc32(text.encode())}\n"


def test_input_that_nobody_reads_is_no_hindrance(docker_sandbox: DockerSandbox) -> None:
    outcome = docker_sandbox.run(Program("print(1)", stdin="x" * 3_000_000), FAST)
    assert (outcome.status, outcome.stdout) == ("ok", "1\n")


@pytest.mark.parametrize("value", [None, True, 3, 2**200, 1.5, "é", [1, (2,)], {1: {2, 3}}, b"x"])
def test_values_keep_their_types_both_ways(docker_sandbox: DockerSandbox, value: object) -> None:
    outcome = docker_sandbox.run(Program("def f(x): return x", call="f", args=(value,)), FAST)
    assert outcome.status == "ok"
    assert outcome.value == value and type(outcome.value) is type(value)


def test_a_large_argument_and_value_cross(docker_sandbox: DockerSandbox) -> None:
    limits = Limits(output_kb=8192)
    text = "ab" * 1_000_000
    outcome = docker_sandbox.run(
        Program("def f(x): return x[::-1]", call="f", args=(text,)), limits
    )
    assert outcome.value == text[::-1]


def test_a_check_in_a_second_container_decides(docker_sandbox: DockerSandbox) -> None:
    check = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-3) == 9"
    right = docker_sandbox.run_check(Program("def f(x): return x * x"), check, "f", FAST)
    wrong = docker_sandbox.run_check(Program("def f(x): return x + x"), check, "f", FAST)
    assert (right.status, wrong.status) == ("ok", "runtime-error")


def test_a_broken_check_is_the_users_to_mend(docker_sandbox: DockerSandbox) -> None:
    with pytest.raises(CheckerError, match="does not define check"):
        docker_sandbox.run_check(Program("def f(): return 1"), "x = 1", "f", FAST)


def test_an_object_cannot_leave(docker_sandbox: DockerSandbox) -> None:
    outcome = docker_sandbox.run(Program("def f(): return object()", call="f"), FAST)
    assert outcome.status == "unserialisable"


STATUSES: dict[str, tuple[str, Limits, str, str | None]] = {
    "exit code": ("raise SystemExit(3)", FAST, "wrong-exit", None),
    "exception": ("1 / 0", FAST, "runtime-error", None),
    "syntax": ("def f(:", FAST, "compile-error", None),
    "endless loop": ("while True: pass", Limits(cpu_seconds=1.0), "timeout", "cpu"),
    "sleep": ("import time; time.sleep(99)", SHORT, "timeout", "wall"),
    "memory at once": ("x = 'x' * 10**11", FAST, "memory", None),
    "memory of many processes": (
        "import os, time\nfor _ in range(3): os.fork()\nx = b'x' * 10**8\ntime.sleep(9)",
        Limits(memory_mb=200, wall_seconds=20.0),
        "memory",
        None,
    ),
    "processor time of many processes": (
        "import os\nfor _ in range(2): os.fork()\nwhile True: pass",
        Limits(cpu_seconds=2.0, wall_seconds=60.0),
        "timeout",
        "cpu",
    ),
    "endless output": ("while True: print('y' * 999)", FAST, "output-limit", None),
    "endless errors": (
        "import sys\nwhile True: sys.stderr.write('y' * 999)",
        FAST,
        "output-limit",
        None,
    ),
    "noise on the channel": (
        "import os\nos.write(3, b'\\0\\0\\0\\1x')",
        FAST,
        "protocol-error",
        None,
    ),
    "full scratch": (
        "for i in range(99): open(str(i), 'wb').write(b'x' * 10**6)",
        SHORT,
        "runtime-error",
        None,
    ),
    "too many files": (
        "for i in range(10**5): open(str(i), 'w').close()",
        Limits(wall_seconds=20.0),
        "runtime-error",
        None,
    ),
    "fork bomb": (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        Limits(wall_seconds=1.0, cpu_seconds=8.0),  # memory for as many processes as may run
        "timeout",
        "wall",
    ),
}


@pytest.mark.parametrize("name", STATUSES)
def test_each_end_has_its_status_and_the_next_run_is_fine(
    docker_sandbox: DockerSandbox, name: str
) -> None:
    source, limits, status, limit = STATUSES[name]
    outcome = docker_sandbox.run(Program(source), limits)
    assert (outcome.status, outcome.limit) == (status, limit), outcome.stderr
    for _ in range(2):
        assert docker_sandbox.run(Program("print(1)"), FAST).stdout == "1\n"


def test_a_system_call_that_kills_is_the_policys(docker_sandbox: DockerSandbox) -> None:
    source = "import ctypes\nctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39))"
    outcome = docker_sandbox.run(Program(source), FAST)
    assert outcome.status == "killed-by-policy"


CPP = "#include <iostream>\nint main() { int a; std::cin >> a; std::cout << a * 2 << std::endl; }"
JAVASCRIPT = "const a = +require('fs').readFileSync(0, 'utf8'); console.log(a * 2);"


@pytest.mark.parametrize(("language", "source"), [("cpp", CPP), ("javascript", JAVASCRIPT)])
def test_other_languages_run(docker_sandbox: DockerSandbox, language: str, source: str) -> None:
    program = Program(source, stdin="21\n", language=language)
    outcome = docker_sandbox.run(program)
    assert (outcome.status, outcome.stdout) == ("ok", "42\n"), outcome.stderr


@pytest.mark.parametrize(("language", "source"), [("cpp", "int main() {"), ("javascript", "let (")])
def test_other_languages_have_compile_errors(
    docker_sandbox: DockerSandbox, language: str, source: str
) -> None:
    program = Program(source, language=language)
    outcome = docker_sandbox.run(program)
    assert outcome.status == "compile-error"
    assert "program." in outcome.stderr


def test_every_language_that_the_image_was_built_with_works(
    docker_sandbox: DockerSandbox, engine: Engine, image: str
) -> None:
    with engine.calls("looking at the image") as api:
        labels = api.inspect_image(image)["Config"]["Labels"]
    tried = {one.name: one for one in try_languages(docker_sandbox)}
    for name in labels["prorl.languages"].split(","):
        assert (tried[name].runs, tried[name].note) == (True, "")
        assert tried[name].calls == LANGUAGES.get(name).takes_calls


def test_a_javascript_function_is_called(docker_sandbox: DockerSandbox) -> None:
    source = "const f = (m, n) => { for (const k in m) m[k] *= n; return m; }"
    program = Program(source, call="f", args=({"ä": 20, "b": 1}, 2), language="javascript")
    outcome = docker_sandbox.run(program)
    assert (outcome.status, outcome.value) == ("ok", {"ä": 40, "b": 2}), outcome.stderr
    wrong = Program(source, call="nothing", args=(), language="javascript")
    assert docker_sandbox.run(wrong).status in ("compile-error", "runtime-error")


def test_standard_input_may_be_opened_by_its_name(docker_sandbox: DockerSandbox) -> None:
    source = "console.log(require('fs').readFileSync('/dev/stdin', 'utf8') * 2)"
    outcome = docker_sandbox.run(Program(source, stdin="21\n", language="javascript"))
    assert outcome.stdout == "42\n", outcome.stderr


def test_memory_holds_for_other_languages_too(docker_sandbox: DockerSandbox) -> None:
    source = (
        "#include <cstdlib>\n#include <cstring>\n"
        "int main() { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }"
    )
    outcome = docker_sandbox.run(Program(source, language="cpp"), FAST)
    assert outcome.status == "memory"


def test_a_language_of_a_plug_in_runs_with_what_the_image_holds(
    docker_sandbox: DockerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = {
        "awk": LanguageSpec(name="awk", run=("awk", "-f", "{source}")),
        "cobol": LanguageSpec(name="cobol", run=("cobol", "{source}")),
    }
    monkeypatch.setattr(LANGUAGES, "get", specs.__getitem__)
    source = "{ n += $1 } END { print n }"
    outcome = docker_sandbox.run(Program(source, stdin="1\n41\n", language="awk"))
    assert (outcome.status, outcome.stdout) == ("ok", "42\n"), outcome.stderr
    with pytest.raises(LanguageError, match="cobol is not installed in the sandbox"):
        docker_sandbox.run(Program("", language="cobol"))
