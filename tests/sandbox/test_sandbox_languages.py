"""C++ and JavaScript: compiled in a box, run in a box, with the same statuses as Python."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest

from prorl_common import UserError
from prorl_sandbox import (
    LANGUAGES,
    LanguageError,
    LanguageSpec,
    Limits,
    LocalSandbox,
    Outcome,
    Program,
    Sandbox,
)
from prorl_sandbox.box import foreign

SHORT = Limits(wall_seconds=3.0, cpu_seconds=1.0, memory_mb=256, output_kb=64)
ROOMY = replace(SHORT, wall_seconds=20.0, cpu_seconds=10.0)
"""For programs that must reach their memory limit on a busy machine before any other."""
TOOLS = {"cpp": "g++", "javascript": "node"}
SUMS = {
    "cpp": "#include <iostream>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b << '\\n'; }",
    "javascript": (
        "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\n"
        "console.log(a + b);"
    ),
}
CASES: dict[str, tuple[str, str, str]] = {
    "C++ that does not compile": ("cpp", "int main() { return x; }", "compile-error"),
    "C++ that reads a file of the host": ("cpp", '#include "/etc/passwd"\n', "compile-error"),
    "C++ template without end": (
        "cpp",
        "template<int N> struct A { static const int v = A<N + 1>::v; }; int main() { return A<0>::v; }",
        "compile-error",
    ),
    "C++ source without end": ("cpp", "#include </dev/zero>\n", "compile-error"),
    "C++ exit code": ("cpp", "int main() { return 3; }", "wrong-exit"),
    "C++ null pointer": ("cpp", "int main() { int *p = 0; *p = 1; }", "runtime-error"),
    "C++ abort": ("cpp", "#include <cstdlib>\nint main() { abort(); }", "runtime-error"),
    "C++ uncaught exception": ("cpp", "int main() { throw 1; }", "runtime-error"),
    "C++ busy": ("cpp", "int main() { for (volatile int i = 0;;) i = i; }", "timeout"),
    "C++ memory": (
        "cpp",
        "#include <cstring>\nint main() { for (;;) memset(new char[1 << 20], 1, 1 << 20); }",
        "memory",
    ),
    "C++ fork bomb": ("cpp", "#include <unistd.h>\nint main() { for (;;) fork(); }", "timeout"),
    "C++ endless output": (
        "cpp",
        '#include <cstdio>\nint main() { for (;;) puts("yes"); }',
        "output-limit",
    ),
    "JavaScript that does not parse": ("javascript", "console.log(", "compile-error"),
    "JavaScript exception": ("javascript", "throw new Error('x')", "wrong-exit"),
    "JavaScript busy": ("javascript", "for (;;);", "timeout"),
    "JavaScript endless output": (
        "javascript",
        "for (;;) require('fs').writeSync(1, 'y'.repeat(999));",
        "output-limit",
    ),
    "JavaScript memory": (
        "javascript",
        "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1));",
        "memory",
    ),
}


def run(
    local_or_remote: Sandbox, language: str, source: str, stdin: str = "", limits: Limits = SHORT
) -> Outcome:
    if shutil.which(TOOLS[language]) is None:
        reason = f"{TOOLS[language]} is not installed"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return local_or_remote.run(Program(source, stdin=stdin, language=language), limits)


@pytest.mark.parametrize("language", SUMS)
def test_a_program_reads_stdin_and_prints(local_or_remote: Sandbox, language: str) -> None:
    for a, b in ((1, 2), (20, 22)):  # the second time from the kept artifact
        outcome = run(local_or_remote, language, SUMS[language], f"{a} {b}")
        assert (outcome.status, outcome.stdout, outcome.exit_code) == ("ok", f"{a + b}\n", 0)


@pytest.mark.parametrize("name", CASES)
def test_a_failure_has_its_status(local_or_remote: Sandbox, name: str) -> None:
    language, source, status = CASES[name]
    outcome = run(local_or_remote, language, source, limits=ROOMY if status == "memory" else SHORT)
    if not local_or_remote.isolation.endswith("cgroup") and status == "memory":
        assert outcome.status in ("memory", "runtime-error")  # without a sum, an allocation fails
    else:
        assert outcome.status == status, outcome
    assert outcome.stdout == "" or status == "output-limit"


def test_the_compilers_complaint_is_on_stderr(local_or_remote: Sandbox) -> None:
    outcome = run(local_or_remote, "cpp", "int main() { return x; }")
    assert "‘x’ was not declared" in outcome.stderr or "'x' was not declared" in outcome.stderr


def test_the_program_is_another_process_than_its_compiler_and_finds_nothing_of_it(
    local_or_remote: Sandbox,
) -> None:
    source = (
        "#include <filesystem>\n#include <iostream>\nint main() {\n"
        '    for (auto &e : std::filesystem::directory_iterator("/scratch")) std::cout << e.path();\n'
        '    std::cout << std::filesystem::exists("/usr/bin/g++");\n}'
    )
    assert run(local_or_remote, "cpp", source).stdout == "0"


def test_javascript_sees_no_network_and_no_home(local_or_remote: Sandbox) -> None:
    source = (
        "const fs = require('fs');\n"
        "console.log(['/home', '/tmp', '/proc', '/etc/passwd', '/work'].filter(fs.existsSync));\n"
        "require('net').connect(80, '127.0.0.1').on('error', e => console.log(e.code));"
    )
    assert run(local_or_remote, "javascript", source).stdout == "[]\nEPERM\n"


def test_a_language_that_is_not_installed_says_so(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = {"k": "missing", "text": "no compiler or interpreter of cpp was found"}
    from prorl_sandbox.run.compiling import read_artifact

    with pytest.raises(LanguageError, match="cpp is not installed where boxes run"):
        read_artifact(Program("", language="cpp"), message)
    assert foreign.find(("nowhere++", "/nowhere/g++")) is None
    nowhere = LanguageSpec(name="nowhere", run=("nowhere", "{source}"))
    monkeypatch.setattr(LANGUAGES, "get", lambda name: nowhere)
    with pytest.raises(LanguageError, match="nowhere is not installed where boxes run"):
        sandbox.run(Program("", language="nowhere"))


def test_calls_checks_and_unknown_languages_are_the_users_mistake(local_or_remote: Sandbox) -> None:
    with pytest.raises(UserError, match="a call needs Python"):
        local_or_remote.run(Program("", language="cpp", call="f"))
    with pytest.raises(UserError, match="a check needs Python"):
        local_or_remote.run_check(Program("", language="javascript"), "def check(f): pass", "f")
    with pytest.raises(UserError, match="unknown language 'cobol'"):
        local_or_remote.run(Program("", language="cobol"))
