"""The exceptions of prorl, and helpers for their messages. Other exceptions are bugs."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable
from pathlib import Path


class ProrlError(Exception):
    """Base class of prorl's own errors."""


class UserError(ProrlError):
    """A mistake that the user can correct, as the message says. The command exits with code 2, without a traceback."""


class MissingExtraError(UserError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"this needs {module}, which is not installed: {pip_install(f'prorl[{extra}]')}"
        )


CONSTRAINTS = Path(__file__).with_name("constraints.txt")
"""Pip constraints file of this package, with versions that were tested together."""


def pip_install(requirement: str) -> str:
    """Return the pip command that installs ``requirement`` in a version that prorl was tested with."""
    return f"pip install '{requirement}' -c {shlex.quote(str(CONSTRAINTS))}"


def prorl_command(*words: object) -> str:
    """Return the command line ``prorl WORDS``, quoted for a shell."""
    return shlex.join(["prorl", *map(str, words)])


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return error.strerror or str(error)


class ServiceError(ProrlError):
    """A sandbox, worker or other service failed. The affected responses get no reward."""


class DiskFullError(ServiceError):
    """The disk or quota is full; retrying is useless."""


def nearest(word: str, names: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the most similar of ``names``, or ""."""
    words = list(names)
    hits = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    if not hits and len(word) > 1:
        hits = [w for w in words if w.startswith(word) or sorted(w) == sorted(word)]
    return f" (did you mean '{hits[0]}'?)" if hits else ""


_PLAIN = (
    ("Value error, ", ""),
    ("Input should be ", "must be "),
    ("String should have at least 1 character", "must not be empty"),
    ("String should match pattern", "must have the form"),
    ("Field required", "is missing"),
    ("a valid integer", "a whole number"),
    ("a valid number", "a number"),
    ("a valid boolean", "true or false"),
    ("a valid string", "text"),
    ("a valid list", "a list"),
    ("a valid tuple", "a list"),
    ("a valid dictionary", "a mapping"),
    ("greater than or equal to", "at least"),
    ("less than or equal to", "at most"),
    ("greater than", "above"),
    ("less than", "below"),
)


def plain_words(message: str) -> str:
    message = re.sub(r", (?:unable to|got a number with) .*$", "", message)
    for theirs, ours in _PLAIN:
        message = message.replace(theirs, ours)
    return message
