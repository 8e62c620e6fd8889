"""Read the reference of a code task whole: language, tests, limits and judge, each mistake a TaskError."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from prorl_common import UserError, nearest
from prorl_verifiers.code.judges import judge_source
from prorl_verifiers.code.languages import read_language
from prorl_verifiers.code.tests import CallTest, CodeTest, StdioTest, read_tests
from prorl_verifiers.references import known_keys
from prorl_verifiers.types import TaskError

if TYPE_CHECKING:
    from prorl_sandbox import LanguageSpec, Limits

KEYS = ("tests", "language", "environment", "entry_point", "limits", "judge", "mode")
DEFAULT_TOTAL_SECONDS = 5.0
"""ProRL's budget of a whole submission (arXiv 2505.24864)."""
_TOTAL, _PARTIAL = "total_seconds", "partial"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one test, and of all tests together in seconds of processor time.

    A submission over ``total_seconds`` earns nothing, or with ``partial`` the tests passed until then.
    """

    per_test: Limits
    total_seconds: float = DEFAULT_TOTAL_SECONDS
    partial: bool = False


@dataclass(frozen=True, slots=True)
class CodeReference:
    """A code task as the scorer needs it. ``judge`` is the name of an installed judge or None.

    ``binary``: all tests or nothing, as evaluation counts; otherwise the share of tests passed.
    ``environment``: the packages that Python may import.
    """

    language: LanguageSpec
    tests: list[CodeTest]
    budget: Budget
    judge: str | None
    binary: bool = False
    environment: str = "stdlib"


def check_reference(reference: Mapping[str, Any]) -> None:
    """Raise TaskError for whatever is wrong in a code reference."""
    known_keys(reference, *KEYS)
    read_reference(reference)


def read_reference(reference: Mapping[str, Any]) -> CodeReference:
    """Return the parts of a code reference. Raises TaskError for whatever is wrong in them."""
    language = read_language(reference.get("language"))
    tests = read_tests(reference)
    judge = reference.get("judge")
    if judge is not None:
        if not isinstance(judge, str):
            raise TaskError("'judge' must be the name of an installed judge")
        judge_source(judge)
    for number, test in enumerate(tests, start=1):
        if isinstance(test, StdioTest):
            continue
        if language.run is not None:
            _check_call(test, language, number)
        if judge is not None:
            raise TaskError(f"test {number}: a judge needs stdin/stdout tests")
    binary = reference.get("mode") == "binary"
    environment = read_environment(reference.get("environment"), language)
    return CodeReference(language, tests, read_budget(reference), judge, binary, environment)


def _check_call(test: CodeTest, language: LanguageSpec, number: int) -> None:
    """Raise TaskError for a test that is no call which a language other than Python can take."""
    from prorl_sandbox.run.compiling import check_call

    if not language.takes_calls:
        raise TaskError(f"test {number}: {language.title} takes stdin/stdout tests only")
    if not isinstance(test, CallTest) or not test.from_json:
        raise TaskError(
            f"test {number}: asserts and checks are Python; {language.title} takes stdin/stdout"
            " and call/args/expected tests"
        )
    try:
        check_call(test.call, language)
    except UserError as error:
        raise TaskError(f"test {number}: {error}") from error


def read_environment(given: Any, language: LanguageSpec) -> str:
    """Return the name of the task's environment; None is the standard library. Raises TaskError.

    Whether there is one of that name is for the sandbox to say, which may be on another machine.
    """
    from prorl_sandbox.environments.requirements import NAME, STDLIB

    if given is None or given == STDLIB:
        return STDLIB
    if not isinstance(given, str) or not NAME.fullmatch(given):
        raise TaskError("'environment' must be the name of an environment, like scientific")
    if language.run is not None:
        raise TaskError(f"'environment' is for Python: {language.title} has none")
    return given


def read_budget(reference: Mapping[str, Any]) -> Budget:
    """Return the limits of a code reference. Raises TaskError for unknown ones and bad values."""
    from prorl_sandbox import Limits

    given = reference.get("limits") or {}
    if not isinstance(given, Mapping):
        raise TaskError("'limits' must be an object")
    own = sorted(field.name for field in fields(Limits))
    known = (*own, _TOTAL, _PARTIAL)
    per_test: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            hint = nearest(str(name), known)
            raise TaskError(f"unknown limit {name!r}{hint}: use {', '.join(known)}")
        if name == _PARTIAL and not isinstance(value, bool):
            raise TaskError("limit 'partial' must be true or false")
        if name != _PARTIAL:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or value <= 0:
                raise TaskError(f"limit {name!r} must be a number above 0")
        if name in own:
            per_test[name] = _check_range(name, value)
    total = float(given.get(_TOTAL, DEFAULT_TOTAL_SECONDS))
    return Budget(replace(Limits(), **per_test), total, given.get(_PARTIAL, False))


def _check_range(name: str, value: Any) -> Any:
    """Return a limit as the sandbox takes it; it is asked now, not when a response is scored."""
    from prorl_sandbox import Limits
    from prorl_sandbox.run.ranges import check_limits

    if isinstance(getattr(Limits(), name), int):
        if value != int(value):
            raise TaskError(f"limit {name!r} must be a whole number")
        value = int(value)
    changed: dict[str, Any] = {name: value}
    try:
        check_limits(replace(Limits(), **changed))
    except UserError as error:
        raise TaskError(str(error)) from error
    return changed[name]
