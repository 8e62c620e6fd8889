"""Converts the tests of public datasets to references, without unpickling or evaluating them."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from prorl_verifiers.types import TaskError

UNITTEST_CLASS = "TestCases"
"""Name of the test class in a BigCodeBench row."""
_RUN_UNITTEST = f"""

def check(candidate):
    import unittest
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase({UNITTEST_CLASS}).run(result)
    assert result.testsRun, "no test was run"
    for test, trace in result.errors + result.failures:
        raise AssertionError(f"{{test}}: {{trace.strip().splitlines()[-1]}}")
"""
"""Source of a check that runs the test class."""

_MAX_INLINED = 10_000
"""Maximum characters of a variable's value that replaces its name in a test."""


def eurus_reference(ground_truth: str) -> dict[str, Any]:
    """Convert the ground truth of a code row of Eurus-2-RL-Data. Raises TaskError.

    It is JSON {"inputs", "outputs", "fn_name"?}. If there is an ``fn_name``, each input is a list of arguments.
    """
    row = _parse(ground_truth, "the ground truth")
    if not isinstance(row, dict):
        raise TaskError("the ground truth must be an object with 'inputs' and 'outputs'")
    inputs, outputs = _tests(row, "inputs"), _tests(row, "outputs")
    if not inputs or len(inputs) != len(outputs):
        raise TaskError("'inputs' and 'outputs' must have the same length, at least 1")
    name = row.get("fn_name")
    if name is None:
        pairs = zip(inputs, outputs, strict=True)
        tests = [{"stdin": _text(a), "stdout": _text(b)} for a, b in pairs]
        return {"tests": tests, "prelude": "competition"}
    calls = []
    for args, output in zip(inputs, outputs, strict=True):
        if not isinstance(args, list):
            raise TaskError(f"each input of the function {name} must be a list of arguments")
        wrapped = isinstance(output, list) and len(output) == 1
        calls.append({"call": name, "args": args, "expected": output})
        if wrapped:
            calls[-1]["wrapped"] = True
    return {"tests": calls, "entry_point": name, "prelude": "competition"}


def livecodebench_reference(tests: Sequence[Any], function: str | None = None) -> dict[str, Any]:
    """Convert LiveCodeBench tests, a list of {"input", "output", "testtype"}. Raises TaskError.

    ``function``: the row's ``metadata.func_name``, a function or a method of ``Solution``.
    """
    if not tests:
        raise TaskError("a code task needs at least one test")
    converted = []
    for number, test in enumerate(tests, start=1):
        if not isinstance(test, dict) or not {"input", "output"} <= test.keys():
            raise TaskError(f"test {number} needs 'input' and 'output'")
        if test.get("testtype") != "functional":
            converted.append({"stdin": test["input"], "stdout": test["output"]})
            continue
        if not function:
            raise TaskError(
                f"test {number} calls a function: the row needs its name in 'func_name'"
            )
        lines = [line for line in str(test["input"]).split("\n") if line.strip()]
        args = [_parse(line, f"test {number}, an argument") for line in lines]
        expected = _parse(str(test["output"]), f"test {number}, its output")
        converted.append({"call": function, "args": args, "expected": expected})
    reference = {"tests": converted, "prelude": "competition"}
    return reference | ({"entry_point": function} if function else {})


def leetcode_reference(test: str, entry_point: str | None = None) -> dict[str, Any]:
    """Convert the test source of a LeetCode row. Raises TaskError.

    ``test`` defines ``check(candidate)`` for ``entry_point`` (LeetCodeDataset) or is a script (DeepSeek-Coder).
    """
    try:
        body = ast.parse(test).body
        called = None if entry_point is None else ast.parse(entry_point, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise TaskError(f"the test is not Python ({error})") from error
    match body:
        case [ast.FunctionDef(name="check", args=ast.arguments(args=[candidate])) as check]:
            values = {} if called is None else {candidate.arg: called}
            tests = _assert_tests(check.body, values)
        case _:
            tests = _assert_tests(body, {})
    if tests is None:
        tests = [{"assert" if entry_point is None else "check": test}]
    reference: dict[str, Any] = {"tests": tests, "prelude": "competition"}
    if entry_point is not None:
        reference["entry_point"] = entry_point.replace("().", ".")
    return reference


class _Inline(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _assert_tests(body: list[ast.stmt], values: dict[str, ast.expr]) -> list[dict[str, str]] | None:
    """Return one test per assert, with variables replaced by their values, or None if other code may have effects."""
    tests = []
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
                if any(ast.unparse(call) != "Solution()" for call in calls):
                    return None
                values[name] = _Inline(values).visit(value)
                if len(ast.unparse(values[name])) > _MAX_INLINED:
                    return None
            case ast.Assert():
                inlined = _Inline(values).visit(statement)
                tests.append({"assert": ast.unparse(inlined)})
            case _:
                return None
    return tests or None


def bigcodebench_reference(
    test: str, entry_point: str = "task_func", environment: str = "scientific"
) -> dict[str, Any]:
    """Convert the class ``TestCases`` of a BigCodeBench row to one test. Raises TaskError.

    Tests fail if they patch the submission's functions or share files with it.
    """
    try:
        body = ast.parse(test).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise TaskError(f"the test is not Python ({error})") from error
    classes = [n for n in body if isinstance(n, ast.ClassDef) and n.name == UNITTEST_CLASS]
    names = [n.name for one in classes for n in one.body if isinstance(n, ast.FunctionDef)]
    if not any(name.startswith("test") for name in names):
        raise TaskError(f"the test needs a class {UNITTEST_CLASS} with a method test_...")
    return {
        "environment": environment,
        "entry_point": entry_point,
        "tests": [{"check": test.rstrip() + _RUN_UNITTEST}],
    }


def _tests(row: dict[str, Any], key: str) -> list[Any]:
    values = row.get(key)
    if isinstance(values, str):
        try:
            values = json.loads(values)
        except ValueError:
            try:
                values = ast.literal_eval(values)
            except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
                raise TaskError(f"{key!r} is neither JSON nor a Python literal") from error
    if not isinstance(values, list):
        raise TaskError(f"the ground truth needs a list {key!r}")
    return values


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if not isinstance(value, str):
        raise TaskError("inputs and outputs of a program must be strings or lists of lines")
    return value


def _parse(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{name} is not JSON ({error})") from error
