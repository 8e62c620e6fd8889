"""A table in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars in cells are escaped, and line breaks become spaces."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code_list(names: Iterable[str]) -> str:
    """Return names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)
