"""A trusted check's side of its talk with a submission in another box: what stands there for the
submission's functions, for the exceptions that they raise, and for values that cannot leave their box.
"""

from __future__ import annotations

import builtins

from prorl_sandbox.box import columns, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_OF_THE_RUN = ("MemoryError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError")
"""Exceptions that a check meets as their base class: they need arguments, or are told of a limit."""
_ENDS_OF_LOOPS = ("StopIteration", "StopAsyncIteration")
"""Met as themselves only by a check that names them: else a submission could end its loops, and so
its tests, as if all was well (``all(map(candidate, ...))``)."""


class CandidateError(Exception):
    """Base of an exception of the submission's own kind; ``type_name`` is its name."""

    type_name = ""


class OpaqueError(BaseException):
    """A check wants more of a value that cannot leave its box than its truth."""


class Submission:
    """The submission, as a check with the source ``checker`` may use it. ``overasked``: whether the
    check has wanted more of a value than its truth."""

    def __init__(self, channel: int, checker: str) -> None:
        self._channel = channel
        self._hidden = (*_OF_THE_RUN, *(one for one in _ENDS_OF_LOOPS if one not in checker))
        self.overasked = False

    def function(self, name: str | None) -> Callable[..., Any]:
        """Return what calls the submission's function of that name; None: its entry point."""

        def candidate(*args: Any, **kwargs: Any) -> Any:
            call = {"k": "call", "args": wire.encode(list(args)), "kwargs": wire.encode(kwargs)}
            wire.write_all(self._channel, wire.pack(call | {"name": name}))
            reply = wire.read_frame(self._channel)
            if reply is None:
                raise SystemExit(1)  # the host has ended the run
            if reply["k"] == "raise":
                raise _exception(reply["type"], reply["kinds"], self._hidden)
            if reply["k"] == "opaque":
                return _opaque(reply["truth"], self)
            return columns.revive(reply["v"]) if reply["revive"] else reply["v"]

        return candidate


class Names(dict[str, "Any"]):
    """The built-in names of a check. A name that is nowhere else is the submission's function."""

    def __init__(self, submission: Submission) -> None:
        super().__init__(vars(builtins))
        self._submission = submission

    def __missing__(self, name: str) -> Any:
        if name.startswith("__"):
            raise KeyError(name)
        return self._submission.function(name)


def _exception(name: str, kinds: list[str], hidden: tuple[str, ...]) -> BaseException:
    """Return an exception that a check can catch as what the submission raised.

    ``kinds``: the names of the built-in classes that it is an instance of. One that is built in is
    met as itself, another as a subclass of the nearest of them that is not ``hidden``.
    """
    base: Any = Exception
    for kind in kinds:
        found = vars(builtins).get(kind)
        if isinstance(found, type) and issubclass(found, Exception) and kind not in hidden:
            base = found
            break
    if base.__name__ != name:
        bases = (CandidateError,) if base is Exception else (CandidateError, base)
        base = type(name, bases, {})
    error: BaseException = base(f"candidate raised {name}")
    error.type_name = name  # type: ignore[attr-defined]
    return error


def _opaque(truth: bool, submission: Submission) -> Any:
    """Return what stands for a value that cannot leave its box. Its truth is all that is known of it:
    whatever else is asked raises OpaqueError."""

    def refuse(*args: Any) -> NoReturn:
        submission.overasked = True
        raise OpaqueError("a value that cannot leave its box can be tested for truth alone")

    names = {f"__{name}__": refuse for name in _ASKED}
    body = names | {"__class__": property(refuse), "__getattr__": refuse, "__slots__": ()}
    kind = type("Opaque", (), body | {"__bool__": lambda self: truth})
    return kind()


_ASKED = [
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "hash",
    "len",
    "iter",
    "next",
    "contains",
    "getitem",
    "call",
    "str",
    "repr",
    "format",
    "int",
    "float",
    "index",
    "complex",
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "matmul",
    "rmatmul",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "lshift",
    "rlshift",
    "rshift",
    "rrshift",
    "neg",
    "pos",
    "abs",
    "invert",
    "round",
    "reversed",
    "enter",
    "exit",
]
