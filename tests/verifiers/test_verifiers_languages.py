import shutil
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fake_sandbox import FakeSandbox

from prorl_sandbox import IsolationError, Limits, Outcome, Program, open_sandbox
from prorl_verifiers import TaskError, Verdict, VerifierPool, load_task

CPP = "#include <iostream>\nint main() { long n; std::cin >> n; std::cout << n * n << '\\n'; }"
JS = "const n = Number(require('fs').readFileSync(0, 'utf8'));\nconsole.log(n * n);"
SQUARES = [{"stdin": f"{n}\n", "stdout": f"{n * n}\n"} for n in (3, 5)]


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    """A pool over the real local sandbox."""
    try:
        sandbox = open_sandbox()
    except IsolationError as error:
        pytest.skip(f"no isolation here: {error}")
    with VerifierPool(2, sandbox) as opened:
        yield opened
    sandbox.close()


def score(pool: VerifierPool, mark: str, source: str, **reference: Any) -> Verdict:
    task = load_task("code", {"tests": SQUARES, **reference})
    return pool.score([(f"Here it is:\n```{mark}\n{source}\n```\n", task)])[0]


def needs(*programs: str) -> None:
    """Skip if none of the programs is installed."""
    if not any(map(shutil.which, programs)):
        pytest.skip(f"needs {' or '.join(programs)}")


@pytest.mark.parametrize(("mark", "name"), [("cpp", "cpp"), ("C++", "c++"), ("", "cpp")])
def test_cpp_is_compiled_and_run(pool: VerifierPool, mark: str, name: str) -> None:
    needs("g++")
    verdict = score(pool, mark, CPP, language=name)
    assert verdict.reward == 1.0, verdict
    assert verdict.isolation


def test_cpp_that_is_wrong_or_does_not_compile_earns_nothing(pool: VerifierPool) -> None:
    needs("g++")
    wrong = score(pool, "cpp", CPP.replace("n * n", "n + 6"), language="cpp")
    assert (wrong.reward, wrong.status) == (0.5, "scored")
    broken = score(pool, "cpp", CPP.replace("long n;", ""), language="cpp")
    assert (broken.reward, broken.status) == (0.0, "scored")
    assert "does not compile" in broken.reason


@pytest.mark.parametrize("mark", ["js", "javascript"])
def test_javascript_is_run(pool: VerifierPool, mark: str) -> None:
    needs("node", "nodejs")
    assert score(pool, mark, JS, language="javascript").reward == 1.0


def test_javascript_that_does_not_parse_is_a_scored_zero(pool: VerifierPool) -> None:
    needs("node", "nodejs")
    verdict = score(pool, "js", "const = 3", language="js")
    assert (verdict.reward, verdict.status) == (0.0, "scored"), verdict
    assert "does not compile" in verdict.reason


def test_an_answer_in_another_language_is_unparsable(pool: VerifierPool) -> None:
    verdict = score(pool, "python", "print(int(input()) ** 2)", language="cpp")
    assert (verdict.reward, verdict.status) == (0.0, "unparsable")
    assert "no closed C++ code block" in verdict.reason


def test_a_program_over_its_five_seconds_earns_nothing(pool: VerifierPool) -> None:
    tests = [{"stdin": "0", "stdout": ""}, {"stdin": "9", "stdout": ""}]
    source = "import time\ntime.sleep(int(input()))"
    limits = {"total_seconds": 1.5}
    verdict = score(pool, "python", source, tests=tests, limits=limits)
    assert (verdict.reward, verdict.status) == (0.0, "timeout"), verdict
    verdict = score(pool, "python", source, tests=tests, limits={**limits, "partial": True})
    assert (verdict.reward, verdict.status) == (0.5, "scored"), verdict


class OnePlace(FakeSandbox):
    """A sandbox with one place: a run waits for it, and its time starts after that."""

    isolation = "one place"

    def __init__(self) -> None:
        self._place = threading.Lock()
        self.waited = 0.0

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:  # noqa: B008
        asked = time.monotonic()
        with self._place:
            began = time.monotonic()
            self.waited += began - asked
            time.sleep(0.005)
            spent = time.monotonic() - began
        if spent > limits.wall_seconds:
            return Outcome("timeout", limit="wall", wall_seconds=limits.wall_seconds)
        return Outcome("ok", value=1, wall_seconds=0.005)


def test_waiting_for_a_box_is_never_a_timeout() -> None:
    tests = [{"call": "f", "args": [], "expected": 1}] * 4
    limits = {"wall_seconds": 1.0, "total_seconds": 1.0}
    task = load_task("code", {"tests": tests, "limits": limits})
    sandbox = OnePlace()
    with VerifierPool(16, sandbox, timeout_seconds=0.01) as pool:
        verdicts = pool.score([("```python\nx\n```", task)] * 60)
    assert {(v.reward, v.status) for v in verdicts} == {(1.0, "scored")}
    assert sandbox.waited > 10 * limits["total_seconds"]  # the queue was longer than any limit


def test_calls_of_javascript_are_scored_by_typed_values(pool: VerifierPool) -> None:
    needs("node", "nodejs")
    tests = [
        {"call": "f", "args": [[3, 4], 1.5], "expected": [3, 1]},
        {"call": "f", "args": [[2], 2], "expected": [2, 2]},
        {"call": "f", "args": [[], 2], "expected": [0, 2]},
        {"call": "f", "args": [[2], 2], "expected": [2, "2"]},
    ]
    source = "const f = (a, b) => [a[0], Math.trunc(b)];"
    verdict = score(pool, "javascript", source, language="javascript", tests=tests)
    assert (verdict.reward, verdict.status) == (0.5, "scored"), verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "expected", "reward"),
    [
        ("f() { return 4 / 2; }", 2, 1.0),
        ("f() { return 4 / 2; }", 2.0, 1.0),
        ("f() { return 2.0000001; }", 2, 0.0),
    ],
)  # fmt: skip
def test_equality_of_calls_is_that_of_json(
    pool: VerifierPool, body: str, expected: object, reward: float
) -> None:
    needs("node", "nodejs")
    tests = [{"call": "f", "args": [], "expected": expected}]
    source = f"class Solution {{ {body} }}"
    verdict = score(pool, "javascript", source, language="javascript", tests=tests)
    assert verdict.reward == reward, verdict


def test_asserts_checks_and_calls_that_a_language_cannot_take_are_refused_at_loading() -> None:
    call = {"call": "f", "args": [], "expected": 1}
    for language in ("bash", "c", "cpp", "go", "java", "rust", "sql", "typescript"):
        with pytest.raises(
            TaskError,
            match=r"test 1: functions can be called in .*Python, not in .*: write a program that uses stdin",
        ):
            load_task("code", {"language": language, "tests": [call]})
    check = {"check": "def check(candidate): candidate()"}
    for test in ({"assert": "assert f(1) == 2"}, {"assert": "assert f(1)"}, check):
        reference = {"language": "javascript", "tests": [call, test], "entry_point": "f"}
        with pytest.raises(
            TaskError, match="test 2: asserts and checks are only for Python: use stdin"
        ):
            load_task("code", reference)
    with pytest.raises(TaskError, match="'call' must be the name of a function"):
        load_task("code", {"language": "js", "tests": [call | {"call": "f g"}]})
    load_task("code", {"language": "JavaScript", "tests": [call | {"call": "Solution.f"}]})
