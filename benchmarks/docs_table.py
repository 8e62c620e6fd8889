"""Puts a table that a measurement made between its marks in a page of the docs."""

from __future__ import annotations

from pathlib import Path

from prorl_common import atomic_write_text


def write_table(page: Path, name: str, table: str) -> None:
    """Replace what stands between ``<!-- NAME table: begin -->`` and ``<!-- NAME table: end -->``."""
    begin, end = (f"<!-- {name} table: {word} -->" for word in ("begin", "end"))
    head, rest = page.read_text(encoding="utf-8").split(begin)
    _, tail = rest.split(end)
    atomic_write_text(page, f"{head}{begin}\n{table}\n{end}{tail}")
