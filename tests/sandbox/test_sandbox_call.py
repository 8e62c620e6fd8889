from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from prorl_common import UserError
from prorl_sandbox import Outcome

Call = Callable[..., Outcome]

ECHO = "def f(x):\n    return x"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1,
        -(2**62),
        10**6000,
        1.5,
        -0.0,
        float("inf"),
        "text \ud800 ç",
        b"\x00\xff",
        1 + 2j,
        [1, [2, (3,)]],
        (1, (2, [3])),
        {1, 2},
        frozenset({"a"}),
        {1: "a", "1": "b", (1, 2): {3: {4}}, None: True},
        [],
        {},
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_cross_the_fence_with_their_types(call: Call, value: Any) -> None:
    outcome = call(ECHO, value)
    assert outcome.status == "ok"
    assert outcome.value == value
    assert type(outcome.value) is type(value)


def test_nan_comes_back_as_nan(call: Call) -> None:
    assert math.isnan(call("def f():\n    return float('nan')").value)


def test_bool_is_not_turned_into_int_nor_tuple_into_list(call: Call) -> None:
    value = call("def f():\n    return [True, 1, 1.0, (1,), [1]]").value
    assert [type(v) for v in value] == [bool, int, float, tuple, list]


def test_arguments_keep_tuples_and_sets(call: Call) -> None:
    source = "def f(a, b):\n    return [type(a).__name__, type(b).__name__, a, b]"
    assert call(source, (1, 2), {3}).value == ["tuple", "set", (1, 2), {3}]


def test_method_of_a_class_runs_on_a_fresh_instance(call: Call) -> None:
    source = "class Solution:\n    def add(self, a, b):\n        return a + b"
    assert call(source, 2, 3, name="Solution.add").value == 5


def test_prints_go_to_stdout_and_leave_the_value_alone(call: Call) -> None:
    outcome = call("print('loading')\ndef f():\n    print('{\"k\": \"value\"}')\n    return 7")
    assert (outcome.status, outcome.value) == ("ok", 7)
    assert outcome.stdout == 'loading\n{"k": "value"}\n'


def test_code_under_the_main_guard_does_not_run(call: Call) -> None:
    assert call("def f():\n    return 1\nif __name__ == '__main__':\n    input()").value == 1


def test_counter_and_defaultdict_cross_as_dict(call: Call) -> None:
    source = "import collections\ndef f():\n    return collections.Counter('aab')"
    assert call(source).value == {"a": 2, "b": 1}
    assert type(call(source).value) is dict


@pytest.mark.parametrize(
    "expression",
    [
        "(i for i in [1])",
        "object()",
        "f",
        "range(3)",
        "map(str, [])",
        "__import__('decimal').Decimal(1)",
        "type('I', (int,), {'__eq__': lambda s, o: True})(1)",
        "type('S', (str,), {})('x')",
        "type('L', (list,), {'__iter__': lambda s: iter([1])})()",
        "type('D', (dict,), {})()",
        "[type('E', (), {'__eq__': lambda s, o: True})()]",
        "__import__('enum').IntEnum('E', 'A').A",
    ],
)
def test_other_types_and_subclasses_are_unserialisable(call: Call, expression: str) -> None:
    outcome = call(f"def f():\n    return {expression}")
    assert (outcome.status, outcome.value) == ("unserialisable", None)


def test_value_beyond_the_output_limit_is_output_limit(call: Call) -> None:
    assert call("def f():\n    return 'x' * 70000").status == "output-limit"
    assert call("def f():\n    return 1 << 10**6").status == "output-limit"


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys.exit(0)",
        "import os\nos._exit(0)",
        "def f():\n    import os\n    os._exit(0)",
        "def f():\n    raise SystemExit(0)",
        "def f():\n    raise KeyError('k')",
        "def g():\n    return 1",
        "f = 3",
        "def f(x):\n    return x",
        "import os, threading\nthreading.Thread(target=lambda: os._exit(0)).start()\n"
        + "import time\ntime.sleep(3)\ndef f():\n    return 1",
    ],
)
def test_no_value_is_runtime_error_never_ok(call: Call, source: str) -> None:
    outcome = call(source)
    assert (outcome.status, outcome.value) == ("runtime-error", None)


def test_the_exception_of_a_function_is_on_stderr(call: Call) -> None:
    assert "KeyError: 'k'" in call("def f():\n    raise KeyError('k')").stderr


def test_endless_recursion_is_runtime_error(call: Call) -> None:
    outcome = call("def f():\n    return f()")
    assert outcome.status == "runtime-error"
    assert "RecursionError" in outcome.stderr


def test_recursion_to_the_usual_depth_works(call: Call) -> None:
    assert call("def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)", 980).value == 980


def test_memory_error_in_a_function_is_status_memory(call: Call) -> None:
    assert call("def f():\n    return len([0] * 10**10)").status == "memory"


def test_syntax_error_is_compile_error(call: Call) -> None:
    assert call("def f(:").status == "compile-error"


def test_argument_that_cannot_be_sent_is_the_callers_mistake(call: Call) -> None:
    with pytest.raises(UserError, match="argument"):
        call(ECHO, object())


HOSTILE_VALUES = {
    "a linked list": "class N:\n def __init__(s, v, n=None): s.val, s.next = v, n\ndef f(): return N(1, N(2))",
    "a class": "class Cache: pass\ndef f(): return Cache",
    "another __class__": "class A:\n __class__ = property(lambda s: int)\ndef f(): return A()",
    "a __class__ that raises": "class A:\n @property\n def __class__(s): raise SystemExit\ndef f(): return A()",
    "no attribute": "class A:\n def __getattribute__(s, n): raise BaseException\ndef f(): return [A()]",
    "a metaclass": (
        "class M(type):\n __hash__ = __eq__ = __getattribute__ = lambda *a: 1 / 0\n"
        " def __instancecheck__(*a): raise SystemExit\n"
        "class A(metaclass=M): pass\ndef f(): return {'a': A()}"
    ),
    "a metaclass's name": "class M(type):\n __name__ = 5\nclass A(metaclass=M): pass\ndef f(): return A()",
    "an int of its own": "class I(int):\n __format__ = bit_length = None\ndef f(): return [I(3)]",
    "a text of its own": "class S(str):\n __len__ = lambda s: -1\ndef f(): return {S('a'): 1}",
    "a dict of its own": "class D(dict):\n items = lambda s: [(1,)]\ndef f(): return D(a=1)",
    "a Counter of its own": "import collections\nclass C(collections.Counter): pass\ndef f(): return C('aab')",
    "a list in itself": "def f():\n a = []\n a.append(a)\n return a",
    "a dict in itself": "def f():\n a = {}\n a[1] = a\n return a",
    "a tuple in itself": "def f():\n a = []\n a.append((a,))\n return a[0]",
    "one list again and again": "def f():\n a = []\n for _ in range(60): a = [a, a]\n return a",
    "a deep list": "def f():\n a = []\n for _ in range(10**5): a = [a]\n return a",
    "a generator": "def f(): yield 1",
    "a number for numpy": "import sys\nsys.modules['numpy'] = 5\nclass A: pass\ndef f(): return A()",
    "a numpy that raises": (
        "import sys\nclass P:\n def __getattr__(s, n): raise KeyError\n"
        "sys.modules['numpy'] = sys.modules['pandas'] = P()\ndef f(): return P()"
    ),
}


@pytest.mark.parametrize("name", HOSTILE_VALUES)
def test_a_value_that_cannot_leave_its_box_is_an_outcome(call: Call, name: str) -> None:
    outcome = call(HOSTILE_VALUES[name])
    assert (outcome.status, outcome.value) == ("unserialisable", None)


def test_an_array_that_lies_about_its_shape_is_a_protocol_error(call: Call) -> None:
    source = (
        "import sys, types\nclass A: pass\nm = sys.modules['numpy'] = types.ModuleType('numpy')\n"
        "m.ndarray = m.generic = A\nA.shape, A.size, A.dtype = (10**6, 10**6, 0), 0, A()\n"
        "A.kind, A.names, A.itemsize, A.str = 'f', None, 8, '<f8'\n"
        "A.reshape, A.tolist = (lambda s, n: s), (lambda s: [])\ndef f(): return A()"
    )
    assert call(source).status == "protocol-error"
