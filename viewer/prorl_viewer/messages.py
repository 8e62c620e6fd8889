"""What a dataset or a rollout file says in chat messages and labels, as an answer holds it."""

from __future__ import annotations

from typing import Any

from prorl_viewer.subject import Json, Private

ROLES = frozenset({"system", "user", "assistant", "tool"})
LONGEST_LABEL = 80
"""Characters: what is longer is a text, not a label."""


def message(role: Any, content: str) -> Json:
    """Return a chat message; a role is one of ROLES or ``other``, as a file may have a text in its place."""
    known = role if isinstance(role, str) and role in ROLES else "other"
    return {"role": known, "content": Private(content)}


def label(value: Any) -> str:
    """Return a word or a number as a label; empty for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    name = str(value)
    return name if len(name) <= LONGEST_LABEL else ""
