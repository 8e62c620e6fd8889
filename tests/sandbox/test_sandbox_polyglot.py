"""Functions of other languages than Python are called with typed JSON; what they return, and how
they fail, comes back as of Python's."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_sandbox import LANGUAGES, Limits, LocalSandbox, Outcome, Program, Sandbox
from prorl_sandbox.trials import try_languages
from prorl_verifiers.code.compare import same_value

Call = Callable[..., Outcome]
ROOMY = Limits(wall_seconds=30.0, cpu_seconds=10.0, memory_mb=256, output_kb=64)
PROBLEMS = Path(__file__).with_name("polyglot")
ENDINGS = {
    "cpp": "cpp",
    "go": "go",
    "java": "java",
    "javascript": "js",
    "rust": "rs",
    "typescript": "ts",
}


def merged(intervals: list[list[int]]) -> list[list[int]]:
    """Return the union of closed intervals."""
    made: list[list[int]] = []
    for low, high in sorted(intervals):
        if made and low <= made[-1][1]:
            made[-1][1] = max(made[-1][1], high)
        else:
            made.append([low, high])
    return made


TEXT = 'tab\t"quote" back\\slash ümläut 日本 😀 tab\t'
CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("pair_sum", ([2, 7, 11, -15], -4), [2, 3]),
    ("pair_sum", ([], 3), []),
    ("count_words", (TEXT,), Counter(TEXT.split())),
    ("is_palindrome", ("никто",), False),
    ("is_palindrome", ("abba",), True),
    ("mean", ([1, 2.5, -0.5],), 1.0),
    ("mean", ([1e308, 0.0],), 5e307),
    ("transpose", ([[1, 2, 3], [-4, 5, 2**31 - 1]],), [[1, -4], [2, 5], [3, 2**31 - 1]]),
    ("group_by_length", (["a", "bc", "d", ""],), {1: ["a", "d"], 2: ["bc"], 0: [""]}),
    ("power_mod", (3, 10**15, 10**18 - 11), pow(3, 10**15, 10**18 - 11)),
    ("longest_common_prefix", (["flow", "flower", "fl'\"\\"],), "fl"),
    ("first_negative", ([5, 0, -3, -1],), 2),
    ("first_negative", ([5],), None),
    ("merge_intervals", ([[8, 9], [1, 3], [2, 6]],), merged([[8, 9], [1, 3], [2, 6]])),
    ("caesar", ("xyz & \n ab", 3), "abc & \n de"),
    ("bracket_depth", ("(()(()))",), 3),
    ("bracket_depth", ("())(",), -1),
    ("scale", ({"a": 1.5, "ä\n": -2}, 0.5), {"a": 0.75, "ä\n": -1.0}),
    ("sieve", (12,), [n in (2, 3, 5, 7, 11) for n in range(12)]),
]
ECHO = {
    "cpp": """
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>
double real(double x) { return x; }
std::vector<std::optional<long long>> whole(std::vector<std::optional<long long>> x) { return x; }
int narrow(int x) { return x; }
bool truth(bool x) { return x; }
std::string text(std::string x) { return x; }
int speak(int x) { std::cout << "{\\"k\\":\\"value\\"}\\n"; return x; }
int fail(int x) { throw std::runtime_error("no"); }
int leave(int x) { std::exit(0); }
int main() { std::cout << "main"; }
""",
    "java": """
import java.util.*;
class Solution {
  double real(double x) { return x; }
  List<Long> whole(List<Long> x) { return x; }
  int narrow(int x) { return x; }
  boolean truth(boolean x) { return x; }
  String text(String x) { return x; }
  int speak(int x) { System.out.println("{\\"k\\":\\"value\\"}"); return x; }
  int fail(int x) { throw new IllegalStateException("no"); }
  int leave(int x) { System.exit(0); return x; }
  public static void main(String[] a) { System.out.print("main"); }
}
""",
    "go": """
package main
import ("fmt"; "os")
func real_(x float64) float64 { return x }
func whole(x []*int64) []*int64 { return x }
func narrow(x int32) int32 { return x }
func truth(x bool) bool { return x }
func text(x string) string { return x }
func speak(x int) int { fmt.Println(`{"k":"value"}`); return x }
func fail(x int) int { panic("no") }
func leave(x int) int { os.Exit(0); return x }
func main() { fmt.Print("main") }
""",
    "rust": """
fn real(x: f64) -> f64 { x }
fn whole(x: Vec<Option<i64>>) -> Vec<Option<i64>> { x }
fn narrow(x: i32) -> i32 { x }
fn truth(x: bool) -> bool { x }
fn text(x: &str) -> &str { x }
fn speak(x: i32) -> i32 { println!("{{\\"k\\":\\"value\\"}}"); x }
fn fail(x: i32) -> Result<i32, String> { Err("no".to_string()) }
fn leave(x: i32) -> i32 { std::process::exit(0) }
fn main() { print!("main") }
""",
    "javascript": """
const real = x => x, whole = x => x, narrow = x => x, truth = x => x, text = x => x;
function speak(x) { console.log('{"k":"value"}'); return x; }
function fail(x) { throw new Error("no"); }
function leave(x) { process.exit(0); }
""",
}


@pytest.fixture
def call(sandbox: LocalSandbox, need: Callable[[str], None]) -> Call:
    """Call a function of a source in a language."""

    def once(
        language: str, source: str, name: str, *args: object, limits: Limits = ROOMY
    ) -> Outcome:
        need(language)
        return sandbox.run(Program(source, call=name, args=args, language=language), limits)

    return once


def echo(call: Call, language: str, name: str, value: object) -> Outcome:
    name = "real_" if (language, name) == ("go", "real") else name
    return call(language, ECHO[language], name, value)


@pytest.mark.slow  # a compilation a problem
@pytest.mark.parametrize("language", ENDINGS)
def test_right_solutions_give_the_right_values(call: Call, language: str) -> None:
    source = (PROBLEMS / f"problems.{ENDINGS[language]}").read_text(encoding="utf-8")
    for name, args, expected in CALLS:
        outcome = call(language, source, name, *args)
        assert outcome.status == "ok", (name, outcome)
        expected = {str(k): v for k, v in expected.items()} if type(expected) is dict else expected
        expected = dict(expected) if type(expected) is Counter else expected
        assert same_value(expected, outcome.value, from_json=True), (name, expected, outcome.value)


@pytest.mark.slow  # a compilation a function
@pytest.mark.parametrize("language", ECHO)
def test_values_cross_as_they_are(call: Call, language: str) -> None:
    for number in (0.1, -1e-300, 1e300, math.inf, -math.inf):
        assert echo(call, language, "real", number).value == number
    assert math.isnan(echo(call, language, "real", math.nan).value)
    if language != "javascript":  # where one type is both
        assert type(echo(call, language, "real", 3).value) is float
    numbers = [0, -1, 2**53 + 1, -(2**63), 2**63 - 1]
    assert echo(call, language, "whole", [*numbers, None]).value == [*numbers, None]
    assert echo(call, language, "truth", True).value is True
    for text in (TEXT, "", "\x00\x01\x7f\u2028", '","n":"'):
        assert echo(call, language, "text", text).value == text


@pytest.mark.slow
@pytest.mark.parametrize("language", [name for name in ECHO if name != "javascript"])
def test_an_argument_that_its_type_does_not_take_fails_the_call(call: Call, language: str) -> None:
    for value in (2**31, 2**70, 1.0, "12", True, None, [1]):
        outcome = echo(call, language, "narrow", value)
        assert (outcome.status, outcome.value) == ("runtime-error", None), (value, outcome)
    assert echo(call, language, "text", 1).status == "runtime-error"
    assert echo(call, language, "truth", 1).status == "runtime-error"
    source = ECHO[language]
    assert call(language, source, "narrow").status == "runtime-error"
    assert call(language, source, "narrow", 1, 2).status == "runtime-error"


@pytest.mark.slow
@pytest.mark.parametrize("language", ECHO)
def test_only_what_is_returned_is_the_value(call: Call, language: str) -> None:
    spoken = echo(call, language, "speak", 7)
    assert (spoken.status, spoken.value, spoken.stdout) == ("ok", 7, '{"k":"value"}\n')
    failed = echo(call, language, "fail", 7)
    assert (failed.status, failed.value) == ("runtime-error", None)
    assert "no" in failed.stderr
    left = echo(call, language, "leave", 7)
    assert (left.status, left.value, left.exit_code) == ("runtime-error", None, 0)
    missing = call(language, ECHO[language], "nothing", 7)
    assert missing.status in ("compile-error", "runtime-error")


@pytest.mark.slow  # a compilation a function
@pytest.mark.parametrize("language", ["cpp", "go", "java", "rust", "javascript"])
def test_limits_hold_during_a_call(call: Call, language: str) -> None:
    loops = {
        "cpp": "int f(int n) { for (volatile int i = 0;;) i = i; }",
        "go": "package main\nfunc f(n int) int { for { } }",
        "java": "class A { int f(int n) { while (true); } }",
        "rust": "fn f(n: i32) -> i32 { loop { std::hint::spin_loop() } }",
        "javascript": "function f(n) { for (;;); }",
    }
    short = Limits(wall_seconds=5.0, cpu_seconds=0.5, memory_mb=256, output_kb=64)
    outcome = call(language, loops[language], "f", 1, limits=short)
    assert (outcome.status, outcome.limit) == ("timeout", "cpu"), outcome
    long = {
        "cpp": "#include <string>\nstd::string f(int n) { return std::string(n, 'x'); }",
        "go": 'package main\nimport "strings"\nfunc f(n int) string { return strings.Repeat("x", n) }',
        "java": 'class A { String f(int n) { return "x".repeat(n); } }',
        "rust": 'fn f(n: usize) -> String { "x".repeat(n) }',
        "javascript": "function f(n) { return 'x'.repeat(n); }",
    }
    assert call(language, long[language], "f", 1000).value == "x" * 1000
    assert call(language, long[language], "f", 100_000).status == "output-limit"


def test_memory_that_runs_out_in_a_call_is_said(sandbox: LocalSandbox, call: Call) -> None:
    source = (
        "class A { int f() { java.util.List<byte[]> l = new java.util.ArrayList<>();\n"
        "while (true) l.add(new byte[1 << 20]); } }"
    )
    assert call("java", source, "f").status == "memory"


LAST = "write(3, f, n); _exit(0);"
FORGERIES: dict[str, tuple[bytes, str, str]] = {
    "an answer to another question": (
        b'{"k":"value","v":42,"n":"0123"}',
        "write(3, f, n);",
        "protocol-error",
    ),
    "an answer without a question": (b'{"k":"value","v":42}', LAST, "protocol-error"),
    "no message": (b"{}", LAST, "protocol-error"),
    "a missing compiler": (b'{"k":"missing","text":"gcc"}', LAST, "runtime-error"),
    "an artifact": (b'{"k":"artifact","v":42}', LAST, "runtime-error"),
    "readiness and no more": (b'{"k":"ready"}', LAST, "runtime-error"),
    "an answer on standard output": (
        b'{"k":"value","v":42}',
        "write(1, f, n); _exit(0);",
        "runtime-error",
    ),
    "the beginning of a gigabyte": (
        b"",
        'write(3, "\\x40\\0\\0\\0", 4); pause();',
        "output-limit",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERIES)
def test_what_a_program_writes_to_the_channel_is_no_answer(call: Call, name: str) -> None:
    body, deed, status = FORGERIES[name]
    frame = len(body).to_bytes(4, "big") + body
    text = "".join(f"\\{byte:03o}" for byte in frame)
    source = (
        "#include <unistd.h>\n"
        f'static const char *f = "{text}"; static const unsigned n = {len(frame)};\n'
        f"struct Early {{ Early() {{ {deed} }} }} early;\nint g(int x) {{ return x; }}\n"
    )
    outcome = call("cpp", source, "g", 42)
    assert (outcome.status, outcome.value) == (status, None), outcome


@pytest.mark.slow
def test_what_cannot_leave_a_box_is_no_value(call: Call) -> None:
    java = "class A { Object f() { java.util.List<Object> l = new java.util.ArrayList<>(); l.add(l); return l; } }"
    assert call("java", java, "f").status == "unserialisable"
    assert call("javascript", "const f = () => Symbol('x')", "f").status == "unserialisable"
    assert (
        call("javascript", "const f = () => { const a = []; a[0] = a; return a }", "f").status
        == "unserialisable"
    )
    assert (
        call("go", "package main\nfunc f() chan int { return nil }", "f").status == "unserialisable"
    )
    assert (
        call("go", 'package main\nfunc f() string { return "\\xff" }', "f").status
        == "unserialisable"
    )
    assert (
        call("cpp", '#include <string>\nstd::string f() { return "\\xff"; }', "f").status
        == "unserialisable"
    )
    assert call("cpp", "int *f() { return nullptr; }", "f").status == "compile-error"
    assert call("rust", "struct A; fn f() -> A { A }", "f").status == "compile-error"


METHODS = {
    "cpp": "class Solution {\n int kept = 1;\npublic:\n int f(int a) { return a + kept; }\n static int g() { return 5; }\n};",
    "java": "class Solution {\n int kept = 1;\n int f(int a) { return a + kept; }\n static int g() { return 5; }\n}",
    "go": "package solution\ntype Solution struct{ kept int }\nfunc (s *Solution) f(a int) int { return a + 1 }\nfunc (s Solution) g() int { return 5 }",
    "rust": "impl Solution {\n pub fn f(a: i32) -> i32 { a + 1 }\n fn g() -> i32 { 5 }\n}",
    "javascript": "class Solution {\n f(a) { return a + 1; }\n static g() { return 5; }\n}",
    "typescript": "class Solution {\n f(a: number): number { return a + 1; }\n static g() { return 5; }\n}",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", METHODS)
def test_a_method_of_a_class_is_called_of_a_fresh_instance(call: Call, language: str) -> None:
    source = METHODS[language]
    for name, args, value in (("f", (3,), 4), ("Solution.f", (3,), 4), ("Solution.g", (), 5)):
        outcome = call(language, source, name, *args)
        assert (outcome.status, outcome.value) == ("ok", value), outcome


def test_macros_and_a_main_of_the_submission_change_nothing_of_the_call(call: Call) -> None:
    source = (
        "#include <bits/stdc++.h>\nusing namespace std;\n#define int long long\n#define put x\n"
        "#define string char\nvector<int> f(vector<int> a) { a.push_back(a.size()); return a; }\n"
        "signed main() { return 7; }"
    )
    assert call("cpp", source, "f", [2**40]).value == [2**40, 1]


def test_calls_and_checks_that_a_language_cannot_take_are_the_users_mistake(
    sandbox: LocalSandbox,
) -> None:
    for language in ("c", "bash", "sql"):
        with pytest.raises(
            UserError, match=r"takes whole programs with stdin: calls work in C\+\+"
        ):
            sandbox.run(Program("", language=language, call="f"))
    with pytest.raises(UserError, match="no name of a function"):
        sandbox.run(Program("", language="cpp", call="f); system(x"))
    with pytest.raises(UserError, match="cannot be sent to the program"):
        sandbox.run(Program("", language="javascript", call="f", args=(1j,)))
    with pytest.raises(UserError, match="a check needs Python"):
        sandbox.run_check(Program("", language="javascript"), "def check(f): pass", "f")
    with pytest.raises(UserError, match="unknown language 'cobol'"):
        sandbox.run(Program("", language="cobol"))


@pytest.mark.parametrize("language", [spec.name for spec in LANGUAGES.all() if spec.trial])
def test_a_languages_own_trial_works(
    local_or_remote: Sandbox,
    need: Callable[[str], None],
    language: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need(language)
    spec = LANGUAGES.get(language)
    monkeypatch.setattr(LANGUAGES, "all", lambda: (spec,))
    (tried,) = try_languages(local_or_remote)
    assert (tried.runs, tried.calls, tried.note) == (True, spec.takes_calls, "")
    assert re.fullmatch(r"[a-z]+", tried.name)
