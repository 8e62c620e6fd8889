"""Checks run in a second box and reach the submission by typed messages only."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from prorl_sandbox import CheckerError, Limits, Outcome, Program, Sandbox

LIMITS = Limits(wall_seconds=30.0, cpu_seconds=10.0, memory_mb=256, output_kb=256)
DOUBLE = "def f(x):\n    return x * 2"


def check(
    sandbox: Sandbox, source: str, checker: str, name: str = "f", limits: Limits = LIMITS
) -> Outcome:
    return sandbox.run_check(Program(source), checker, name, limits)


def test_a_right_submission_passes_a_check_with_loops(sandbox: Sandbox) -> None:
    checker = "def check(c):\n    for i in range(100):\n        assert c(i) == 2 * i"
    outcome = check(sandbox, DOUBLE, checker)
    assert (outcome.status, outcome.exit_code) == ("ok", 0)


def test_a_wrong_submission_fails_with_the_assertion_on_stderr(sandbox: Sandbox) -> None:
    outcome = check(sandbox, DOUBLE, "def check(c):\n    assert c(2) == 5, 'two and five'")
    assert outcome.status == "runtime-error"
    assert "two and five" in outcome.stderr


def test_keyword_arguments_and_tuples_reach_the_submission(sandbox: Sandbox) -> None:
    checker = "def check(c):\n    assert c((1, 2), k={3}) == ((1, 2), {3})"
    assert check(sandbox, "def f(a, k):\n    return a, k", checker).status == "ok"


def test_an_exception_of_the_submission_fails_the_check(sandbox: Sandbox) -> None:
    outcome = check(sandbox, "def f(x):\n    raise ValueError('no')", "def check(c):\n    c(1)")
    assert outcome.status == "runtime-error"
    assert "ValueError: no" in outcome.stderr
    assert "candidate raised ValueError" in outcome.stderr


def test_a_check_may_expect_a_common_exception_by_its_type(sandbox: Sandbox) -> None:
    checker = (
        "def check(c):\n    try:\n        c(1)\n    except ValueError as e:\n"
        "        assert e.type_name == 'ValueError'\n    else:\n        assert False"
    )
    assert check(sandbox, "def f(x):\n    raise ValueError", checker).status == "ok"
    assert check(sandbox, DOUBLE, checker).status == "runtime-error"


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __eq__(self, other): return True\ndef f(x):\n    return A()",
        "class A(int):\n    def __eq__(self, other): return True\ndef f(x):\n    return A()",
    ],
)
def test_objects_that_equal_everything_do_not_cross(sandbox: Sandbox, source: str) -> None:
    outcome = check(sandbox, source, "def check(c):\n    assert c(1) == 2")
    assert outcome.status == "unserialisable"


MATCH = "import re\ndef f(x):\n    return re.match('a.*b$', x)"
LYING = (
    "class A:\n    def __bool__(self): return True\n    def __eq__(self, other): return True\n"
    "    __hash__ = None\n    def __sub__(self, other): return 0\n    __rsub__ = __sub__\n"
    "    def __contains__(self, x): return True\n    def __iter__(self): yield A()\ndef f(x):\n    return A()"
)
STACK = (
    "class Stack:\n    def __init__(self, items=()): self.items = list(items)\n"
    "    def push(self, x): self.items.append(x); return self\n"
    "    def join(self, other): return Stack(self.items + other.items)\n"
    "    def __len__(self): return len(self.items)\n    def __iter__(self): return iter(self.items)\n"
    "    def __str__(self): return '|'.join(map(str, self.items))\n"
    "    def __getitem__(self, key): return self.items[key]\n"
    "    def __delitem__(self, key): del self.items[key]\n"
    "    def put(self, value): return self.push(value)\n"
    "    @property\n    def top(self): return self.items[-1]\ndef f(x): return Stack(x)"
)


@pytest.mark.parametrize(
    ("source", "checker", "status"),
    [
        (MATCH, "assert c('aab')", "ok"),
        (MATCH, "assert not c('aac') and c('aab') and bool(c('aab'))", "ok"),
        (MATCH, "assert c('aab').group() == 'aab' and c('aac') is None", "ok"),
        (MATCH, "assert c('aac')", "runtime-error"),
        (LYING, "assert c(1)", "ok"),  # equivalent to returning True
        (LYING, "assert c(1) == True", "unserialisable"),
        (LYING, "assert c(1) != 2", "unserialisable"),
        (LYING, "assert abs(c(1) - 2) < 1e-6", "unserialisable"),
        (LYING, "assert 2 in c(1)", "unserialisable"),
        (LYING, "assert list(c(1)) == [2]", "unserialisable"),
        (LYING, "assert isinstance(c(1), int)", "unserialisable"),
        (LYING, "assert len(c(1)) == 1 or True", "runtime-error"),
        (LYING, "try: c(1) < 2\n    except BaseException: pass", "unserialisable"),
        (
            "class A:\n    def __bool__(self): 1 / 0\ndef f(x): return A()",
            "not c(1)",
            "runtime-error",
        ),
        (
            STACK,
            "s = c([]); s.push(1).push(2); assert s.top == 2 and len(s) == 2 and s[0] == 1",
            "ok",
        ),
        (
            STACK,
            "s = c([1]); assert s.push(2) is s and str(s) == '1|2' and 2 in s and 3 not in s",
            "ok",
        ),
        (
            STACK,
            "s = Stack([1]); assert list(s.join(c([2]))) == [1, 2]; s.items = [3]; assert s.top == 3",
            "ok",
        ),
        (STACK, "s = c([1]); assert s.put(value=2).top == 2", "ok"),
        (STACK, "s = c([1, 2]); del s[0]; assert s.top == 2 and len(s) == 1", "ok"),
        (
            "def f(value, operation): return value + operation",
            "assert c(value=1, operation=2) == 3",
            "ok",
        ),
        (STACK, "s = c([1]); assert s.top == 2", "runtime-error"),
        (STACK, "s = c([1]); s.pop()", "runtime-error"),
    ],
)
def test_an_object_is_used_in_the_submissions_box_and_never_compared(
    sandbox: Sandbox, source: str, checker: str, status: str
) -> None:
    assert check(sandbox, source, f"def check(c):\n    {checker}").status == status


REVERSE = "def f(head):\n    last = None\n    while head:\n        head.next, last, head = last, head, head.next\n    return last"
ODD_NODE = (
    "class ListNode:\n    def __init__(self, x): self.val, self.next = x, None\n"
    "    def __eq__(self, other): return True\n    __hash__ = None\n    def __bool__(self): return False\n"
)
ODD_VALUE = "class V(int):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
LOOP = "def f(head):\n    seen = set()\n    while head and head not in seen: seen.add(head); head = head.next\n    return head is not None"
SUM = "def f(root): return root.val + sum(map(f, root.children or []))"
NODE = "class Node:\n    def __init__(self, val, children=None): self.val, self.children = val, children\n"
PAIR = (
    "class ListNode:\n    def __init__(self, key): self.keys = [key]\n    def add(self, key): self.keys.append(key)\n"
    "    def total(self): return sum(self.keys)\ndef f(key): return ListNode(key)"
)
REVERSED = "assert is_same_list(c(list_node([1, 2, 3])), list_node([3, 2, 1]))"


@pytest.mark.parametrize(
    ("source", "checker", "status"),
    [
        (REVERSE, REVERSED, "ok"),
        (REVERSE, "x = c(list_node(range(3000))); assert x.val == 2999 and isinstance(x, ListNode)", "ok"),
        ("def f(head): return head", REVERSED, "runtime-error"),
        (ODD_NODE + "def f(head): return ListNode(3)", REVERSED, "runtime-error"),
        (ODD_NODE + "def f(head): return ListNode(3)", "assert c(None) == list_node([3, 2])", "runtime-error"),
        (ODD_NODE + ODD_VALUE + "def f(head):\n    head.val = V(3)\n    return head",
         "assert c(list_node([1])).val == 3", "unserialisable"),
        ("class ListNode: val, next = 3, 0\ndef f(head): return ListNode()", REVERSED, "runtime-error"),
        ("import os\nclass ListNode:\n    @property\n    def val(self): os._exit(0)\ndef f(head): return ListNode()",
         REVERSED, "runtime-error"),
        (LOOP, "x = list_node([1, 2]); assert not c(x); x.next.next = x; assert c(x)", "ok"),
        ("def f(root, p): return root.left is p", "r = tree_node([1, 2]); assert c(root=r, p=r.left)", "ok"),
        ("def f(r): return TreeNode(1, None, r)", "assert is_same_tree(c(tree_node([2])), tree_node([1, None, 2]))", "ok"),
        (NODE + SUM, "assert c(Node(1, [Node(2), Node(3, [])])) == 6", "ok"),
        (SUM, "assert c(Node(1, [Node(2), Node(3, [])])) == 6", "ok"),
        ("def f(root): return root", "assert c(Node(1)).val == 2", "runtime-error"),
        ("class Node:\n    def __setattr__(self, *_): 1 / 0\n" + SUM, "assert c(Node(1, [])) == 1", "ok"),
        (PAIR, "x = c(1); x.add(2); assert x.total() == 3", "ok"),
    ],
)  # fmt: skip
def test_lists_and_trees_reach_the_other_box_by_value(
    sandbox: Sandbox, source: str, checker: str, status: str
) -> None:
    prelude = NODE if "Node(" in checker.replace("TreeNode(", "") else ""
    program = Program(source, prelude="competition")
    checker = f"{prelude}def check(c):\n    {checker}"
    assert sandbox.run_check(program, checker, "f", LIMITS).status == status


RAISES = r"""
class Odd(ValueError): pass
class Alone(Exception): pass
def f(x):
    if x == 'decode': b'\xff'.decode()
    raise {'key': KeyError, 'odd': Odd, 'alone': Alone, 'os': FileNotFoundError(2, 'no'),
           'assert': AssertionError, 'stop': StopIteration, 'fake': type('ValueError', (Exception,), {}),
           'exit': SystemExit}[x]
"""


@pytest.mark.parametrize(
    ("asked", "caught", "status"),
    [
        ("key", "LookupError", "ok"),
        ("key", "ValueError", "runtime-error"),
        ("key", "RuntimeError", "runtime-error"),
        ("odd", "ValueError", "ok"),
        ("alone", "ValueError", "runtime-error"),
        ("alone", "Exception", "ok"),
        ("os", "OSError", "ok"),
        ("decode", "UnicodeError", "ok"),
        ("assert", "AssertionError", "ok"),
        ("stop", "StopIteration", "ok"),
        ("fake", "ValueError", "runtime-error"),
        ("exit", "Exception", "ok"),  # its exit is an exception like any other
    ],
)
def test_a_check_catches_what_the_submission_raises_by_its_type(
    sandbox: Sandbox, asked: str, caught: str, status: str
) -> None:
    checker = f"def check(c):\n    try: c({asked!r})\n    except {caught}: return\n    assert False, 'none'"
    assert check(sandbox, RAISES, checker).status == status


def test_an_exception_that_is_built_in_is_met_as_itself(sandbox: Sandbox) -> None:
    checker = (
        "def check(c):\n    for asked, kind in (('key', KeyError), ('os', FileNotFoundError)):\n"
        "        try: c(asked)\n        except Exception as error: assert type(error) is kind\n"
        "    try: c('odd')\n    except Exception as error: assert type(error).__name__ == 'Odd'"
    )
    assert check(sandbox, RAISES, checker).status == "ok"


@pytest.mark.parametrize(
    "test",
    [
        "assert all(map(lambda x: c(x) == x + 1, [1, 2]))",
        "assert not list(filter(lambda x: c(x) != x + 1, [1, 2]))",
        "for got, wanted in zip(map(c, [1, 2]), [2, 3]): assert got == wanted",
        "for got in iter(lambda: c(1), 2): assert False",
    ],
)
@pytest.mark.parametrize("raised", ["StopIteration", "Own", "StopAsyncIteration"])
def test_a_submission_cannot_end_the_loops_of_a_check(
    sandbox: Sandbox, test: str, raised: str
) -> None:
    source = f"class Own(StopIteration): pass\ndef f(*a): raise {raised}"
    assert check(sandbox, source, f"def check(c):\n    {test}").status == "runtime-error"


def test_a_name_that_only_the_submission_has_is_its_function(sandbox: Sandbox) -> None:
    source = "def double(x):\n    return 2 * x\ndef f(x):\n    return double(x) + 1"
    checker = "def check(c):\n    for i in range(9): assert c(i) == double(i) + 1"
    assert check(sandbox, source, checker).status == "ok"
    missing = check(sandbox, source, "def check(c):\n    assert c(1) == triple(1)")
    assert missing.status == "runtime-error"
    assert "NameError" in missing.stderr


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("def f(x):\n    import os\n    os._exit(0)", "runtime-error"),
        ("import sys\nsys.exit(0)", "runtime-error"),
        ("def f(:", "compile-error"),
        ("def g(x):\n    return 1", "runtime-error"),
        ("def f(x):\n    return 'x' * 10**6", "output-limit"),
        ("def f(x):\n    return len(bytearray(10**9))", "memory"),
        ("def f(x):\n    while True: print('y' * 1000)", "output-limit"),
        ("import os\nos.write(3, b'\\0\\0\\0\\x01[')\ndef f(x):\n    return 4", "protocol-error"),
    ],
)
def test_the_way_a_submission_fails_is_its_status(
    sandbox: Sandbox, source: str, status: str
) -> None:
    assert check(sandbox, source, "def check(c):\n    assert c(2) == 4").status == status


def test_the_two_share_one_wall_limit(sandbox: Sandbox) -> None:
    limits = Limits(wall_seconds=1.0, cpu_seconds=8.0)
    sleepy = "import time\ndef f(x):\n    time.sleep(0.6)\n    return x"
    checker = "def check(c):\n    for i in range(5): assert c(i) == i"
    outcome = check(sandbox, sleepy, checker, limits=limits)
    assert (outcome.status, outcome.limit) == ("timeout", "wall")


def test_the_two_share_one_processor_budget(sandbox: Sandbox) -> None:
    burn = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass\n"
    limits = Limits(wall_seconds=30.0, cpu_seconds=0.9)
    checker = burn + "def check(c):\n    assert c(1) == 2"
    outcome = check(sandbox, burn + DOUBLE, checker, limits=limits)
    assert (outcome.status, outcome.limit) == ("timeout", "cpu")


def test_nothing_of_the_check_is_in_the_submissions_process(sandbox: Sandbox) -> None:
    spy = """
import gc, sys
def f(x):
    found = []
    frame = sys._getframe()
    while frame:
        found.append(repr(frame.f_locals) + repr(list(frame.f_globals)))
        frame = frame.f_back
    found += [repr(o) for o in gc.get_objects() if type(o) in (dict, list, tuple, str)]
    return any("-".join(["SECRET", "GOLD"]) in text for text in found)
"""
    checker = "GOLD = 'SECRET-GOLD'\ndef check(c):\n    assert c(1) is False"
    assert check(sandbox, spy, checker).status == "ok"


@pytest.mark.parametrize(
    "checker",
    [
        "def check(c:",
        "x = 1",
        "import nowhere_to_be_found",
        "def check(c):\n    c(object())",
        "class A:\n    __slots__ = ('x',)\ndef check(c):\n    c(A())",
        "from collections import namedtuple\nA = namedtuple('A', 'x')\ndef check(c):\n    c(A(1))",
        "from enum import Enum\nA = Enum('A', 'X')\ndef check(c):\n    c(A.X)",
    ],
)
def test_a_broken_check_is_no_outcome(sandbox: Sandbox, checker: str) -> None:
    with pytest.raises(CheckerError, match="check is broken"):
        check(sandbox, DOUBLE, checker)


def humaneval(test_data: Path) -> list[dict[str, str]]:
    with gzip.open(test_data / "code" / "humaneval_even.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def test_canonical_humaneval_solutions_pass_their_checks(sandbox: Sandbox, test_data: Path) -> None:
    rows = humaneval(test_data)
    harder = [row for row in rows if "for " in row["test"] or "1e-6" in row["test"]]
    chosen = harder[:9] + [row for row in rows if row not in harder][:6]
    assert len(harder) >= 5
    for row in chosen:
        source = row["prompt"] + row["canonical_solution"]
        # The prompt is included: HumanEval/32 and a few others use its helpers in their checks.
        outcome = check(sandbox, source, row["prompt"] + row["test"], row["entry_point"])
        assert outcome.status == "ok", (row["task_id"], outcome)


def test_an_empty_body_fails_humaneval_checks(sandbox: Sandbox, test_data: Path) -> None:
    for row in humaneval(test_data)[:4]:
        source = row["prompt"] + "    return None\n"
        outcome = check(sandbox, source, row["prompt"] + row["test"], row["entry_point"])
        assert outcome.status == "runtime-error", row["task_id"]
