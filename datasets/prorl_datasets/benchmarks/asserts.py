"""Converts the test sources of HumanEval and HumanEval+ to tests of the code verifier without running them.

Sandboxes lack numpy, so helper functions that use numpy are replaced.
"""

from __future__ import annotations

import ast
import json
from typing import Any

from prorl_datasets.sources.adapters.code_sets import parts_of
from prorl_datasets.sources.readers.decode import slow_name

MAX_PARTS = 1_000_000
"""Maximum number of syntax elements in a test source; each takes about 1.4 kB when parsed."""
TOLERANCE = 1e-6
"""Tolerance for floats in HumanEval+, and in ``call`` tests of the code verifier."""

_HELPERS = """
def is_floats(x):
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    return isinstance(x, float)


def _near(out, exp, atol):
    if isinstance(out, (list, tuple)) or isinstance(exp, (list, tuple)):
        return len(out) == len(exp) and all(_near(a, b, atol) for a, b in zip(out, exp))
    return out == exp or abs(out - exp) <= atol + 1e-07 * abs(exp)


def assertion(out, exp, atol):
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    assert out == exp or (atol != 0 and _near(out, exp, atol))
"""
_BROKEN_POLY = "_poly(*candidate(*inp), inp)"
_MENDED_POLY = "abs(_poly(*inp, candidate(*inp)))"


class UnreadableTests(ValueError):
    """Raised if the test source has an unsupported form."""


def as_tests(source: str, entry_point: str, head: str = "") -> list[dict[str, Any]]:
    """Convert test source that defines ``check(candidate)`` to tests of the code verifier.

    ``head`` is the code in the prompt, whose functions the tests may use. Raises UnreadableTests.
    """
    if parts_of(source) > MAX_PARTS or slow_name(source):
        raise UnreadableTests(
            f"the source has over {MAX_PARTS:,} syntax elements, or names that are not plain identifiers"
        )
    try:
        tree = ast.parse(source)
        functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
        checks = (n for n in functions if n.name == "check" and len(n.args.args) == 1)
        if (check := next(checks, None)) is None:
            raise UnreadableTests("the test source does not define check(candidate)")
        if tests := _table_tests(check, entry_point) or _assert_tests(check, entry_point):
            return tests
        rewrite = _Rewrite()
        changed = ast.fix_missing_locations(rewrite.visit(tree))
        if {"np", "numpy"} & {n.id for n in ast.walk(changed) if isinstance(n, ast.Name)}:
            raise UnreadableTests("the tests use numpy outside the known helper functions")
        text = (_HELPERS if rewrite.replaced else "") + "\n" + ast.unparse(changed) + "\n"
        try:  # the check may use other functions of the prompt
            statements = ast.parse(head).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            statements = []
        helpers = [
            n for n in statements if not (isinstance(n, ast.FunctionDef) and n.name == entry_point)
        ]
        used = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
        if any(isinstance(n, ast.FunctionDef) and n.name in used for n in helpers):
            text = "\n".join(map(ast.unparse, helpers)) + "\n\n" + text
        return [{"check": text}]
    except UnreadableTests:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableTests(f"not readable Python ({error})") from error


def _assert_tests(check: ast.FunctionDef, entry_point: str) -> list[dict[str, Any]] | None:
    candidate = check.args.args[0].arg
    tests = []
    for statement in check.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # a docstring
        if not isinstance(statement, ast.Assert):
            return None
        if isinstance(statement.test, ast.Constant):
            continue
        match statement.test:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id=name), args=args, keywords=[]),
                ops=[ast.Eq()],
                comparators=[right],
            ) if name == candidate and all(map(_literal, [*args, right])):
                arguments = ", ".join(map(ast.unparse, args))
                line = f"assert {entry_point}({arguments}) == {ast.unparse(right)}"
                tests.append({"assert": line})
            case _:
                return None
    return tests


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _table_tests(check: ast.FunctionDef, entry_point: str) -> list[dict[str, Any]] | None:
    """Return a test for each row of HumanEval+'s table of inputs and results, or None if ``check`` has no table."""
    constants: dict[str, Any] = {}
    for statement in check.body[:-1]:
        if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
            return None
        if not _literal(statement.value):
            return None
        constants[statement.targets[0].id] = ast.literal_eval(statement.value)
    last = check.body[-1]
    if not (isinstance(last, ast.For) and len(last.body) == 1):
        return None
    inputs, results = constants.get("inputs"), constants.get("results")
    if not (isinstance(inputs, list) and isinstance(results, list)):
        return None
    match last.body[0]:
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="assertion"),
                args=[ast.Call(), ast.Name(id="exp"), ast.Constant(value=int() | float() as atol)],
            )
        ):
            if len(inputs) != len(results):
                raise UnreadableTests("the numbers of inputs and results differ")
        case _:
            return None
    if float(atol) not in (0.0, TOLERANCE):
        return None
    tests: list[dict[str, Any]] = []
    for args, expected in zip(inputs, results, strict=True):
        if not isinstance(args, list | tuple):
            return None
        # HumanEval+ compares floats and lists of floats with a tolerance, an empty list exactly
        floats = expected if isinstance(expected, list | tuple) else [expected]
        if floats and all(isinstance(value, float) for value in floats):
            if not _is_json(list(args)) or not _is_json(expected):
                return None
            tests.append({"call": entry_point, "args": list(args), "expected": expected})
        elif atol and _has_float(expected):
            return None
        else:
            arguments = ", ".join(map(repr, args))
            tests.append({"assert": f"assert {entry_point}({arguments}) == {expected!r}"})
    return tests


def _has_float(value: Any) -> bool:
    if isinstance(value, list | tuple | set):
        return any(map(_has_float, value))
    if isinstance(value, dict):
        return any(_has_float(v) for pair in value.items() for v in pair)
    return isinstance(value, float)


def _is_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


class _Rewrite(ast.NodeTransformer):
    """Replaces numpy helpers, and fixes an assert of HumanEval/32 that can never pass as published."""

    def __init__(self) -> None:
        self.replaced = False

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        node.names = [a for a in node.names if a.name.split(".")[0] != "numpy"]
        return node if node.names else None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        if node.name in ("is_floats", "assertion"):
            self.replaced = True
            return None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        poly = isinstance(node.func, ast.Name) and node.func.id == "_poly"
        if poly and ast.unparse(node) == _BROKEN_POLY:
            return ast.parse(_MENDED_POLY, mode="eval").body
        return self.generic_visit(node)
