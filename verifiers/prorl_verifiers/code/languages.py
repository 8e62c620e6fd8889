"""The names of the languages of code tasks: in a reference, and behind the fence of a code block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prorl_common import nearest
from prorl_verifiers.types import TaskError

if TYPE_CHECKING:
    from prorl_sandbox.types import Language

FENCE_MARKS: dict[Language, tuple[str, ...]] = {
    "python": ("python", "py", "python3"),
    "cpp": ("cpp", "c++", "cc", "cxx"),
    "javascript": ("javascript", "js", "node"),
}
"""What may stand behind the fence of a block in the language, in any case."""
TITLES: dict[Language, str] = {"python": "Python", "cpp": "C++", "javascript": "JavaScript"}
_MORE_NAMES: dict[Language, tuple[str, ...]] = {
    "python": ("py3",),
    "cpp": ("g++", "c++17", "cpp17"),
    "javascript": ("nodejs",),
}


def read_language(given: Any) -> Language:
    """Return the language that a reference names; None is Python.

    Aliases count in any case ("C++", "js", "python3"). Raises TaskError naming the nearest.
    """
    if given is None:
        return "python"
    if not isinstance(given, str):
        raise TaskError("'language' must be text")
    known: dict[str, Language] = {}
    for language, marks in FENCE_MARKS.items():
        known |= dict.fromkeys(marks + _MORE_NAMES[language], language)
    found = known.get(given.strip().lower())
    if found is None:
        close = nearest(given.strip().lower(), known)
        raise TaskError(f"unknown language {given!r}{close}: use {', '.join(FENCE_MARKS)}")
    return found
