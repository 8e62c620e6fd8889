import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from fake_sandbox import FakeSandbox

from prorl_sandbox import (
    IsolationError,
    LanguageError,
    Limits,
    Outcome,
    Program,
    SandboxError,
    open_sandbox,
)
from prorl_verifiers import TaskError, Verdict, VerifierPool, load_task
from prorl_verifiers.code.compare import first_difference, same_output, same_value
from prorl_verifiers.code.reference import CallTest, CheckTest, read_tests
from prorl_verifiers.code.scorer import score_code
from prorl_verifiers.code.shapes import eurus_reference, leetcode_reference, livecodebench_reference

BLOCK = "```python\nx\n```"


class CannedSandbox(FakeSandbox):
    """Give the listed outcomes in turn; raise those that are exceptions."""

    def __init__(self, *outcomes: Outcome | Exception) -> None:
        self.outcomes = list(outcomes)
        self.seen: list[tuple[Program, Limits]] = []

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:  # noqa: B008
        self.seen.append((program, limits))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def calls(*expected: Any, **extra: Any) -> dict[str, Any]:
    return {"tests": [{"call": "f", "args": [1], "expected": value} for value in expected], **extra}


def pooled(reference: dict[str, Any], *outcomes: Outcome | Exception) -> Verdict:
    sandbox = CannedSandbox(*outcomes)
    with VerifierPool(1, sandbox) as pool:
        return pool.score([(BLOCK, load_task("code", reference))])[0]


def test_the_reward_is_the_fraction_of_all_tests() -> None:
    outcomes = [Outcome("ok", value=1), Outcome("ok", value=0), Outcome("timeout", limit="cpu")]
    verdict = pooled(calls(1, 1, 1, limits={"cpu_seconds": 1}), *outcomes)
    assert verdict.reward == pytest.approx(1 / 3)
    assert verdict.metrics == {"tests": 3.0, "passed": 1.0, "all_passed": 0.0}
    assert verdict.isolation == "fake"


def test_code_that_does_not_compile_is_a_scored_zero() -> None:
    verdict = pooled(calls(1, 1), Outcome("compile-error"))
    assert (verdict.reward, verdict.status) == (0.0, "scored")


def test_no_code_block_is_unparsable() -> None:
    assert score_code("no code", calls(1), CannedSandbox()).status == "unparsable"


BUG = ValueError("a bug of the scorer")
SPENT = Outcome("timeout", over_budget=True)


@pytest.mark.parametrize(
    ("probes", "reward"), [([Outcome("ok")], 0.0), ([BUG, BUG], None), ([SPENT, SPENT], None)]
)
def test_an_answer_on_which_the_scorer_fails_gets_nothing_if_it_scores_another(
    probes: list[Outcome | Exception], reward: float | None
) -> None:
    assert pooled(calls(2), BUG, BUG, *probes).reward == reward


def test_a_sandbox_that_fails_twice_is_an_infra_error_without_reward() -> None:
    verdict = pooled(calls(1), SandboxError("no fork"), SandboxError("no fork"))
    assert (verdict.reward, verdict.status) == (None, "infra_error")
    assert "no fork" in verdict.reason


def test_a_sandbox_that_fails_once_is_asked_again() -> None:
    assert pooled(calls(1), SandboxError("no fork"), Outcome("ok", value=1)).reward == 1.0


def spent(cpu: float, wall: float | None = None, **facts: Any) -> Outcome:
    return Outcome("ok", value=1, cpu_seconds=cpu, wall_seconds=wall or cpu, **facts)


def test_more_than_five_seconds_of_processor_time_earn_nothing() -> None:
    verdict = pooled(calls(1, 1, 1, 1, 1, 1), *[spent(2.0)] * 3)
    assert (verdict.reward, verdict.status) == (0.0, "timeout")
    assert "more than 5 s of processor time" in verdict.reason


def test_five_seconds_of_processor_time_are_within_the_budget() -> None:
    assert pooled(calls(1, 1), *[spent(2.5)] * 2).reward == 1.0


def test_more_than_twice_the_budget_by_the_clock_earns_nothing() -> None:
    verdict = pooled(calls(1, 1, 1), *[spent(0.1, wall=4.0)] * 3)
    assert (verdict.reward, verdict.status) == (0.0, "timeout")
    assert "10 s by the clock" in verdict.reason


def test_waiting_for_a_processor_is_not_the_programs_time() -> None:
    kept_waiting = spent(0.6, wall=30.0, waited_seconds=29.0)
    assert pooled(calls(1, 1, 1), *[kept_waiting] * 3).reward == 1.0


def test_partial_keeps_the_tests_passed_within_the_budget() -> None:
    verdict = pooled(calls(1, 1, 1, 1, limits={"partial": True}), *[spent(2.0)] * 3)
    assert (verdict.reward, verdict.status) == (0.5, "scored")
    limits = {"partial": True, "total_seconds": 5}
    assert pooled(calls(1, 1, 1, 1, limits=limits), *[spent(2.5)] * 2).reward == 0.5


def test_a_test_runs_within_what_is_left_of_the_budget() -> None:
    sandbox = CannedSandbox(*[spent(1.5, wall=4.0)] * 3)
    score_code(BLOCK, calls(1, 1, 1, limits={"wall_seconds": 6, "cpu_seconds": 3}), sandbox)
    assert [limits.wall_seconds for _, limits in sandbox.seen] == [6, 6, 2]
    assert [limits.cpu_seconds for _, limits in sandbox.seen] == [3, 3, 2]


@pytest.mark.parametrize(("limit", "name"), [("wall", "wall_seconds"), ("cpu", "cpu_seconds")])
def test_a_run_cut_by_the_end_of_the_budget_is_over_it(limit: Any, name: str) -> None:
    cut = Outcome("timeout", limit=limit, wall_seconds=4.9999, cpu_seconds=4.9999)
    assert pooled(calls(1, 1), cut).status == "timeout"
    own = Outcome("timeout", limit=limit, wall_seconds=1.0, cpu_seconds=1.0)
    verdict = pooled(calls(1, 1, limits={name: 1}), own, Outcome("ok", value=1))
    assert (verdict.reward, verdict.status) == (0.5, "scored")


def test_a_data_set_may_ask_for_more_than_five_seconds() -> None:
    assert pooled(calls(1, 1, limits={"total_seconds": 60}), *[spent(4.0)] * 2).reward == 1.0


def test_compile_time_is_outside_the_budget() -> None:
    verdict = pooled(calls(1, 1), Outcome("compile-error", wall_seconds=29.0))
    assert (verdict.reward, verdict.status) == (0.0, "scored")


def test_nothing_is_said_of_the_isolation_of_what_never_ran() -> None:
    with VerifierPool(1, CannedSandbox()) as pool:
        task = load_task("code", calls(1))
        verdicts = pool.score([("no code", task), ("<think>" + BLOCK, task)])
    assert [(v.status, v.isolation) for v in verdicts] == [("unparsable", "")] * 2


def test_the_isolation_that_held_in_the_run_is_recorded() -> None:
    outcome = Outcome("ok", value=1, isolation="weak:rlimits")
    assert pooled(calls(1), outcome).isolation == "weak:rlimits"


def test_a_compiler_that_is_missing_is_an_infra_error_and_not_asked_twice() -> None:
    reference = {"language": "cpp", "tests": [{"stdin": "", "stdout": "1"}]}
    with VerifierPool(1, CannedSandbox(LanguageError("cpp is not installed"))) as pool:
        verdict = pool.score([("```cpp\nx\n```", load_task("code", reference))])[0]
    assert (verdict.reward, verdict.status) == (None, "infra_error")
    assert "cpp is not installed" in verdict.reason


def test_the_submission_never_sees_what_is_expected() -> None:
    sandbox = CannedSandbox(Outcome("ok", value=1))
    score_code(BLOCK, calls("SECRET"), sandbox)
    assert "SECRET" not in repr(sandbox.seen)


def test_an_assert_of_call_and_literal_becomes_a_call() -> None:
    test = read_tests({"tests": [{"assert": "assert f((1, 2), 'a') == {1: [2]}"}]})[0]
    assert test == CallTest("f", ((1, 2), "a"), {1: [2]}, from_json=False)


def test_an_assert_on_a_name_of_a_builtin_alone_tests_the_programs_own() -> None:
    (test,) = read_tests({"tests": [{"assert": "assert sum(10, 15) == 6"}]})
    assert test == CallTest("sum", (10, 15), 6, from_json=False)
    (wrapped,) = read_tests({"tests": [{"assert": "assert sum(f(1)) == 6"}]})
    assert isinstance(wrapped, CheckTest) and wrapped.entry_point == "f"


def test_any_other_assert_becomes_a_check() -> None:
    test = read_tests({"tests": [{"assert": "assert math.isclose(f(1), 2.0, rel_tol=1e-3)"}]})[0]
    assert isinstance(test, CheckTest) and test.entry_point == "f"
    assert test.source.startswith("import math\ndef check(candidate):\n    f = candidate\n")


@pytest.mark.parametrize(
    ("gold", "got", "same"),
    [
        (1, True, False),
        (True, 1, False),
        (1, 1.0, False),
        (1.0, 1, True),
        (1.5, 1.5000001, True),
        (1.5, 1.51, False),
        (1000000, 1000000.0, False),
        ([1, [2]], (1, (2,)), True),
        ([1], [1, 1], False),
        ("1", 1, False),
        (None, None, True),
        ({"1": 2}, {1: 2}, True),
        ({"true": 2, "null": 3, "1.5": 4}, {True: 2, None: 3, 1.5: 4}, True),
        ({"a": 1}, {"a": True}, False),
        (float("nan"), float("nan"), True),
        (1.0, float("nan"), False),
        (1.0, float("inf"), False),
        (10**400, 10**400, True),
        (0.0, 10**400, False),
    ],
)
def test_values_are_compared_with_strict_types(gold: Any, got: Any, same: bool) -> None:
    assert same_value(gold, got, from_json=True) is same


def test_an_assert_takes_what_is_equal_in_python_and_nothing_else() -> None:
    assert same_value(240, 240.0)
    assert not same_value(240, 240.5)
    assert same_value(False, 0)
    assert not same_value(0, False)
    assert not same_value([(1, {"a": 1})], [(True, {"a": 1})])
    assert not same_value({1: 2}, {True: 2})
    assert not same_value({1, 3}, {True, 3})
    assert not same_value((1, 2), [1, 2])
    assert not same_value(0.3, 0.1 + 0.2)
    assert same_value({1, 2}, {2, 1})
    assert not same_value({1: 2}, {"1": 2})
    assert not same_value(float("nan"), float("nan"))


def test_values_too_deep_to_compare_are_not_the_same() -> None:
    deep: list[Any] = []
    other: list[Any] = []
    for _ in range(5000):
        deep, other = [deep], [other]
    assert not same_value(deep, other, from_json=True)
    assert not same_value(deep, other)


def test_output_is_compared_by_lines() -> None:
    assert same_output("1 2\n3\n", "1 2  \r\n3\n\n\n")
    assert not same_output("1 2\n", "1  2\n")
    assert not same_output("YES", "yes")


@pytest.fixture(scope="module")
def real_pool() -> Any:
    try:
        sandbox = open_sandbox()
    except IsolationError as error:
        pytest.skip(f"no isolation here: {error}")
    with VerifierPool(2, sandbox) as pool:
        yield pool
    sandbox.close()


def fenced(source: str) -> str:
    return f"Here:\n```python\n{source}\n```\n"


def test_programs_are_run_on_every_shape_of_test(real_pool: VerifierPool) -> None:
    source = (
        "def f(a, b=1):\n    return a + b\nif __name__ == '__main__':\n    print(f(int(input())))"
    )
    reference = {
        "entry_point": "f",
        "tests": [
            {"stdin": "1\n", "stdout": "2\n"},
            {"call": "f", "args": [2, 3], "expected": 5},
            {"assert": "assert f(1) == 2"},
            {
                "check": "def check(g):\n    for i in range(3):\n        assert abs(g(i) - i - 1) < 1e-9"
            },
            {"assert": "assert f(1) == 3"},
        ],
    }
    verdict = real_pool.score([(fenced(source), load_task("code", reference))])[0]
    assert verdict.reward == pytest.approx(0.8), verdict


@pytest.mark.parametrize(
    "source",
    [
        "class T(int):\n    def __eq__(self, o): return True\n    __hash__ = None\ndef f(a):\n    return T(0)",
        "import os\ndef f(a):\n    os._exit(0)",
        "import sys\nsys.exit(0)",
        "def f(a):\n    print('all tests passed')",
    ],
)
def test_exploits_earn_nothing(real_pool: VerifierPool, source: str) -> None:
    tests = [{"call": "f", "args": [1], "expected": 2}, {"assert": "assert f(1) == 2"}]
    verdict = real_pool.score([(fenced(source), load_task("code", {"tests": tests}))])[0]
    assert verdict.reward == 0.0, verdict


LIST = "Optional[ListNode]"
REVERSE = (
    f"class Solution:\n    def turn(self, head: {LIST}) -> {LIST}:\n        last = None\n        while head:\n"
    "            head.next, last, head = last, head, head.next\n        return last"
)
UNTYPED = REVERSE.replace(f": {LIST}", "").replace(f" -> {LIST}", "")
MIRROR = (
    "def turn(root: TreeNode) -> TreeNode:\n    if root:\n"
    "        root.left, root.right = turn(root.right), turn(root.left)\n    return root"
)
MERGE = f"def turn(lists: List[{LIST}]): return [one.val for one in lists if one]"
LRU = (
    "class LRUCache:\n    def __init__(self, size: int): self.size, self.kept = size, OrderedDict()\n"
    "    def get(self, k):\n        if k not in self.kept: return -1\n        self.kept.move_to_end(k)\n"
    "        return self.kept[k]\n    def put(self, k, v):\n        self.kept[k] = v\n"
    "        self.kept.move_to_end(k)\n        if len(self.kept) > self.size: self.kept.popitem(last=False)"
)
CALLS = {
    "calls": ["LRUCache", "put", "put", "get", "put", "get"],
    "args": [[2], [1, 1], [2, 2], [1], [3, 3], [2]],
    "expected": [None, None, None, 1, None, -1],
}
ADDER = (
    "class Adder:\n    def __init__(self, root: Optional[TreeNode]): self.root = root\n"
    "    def add(self, head): return self.root.left.val + head.next.val"
)
ADDED = {
    "calls": ["Adder", "add"],
    "args": [[[1, 2]], [{"ListNode": [3, 4]}]],
    "expected": [None, 6],
}
USE = "cache = LRUCache(1)\ncache.put(1, 1)\ncache.put(2, 2)\nassert cache.get(1) == -1 and cache.get(2) == 2"
ODD = (
    "class ListNode:\n    def __init__(self, val=0, next=None): self.val, self.next = val, next\n"
    "    def __eq__(self, other): return True\n    __hash__ = None\n"
)
SAME = "assert is_same_list(Solution().turn(head=list_node([1, 2])), list_node([2, 1]))"


ROTATE = "class Solution:\n    def turn(self, nums: List[int], k: int) -> None:\n        nums[:] = nums[-k:] + nums[:-k]"
REORDER = (
    f"def turn(head: {LIST}) -> None:\n    if head and head.next:\n"
    "        head.val, head.next.val = head.next.val, head.val\n        head.next.next = None"
)


def moved(*args: Any, expected: Any, in_place: int = 0) -> dict[str, Any]:
    return {"call": "turn", "args": list(args), "expected": expected, "in_place": in_place}


def turned(values: Any, expected: Any) -> dict[str, Any]:
    return {"call": "turn", "args": [values], "expected": expected}


@pytest.mark.parametrize(
    ("test", "source", "reward"),
    [
        ({"call": "f", "args": [[1, 2]], "expected": 3}, "def f(x: List[int]): return reduce(add, x)", 1),
        ({"call": "f", "args": [], "expected": 8}, "def f(): return pow(2, 10, 8) + 2 ** comb(3, 2)", 1),
        ({"call": "gcd", "args": [4, 6], "expected": 2}, "gcd", 0),  # the prelude's, not the program's
        ({"call": "f", "args": [9000], "expected": 0}, "def f(n): return f(n - 1) if n else 0", 1),
        ({"call": "f", "kwargs": {"a": 1, "b": [2]}, "expected": 3}, "def f(b, a): return a + b[0]", 1),
        ({"assert": "assert f(**{'a': 1}, b=2) == -1"}, "def f(b, a): return a - b", 1),
        (turned([1, 2], [2, 1]), REVERSE, 1),
        (turned([], []), REVERSE, 1),
        (turned([1, 2], [1, 2]), REVERSE, 0),
        (turned({"ListNode": [1, 2]}, {"ListNode": [2, 1]}), UNTYPED, 1),
        (turned({"ListNode": []}, {"ListNode": []}), UNTYPED, 1),
        (turned({"ListNode": [1, 2]}, {"ListNode": [2, 1]}), "def turn(head): return [2, 1]", 0),
        (turned({"ListNode": [1]}, {"ListNode": []}), "def turn(head): return []", 0),
        (turned({"ListNode": [1]}, [2]), f"{ODD}def turn(head): return ListNode(3)", 0),
        (turned({"ListNode": [1]}, [1]), "def turn(head):\n    head.next = head\n    return head", 0),
        (turned([4, 2, 7, 1, None, 6], [4, 7, 2, None, 6, None, 1]), MIRROR, 1),
        (turned([[1, 2], [], [3]], [1, 3]), MERGE, 1),
        (CALLS, LRU, 1),
        (CALLS, LRU.replace("last=False", "last=True"), 0),
        (CALLS, LRU.replace("size, self", "self, size"), 0),
        (CALLS, "class LRUCache:\n    def __init__(self, size): 1 / 0", 0),
        (ADDED, ADDER, 1),
        ({"assert": USE}, LRU, 1),
        ({"assert": USE}, LRU.replace("> self.size", "> 9"), 0),
        ({"assert": SAME}, REVERSE, 1),
        ({"assert": SAME}, f"{ODD}class Solution:\n    def turn(self, head): return ListNode(2, head)", 0),
        ({"stdout": "7" * 3_000_000}, "print('7' * 3_000_000)", 1),
        ({"stdout": "7"}, "print('7' * 3_000_000)", 0),
        ({"call": "f", "args": [], "expected": ["x" * 3_000_000]}, "def f(): return ['x' * 3_000_000]", 1),
        ({"stdout": "5"}, "print(gcd(5, 10))", 0),  # without a prelude
        (moved([1, 2, 3], 1, expected=[3, 1, 2]), ROTATE, 1),
        (moved([1, 2, 3], 1, expected=[3, 1, 2]), "def turn(nums, k): nums.insert(0, nums.pop())", 1),
        (moved([1, 2, 3], 1, expected=[3, 1, 2]), ROTATE.replace("nums[:] =", "nums ="), 0),
        (moved([1, 2, 3], 1, expected=[3, 1, 2]), "def turn(nums, k): return [3, 1, 2]", 0),
        (moved([1, 2, 3], 1, expected=[3, 1, 2]), "def turn(nums, k):\n    nums.insert(0, nums.pop())\n    1 / 0", 0),
        (moved(1, [2], expected=[2, 1], in_place=1), "def turn(k, nums): nums.append(k)", 1),
        (moved([[1, 2], [3, 4]], expected=[[1, 0], [3, 4]]), "def turn(m: List[List[int]]) -> None: m[0][1] = 0", 1),
        (moved([1, 2, 3], expected=[2, 1]), REORDER, 1),
        (moved([1, 2, 3], expected=[1, 2]), REORDER, 0),
        (moved([], expected=[]), REORDER, 1),
        ({"call": "turn", "args": [[1, 2, 3], 1], "expected": None}, ROTATE, 1),
    ],
)  # fmt: skip
def test_tasks_of_contest_sites_pay_what_is_right_and_nothing_else(
    real_pool: VerifierPool, test: dict[str, Any], source: str, reward: float
) -> None:
    verdict = real_pool.score([(fenced(source), load_task("code", {"tests": [test]}))])[0]
    assert (verdict.status, verdict.reward) == ("scored", reward), verdict


@pytest.mark.parametrize(
    ("source", "entry_point", "asserts"),
    [
        ("s = Solution()\nx = {'a': 1}\nassert s.f(**x) == 2\nx = {'a': 2}\nassert s.f(**x) == 3", None, 2),
        ("s = Solution()\nx = s.f(1)\nassert x == 2\nassert s.f(x) == 3", None, 1),
        (f"x = [1]\n{'x = [x, x]; ' * 40}assert x\nassert Solution().f(1) == 2", None, 1),
        ("def check(candidate):\n    assert candidate(a=1) == 2\n    assert candidate(a=2) == 3", "Solution().f", 2),
        ("def check(candidate):\n    for i in range(3): assert candidate(a=i) == i + 1", "Solution().f", 1),
    ],
)  # fmt: skip
def test_leetcode_rows_become_a_test_for_each_assert(
    real_pool: VerifierPool, source: str, entry_point: str | None, asserts: int
) -> None:
    reference = leetcode_reference(source, entry_point)
    program = "class Solution:\n    def f(self, a: Optional[int]): return a + 1"
    verdict = real_pool.score([(fenced(program), load_task("code", reference))])[0]
    assert (verdict.reward, verdict.metrics["tests"]) == (1.0, asserts), verdict


def test_a_traceback_has_the_lines_of_the_submission(real_pool: VerifierPool) -> None:
    with contextlib.closing(open_sandbox()) as sandbox:
        program = Program("\nx = List\n1 / 0", prelude="competition")
        assert "line 3" in sandbox.run(program).stderr


def rows_of(test_data: Path, name: str) -> list[dict[str, Any]]:
    with gzip.open(test_data / "code" / f"{name}_even.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def canonical(test_data: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return solution and reference of the even halves' rows, except MBPP's whose solution fails in plain Python."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for row in rows_of(test_data, "humaneval"):
        tests = {"tests": [{"check": row["test"]}], "entry_point": row["entry_point"]}
        found[row["task_id"]] = (row["prompt"] + row["canonical_solution"], tests)
    for name in ("mbpp", "mbpp_sanitized"):
        for row in rows_of(test_data, name):
            if row.get("canonical_passes", True):
                lines = [row["test_setup_code"]] if name == "mbpp" else row["test_imports"]
                asserts = [
                    {"assert": "\n".join([*lines, test]).strip()} for test in row["test_list"]
                ]
                found[f"{name}/{row['task_id']}"] = (row["code"], {"tests": asserts})
    return found


@pytest.mark.slow
def test_every_canonical_solution_passes(real_pool: VerifierPool, test_data: Path) -> None:
    known = canonical(test_data)
    assert len(known) == 82 + 487 + 205
    budget = {"limits": {"total_seconds": 30, "cpu_seconds": 20}}
    items = [(fenced(source), load_task("code", ref | budget)) for source, ref in known.values()]
    verdicts = dict(zip(known, real_pool.score(items), strict=True))
    assert {name: verdict for name, verdict in verdicts.items() if verdict.reward != 1.0} == {}


def test_binary_mode_wants_every_test_and_stops_at_the_first_failure() -> None:
    sandbox = CannedSandbox(Outcome("ok", value=1), Outcome("ok", value=0))
    verdict = score_code(BLOCK, calls(1, 1, 1, mode="binary"), sandbox)
    assert (verdict.reward, len(sandbox.seen)) == (0.0, 2)
    passing = CannedSandbox(*[Outcome("ok", value=1)] * 3)
    assert score_code(BLOCK, calls(1, 1, 1, mode="binary"), passing).reward == 1.0
    with pytest.raises(TaskError, match="unknown mode 'strict'"):
        load_task("code", calls(1, mode="strict"))


def test_an_eurus_function_row_takes_positional_lists_and_unwraps_its_outputs() -> None:
    row = {"fn_name": "f", "inputs": [[[4, 4], 12], [[1], 2]], "outputs": [[16], [[3]]]}
    reference = eurus_reference(json.dumps(row))
    assert reference["tests"][0] == {
        "call": "f",
        "args": [[4, 4], 12],
        "expected": [16],
        "wrapped": True,
    }
    outcomes = [Outcome("ok", value=16), Outcome("ok", value=[3])]
    assert pooled(reference, *outcomes).reward == 1.0
    outcomes = [Outcome("ok", value=[16]), Outcome("ok", value=3)]
    assert pooled(reference, *outcomes).reward == 0.5


def test_an_eurus_row_may_hold_lines_and_python_source() -> None:
    row = {"inputs": "['1\\n', ['2', '3']]", "outputs": ["1", ["5", "6"]]}
    tests = eurus_reference(json.dumps(row))["tests"]
    assert tests == [{"stdin": "1\n", "stdout": "1"}, {"stdin": "2\n3", "stdout": "5\n6"}]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"inputs": [], "outputs": []}, "must have the same length"),
        ({"inputs": ["1"], "outputs": []}, "must have the same length"),
        ({"inputs": "__import__('os')", "outputs": []}, "neither JSON nor a Python literal"),
        ({"fn_name": "f", "inputs": ["1"], "outputs": [[1]]}, "must be a list of arguments"),
        ([], "must be an object"),
    ],
)
def test_an_eurus_row_without_usable_tests_is_a_task_error(row: Any, said: str) -> None:
    with pytest.raises(TaskError, match=said):
        eurus_reference(json.dumps(row))


def test_functional_tests_of_livecodebench_are_calls_with_an_argument_a_line() -> None:
    tests = [
        {"input": "[1, 2]\n3", "output": "4", "testtype": "functional"},
        {"input": "1\n", "output": "2\n", "testtype": "stdin"},
    ]
    assert livecodebench_reference(tests, "f")["tests"] == [
        {"call": "f", "args": [[1, 2], 3], "expected": 4},
        {"stdin": "1\n", "stdout": "2\n"},
    ]
    with pytest.raises(TaskError, match="the row needs its name"):
        livecodebench_reference(tests)
    with pytest.raises(TaskError, match="at least one test"):
        livecodebench_reference([])


def test_a_function_may_stand_in_the_class_solution(real_pool: VerifierPool) -> None:
    test = {"input": "[3, 1]", "output": "[1, 3]", "testtype": "functional"}
    task = load_task("code", livecodebench_reference([test], "order"))
    method = "class Solution:\n    def order(self, xs):\n        return sorted(xs)"
    plain = "def order(xs):\n    return sorted(xs)"
    wrong = "class Solution:\n    def order(self, xs):\n        return xs"
    verdicts = real_pool.score([(fenced(source), task) for source in (method, plain, wrong)])
    assert [verdict.reward for verdict in verdicts] == [1.0, 1.0, 0.0], verdicts


def test_a_program_may_print_an_integer_of_many_digits(real_pool: VerifierPool) -> None:
    tests = [{"stdin": "", "stdout": "1" + "0" * 9000}]
    verdict = real_pool.score([(fenced("print(10**9000)"), load_task("code", {"tests": tests}))])[0]
    assert verdict.reward == 1.0, verdict


def test_the_submission_gets_the_environment_of_its_task() -> None:
    sandbox = CannedSandbox(*[Outcome("ok", stdout="1", value=1)] * 3)
    check = "def check(candidate): candidate()"
    tests = [{"stdout": "1"}, {"call": "f", "args": [], "expected": 1}, {"check": check}]
    reference = {"tests": tests, "entry_point": "f", "environment": "scientific"}
    assert score_code(BLOCK, reference, sandbox).reward == 1.0
    assert [program.environment for program, _ in sandbox.seen] == ["scientific"] * 3


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"environment": 3}, "the name of an environment"),
        ({"environment": "../up"}, "the name of an environment"),
        ({"environment": "scientific", "language": "cpp"}, "'environment' is only for Python"),
    ],
)
def test_an_environment_that_cannot_be_is_found_when_the_task_is_loaded(
    reference: dict[str, Any], said: str
) -> None:
    with pytest.raises(TaskError, match=said):
        load_task("code", {"tests": [{"stdout": "1"}], **reference})


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        ("1\n2\n", "1 \r\n2\n\n", None),
        ("1\n2\n", "1\n3\n", "line 2: expected 2, got 3"),
        ("1\n2\n", "1\n", "line 2 is missing: 2"),
        ("1\n", "1\n\n2", "line 2 is one too many: "),
    ],
)
def test_the_first_difference_of_outputs_is_said_where_they_are_not_the_same(
    expected: str, got: str, said: str | None
) -> None:
    assert first_difference(expected, got) == said
    assert same_output(expected, got) == (said is None)
