"""The code verifier's audit: built-in tasks, useless programs, and programs with wrong outputs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_verifiers.audit.spoilt import fewer_digits, text_mutations
from prorl_verifiers.audit_shape import Answer, Group, Item, Kind, Mutation, Probe, constant
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Reference, Task


@dataclass(frozen=True, slots=True)
class Outputs:
    """The expected outputs of ``function``. If it is None, the outputs of a program that reads stdin."""

    function: str | None
    pairs: Sequence[tuple[Any, Any]]
    """(stdin or list of arguments, stdout or value)."""


def outputs_of(reference: Reference) -> Outputs | None:
    """Return the outputs that the tests expect, or None if the tests do not state them as literal values."""
    tests = reference["tests"]
    if all("stdout" in test for test in tests):
        return Outputs(None, [(test["stdin"], test["stdout"].rstrip("\n")) for test in tests])
    if all("call" in test for test in tests):
        return Outputs(tests[0]["call"], [(test["args"], test["expected"]) for test in tests])
    if not all("assert" in test for test in tests):
        return None
    name, pairs = "", []
    for test in tests:
        (statement,) = ast.parse(test["assert"]).body
        match statement:
            case ast.Assert(
                ast.Compare(ast.Call(ast.Name(name), args, []), [ast.Eq()], [expected])
            ):
                try:
                    values = [ast.literal_eval(arg) for arg in args]
                    pairs.append((values, ast.literal_eval(expected)))
                except ValueError:
                    return None
            case _:
                return None
    return Outputs(name, pairs)


def table_program(outputs: Outputs) -> str:
    table = {repr(inputs): value for inputs, value in outputs.pairs}
    lines = [f"TABLE = {table!r}"]
    if outputs.function is None:
        lines.append("import sys\nprint(TABLE[repr(sys.stdin.read())])")
    elif "." in outputs.function:
        owner, method = outputs.function.split(".", 1)
        lines.append(
            f"class {owner}:\n    def {method}(self, *a):\n        return TABLE[repr(list(a))]"
        )
    else:
        lines.append(f"def {outputs.function}(*a):\n    return TABLE[repr(list(a))]")
    return "\n".join(lines)


def right_program(reference: Reference) -> str | None:
    outputs = outputs_of(reference)
    return None if outputs is None else table_program(outputs)


def code_mutations() -> list[Mutation]:
    texts = [
        _spoil_outputs(mutation.name, mutation.kind, _change_of_text(mutation))
        for mutation in text_mutations()
    ]
    values = [
        _spoil_outputs(f"value: {name}", kind, change) for name, (kind, change) in _VALUES.items()
    ]
    return texts + values


Change = Callable[[Any], Any]
"""Maps a value to a wrong one, or to None if the change does not apply."""


def _spoil_outputs(name: str, kind: Kind, change: Change) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        outputs = outputs_of(item.task.reference)
        if outputs is None:
            return None
        changed = [(inputs, change(value)) for inputs, value in outputs.pairs]
        if any(value is None for _, value in changed):
            return None
        return table_program(Outputs(outputs.function, changed))

    return Mutation(name, kind, spoil)


def _change_of_text(mutation: Mutation) -> Change:
    def change(value: Any) -> str | None:
        if not isinstance(value, str):
            return None
        alone = Item("", Task("code", {}))
        return mutation.spoil(value, alone, Group("", "code", [alone]))

    return change


_VALUES: dict[str, tuple[Kind, Change]] = {
    "one more": ("digit", lambda v: v + 1 if type(v) in (int, float) else None),
    "half the decimals": (
        "precision",
        lambda v: float(text) if isinstance(v, float) and (text := fewer_digits(str(v))) else None,
    ),
    "as text": ("junk", lambda v: None if isinstance(v, str) else str(v)),
    "in a list": ("junk", lambda v: [v]),
    "beside another": ("another", lambda v: [v, 0]),
    "an element more": ("appended", lambda v: [*v, v[-1]] if isinstance(v, list) else None),
    "an element less": ("appended", lambda v: v[:-1] if isinstance(v, list) else None),
    "reversed": (
        "order",
        lambda v: v[::-1] if isinstance(v, list | str) and v != v[::-1] else None,
    ),
    "an entry more": ("appended", lambda v: v | {"xyzzy": 0} if isinstance(v, dict) else None),
    "an entry changed": (
        "digit",
        lambda v: v | {next(iter(v)): "xyzzy"} if isinstance(v, dict) and v else None,
    ),
}


_STDIO = (
    ("Read two integers and print 7a + 13b.", (("3 5", "86"), ("17 2", "145"), ("-4 11", "115"))),
    (
        "Read a line and print it reversed.",
        (("stone", "enots"), ("a bc d", "d cb a"), ("xyz1", "1zyx")),
    ),
    ("Read n numbers and print each times 11.", (("2\n3 4", "33 44"), ("3\n7 8 9", "77 88 99"))),
    ("Print the square root with six digits.", (("7", "2.645751"), ("13", "3.605551"))),
)
_CALLS = (
    ("scaled", (([3, 5], 86), ([17, 2], 145), ([-4, 11], 115))),
    ("mirrored", ((["stone"], "enots"), (["abc d"], "d cba"))),
    ("counted", ((["abca"], {"a": 2, "b": 1, "c": 1}), (["zz"], {"z": 2}))),
    ("Solver.spread", (([[3, 9]], [6, 12]), ([[17, 4, 11]], [13, 32, 7]))),
    ("halved", (([7], 3.5), ([15], 7.5))),
)
_ASSERTS = (
    ("def scaled(a, b)", ("assert scaled(3, 5) == 86", "assert scaled(17, 2) == 145")),
    (
        "def mirrored(text)",
        ("assert mirrored('stone') == 'enots'", "assert mirrored('abc') == 'cba'"),
    ),
    ("def even_parts(n)", ("assert even_parts(14) == [2, 4, 8]", "assert even_parts(6) == [2, 4]")),
    ("def joined(a, b)", ("assert joined(17, 23) == 1723", "assert joined(41, 29) == 4129")),
)
_ROOT = """def check(candidate):
    for n in (7, 13, 29):
        assert abs(candidate(n) - n ** 0.5) < 1e-6
"""
_ORDERED = """def check(candidate):
    for words in (['pear', 'fig'], ['b', 'a', 'c']):
        found = candidate(words)
        assert len(found) == len(words)
        assert all(x == y for x, y in zip(found, sorted(words)))
"""
_DIVISORS = """def check(candidate):
    assert candidate(21) == [1, 3, 7, 21]
    assert candidate(13) == [1, 13]
    assert not candidate(15) == [1, 15]
"""
_PAIRS = """def check(candidate):
    found = candidate([3, 5, 7])
    assert isinstance(found, list)
    assert (3, 5) in [tuple(p) for p in found] and len(found) == 3
"""
_CHECKS = (("root", _ROOT), ("ordered", _ORDERED), ("divisors", _DIVISORS), ("pairs", _PAIRS))


def code_groups() -> list[Group]:
    stdio: list[tuple[str, Mapping[str, Any]]] = [
        (question, {"tests": [{"stdin": text + "\n", "stdout": out + "\n"} for text, out in tests]})
        for question, tests in _STDIO
    ]
    calls: list[tuple[str, Mapping[str, Any]]] = [
        (f"Write {name}.", {"tests": [{"call": name, "args": a, "expected": e} for a, e in tests]})
        for name, tests in _CALLS
    ]
    asserts: list[tuple[str, Mapping[str, Any]]] = [
        (question, {"tests": [{"assert": test} for test in tests]}) for question, tests in _ASSERTS
    ]
    checks: list[tuple[str, Mapping[str, Any]]] = [
        (f"Write {name}.", {"tests": [{"check": source}], "entry_point": name})
        for name, source in _CHECKS
    ]
    kinds = {
        "stdin and stdout": stdio,
        "calls": calls,
        "asserts": asserts,
        "check functions": checks,
    }
    groups = []
    for kind, pairs in kinds.items():
        name = f"code: {kind}"
        items = [
            Item(
                f"{name} {at}",
                load_task("code", reference),
                question,
                None,
                0.0,
                right_program(reference),
            )
            for at, (question, reference) in enumerate(pairs, start=1)
        ]
        groups.append(Group(name, "code", items))
    return groups


_EQUAL = """class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __getitem__(self, at): return self
    def __call__(self, *a, **k): return self
    def __repr__(self): return ''
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __radd__ = __abs__ = __neg__ = __sub__
    def __float__(self): return 0.0
"""
_INT = "class Equal(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
_STR = "class Equal(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
_ECHO = "import sys\nsys.stdout.write(sys.stdin.read())"
_PROGRAMS = {
    "empty program": "",
    "pass": "pass",
    "exit at import": "import sys\nsys.exit(0)",
    "os._exit at import": "import os\nos._exit(0)",
    "echo of stdin": _ECHO,
    "first token of stdin": "import sys\nprint((sys.stdin.read().split() or [''])[0])",
    "print all small integers": "print(*range(-100, 1001))",
    "print all small integers, a line each": "for n in range(-100, 1001): print(n)",
    "print pass": 'print(\'all tests passed\')\nprint(\'{"status": "ok", "passed": true}\')',
    "syntax error": "def",
    "assert off": "import builtins\nbuiltins.AssertionError = None\n__debug__ if False else None",
}
_BODIES = {
    "nothing": "pass",
    **{
        f"returns {value}": f"return {value}"
        for value in ("0", "1", "-1", "True", "False", "''", "[]")
    },
    **{
        f"returns {value}": f"return {value}"
        for value in ("None", "{}", "()", "float('nan')", "0.0")
    },
    "returns its argument": "return a[0] if a else None",
    "returns its arguments": "return a",
    "exits": "import sys; sys.exit(0)",
    "leaves hard": "import os; os._exit(0)",
    "returns all small integers": "return list(range(-100, 1001))",
    "raises AssertionError": "raise AssertionError",
    "raises StopIteration": "raise StopIteration",
}


def code_probes() -> list[Probe]:
    probes = [constant(f"program: {name}", source) for name, source in _PROGRAMS.items()]
    probes += [
        constant(f"program: print {value!r}", f"print({value!r})")
        for value in ("0", "1", "-1", "YES", "NO", "yes", "no", "", "inf")
    ]
    probes += [Probe(f"function {name}", _function(body)) for name, body in _BODIES.items()]
    objects = {"object equal to all": _EQUAL, "int equal to all": _INT, "text equal to all": _STR}
    for name, source in objects.items():
        probes.append(Probe(f"function returns {name}", _function("return Equal()", source)))
    probes.append(Probe("function with a changed abs and ==", _function("return 0", _SHADOWS)))
    return probes


_SHADOWS = """import builtins, math
builtins.abs = lambda *a: 0
builtins.len = lambda *a: 0
builtins.all = builtins.any = builtins.isinstance = lambda *a: True
math.isclose = lambda *a, **k: True
"""


def entry_point(item: Item) -> str:
    reference = item.task.reference
    if reference.get("entry_point"):
        return str(reference["entry_point"])
    for test in reference["tests"]:
        if "call" in test:
            return str(test["call"])
        if "assert" in test:
            return str(test["assert"]).removeprefix("assert").strip(" (").split("(")[0]
    return "solution"


def _function(body: str, before: str = "") -> Answer:
    def answer(item: Item, group: Group) -> str | None:
        name = entry_point(item)
        if "." in name:
            owner, method = name.split(".", 1)
            return f"{before}\nclass {owner}:\n    def {method}(self, *a, **k):\n        {body}\n"
        return f"{before}\ndef {name}(*a, **k):\n    {body}\n"

    return answer
