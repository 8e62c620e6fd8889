"""The sandbox of a plug-in verifier in its worker. The programs run in the pool's process.

The worker sends {"event": "sandbox", "submission": {"program", "cases", "limits", "budget"}} and gets the answer to the
first case. A null submission requests the answer to the next case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, TypeVar

from prorl_common import Closing, UserError
from prorl_common.frames import FrameError
from prorl_sandbox.box import wire
from prorl_sandbox.run.decoding import decode
from prorl_sandbox.types import (
    STATUSES,
    Budget,
    Call,
    Case,
    Check,
    CheckerError,
    IsolationError,
    LanguageError,
    Limits,
    Outcome,
    Program,
    Sandbox,
    SandboxError,
    Stdin,
)

T = TypeVar("T")
Exchange = Callable[[dict[str, Any]], dict[str, Any]]
"""Sends a message to the pool's process and returns the answer."""
LONGEST_RUN = 600.0
"""Limit of wall seconds for all programs of an item, without compiling and queueing."""
_LONGEST_ERROR = 2000
_ERRORS: dict[str, type[Exception]] = {
    "check": CheckerError,
    "language": LanguageError,
    "isolation": IsolationError,
    "user": UserError,
    "sandbox": SandboxError,
}
"""The sandbox's exceptions by the kind of an error answer, subclasses first."""
_CASES: dict[str, type[Case]] = {"stdin": Stdin, "call": Call, "check": Check}


class MalformedError(ValueError):
    """Raised for a malformed message between worker and pool."""


@dataclass(frozen=True, slots=True)
class Submission:
    program: Program
    cases: tuple[Case, ...]
    limits: Limits
    budget: Budget | None = None


class WorkerSandbox(Closing):
    def __init__(self, exchange: Exchange, isolation: str) -> None:
        self._exchange = exchange
        self.isolation = isolation

    def run(self, program: Program, limits: Limits = Limits()) -> Outcome:  # noqa: B008 - frozen
        case: Case = Stdin(program.stdin)
        if program.call is not None:
            case = Call(program.call, program.args)
        bare = replace(program, stdin="", call=None, args=())
        return next(self.run_cases(bare, [case], limits))

    def run_check(
        self,
        program: Program,
        checker: str,
        entry_point: str,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> Outcome:
        return next(self.run_cases(program, [Check(checker, entry_point)], limits))

    def run_cases(
        self,
        program: Program,
        cases: Sequence[Case],
        limits: Limits = Limits(),  # noqa: B008 - frozen
        budget: Budget | None = None,
    ) -> Generator[Outcome, None, None]:
        call: dict[str, Any] = {
            "submission": pack(Submission(program, tuple(cases), limits, budget))
        }
        for _ in cases:
            yield read_answer(self._exchange({"event": "sandbox", **call}))
            call = {"submission": None}

    def check_environment(self, name: str) -> None:
        """Do nothing: ``run`` reports a missing environment."""

    def close(self) -> None: ...


class WorkerCalls:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._outcomes: Iterator[Outcome] = iter(())

    def __call__(self, call: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the next answer: {"outcome"} or {"error", "kind"}. Raises ValueError for a malformed call."""
        if set(call) != {"event", "submission"}:
            raise ValueError(
                "a sandbox call needs 'submission': an object, or null for the next answer"
            )
        submission = call["submission"]
        request = None if submission is None else read(Submission, submission)
        try:
            if request is not None:
                limits = _bounded(request.limits, seconds)
                self._outcomes = self._sandbox.run_cases(
                    request.program, request.cases, limits, request.budget
                )
            outcome = next(self._outcomes, None)
            answer = None if outcome is None else {"outcome": pack_outcome(outcome)}
        except Exception as error:  # noqa: BLE001 - the verifier gets it; a bug makes the item infra_error
            return pack_error(error)
        if answer is None:
            raise ValueError("there are no more answers")
        return answer


def _bounded(limits: Limits, seconds: float) -> Limits:
    most = Limits(seconds, seconds, 8192, 65536, 256, 1024, seconds)
    names = [field.name for field in fields(Limits)]
    return Limits(**{name: min(getattr(limits, name), getattr(most, name)) for name in names})


def pack_error(error: Exception) -> dict[str, Any]:
    """Return the answer that reports an error."""
    kinds = [kind for kind, of in _ERRORS.items() if isinstance(error, of)]
    text = str(error) if kinds else f"{type(error).__name__}: {error}"
    return {"error": text[:_LONGEST_ERROR], "kind": kinds[0] if kinds else "sandbox"}


def read_answer(value: dict[str, Any]) -> Outcome:
    """Return the outcome in an answer, or raise its error. Raises MalformedError."""
    if set(value) == {"outcome"}:
        return read_outcome(value["outcome"])
    text, kind = value.get("error"), value.get("kind")
    if set(value) != {"error", "kind"} or not isinstance(text, str) or kind not in _ERRORS:
        raise MalformedError(
            "malformed sandbox answer: it must have either 'outcome', or 'error' and a known 'kind'"
        )
    raise _ERRORS[kind](text[:_LONGEST_ERROR])


def pack_outcome(outcome: Outcome) -> dict[str, Any]:
    """Convert an outcome to JSON. If its value cannot be sent, the status becomes ``unserialisable``."""
    try:
        return pack(outcome)
    except UserError:
        return pack(replace(outcome, status="unserialisable", value=None))


def read_outcome(value: object) -> Outcome:
    """Parse an outcome. If its value cannot be decoded, the status becomes ``protocol-error``. Raises MalformedError."""
    if isinstance(value, dict) and "value" in value:
        try:
            returned = decode(value["value"])
        except FrameError:
            return read(Outcome, value | {"value": None, "status": "protocol-error"})
        return replace(read(Outcome, value | {"value": None}), value=returned)
    return read(Outcome, value)


def pack(record: object) -> dict[str, Any]:
    """Convert a dataclass of the sandbox to JSON. Raises UserError for arguments that cannot be sent."""
    return {
        field.name: _CODECS[str(field.type)].pack(getattr(record, field.name))
        for field in fields(record)  # type: ignore[arg-type]
    }


def read(kind: type[T], value: object) -> T:
    """Parse a dataclass of type ``kind`` from JSON. Raises MalformedError."""
    types = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(value, dict) or set(value) != set(types):
        raise MalformedError(f"{_describe(value)} is not a {kind.__name__.lower()}")
    values = {}
    for name, declared in types.items():
        try:
            values[name] = _CODECS[declared].read(value[name])
        except MalformedError as error:
            raise MalformedError(f"{name}: {error}") from error
    return kind(**values)


def _describe(value: object) -> str:
    if isinstance(value, dict):
        names = ", ".join(str(name)[:40] for name in [*value][:12])
        return f"an object of {{{names}}}"
    return f"a value of type {type(value).__name__}"


class _Codec(NamedTuple):
    pack: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _unchanged(value: Any) -> Any:
    return value


def _exactly(*kinds: type) -> _Codec:
    def read_same(value: Any) -> Any:
        if type(value) not in kinds:
            expected = " or ".join("null" if k is type(None) else k.__name__ for k in kinds)
            raise MalformedError(f"must be {expected}, not {type(value).__name__}")
        return value

    return _Codec(_unchanged, read_same)


def _one_of(*words: str | None) -> _Codec:
    def read_word(value: Any) -> Any:
        if not isinstance(value, str | None) or value not in words:
            raise MalformedError(f"must be one of {', '.join(map(str, words))}")
        return value

    return _Codec(_unchanged, read_word)


def _read_number(value: Any) -> float:
    try:
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise MalformedError("must be a finite number")


def _pack_value(value: Any) -> Any:
    try:
        return wire.encode(value)
    except (wire.Unserialisable, wire.TooLarge, RecursionError) as error:
        raise UserError(f"an argument cannot be sent to the program: {error}") from error


def _read_value(value: Any) -> Any:
    try:
        return decode(value)
    except FrameError as error:
        raise MalformedError(f"its value is invalid: {error}") from error


def _read_tuple(value: Any) -> tuple[Any, ...]:
    items = _read_value(value)
    if type(items) is not list:
        raise MalformedError("must be a list")
    return tuple(items)


def _read_mapping(value: Any) -> Mapping[str, Any]:
    items = _read_value(value)
    if type(items) is not dict or not all(type(name) is str for name in items):
        raise MalformedError("must be an object")
    return items


def _read_methods(value: Any) -> Sequence[tuple[str, tuple[Any, ...]]] | None:
    items = _read_value(value)
    for item in items if type(items) is tuple else ():
        match item:
            case (str(), tuple()):
                continue
        raise MalformedError("must be pairs of a method's name and its arguments")
    if items is not None and type(items) is not tuple:
        raise MalformedError("must be a list or null")
    return items


def _pack_cases(cases: Sequence[Case]) -> list[dict[str, Any]]:
    names = {kind: name for name, kind in _CASES.items()}
    return [{names[type(case)]: pack(case)} for case in cases]


def _read_cases(value: Any) -> tuple[Case, ...]:
    if not isinstance(value, list) or not value:
        raise MalformedError("must be a list of at least one case")
    cases = []
    for case in value:
        if not isinstance(case, dict) or len(case) != 1 or not set(case) <= set(_CASES):
            raise MalformedError(f"{_describe(case)} is not a case: use one of {', '.join(_CASES)}")
        ((name, body),) = case.items()
        cases.append(read(_CASES[name], body))
    return tuple(cases)


_CODECS: dict[str, _Codec] = {
    "str": _exactly(str),
    "str | None": _exactly(str, type(None)),
    "int": _exactly(int),
    "int | None": _exactly(int, type(None)),
    "bool": _exactly(bool),
    "float": _Codec(_unchanged, _read_number),
    "Status": _one_of(*STATUSES),
    "Literal['wall', 'cpu'] | None": _one_of("wall", "cpu", None),
    "Any": _Codec(_pack_value, _read_value),
    "tuple[Any, ...]": _Codec(lambda value: _pack_value(list(value)), _read_tuple),
    "Mapping[str, Any]": _Codec(lambda value: _pack_value(dict(value)), _read_mapping),
    "Sequence[tuple[str, tuple[Any, ...]]] | None": _Codec(_pack_value, _read_methods),
    "Program": _Codec(pack, lambda value: read(Program, value)),
    "Limits": _Codec(pack, lambda value: read(Limits, value)),
    "Budget | None": _Codec(
        lambda value: None if value is None else pack(value),
        lambda value: None if value is None else read(Budget, value),
    ),
    "tuple[Case, ...]": _Codec(_pack_cases, _read_cases),
}
"""Codecs by the declared type of a field."""
