"""Read the test shapes of a code task into three kinds of test, without running anything.

``{"stdin", "stdout"}`` · ``{"call", "args", "expected", "wrapped"?}`` · ``{"assert": "assert f(1) == 2"}`` ·
``{"check": source that defines check(candidate)}``. An assert that compares one call with a literal becomes
a call test, so that the expected value stays outside the box; any other assert is wrapped into a check
function, which runs in a box of its own.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prorl_verifiers.types import TaskError

_MODULES = frozenset(
    "math re collections itertools functools string heapq bisect datetime copy cmath sys".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class StdioTest:
    """Run as a program: ``stdin`` in, ``stdout`` expected."""

    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True)
class CallTest:
    """Call ``call(*args)``, expect ``expected``: written as JSON, or else as Python in an assert.

    ``wrapped``: a list of one value is expected, and the value alone counts too (Eurus-2's outputs).
    """

    call: str
    args: tuple[Any, ...]
    expected: Any
    from_json: bool
    wrapped: bool = False


@dataclass(frozen=True, slots=True)
class CheckTest:
    """Trusted ``source`` defines ``check(candidate)``; the candidate is ``entry_point``."""

    source: str
    entry_point: str


CodeTest = StdioTest | CallTest | CheckTest


def read_tests(reference: Mapping[str, Any]) -> list[CodeTest]:
    """Return the tests of a code reference in order. Raises TaskError naming the test at fault."""
    tests = reference.get("tests")
    if not isinstance(tests, list) or not tests:
        raise TaskError("a code task needs a list 'tests' with at least one test")
    entry_point = reference.get("entry_point")
    if entry_point is not None and (not isinstance(entry_point, str) or not entry_point):
        raise TaskError("'entry_point' must be the name of a function")
    read = []
    for number, test in enumerate(tests, start=1):
        if not isinstance(test, Mapping):
            raise TaskError(f"test {number}: expected an object, got {type(test).__name__}")
        try:
            read.append(_read_test(test, entry_point))
        except TaskError as error:
            raise TaskError(f"test {number}: {error}") from error
        except (SyntaxError, ValueError, RecursionError) as error:
            raise TaskError(f"test {number}: its source cannot be parsed ({error})") from error
    return read


def _read_test(test: Mapping[str, Any], entry_point: str | None) -> CodeTest:
    if "stdout" in test:
        stdin = test.get("stdin", "")
        if not isinstance(stdin, str) or not isinstance(test["stdout"], str):
            raise TaskError("'stdin' and 'stdout' must be text")
        return StdioTest(stdin, test["stdout"])
    if "call" in test:
        if not isinstance(test["call"], str) or not isinstance(test.get("args"), list):
            raise TaskError("a call test needs 'call' (a name) and 'args' (a list)")
        if "expected" not in test:
            raise TaskError("a call test needs 'expected'")
        wrapped, expected = test.get("wrapped", False), test["expected"]
        if not isinstance(wrapped, bool):
            raise TaskError("'wrapped' must be true or false")
        if wrapped and not (isinstance(expected, list) and len(expected) == 1):
            raise TaskError("a wrapped 'expected' must be a list of one value")
        return CallTest(test["call"], tuple(test["args"]), expected, True, wrapped)
    if "assert" in test and isinstance(test["assert"], str):
        source = test["assert"]
        body = ast.parse(source.strip()).body
        if not any(isinstance(node, ast.Assert) for node in ast.walk(ast.Module(body, []))):
            raise TaskError("an assert test holds no assert")
        if len(body) == 1 and isinstance(body[0], ast.Assert):
            plain = _plain_comparison(body[0].test, entry_point)
            if plain is not None:
                return plain
        # Make a check function of statements with asserts; the tested function is found by its name.
        module = ast.Module(body, [])
        if entry_point is None:
            entry_point = _only_unknown_call(module)
        if not entry_point.isidentifier():
            raise TaskError("this assert needs 'entry_point' to be a plain function name")
        used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
        lines = [f"import {name}" for name in sorted(used & _MODULES)]
        lines += ["def check(candidate):", f"    {entry_point} = candidate"]
        for statement in body:
            lines += ["    " + line for line in ast.unparse(statement).splitlines()]
        return CheckTest("\n".join(lines) + "\n", entry_point)
    if "check" in test and isinstance(test["check"], str):
        source = test["check"]
        defined = {
            node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
        }
        if "check" not in defined:
            raise TaskError("a check must define check(candidate)")
        if entry_point is None:
            raise TaskError("a check needs the reference's 'entry_point'")
        return CheckTest(source, entry_point)
    keys = ", ".join(sorted(map(str, test))) or "nothing"
    raise TaskError(f"expected stdin/stdout, call/args/expected, assert or check, got {keys}")


def _plain_comparison(test: ast.expr, entry_point: str | None) -> CallTest | None:
    """Return ``f(literals) == literal`` (either way round) as a call test, or None."""
    if not (
        isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
    ):
        return None
    left, right = test.left, test.comparators[0]
    if not isinstance(left, ast.Call):
        left, right = right, left
    name = _called_name(left, entry_point)
    if name is None or not isinstance(left, ast.Call) or left.keywords:
        return None
    try:
        args = tuple(ast.literal_eval(arg) for arg in left.args)
        return CallTest(name, args, ast.literal_eval(right), from_json=False)
    except (ValueError, TypeError):
        return None


def _called_name(node: ast.expr, entry_point: str | None) -> str | None:
    """Return ``f`` for f(...), ``Class.method`` for Class().method(...), None for built-ins beside an entry point and others."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            # A builtin is under test only where the program defines its own and nothing else is called.
            other = hasattr(builtins, name) and entry_point not in (None, name)
            return None if other else name
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Name(id=owner), args=[], keywords=[]), attr=method
            )
        ):
            return f"{owner}.{method}"
    return None


def _only_unknown_call(module: ast.Module) -> str:
    known = set(dir(builtins)) | _MODULES
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.alias):
            known.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
    called = {
        node.func.id
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    } - known
    if len(called) != 1:
        raise TaskError(
            "cannot tell which function this assert tests: give the reference's 'entry_point'"
        )
    return called.pop()
