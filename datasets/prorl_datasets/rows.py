"""The row: what every source yields before it becomes a Sample, and the form kept in part files.

Holds no input or output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prorl_verifiers import Task


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate item.

    ``index`` is its place in its entry's endless stream (the same index is the same item for ever).
    ``gold`` is a whole response that should score 1, or None where the source has none. ``answer``
    is the bare right answer where a blind constant could hit it (math, stem, logic), for chance
    levels.
    """

    index: int
    question: str
    task: Task
    gold: str | None = None
    answer: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drop:
    """A candidate that never became a row: ``reason`` is a category, ``detail`` the particular."""

    index: int
    reason: str
    detail: str = ""
