"""Parses the reference of a code task.

A test has one of these forms:

    {"stdin", "stdout"}
    {"call", "args"?, "kwargs"?, "expected", "wrapped"?, "in_place"?}
    {"calls": [class, methods], "args": [a list for each], "expected": [a value for each]}
    {"assert": "assert f(1) == 2"}
    {"check": source that defines check(candidate)}
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from prorl_common import UserError, nearest
from prorl_verifiers.code.compare import MAX_DEPTH, NODES
from prorl_verifiers.types import TaskError, check_keys

if TYPE_CHECKING:
    from prorl_sandbox import LanguageSpec, Limits


def read_language(name: Any) -> LanguageSpec:
    """Return the language with this name or alias, or Python for None. Raises TaskError."""
    from prorl_sandbox import find_language

    if name is not None and not isinstance(name, str):
        raise TaskError("'language' must be a string")
    try:
        return find_language("python" if name is None else name)
    except UserError as error:
        raise TaskError(str(error)) from error


_MODULES = frozenset(
    "math re collections itertools functools string heapq bisect datetime copy cmath sys".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class StdioTest:
    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True)
class CallTest:
    """A test that ``call(*args, **kwargs)`` returns ``expected``.

    ``wrapped``: ``expected`` is a list with one value, and the value itself is correct too (Eurus-2).
    ``then``: methods to call on the result; ``expected`` lists the value of every call.
    ``in_place``: index of the argument that is compared with ``expected`` after the call.
    """

    call: str
    args: tuple[Any, ...]
    expected: Any
    from_json: bool
    wrapped: bool = False
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    then: tuple[tuple[str, tuple[Any, ...]], ...] | None = None
    in_place: int | None = None


@dataclass(frozen=True, slots=True)
class CheckTest:
    """A test that runs ``check(f)``, defined in the trusted ``source``, on the response's function ``entry_point``."""

    source: str
    entry_point: str


CodeTest = StdioTest | CallTest | CheckTest


def read_tests(reference: Mapping[str, Any]) -> list[CodeTest]:
    """Return the tests of a code reference. Raises TaskError."""
    tests = reference.get("tests")
    if not isinstance(tests, list) or not tests:
        raise TaskError("a code task needs a list 'tests' with at least one test")
    entry_point = reference.get("entry_point")
    if entry_point is not None and (not isinstance(entry_point, str) or not entry_point):
        raise TaskError("'entry_point' must be the name of a function")
    if entry_point is not None:
        entry_point = entry_point.replace("().", ".")
        _check_name(entry_point, "'entry_point'")
    read = []
    for number, test in enumerate(tests, start=1):
        if not isinstance(test, Mapping):
            raise TaskError(f"test {number}: expected an object, got {type(test).__name__}")
        try:
            read.append(_read_test(test, entry_point))
        except TaskError as error:
            raise TaskError(f"test {number}: {error}") from error
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise TaskError(
                f"test {number}: its source cannot be parsed ({error or type(error).__name__})"
            ) from error
    called = {
        test.entry_point if isinstance(test, CheckTest) else test.call
        for test in read
        if not isinstance(test, StdioTest)
    }
    if entry_point and called and not any(_last(name) == _last(entry_point) for name in called):
        raise TaskError(f"the tests call {min(called)}, not the 'entry_point' {entry_point}")
    return read


def _last(name: str) -> str:
    return name.rpartition(".")[2]


_TEST_KEYS = {
    "stdout": ("stdin", "stdout"),
    "call": ("call", "args", "kwargs", "expected", "wrapped", "in_place"),
    "calls": ("calls", "args", "expected"),
    "assert": ("assert",),
    "check": ("check",),
}
"""Allowed keys of a test, by a key that only tests of this form have."""


def _check_name(name: str, what: str) -> None:
    parts = name.split(".")
    if len(parts) > 2 or not all(part.isidentifier() and not iskeyword(part) for part in parts):
        raise TaskError(f"{what} must be the name of a function or Class.method, not {name!r}")


def _check_nodes(value: Any, depth: int = 0) -> None:
    """Raise TaskError for a ``ListNode`` or ``TreeNode`` without a list of values."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping) and len(value) == 1:
        ((kind, values),) = value.items()
        if kind in NODES and not isinstance(values, list):
            raise TaskError(f"a {kind} must have a list of values")
    for member in value.values() if isinstance(value, Mapping) else value:
        if isinstance(member, Mapping | list):
            _check_nodes(member, depth + 1)


def _read_test(test: Mapping[str, Any], entry_point: str | None) -> CodeTest:
    kind = next((name for name in _TEST_KEYS if name in test), None)
    if kind is not None:
        check_keys(test, *_TEST_KEYS[kind], what=f"a test with {kind!r}")
        _check_nodes([test.get("args"), test.get("expected")])
    if "stdout" in test:
        stdin = test.get("stdin", "")
        if not isinstance(stdin, str) or not isinstance(test["stdout"], str):
            raise TaskError("'stdin' and 'stdout' must be strings")
        return StdioTest(stdin, test["stdout"])
    if "call" in test:
        kwargs = test.get("kwargs", {})
        args = test.get("args", [] if kwargs else None)
        if not isinstance(test["call"], str) or not isinstance(args, list):
            raise TaskError("'call' must be a name, and 'args' a list")
        if not isinstance(kwargs, Mapping) or not all(
            isinstance(key, str) and key.isidentifier() for key in kwargs
        ):
            raise TaskError("'kwargs' must be an object of named arguments")
        name = test["call"].replace("().", ".")
        _check_name(name, "'call'")
        if "expected" not in test:
            raise TaskError("a test with 'call' needs 'expected'")
        wrapped, expected = test.get("wrapped", False), test["expected"]
        if not isinstance(wrapped, bool):
            raise TaskError("'wrapped' must be true or false")
        if wrapped and not (isinstance(expected, list) and len(expected) == 1):
            raise TaskError("if 'wrapped' is true, 'expected' must be a list of one value")
        place = test.get("in_place")
        if place is not None and (type(place) is not int or not 0 <= place < len(args)):
            raise TaskError("'in_place' must be the index of one of the 'args'")
        return CallTest(name, tuple(args), expected, True, wrapped, kwargs, in_place=place)
    if "calls" in test:
        calls, args, expected = test["calls"], test.get("args"), test.get("expected")
        if not (isinstance(calls, list) and isinstance(args, list) and isinstance(expected, list)):
            raise TaskError("'calls', 'args' and 'expected' must be lists")
        if not calls or not len(calls) == len(args) == len(expected):
            raise TaskError("'calls', 'args' and 'expected' must have the same length")
        if not all(isinstance(name, str) for name in calls) or not all(
            isinstance(arg, list) for arg in args
        ):
            raise TaskError("'calls' must be a list of names, and 'args' a list of argument lists")
        for name in calls:
            _check_name(name, "each of 'calls'")
        then = tuple((name, tuple(arg)) for name, arg in zip(calls[1:], args[1:], strict=True))
        return CallTest(calls[0], tuple(args[0]), [None, *expected[1:]], True, then=then)
    if "assert" in test and isinstance(test["assert"], str):
        source = test["assert"]
        body = ast.parse(source.strip()).body
        if not any(isinstance(node, ast.Assert) for node in ast.walk(ast.Module(body, []))):
            raise TaskError("an assert test contains no assert")
        if any(isinstance(one, ast.Assert) and isinstance(one.test, ast.Tuple) for one in body):
            raise TaskError("an assert of a tuple always passes: remove the brackets around it")
        if len(body) == 1 and isinstance(body[0], ast.Assert):
            plain = _plain_comparison(body[0].test, entry_point)
            if plain is not None:
                return plain
        # Other asserts become the body of a check function.
        module = ast.Module(body, [])
        if entry_point is None:
            entry_point = _only_unknown_call(module)
        if not _mentions(module, entry_point):
            raise TaskError(f"the assert does not call {entry_point}")
        used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
        lines = [f"import {name}" for name in sorted(used & _MODULES)]
        lines += ["def check(candidate):"]
        if entry_point.isidentifier():
            lines += [f"    {entry_point} = candidate"]
        for statement in body:
            lines += ["    " + line for line in ast.unparse(statement).splitlines()]
        return CheckTest("\n".join(lines) + "\n", entry_point)
    if "check" in test and isinstance(test["check"], str):
        source = test["check"]
        body = ast.parse(source).body
        checks = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == "check"]
        if not checks:
            raise TaskError("a check must define check(candidate)")
        if _is_generator(checks[-1]):
            raise TaskError(
                "check(candidate) must not contain 'yield': a generator runs none of its asserts"
            )
        if entry_point is None:
            raise TaskError("a 'check' test needs 'entry_point' in the reference")
        taken = checks[-1].args
        names = [arg.arg for arg in (*taken.posonlyargs, *taken.args)]
        if len(names) - len(taken.defaults) != 1 or None in taken.kw_defaults:
            raise TaskError("check(candidate) must take one argument")
        if not _mentions(ast.Module(body, []), entry_point, names[0]):
            raise TaskError("check(candidate) must use its argument")
        return CheckTest(source, entry_point)
    keys = ", ".join(sorted(map(str, test))) or "nothing"
    raise TaskError(
        f"expected stdin/stdout, call/args/expected, calls/args/expected, assert or check, got {keys}"
    )


def _mentions(module: ast.Module, entry_point: str, *names: str) -> bool:
    wanted = {*names, "candidate", *entry_point.split(".")}
    return any(
        (isinstance(node, ast.Name) and node.id in wanted)
        or (isinstance(node, ast.Attribute) and node.attr in wanted)
        for node in ast.walk(module)
    )


def _is_generator(function: ast.FunctionDef) -> bool:
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)
    return False


def _plain_comparison(test: ast.expr, entry_point: str | None) -> CallTest | None:
    if not (
        isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
    ):
        return None
    left, right = test.left, test.comparators[0]
    if not isinstance(left, ast.Call):
        left, right = right, left
    name = _called_name(left, entry_point)
    if name is None or not isinstance(left, ast.Call):
        return None
    try:
        args = tuple(ast.literal_eval(arg) for arg in left.args)
        kwargs: dict[str, Any] = {}
        for keyword in left.keywords:
            value = ast.literal_eval(keyword.value)
            kwargs |= value if keyword.arg is None else {keyword.arg: value}
        expected = ast.literal_eval(right)
    except (ValueError, TypeError):
        return None
    return CallTest(name, args, expected, from_json=False, kwargs=kwargs)


def _called_name(node: ast.expr, entry_point: str | None) -> str | None:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            # A builtin such as sorted() is not under test if there is another entry point.
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
    from prorl_sandbox.box.objects import HELPERS

    defined = set(dir(builtins)) | _MODULES | HELPERS.keys()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    called = {
        node.func.id
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    } - defined
    if len(called) != 1:
        raise TaskError(
            "cannot tell which function this assert tests: set 'entry_point' in the reference"
        )
    return called.pop()


KEYS = ("tests", "language", "environment", "prelude", "entry_point", "limits", "judge", "mode")
PRELUDES = ("competition", "none")
LONGEST_OUTPUT_KB = 16 * 1024
"""The output limit grows with the longest expected output, by at most this many KiB."""
JUDGES = ("floats", "rows", "tokens", "unordered_lines")
"""Names of the functions in ``judges.py``, which runs in the sandbox and must not be imported."""
DEFAULT_TOTAL_SECONDS = 5.0
"""Time budget of a submission in ProRL (arXiv 2505.24864)."""
_TOTAL, _PARTIAL = "total_seconds", "partial"


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """The limits of one test, and the CPU seconds of all tests together.

    If ``partial`` is set, tests that passed before ``total_seconds`` ran out earn partial credit.
    """

    per_test: Limits
    total_seconds: float = DEFAULT_TOTAL_SECONDS
    partial: bool = False


@dataclass(frozen=True, slots=True)
class CodeReference:
    """A parsed code task. If ``binary`` is set, the reward is 1 if all tests pass, else 0."""

    language: LanguageSpec
    tests: list[CodeTest]
    limits: CodeLimits
    judge: str | None
    binary: bool = False
    environment: str = "stdlib"
    prelude: str = "none"

    @property
    def names(self) -> frozenset[str]:
        called = [
            test.entry_point if isinstance(test, CheckTest) else test.call
            for test in self.tests
            if not isinstance(test, StdioTest)
        ]
        return frozenset(map(_last, called))


def check_reference(reference: Mapping[str, Any]) -> None:
    check_keys(reference, *KEYS)
    read_reference(reference)


def read_reference(reference: Mapping[str, Any]) -> CodeReference:
    """Parse a code reference. Raises TaskError."""
    from prorl_sandbox.spec import check_call

    language = read_language(reference.get("language"))
    tests = read_tests(reference)
    judge = reference.get("judge")
    if judge is not None:
        if not isinstance(judge, str):
            raise TaskError(f"'judge' must be one of {', '.join(JUDGES)}")
        if judge not in JUDGES:
            options = ", ".join(JUDGES)
            raise TaskError(f"unknown judge {judge!r}{nearest(judge, JUDGES)}: use {options}")
    for number, test in enumerate(tests, start=1):
        if isinstance(test, StdioTest):
            continue
        if language.run is not None:
            if not isinstance(test, CallTest) or not test.from_json:
                raise TaskError(
                    f"test {number}: asserts and checks are only for Python: use stdin and stdout "
                    f"for {language.title}"
                )
            if test.kwargs or test.then is not None or test.in_place is not None:
                raise TaskError(
                    f"test {number}: 'kwargs', 'calls' and 'in_place' are only for Python"
                )
            try:
                check_call(test.call, language)
            except UserError as error:
                raise TaskError(f"test {number}: {error}") from error
        if judge is not None:
            raise TaskError(
                f"test {number}: with a 'judge', every test must have 'stdin' and 'stdout'"
            )
    binary = reference.get("mode") == "binary"
    environment = read_environment(reference.get("environment"), language)
    python = language.run is None
    functions = not all(isinstance(test, StdioTest) for test in tests)
    prelude = reference.get("prelude", "competition" if python and functions else "none")
    if prelude not in PRELUDES:
        raise TaskError(f"'prelude' must be one of {', '.join(PRELUDES)}")
    if prelude != "none" and not python:
        raise TaskError(f"'prelude' is only for Python, not for {language.title}")
    limits = read_limits(reference)
    longest = min(max(map(_output_kb, tests)), LONGEST_OUTPUT_KB)
    kilobytes = limits.per_test.output_kb
    if "output_kb" not in (reference.get("limits") or {}):
        limits = replace(limits, per_test=replace(limits.per_test, output_kb=kilobytes + longest))
    elif longest > kilobytes and all(isinstance(test, StdioTest) for test in tests):
        raise TaskError(f"limit 'output_kb' must be at least {longest}, for the longest output")
    return CodeReference(language, tests, limits, judge, binary, environment, prelude)


def _output_kb(test: CodeTest) -> int:
    match test:
        case StdioTest(stdout=stdout):
            return len(stdout.encode("utf-8", "replace")) // 1024
        case CallTest(expected=expected):
            return 6 * len(repr(expected)) // 1024
        case CheckTest(source=source):
            return 6 * len(source) // 1024


def read_environment(name: Any, language: LanguageSpec) -> str:
    """Return the name of the package environment, which may not be installed. Raises TaskError."""
    from prorl_sandbox.environments.store import NAME, STDLIB

    if name is None or name == STDLIB:
        return STDLIB
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise TaskError("'environment' must be the name of an environment, like scientific")
    if language.run is not None:
        raise TaskError(f"'environment' is only for Python, not for {language.title}")
    return name


def read_limits(reference: Mapping[str, Any]) -> CodeLimits:
    from prorl_sandbox import Limits, check_limits

    limits = {} if reference.get("limits") is None else reference["limits"]
    if not isinstance(limits, Mapping):
        raise TaskError("'limits' must be an object")
    names_per_test = sorted(field.name for field in fields(Limits))
    names = (*names_per_test, _TOTAL, _PARTIAL)
    per_test: dict[str, Any] = {}
    for name, value in limits.items():
        if name not in names:
            hint = nearest(str(name), names)
            raise TaskError(f"unknown limit {name!r}{hint}: use {', '.join(names)}")
        if name == _PARTIAL and not isinstance(value, bool):
            raise TaskError("limit 'partial' must be true or false")
        if name != _PARTIAL:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not math.isfinite(value) or value <= 0:
                raise TaskError(f"limit {name!r} must be a number above 0")
        if name in names_per_test:
            if isinstance(getattr(Limits(), name), int):
                if value != int(value):
                    raise TaskError(f"limit {name!r} must be a whole number")
                value = int(value)
            per_test[name] = value
            try:
                check_limits(replace(Limits(), **{name: value}))
            except UserError as error:
                raise TaskError(str(error)) from error
    total = float(limits.get(_TOTAL, DEFAULT_TOTAL_SECONDS))
    return CodeLimits(replace(Limits(), **per_test), total, limits.get(_PARTIAL, False))
