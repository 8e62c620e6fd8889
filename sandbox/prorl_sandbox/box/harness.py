"""Run a submission or its test inside the sandbox, and report the result to the host.

Expected answers are never in the submission's process.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import os
import sys
from os import _exit, getpid
from types import CodeType, ModuleType

from prorl_sandbox.box import foreign, limits, objects, preload, prelude, session, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

# Bind builtins before any program runs; see ``wire``.
globals().update((name, it) for name, it in vars(builtins).items() if not name.startswith("__"))

_OF_THE_RUN = ("MemoryError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError")
"""Exceptions that a test sees as their base class, because they need arguments or are caused by a limit."""
_ENDS_OF_LOOPS = ("StopIteration", "StopAsyncIteration")
"""A submission could end a test's loop early by raising these exceptions. The test sees their base class instead."""


class CandidateError(Exception):
    """Base class of a submission's own exceptions as a test sees them. ``type_name`` is the original class name."""

    type_name = ""


class Submission:
    """Calls the submission, which runs in another process, for a test.

    ``names`` are the test's global variables. ``misused`` is set if the test compared an object that cannot be copied.
    """

    def __init__(self, channel: int, checker: str) -> None:
        self._channel = channel
        self._hidden = (*_OF_THE_RUN, *(one for one in _ENDS_OF_LOOPS if one not in checker))
        self._remote: dict[int, objects.Remote] = {}
        self.names: dict[str, Any] = {}
        self.misused = False

    def function(self, name: str | None) -> Callable[..., Any]:
        """Return a function that calls the submission's function ``name`` (None: its entry point)."""

        def candidate(*args: Any, **kwargs: Any) -> Any:
            return self._ask({"name": name}, args, kwargs)

        return candidate

    def _ask_of(self, number: int, operation: str, /, *args: Any, **kwargs: Any) -> Any:
        return self._ask({"name": operation, "on": number}, args, kwargs)

    def _ask(self, question: dict[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        call = {"args": wire.encode(list(args), True), "kwargs": wire.encode(dict(kwargs), True)}
        wire.write_all(self._channel, wire.pack({"k": "call", "on": None} | question | call))
        reply = wire.read_frame(self._channel)
        if reply is None:
            raise SystemExit(1)  # the host has ended the run
        if reply["k"] == "raise":
            if question["name"] == "next" and reply["type"] == "StopIteration":
                raise StopIteration  # ends the check's loop over an object
            raise _exception(reply["type"], reply["kinds"], self._hidden)
        if reply["k"] == "opaque":
            number = reply["number"]
            if number not in self._remote:
                self._remote[number] = objects.Remote(number, self._ask_of, self._refuse)
            return self._remote[number]
        return objects.revive(reply["v"], self.names) if reply["revive"] else reply["v"]

    def _refuse(self) -> NoReturn:
        self.misused = True
        raise objects.OpaqueError(
            "the check compares an object that cannot be copied from the submission"
        )


class Names(dict[str, "Any"]):
    """Built-in names of a test. Any other undefined name becomes a function that calls the submission."""

    def __init__(self, submission: Submission) -> None:
        super().__init__(vars(builtins) | objects.HELPERS)
        self._submission = submission

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):
            raise KeyError(name)
        return self._submission.function(name)


def _exception(name: str, kinds: list[str], hidden: tuple[str, ...]) -> BaseException:
    """Return an exception with the class name ``name`` for a test to catch.

    Its base class is the first built-in exception in ``kinds`` that is not in ``hidden``.
    """
    base: Any = Exception
    for kind in kinds:
        builtin = vars(builtins).get(kind)
        if isinstance(builtin, type) and issubclass(builtin, Exception) and kind not in hidden:
            base = builtin
            break
    if base.__name__ != name:
        bases = (CandidateError,) if base is Exception else (CandidateError, base)
        base = type(name, bases, {})
    error: BaseException = base(f"candidate raised {name}")
    error.type_name = name  # type: ignore[attr-defined]
    return error


_FRAMES_BELOW = 12
_LONGEST_LINE_SHOWN = 1000
_INT_DIGITS = 50_000
"""Maximum digits of an int that a program may parse or print. Python's default of 4300 is too low for some tasks."""


def run(job: dict[str, Any], channel: int) -> None:
    """Run the job, which ends as the program does: by returning or by SystemExit. Call :func:`settle` first.

    ``job`` has the fields of ``plan.Job`` and ``program``, the path of the program's file.
    """
    sys.argv = [job["program"]]
    if job["mode"] == "exec":
        _send(channel, foreign.execute(job, channel))
        _end(127)
    if job["mode"] == "compile":
        _send(channel, foreign.compile_artifact(job))
        _end(0)
    preload.reseed()
    if job["mode"] == "session":
        session.Supervisor(job, channel).serve()
    code = _compile(job, channel)
    if job["prelude"]:
        prelude.provide(code)
    gc.enable()
    if job["mode"] == "main":
        _run_main(job, code, channel)
    elif job["mode"] == "serve":
        _serve(job, code, channel)
    else:
        _check(job, code, channel)


def settle(scratch: str) -> list[ModuleType]:
    """Make the interpreter look like ``python program.py`` in ``scratch``; hide prorl's modules and return them."""
    from _sitebuiltins import Quitter

    builtins.exit = Quitter("exit", "Ctrl-D (i.e. EOF)")
    builtins.quit = Quitter("quit", "Ctrl-D (i.e. EOF)")
    ours = [name for name in sys.modules if name.split(".")[0] == "prorl_sandbox"]
    sys.dont_write_bytecode = True
    sys.set_int_max_str_digits(_INT_DIGITS)
    sys.setrecursionlimit(sys.getrecursionlimit() + _FRAMES_BELOW)
    threads = preload.ONE_THREAD if "OPENBLAS_NUM_THREADS" in os.environ else {}
    os.environ.clear()
    os.environ.update(threads, HOME=scratch, TMPDIR=scratch, LANG="C.UTF-8", PATH="/usr/bin:/bin")
    return [sys.modules.pop(name) for name in ours]


def _send(channel: int, message: dict[str, Any]) -> None:
    wire.write_all(channel, wire.pack(message))


def _leave_if_child(program: int) -> None:
    if getpid() != program:
        _end(1)


def _type_name(error: BaseException) -> str:
    return str(type.__getattribute__(type(error), "__name__"))[:100]


def _send_failure(channel: int, kind: str, error: BaseException) -> None:
    memory = isinstance(error, MemoryError)
    if memory:
        limits.release_reserve()
    _send(channel, {"k": kind, "type": _type_name(error), "memory": memory})


def _show(error: BaseException, skip: int) -> None:
    trace = error.__traceback__
    for _ in range(skip):
        trace = trace.tb_next if trace is not None else None
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _compile(job: dict[str, Any], channel: int) -> CodeType:
    try:
        return compile(job["source"], job["program"], "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        _send_failure(channel, "compile-error", error)
        if isinstance(error, SyntaxError) and len(error.text or "") > _LONGEST_LINE_SHOWN:
            error.text = None
        sys.excepthook(type(error), error.with_traceback(None), None)
    raise SystemExit(1)


def _module(name: str, file: str) -> dict[str, Any]:
    module = ModuleType(name)
    module.__file__ = file
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules[name] = module
    return module.__dict__


def _run_main(job: dict[str, Any], code: CodeType, channel: int) -> NoReturn:
    program = getpid()
    names = _module("__main__", job["program"])
    status = 0
    try:
        exec(code, names)  # noqa: S102 - this is the box
    except SystemExit as leaving:  # as the interpreter would exit
        if isinstance(leaving.code, int):
            status = leaving.code & 0xFF
        elif leaving.code is not None:
            sys.stderr.write(f"{leaving.code}\n")
            status = 1
    except BaseException as error:  # noqa: BLE001 - reported to the host
        if getpid() == program:
            _send_failure(channel, "exception", error)
        _show(error, 1)
        status = 1
    # End as the interpreter would (threads, exit hooks, the program's objects, streams), but without the full shutdown,
    # which takes longer than most programs.
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
        names.clear()
    except BaseException as error:  # noqa: BLE001 - caused by the program
        _show(error, 1)
    _end(status)


def _load(
    job: dict[str, Any], code: CodeType, channel: int, builtin_names: Any = builtins
) -> dict[str, Any]:
    """Execute the program as an imported module (``__name__`` is not "__main__"); return its global variables."""
    program = getpid()
    names = _module("program", job["program"])
    names["__builtins__"] = builtin_names
    try:
        exec(code, names)  # noqa: S102 - this is the box
    except BaseException as error:  # noqa: BLE001 - reported to the host
        if getpid() == program:
            _send_failure(channel, "exception", error)
        _show(error, 1)
        _end(1)
    return names


def _end(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - a stream of the program's own making
            code = code or 1
    _exit(code)


def _find(name: str, names: dict[str, Any]) -> Any:
    """Return the function ``name``, or the method ``Class.name`` or ``Solution.name``."""
    owner, _, method = name.partition(".")
    if owner not in names and not method and hasattr(names.get("Solution"), owner):
        owner, method = "Solution", owner
    if owner not in names:
        raise NameError(f"name {owner!r} is not defined by the program")
    value = names[owner]
    return getattr(value(), method) if method else value


class _Held:
    def __init__(self) -> None:
        self.objects: list[Any] = []
        self._numbers: dict[int, int] = {}

    def number(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self.objects))
        if number == len(self.objects):
            self.objects.append(value)
        return number


def _answer(value: Any, held: _Held | None) -> dict[str, Any]:
    try:
        return {"k": "value", "v": wire.encode(value)}
    except wire.Unserialisable as error:
        if held is None:
            return {"k": "unserialisable", "text": str(error)[:300]}
    return {"k": "opaque", "number": held.number(value)}


def _call_annotated(
    function: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    names: dict[str, Any],
    in_place: int | None = None,
) -> Any:
    """Call a function, with lists converted to the ``ListNode`` or ``TreeNode`` objects that its annotations name.

    Returns the result, or the argument with the index ``in_place`` after the call.
    """
    is_class = isinstance(function, type)
    annotated = function.__init__ if is_class else function
    annotations = getattr(annotated, "__annotations__", None)
    code = getattr(annotated, "__code__", None)
    if type(annotations) is not dict or type(code) is not CodeType:
        value = function(*args, **kwargs)
        return value if in_place is None else args[in_place]
    parameters = code.co_varnames[is_class or hasattr(function, "__self__") :]
    built = [
        objects.build_annotated(annotations.get(name), arg, names)
        for name, arg in zip(parameters, args, strict=False)
    ]
    built += args[len(built) :]
    kwargs = {k: objects.build_annotated(annotations.get(k), v, names) for k, v in kwargs.items()}
    value = function(*built, **kwargs)
    if in_place is not None:
        named = annotations.get(parameters[in_place]) if in_place < len(parameters) else None
        return objects.empty_if_none(named, built[in_place])
    return objects.empty_if_none(annotations.get("return"), value)


def _serve(job: dict[str, Any], code: CodeType, channel: int) -> None:
    program = getpid()
    names = _load(job, code, channel)
    _leave_if_child(program)
    _send(channel, {"k": "ready"})
    failed, held = 0, _Held()
    while (request := wire.read_frame(channel)) is not None:
        try:
            args, kwargs = request["args"], request["kwargs"]
            if request["revive"]:
                args = objects.revive(args, names, held.objects)
                kwargs = objects.revive(kwargs, names, held.objects)
            if request["on"] is not None:
                target = held.objects[request["on"]]
                value = objects.OPERATIONS[request["name"]](target, *args, **kwargs)
            elif request["opaque"]:
                value = _find(request["name"] or job["call"], names)(*args, **kwargs)
            else:
                function, in_place = _find(job["call"], names), request["in_place"]
                value = _call_annotated(function, args, kwargs, names, in_place)
                if request["then"] is not None:
                    value = [None] + [
                        _call_annotated(getattr(value, name), given, {}, names)
                        for name, given in objects.revive(request["then"], names)
                    ]
            reply = wire.pack(
                _answer(value, held if request["opaque"] else None) | {"n": request["n"]}
            )
            if len(reply) > job["frame_cap"]:
                reply = wire.pack({"k": "too-large", "n": request["n"]})
            failed = 0
        except wire.TooLarge:
            reply = wire.pack({"k": "too-large", "n": request["n"]})
        except BaseException as error:  # noqa: BLE001 - reported to the host
            failed = 1
            memory = isinstance(error, MemoryError)
            if memory:
                limits.release_reserve()
            classes: tuple[type, ...] = type.__getattribute__(type(error), "__mro__")
            failure = {
                "k": "raise",
                "type": _type_name(error),
                "kinds": [c.__name__ for c in classes if vars(builtins).get(c.__name__) is c],
                "memory": memory,
            }
            reply = wire.pack(failure | {"n": request["n"]})
            _show(error, 1)
        _leave_if_child(program)
        wire.write_all(channel, reply)
    _end(failed)


def _check(job: dict[str, Any], code: CodeType, channel: int) -> None:
    submission = Submission(channel, job["source"])
    names = _load(job, code, channel, Names(submission))
    submission.names = names
    check = names.get("check")
    if not callable(check):
        _send(channel, {"k": "broken", "text": "the checker does not define check(candidate)"})
        _end(1)
    failed = misused = False
    try:
        check(submission.function(None))
        misused = submission.misused
    except wire.Unserialisable as error:
        _send(channel, {"k": "broken", "text": f"an argument of candidate: {error}"})
        _end(1)
    except BaseException as error:  # noqa: BLE001 - reported to the host
        failed, misused = True, submission.misused  # before the traceback uses the objects
        if not misused:
            _send_failure(channel, "failed", error)
        _show(error, 1)
    if misused:  # even if the check caught the OpaqueError
        _send(channel, {"k": "unserialisable"})
        failed = True
    if not failed:
        _send(channel, {"k": "passed"})
    _end(failed)
