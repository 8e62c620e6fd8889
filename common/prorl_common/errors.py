"""The exception tree of prorl, in one place.

    ProrlError
    ├── UserError            the user can mend it: one line with the cure, exit code 2
    │   └── MissingExtraError    an optional dependency is not installed
    └── ServiceError         something we depend on broke (sandbox, worker, disk): retried, never a reward

Rooms derive their own classes from the two branches. Every other exception is a bug of ours and
keeps its traceback. This module does not print and does not exit; the command line does both.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ProrlError(Exception):
    """Base of every error that prorl raises on purpose."""


class UserError(ProrlError):
    """A mistake in what the user gave us. The message is one line and names the cure."""


class MissingExtraError(UserError):
    """An optional dependency is missing; the message prints the pip line."""

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(
            f"this needs {module}, which is not installed: pip install 'prorl[{extra}]' -c constraints.txt"
        )


class ServiceError(ProrlError):
    """A service we depend on failed. It says nothing about the answer being graded."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known word nearest to ``word``, or an empty string."""
    hits = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean '{hits[0]}'?)" if hits else ""
