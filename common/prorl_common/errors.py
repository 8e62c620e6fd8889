"""The exception tree of prorl, in one place.

    ProrlError
    ├── UserError            the user can mend it: one line with the cure, exit code 2
    │   └── MissingExtraError    an optional dependency is not installed
    └── ServiceError         something we depend on broke (sandbox, worker): retried, never a reward
        └── DiskFullError        no room to write: nothing is half-written, and work goes on once there is some

Rooms derive their own classes from the two branches. Every other exception is a bug of ours and
keeps its traceback. This module does not print and does not exit; the command line does both.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable
from pathlib import Path


class ProrlError(Exception):
    """Base of every error that prorl raises on purpose."""


class UserError(ProrlError):
    """A mistake in what the user gave us. The message is one line and names the cure."""


class MissingExtraError(UserError):
    """An optional dependency is missing; the message prints the pip line."""

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"this needs {module}, which is not installed: {pip_install(f'prorl[{extra}]')}"
        )


CONSTRAINTS = Path(__file__).with_name("constraints.txt")
"""Versions that are known to work together; comes with the package."""


def pip_install(what: str) -> str:
    """Return the command that installs ``what`` (``prorl[local]``) in the versions known to work together."""
    return f"pip install '{what}' -c {shlex.quote(str(CONSTRAINTS))}"


def prorl_command(*words: object) -> str:
    """Return the command line ``prorl WORDS``, each word quoted for a shell, to be suggested in a message."""
    return shlex.join(["prorl", *map(str, words)])


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """Return in plain words why a text file could not be read."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return error.strerror or str(error)


class ServiceError(ProrlError):
    """A service we depend on failed. It says nothing about the answer being graded."""


class DiskFullError(ServiceError):
    """No room on the disk, or the quota is used up. Trying again is of no use before somebody makes room."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known word nearest to ``word``, or an empty string.

    Near is what shares most of its letters in order, begins with the word, or has its letters in another order.
    """
    words = list(known)
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
    """Return what pydantic says of a wrong value in plain words.

    ``Input should be a valid integer, unable to parse string as an integer`` is ``must be a whole number``.
    """
    message = re.sub(r", (?:unable to|got a number with) .*$", "", message)
    for theirs, ours in _PLAIN:
        message = message.replace(theirs, ours)
    return message
