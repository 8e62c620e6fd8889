"""JavaScript functions take and return typed JSON and fail like Python's; other languages run whole programs only."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_sandbox import LANGUAGES, Limits, LocalSandbox, Outcome, Program
from prorl_sandbox.capabilities import try_languages
from prorl_verifiers.code.compare import same_value

Call = Callable[..., Outcome]
ROOMY = Limits(wall_seconds=30.0, cpu_seconds=10.0, memory_mb=256, output_kb=64)
PROBLEMS = Path(__file__).with_name("problems.js")


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
ECHO = """
const same = x => x;
function speak(x) { console.log('{"k":"value"}'); return x; }
function fail(x) { throw new Error("no"); }
function leave(x) { process.exit(0); }
"""


@pytest.fixture
def call(sandbox: LocalSandbox, need: Callable[[str], None]) -> Call:
    """Call a function of a JavaScript source."""
    need("javascript")

    def once(source: str, name: str, *args: object, limits: Limits = ROOMY) -> Outcome:
        return sandbox.run(Program(source, call=name, args=args, language="javascript"), limits)

    return once


@pytest.mark.slow
def test_right_solutions_give_the_right_values(call: Call) -> None:
    source = PROBLEMS.read_text(encoding="utf-8")
    for name, args, expected in CALLS:
        outcome = call(source, name, *args)
        assert outcome.status == "ok", (name, outcome)
        expected = {str(k): v for k, v in expected.items()} if type(expected) is dict else expected
        expected = dict(expected) if type(expected) is Counter else expected
        assert same_value(expected, outcome.value, from_json=True), (name, expected, outcome.value)


@pytest.mark.slow
def test_values_cross_as_they_are(call: Call) -> None:
    for number in (0.1, -1e-300, 1e300, math.inf, -math.inf):
        assert call(ECHO, "same", number).value == number
    assert math.isnan(call(ECHO, "same", math.nan).value)
    numbers = [0, -1, 2**53 + 1, -(2**63), 2**63 - 1, None]
    assert call(ECHO, "same", numbers).value == numbers
    assert call(ECHO, "same", True).value is True
    for text in (TEXT, "", "\x00\x01\x7f\u2028", '","n":"'):
        assert call(ECHO, "same", text).value == text


def test_only_what_is_returned_is_the_value(call: Call) -> None:
    spoken = call(ECHO, "speak", 7)
    assert (spoken.status, spoken.value, spoken.stdout) == ("ok", 7, '{"k":"value"}\n')
    failed = call(ECHO, "fail", 7)
    assert (failed.status, failed.value) == ("runtime-error", None)
    assert "no" in failed.stderr
    left = call(ECHO, "leave", 7)
    assert (left.status, left.value, left.exit_code) == ("runtime-error", None, 0)
    assert call(ECHO, "nothing", 7).status == "runtime-error"


@pytest.mark.slow
def test_limits_hold_during_a_call(call: Call) -> None:
    short = Limits(wall_seconds=5.0, cpu_seconds=0.5, memory_mb=256, output_kb=64)
    outcome = call("function f(n) { for (;;); }", "f", 1, limits=short)
    assert (outcome.status, outcome.limit) == ("timeout", "cpu"), outcome
    long = "function f(n) { return 'x'.repeat(n); }"
    assert call(long, "f", 1000).value == "x" * 1000
    assert call(long, "f", 100_000).status == "output-limit"


LAST = "fs.writeSync(3, frame); process.exit(0);"
FORGERIES: dict[str, tuple[bytes, str, str]] = {
    "an answer to another question": (
        b'{"k":"value","v":42,"n":"0123"}',
        "fs.writeSync(3, frame);",
        "protocol-error",
    ),
    "an answer without a request": (b'{"k":"value","v":42}', LAST, "protocol-error"),
    "no message": (b"{}", LAST, "protocol-error"),
    "a missing compiler": (b'{"k":"missing","text":"gcc"}', LAST, "runtime-error"),
    "an artifact": (b'{"k":"artifact","v":42}', LAST, "runtime-error"),
    "readiness and no more": (b'{"k":"ready"}', LAST, "runtime-error"),
    "an answer on standard output": (
        b'{"k":"value","v":42}',
        "fs.writeSync(1, frame); process.exit(0);",
        "runtime-error",
    ),
    "the beginning of a gigabyte": (
        b"",
        "fs.writeSync(3, Buffer.from([64, 0, 0, 0])); for (;;);",
        "output-limit",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORGERIES)
def test_what_a_program_writes_to_the_channel_is_no_answer(call: Call, name: str) -> None:
    body, deed, status = FORGERIES[name]
    frame = json.dumps(list(len(body).to_bytes(4, "big") + body))
    source = f"const fs = require('fs'), frame = Buffer.from({frame});\n{deed}\nfunction g(x) {{ return x; }}"
    outcome = call(source, "g", 42)
    assert (outcome.status, outcome.value) == (status, None), outcome


def test_what_cannot_leave_a_box_is_no_value(call: Call) -> None:
    assert call("const f = () => Symbol('x')", "f").status == "unserialisable"
    ring = "const f = () => { const a = []; a[0] = a; return a }"
    assert call(ring, "f").status == "unserialisable"


def test_a_method_of_a_class_is_called_of_a_fresh_instance(call: Call) -> None:
    source = "class Solution {\n f(a) { return a + 1; }\n static g() { return 5; }\n}"
    for name, args, value in (("f", (3,), 4), ("Solution.f", (3,), 4), ("Solution.g", (), 5)):
        outcome = call(source, name, *args)
        assert (outcome.status, outcome.value) == ("ok", value), outcome


def test_calls_and_checks_that_a_language_cannot_take_are_the_users_mistake(
    sandbox: LocalSandbox,
) -> None:
    for language in ("bash", "c", "cpp", "go", "java", "rust", "sql", "typescript"):
        with pytest.raises(UserError, match=r"functions can be called in .*Python, not in "):
            sandbox.run(Program("", language=language, call="f"))
    with pytest.raises(UserError, match="neither the name of a function"):
        sandbox.run(Program("", language="javascript", call="f); system(x"))
    with pytest.raises(UserError, match="cannot be sent to the program"):
        sandbox.run(Program("", language="javascript", call="f", args=(1j,)))
    with pytest.raises(UserError, match="a check can only test Python"):
        sandbox.run_check(Program("", language="javascript"), "def check(f): pass", "f")
    with pytest.raises(UserError, match="unknown language 'cobol'"):
        sandbox.run(Program("", language="cobol"))


@pytest.mark.parametrize("language", [spec.name for spec in LANGUAGES.all() if spec.trial])
def test_a_languages_own_trial_works(
    sandbox: LocalSandbox,
    need: Callable[[str], None],
    language: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need(language)
    spec = LANGUAGES.get(language)
    monkeypatch.setattr(LANGUAGES, "all", lambda: (spec,))
    (tried,) = try_languages(sandbox)
    assert (tried.runs, tried.calls, tried.note) == (True, spec.takes_calls, "")
    assert re.fullmatch(r"[a-z]+", tried.name)
