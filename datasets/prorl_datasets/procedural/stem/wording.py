"""Formats lists, names and counts for science problems."""

from __future__ import annotations

from collections.abc import Sequence

from prorl_datasets.procedural.stem.problem import shown


def listed(values: Sequence[float], joint: str = " and ") -> str:
    words = [shown(value) for value in values]
    return ", ".join(words[:-1]) + joint + words[-1]


def named(names: Sequence[str], joint: str = " and ") -> str:
    return ", ".join(names[:-1]) + joint + names[-1]


def plural(count: int, one: str) -> str:
    """Write a count with its noun, as in ``1 day`` or ``3 days``."""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"
