from collections.abc import Iterator
from importlib import resources

import pytest
from fake_sandbox import FakeSandbox

from prorl_sandbox import IsolationError, Limits, Outcome, Program, Sandbox, open_sandbox
from prorl_verifiers import Verdict, VerifierPool, load_task
from prorl_verifiers.code.reference import JUDGES, StdioTest
from prorl_verifiers.code.scorer import JudgeError, judge_accepts

HUGE = "1" * 100_000
CASES = [
    ("tokens", "1 2\n3", " 1\n2   3 ", True),
    ("tokens", "1 2", "12", False),
    ("tokens", "YES", "yes", False),
    ("tokens", "1.0", "1", False),
    ("tokens", "", " \n", True),
    ("floats", "0.333333333", "0.3333333", True),
    ("floats", "1.0", "1", True),
    ("floats", "1000000.0", "1000000.9", True),
    ("floats", "1000000.0", "1000001.1", False),
    ("floats", "1e-3", "0.0010000001", True),
    ("floats", "0.5", "0.500002", False),
    ("floats", "1000000", "1000000.0", False),
    ("floats", "1000000", "1000001", False),
    ("floats", "0.5 3", "0.5", False),
    ("floats", "0.5", "nan", False),
    ("floats", "1e308", "inf", False),
    ("floats", "1e308", "1e999", False),
    ("floats", "0.5", "0_0.5", False),
    ("floats", "0.5", "one", False),
    ("floats", "0.5", HUGE, False),
    ("floats", "nan -inf", "NaN -Infinity", True),
    ("floats", "inf", "-inf", False),
    ("floats", "inf", "1e999", False),
    ("floats", "length 0.5", "length 0.50", True),
    ("floats", "length 0.5", "Length 0.5", False),
    ("rows", "a|1\nb|2\nb|2\n", "b|2\na|1.0\nb|2\n", True),
    ("rows", "a|1\nb|2\nb|2\n", "a|1\na|1\nb|2\n", False),
    ("rows", "a|1\n", "1|a\n", False),
    ("rows", "x|0.3333333333\ny|0.5\n", "y|0.5\nx|0.33333333333333\n", True),
    ("rows", "x|0.334\n", "x|0.33333333333333\n", False),
    ("rows", "2.9999999999996\n", "3\n", True),
    ("rows", "0.5|1.5\n0.25|2.5\n", "0.25|2.5\n0.5|1.5\n", True),
    ("rows", "0.5|2.5\n0.25|1.5\n", "0.25|2.5\n0.5|1.5\n", False),
    ("rows", "007\n", "7\n", False),
    ("rows", "NULL\n", "\n", False),
    ("rows", "1e400\n", "1e400\n", True),
    ("rows", "1\n" * 3, "1\n" * 2, False),
    ("unordered_lines", "a\nb\nb\n", "b\na \n\nb", True),
    ("unordered_lines", "a\nb\nb\n", "a\na\nb", False),
    ("unordered_lines", "a b", "b a", False),
]


class Returning(FakeSandbox):
    """A sandbox whose runs all end alike."""

    def __init__(self, program: Outcome, judge: Outcome) -> None:
        self.program, self.judge = program, judge
        self.judged: list[Program] = []

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:  # noqa: B008
        if program.call is None:
            return self.program
        self.judged.append(program)
        return self.judge


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        box = open_sandbox()
    except IsolationError as error:
        pytest.skip(f"no isolation here: {error}")
    yield box
    box.close()


def scored(sandbox: Sandbox, name: str) -> Verdict:
    reference = {"tests": [{"stdin": "in", "stdout": "gold"}], "judge": name}
    with VerifierPool(1, sandbox) as pool:
        return pool.score([("```python\nx\n```", load_task("code", reference))])[0]


@pytest.mark.parametrize(("name", "expected", "stdout", "right"), CASES)
def test_a_judge_decides_on_text(
    sandbox: Sandbox, name: str, expected: str, stdout: str, right: bool
) -> None:
    assert judge_accepts(name, StdioTest("", expected), stdout, sandbox) is right


def test_every_installed_judge_is_tested_and_a_function_of_the_file_of_judges() -> None:
    assert set(JUDGES) == {case[0] for case in CASES}
    source = (resources.files("prorl_verifiers.code") / "judges.py").read_text(encoding="utf-8")
    for name in JUDGES:
        assert f"def {name}(stdin: str, stdout: str, expected: str) -> bool:" in source


def test_a_judge_gets_the_texts_and_the_program_none_of_them() -> None:
    sandbox = Returning(Outcome("ok", stdout="out"), Outcome("ok", value=True))
    assert scored(sandbox, "tokens").reward == 1.0
    assert [(program.call, program.args) for program in sandbox.judged] == [
        ("tokens", ("in", "out", "gold"))
    ]


def test_a_program_that_failed_is_not_judged() -> None:
    sandbox = Returning(Outcome("wrong-exit", stdout="gold"), Outcome("ok", value=True))
    assert scored(sandbox, "tokens").reward == 0.0
    assert not sandbox.judged


def test_the_time_of_a_judge_is_not_the_programs() -> None:
    slow = Outcome("ok", value=True, wall_seconds=9.0)
    assert scored(Returning(Outcome("ok"), slow), "tokens").reward == 1.0


@pytest.mark.parametrize(
    "ending",
    [
        Outcome("runtime-error"),
        Outcome("timeout", limit="cpu"),
        Outcome("ok", value=1),
        Outcome("ok", value=None),
        Outcome("ok", value="False"),
    ],
)
def test_a_judge_that_fails_is_an_infra_error_never_a_zero(ending: Outcome) -> None:
    sandbox = Returning(Outcome("ok"), ending)
    verdict = scored(sandbox, "floats")
    assert (verdict.reward, verdict.status) == (None, "infra_error")
    assert "judge 'floats'" in verdict.reason
    # The judge is asked about the output and about the expected output, then both again.
    assert [program.args[1] for program in sandbox.judged] == ["", "gold"] * 2
    with pytest.raises(JudgeError):
        judge_accepts("floats", StdioTest("", ""), "", sandbox)


def test_a_judged_program_is_scored_in_the_real_sandbox(sandbox: Sandbox) -> None:
    tests = [{"stdin": f"{n}\n", "stdout": f"{n / 3:.9f}\n"} for n in (1, 2)]
    task = load_task("code", {"tests": tests, "judge": "floats"})
    right = "```python\nprint(int(input()) / 3)\n```"
    wrong = "```python\nprint(int(input()) / 3 + 0.001)\n```"
    with VerifierPool(2, sandbox) as pool:
        assert [v.reward for v in pool.score([(right, task), (wrong, task)])] == [1.0, 0.0]
