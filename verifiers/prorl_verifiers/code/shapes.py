"""Turn the test shapes of public data sets into a code reference: Eurus-2 rows, LiveCodeBench and BigCodeBench tests.

Plain JSON and Python literals are read; nothing is unpickled or evaluated.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from prorl_verifiers.types import TaskError

Reference = dict[str, Any]
UNITTEST_CLASS = "TestCases"
"""The class that holds the tests of a BigCodeBench row."""
_RUN_UNITTEST = f"""

def check(candidate):
    import unittest
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase({UNITTEST_CLASS}).run(result)
    assert result.testsRun, "no test was run"
    for test, trace in result.errors + result.failures:
        raise AssertionError(f"{{test}}: {{trace.strip().splitlines()[-1]}}")
"""
"""Runs the class in the box of the tests; what the tests call is the submission's, in its own box."""


def eurus_reference(ground_truth: str) -> Reference:
    """Return the reference of an Eurus-2-RL-Data code row from its ``reward_model.ground_truth``.

    The text is JSON {"inputs", "outputs", "fn_name"?}. With ``fn_name`` an input is the list of positional
    arguments and an output mostly a list around the value, otherwise both are text (or lists of
    lines) of standard input and output. Raises TaskError for rows without tests or of unequal lengths.
    """
    row = _parse(ground_truth, "the ground truth")
    if not isinstance(row, dict):
        raise TaskError("the ground truth must be an object with 'inputs' and 'outputs'")
    inputs, outputs = _tests(row, "inputs"), _tests(row, "outputs")
    if not inputs or len(inputs) != len(outputs):
        raise TaskError(f"{len(inputs)} inputs and {len(outputs)} outputs make no tests")
    name = row.get("fn_name")
    if name is None:
        pairs = zip(inputs, outputs, strict=True)
        return {"tests": [{"stdin": _text(a), "stdout": _text(b)} for a, b in pairs]}
    calls = []
    for args, output in zip(inputs, outputs, strict=True):
        if not isinstance(args, list):
            raise TaskError(f"an input of {name} is not the list of its arguments")
        wrapped = isinstance(output, list) and len(output) == 1
        calls.append({"call": name, "args": args, "expected": output})
        if wrapped:
            calls[-1]["wrapped"] = True
    return {"tests": calls, "entry_point": name}


def livecodebench_reference(tests: Sequence[Any], function: str | None = None) -> Reference:
    """Return the reference of LiveCodeBench tests, a list of {"input", "output", "testtype"}.

    ``function`` is ``metadata.func_name`` of the row: the function, or method of class ``Solution``, that
    functional tests call; their input holds one JSON argument a line, their output is JSON.
    """
    if not tests:
        raise TaskError("a code task needs at least one test")
    read = []
    for number, test in enumerate(tests, start=1):
        if not isinstance(test, dict) or not {"input", "output"} <= test.keys():
            raise TaskError(f"test {number} needs 'input' and 'output'")
        if test.get("testtype") != "functional":
            read.append({"stdin": test["input"], "stdout": test["output"]})
            continue
        if not function:
            raise TaskError(f"test {number} is functional and the row names no function")
        lines = [line for line in str(test["input"]).split("\n") if line.strip()]
        args = [_parse(line, f"test {number}, an argument") for line in lines]
        expected = _parse(str(test["output"]), f"test {number}, its output")
        read.append({"call": function, "args": args, "expected": expected})
    return {"tests": read} | ({"entry_point": function} if function else {})


def bigcodebench_reference(
    test: str, entry_point: str = "task_func", environment: str = "scientific"
) -> Reference:
    """Return the reference of a BigCodeBench row from its ``test``: the source of a ``unittest`` class ``TestCases``.

    The class becomes one check, which passes when all its tests do. Its tests may import what ``environment`` holds; they
    run apart from the submission, so that tests which replace functions inside it (``unittest.mock.patch``) or share
    files with it fail. Raises TaskError for a source that is not Python or has no such class with a test.
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
    """Return a list that some copies hold as its Python or JSON source."""
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
        raise TaskError("an input or output of a program is neither text nor a list of lines")
    return value


def _parse(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{what} is not JSON ({error})") from error
