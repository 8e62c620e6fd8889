"""How the ``prorl data`` verbs draw a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prorl_cli.console import stdout_console


def counts_table(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print rows by domain and split."""
    splits = [s for s in counts if counts[s]]
    domains = list(dict.fromkeys(d for s in splits for d in counts[s]))
    rows = [(d, *(str(counts[s].get(d, 0)) for s in splits)) for d in domains]
    rows.append(("all", *(str(sum(counts[s].values())) for s in splits)))
    table("Rows", ("domain", *splits), rows)


def table(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], words: int = 0
) -> None:
    """Print a table; the first column and the one numbered ``words`` hold text, the others numbers."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title, title_justify="left")
    for place, name in enumerate(head):
        shown.add_column(name, justify="left" if place in (0, words) else "right")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    stdout_console().print(shown)


def show_example(name: str, prompt: Iterable[Mapping[str, Any]], gold: object) -> None:
    """Print a sample's prompt and, where there is one, its gold response."""
    console = stdout_console()
    console.print(f"\n{name}", style="bold", markup=False)
    for message in prompt:
        console.print(f"{message['role']}: {message['content']}", markup=False)
    if gold is not None:
        console.print(f"gold: {gold}", style="dim", markup=False)
