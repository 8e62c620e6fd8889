from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

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
from prorl_sandbox.languages.specs import java_file_name

Run = Callable[..., Outcome]
SHORT = Limits(wall_seconds=3.0, cpu_seconds=1.0, memory_mb=256, output_kb=64)
ROOMY = replace(SHORT, wall_seconds=20.0, cpu_seconds=10.0)
"""For programs that must reach their memory limit before any other on a busy machine."""
FAILURES = Path(__file__).with_name("language_failures.txt")
JAVA = "import java.util.*;\npublic class Main {{ public static void main(String[] a) {{ {0} }} }}"
GO = 'package main\nimport ("fmt"; "os")\nfunc main() {{ {0}; fmt.Print(""); _ = os.Args }}'

SUMS = {
    "c": '#include <stdio.h>\nint main() { long a, b; scanf("%ld %ld", &a, &b); printf("%ld\\n", a + b); }',
    "cpp": "#include <iostream>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b << '\\n'; }",
    "java": JAVA.format(
        "Scanner in = new Scanner(System.in); System.out.println(in.nextLong() + in.nextLong());"
    ),
    "go": GO.format("var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b)"),
    "rust": (
        "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap();\n"
        'let n: Vec<i64> = s.split_whitespace().map(|x| x.parse().unwrap()).collect(); println!("{}", n[0] + n[1]); }'
    ),
    "javascript": (
        "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\n"
        "console.log(a + b);"
    ),
    "typescript": (
        "import * as fs from 'fs';\n"
        "const [a, b]: number[] = fs.readFileSync('/dev/stdin', 'utf8').split(' ').map(Number);\n"
        "console.log(a + b);"
    ),
    "bash": "read -r a b\necho $((a + b))",
}
CASES: dict[str, tuple[str, str]] = {
    name: (source, status)
    for block in FAILURES.read_text("utf-8").split("\n#% ")[1:]
    for head, _, source in [block.partition("\n")]
    for name, _, status in [head.partition(": ")]
}


@pytest.fixture
def run(sandbox: LocalSandbox, need: Callable[[str], None]) -> Run:
    def once(language: str, source: str, stdin: str = "", limits: Limits = SHORT) -> Outcome:
        need(language)
        return sandbox.run(Program(source, stdin=stdin, language=language), limits)

    return once


@pytest.mark.parametrize("language", SUMS)
def test_a_program_reads_stdin_and_prints(
    sandbox: Sandbox, need: Callable[[str], None], language: str
) -> None:
    need(language)
    for a, b in ((1, 2), (20, 22)):  # the second run uses the kept artifact
        program = Program(SUMS[language], stdin=f"{a} {b}\n", language=language)
        outcome = sandbox.run(program, SHORT)
        assert (outcome.status, outcome.stdout, outcome.exit_code) == ("ok", f"{a + b}\n", 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_failure_has_its_status(sandbox: LocalSandbox, run: Run, name: str) -> None:
    source, status = CASES[name]
    language = name.partition(",")[0]
    outcome = run(language, source, limits=ROOMY if status == "memory" else SHORT)
    if not sandbox.isolation.endswith("cgroup") and status == "memory":
        # Without a total limit an allocation fails, and the program decides how it ends.
        assert outcome.status in ("memory", "runtime-error", "wrong-exit")
    else:
        assert outcome.status == status, outcome
    assert "root:" not in outcome.stdout + outcome.stderr


def test_memory_that_many_small_processes_take_together_is_the_programs_own(
    sandbox: LocalSandbox, run: Run
) -> None:
    if not sandbox.isolation.endswith("cgroup"):
        pytest.skip("needs control groups: nothing else sums the memory of several processes")
    source = (
        "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
        "int main() {\n  for (int i = 0; i < 60; i++) if (fork() == 0) {\n    usleep(300000);\n"
        "    volatile char *p = malloc(2 << 20);\n    for (int j = 0; j < 2 << 20; j += 4096) p[j] = 1;\n"
        "    sleep(2); _exit(0);\n  }\n  while (wait(0) > 0);\n}"
    )
    limits = replace(ROOMY, memory_mb=64, processes=64)
    for _ in range(2):  # each of them smaller than the supervising process
        assert run("c", source, limits=limits).status == "memory"


def test_the_compilers_complaint_is_shown(run: Run) -> None:
    assert "'x' was not declared" in run("cpp", "int main() { return x; }").stderr.translate(
        {0x2018: "'", 0x2019: "'"}
    )
    assert "TS2322" in run("typescript", "const x: number = 'a';").stdout
    assert "Main.java:2: error" in run("java", JAVA.format("int x = 1")).stderr


def test_the_program_is_another_process_than_its_compiler_and_finds_nothing_of_it(run: Run) -> None:
    source = (
        "#include <filesystem>\n#include <iostream>\nint main() {\n"
        '    for (auto &e : std::filesystem::directory_iterator("/scratch")) std::cout << e.path();\n'
        '    std::cout << std::filesystem::exists("/usr/bin/g++");\n}'
    )
    assert run("cpp", source).stdout == "0"


def test_javascript_sees_no_network_and_no_home(run: Run) -> None:
    source = (
        "const fs = require('fs');\n"
        "console.log(['/home', '/tmp', '/proc', '/etc/passwd', '/work'].filter(fs.existsSync));\n"
        "require('net').connect(80, '127.0.0.1').on('error', e => console.log(e.code));"
    )
    assert run("javascript", source).stdout == "[]\nEPERM\n"


def test_java_sees_no_files_of_the_host(run: Run) -> None:
    files = '"/home", "/tmp", "/proc", "/etc/passwd", "/work"'
    body = (
        f"for (String f : new String[] {{{files}}}) System.out.println(new java.io.File(f).list());"
    )
    assert set(run("java", JAVA.format(body)).stdout.split()) == {"null"}


def test_a_language_runs_within_the_least_limits(run: Run) -> None:
    little = Limits(memory_mb=64, processes=1, output_kb=16, scratch_mb=16)
    for language in ("c", "cpp", "go", "rust", "java"):
        outcome = run(language, SUMS[language], "1 2", little)
        assert outcome.stdout == "3\n", (language, outcome)


def test_java_takes_the_only_main_or_that_of_main(run: Run) -> None:
    hello = 'public static void main(String[] a) { System.out.println("%s"); }'
    named = "package a.b;\n/* class No { */ public final class Own { %s }\nclass Other { }"
    assert run("java", named % (hello % "own")).stdout == "own\n"
    two = "class A { %s }\nclass Main { %s }"
    assert run("java", two % (hello % "a", hello % "main")).stdout == "main\n"
    torn = run("java", two.replace("Main", "B") % (hello % "a", hello % "b"))
    assert (torn.status, torn.stdout) == ("wrong-exit", "")
    assert "call one of them Main" in torn.stderr


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class A { }", "Main.java"),
        ("class A { public class B { } }\npublic class C { }", "C.java"),
        ('class A { String s = "} public class X {"; }\npublic record R(int a) { }', "R.java"),
        (
            "// public class X\n/* public class Y */ public abstract sealed interface Z { }",
            "Z.java",
        ),
        ('class A { char c = \'"\'; String t = """\n  } public class X { " """; }', "Main.java"),
    ],
)
def test_a_java_file_is_called_as_its_public_class(source: str, name: str) -> None:
    assert java_file_name(source) == name


def test_sql_asks_the_database_that_standard_input_makes(run: Run) -> None:
    setup = (
        "CREATE TABLE people(name TEXT, age INT, height REAL);\n"
        "INSERT INTO people VALUES ('Ada', 36, 1.7), ('Bo', NULL, 1.5);\n"
    )
    outcome = run("sql", "SELECT name, age, height * 2 FROM people ORDER BY name;", setup)
    assert (outcome.status, outcome.stdout) == ("ok", "Ada|36|3.4\nBo|NULL|3.0\n")
    broken = run("sql", "SELECT nobody FROM people; SELECT 1;", setup)
    assert (broken.status, broken.stdout) == ("wrong-exit", "")
    assert "no such column" in broken.stderr


def test_a_language_that_is_not_installed_says_so(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert foreign.find(("nowhere++", "/nowhere/g++")) is None
    nowhere = LanguageSpec(name="nowhere", run=("nowhere", "{source}"))
    called = LanguageSpec(
        name="nowhere", compile=("cp", "{source}", "{binary}"), run=("{binary}",), needs=("nocc",)
    )
    later = LanguageSpec(name="nowhere", compile=("true", "{source}"), run=("nowhere", "{source}"))
    for spec in (nowhere, called, later):
        monkeypatch.setattr(LANGUAGES, "get", lambda name, spec=spec: spec)
        with pytest.raises(LanguageError, match="nowhere is not installed in the sandbox: no no"):
            sandbox.run(Program("", language="nowhere"))
