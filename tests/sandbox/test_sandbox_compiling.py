from __future__ import annotations

import shutil
import time

import pytest

from prorl_common import UserError
from prorl_sandbox import Limits, Program, check_limits
from prorl_sandbox.local.sandbox import LocalSandbox
from prorl_sandbox.run.compiling import plan_compilation
from prorl_sandbox.spec import LANGUAGES
from prorl_verifiers.code.reference import read_reference
from prorl_verifiers.code.scorer import score_code
from prorl_verifiers.types import TaskError

TEMPLATES = """
template <int A, int B> struct Tree { enum { v = Tree<A - 1, 2 * B>::v + Tree<A - 1, 2 * B + 1>::v }; };
template <int B> struct Tree<0, B> { enum { v = 1 }; };
int main() { return Tree<22, 0>::v; }
"""
MACROS = (
    "#define A0 x x x x x x x x\n"
    + "".join(f"#define A{n + 1} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n}\n" for n in range(9))
    + "int main() { A9; }"
)
CONSTANT = (
    "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; return s; }\n"
)
BOMBS = {
    "templates": ("cpp", TEMPLATES),
    "macros": ("c", MACROS),
    "a file without end": ("cpp", '#include "/dev/urandom"\nint main() {}'),
    "zeros without end": ("c", '#include "/dev/zero"\nint main() {}'),
    "itself": ("cpp", "#include __FILE__\n#include __FILE__\nint main() {}"),
    "a constant that takes long": ("cpp", f"{CONSTANT}static_assert(f(1L << 60));\nint main() {{}}"),
    "a large object": ("cpp", "char data[1 << 30] = {1};\nint main() {}"),
    "many messages": ("c", "int main() { " + "undeclared_; " * 50_000 + "}"),
    "deep brackets": ("c", "int main() { return " + "(" * 200_000 + "1;"),
    "go, a large array": ("go", "package main\nvar a = [1 << 28]int{1, 1<<28 - 1: 1}\nfunc main() { print(a[0]) }"),
    "rust, a constant": (
        "rust",
        "const fn f(n: u64) -> u64 { let mut i = 0; while i < n { i += 1; } i }\n" +
        "const X: u64 = f(1 << 60);\nfn main() { println!(\"{}\", X); }",
    ),
    "java, constants": ("java", "class Main { static final String A = \"" + "x" * 60_000 + "\";\n"
        + "".join(f"static final String A{n} = A + A + {'A' if n == 0 else f'A{n - 1} + A{n - 1}'};\n" for n in range(12))
        + "public static void main(String[] a) { System.out.println(A11.length()); } }"),
    "typescript, types": (
        "typescript",
        "type T<N extends number, A extends 0[][] = [[]]> = A['length'] extends N ? A : T<N, [...A, ...A, [0]]>;\n" +
        "type P<S extends string> = S extends `${infer A}${infer B}` ? [P<B>, P<B>, A] : 0;\n" +
        "const x: P<'abcdefghijklmnopqrstuvwxyzabcdefghijklmnop'> = 0;",
    ),
}  # fmt: skip
TOOLS = {
    "cpp": "g++",
    "c": "gcc",
    "go": "go",
    "rust": "rustc",
    "java": "javac",
    "typescript": "tsc",
}


SLOW = (
    "templates",
    "go, a large array",
    "java, constants",
    "rust, a constant",
    "typescript, types",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in BOMBS]
)
def test_a_bomb_for_a_compiler_ends_soon(sandbox: LocalSandbox, name: str) -> None:
    language, source = BOMBS[name]
    if shutil.which(TOOLS[language]) is None:
        pytest.skip(f"{language} is not installed")
    started = time.monotonic()
    outcome = sandbox.run(Program(source, language=language), Limits(compile_seconds=1.5))
    assert outcome.status == "compile-error"
    assert outcome.limit is None and outcome.cpu_seconds < 4
    assert len(outcome.stderr) <= 256 * 1024
    assert time.monotonic() - started < 20  # it waits for a free processor on a busy machine


def test_the_hint_names_the_limit_that_ended_a_compiler(sandbox: LocalSandbox) -> None:
    program = Program('#include "/dev/urandom"\nint main() {}', language="c")
    outcome = sandbox.run(program, Limits(compile_seconds=0.5))
    assert outcome.hint == "compiling took more than 0.5 s (limits.compile_seconds allows more)"


@pytest.mark.parametrize(("given", "cpu"), [(0.0, 8.0), (3.0, 3.0)])
def test_the_task_decides_and_else_the_language(given: float, cpu: float) -> None:
    plan = plan_compilation(Program(""), LANGUAGES.get("cpp"), Limits(compile_seconds=given))
    limits = plan.job.limits
    assert (limits.cpu_seconds, limits.wall_seconds) == (cpu, 2 * cpu)


def test_a_task_sets_the_compilers_time(sandbox: LocalSandbox) -> None:
    reference = {
        "language": "cpp",
        "tests": [{"stdin": "", "stdout": ""}],
        "limits": {"compile_seconds": 0.5},
    }
    text = f"```cpp\n{TEMPLATES}```"
    verdict = score_code(text, reference, sandbox)
    assert (verdict.reward, verdict.status) == (0.0, "scored")
    assert "more than 0.5 s" in verdict.reason
    for bad in (0, -1, "2", 1e9):
        with pytest.raises(TaskError, match="compile_seconds"):
            read_reference(reference | {"limits": {"compile_seconds": bad}})
    with pytest.raises(UserError, match="compile_seconds"):
        check_limits(Limits(compile_seconds=-1.0))
