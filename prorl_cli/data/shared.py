"""What the data commands share: options, tables, and whether code can be isolated here.

Leaves out: the commands.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import stdout_console

Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout instead of tables.")]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Processes (default: one a core, 8 at most); same result for any."),
]
Mirror = Annotated[
    Path | None, typer.Option(help="Folder with copies of hub files: DIR/<owner>/<name>/<file>.")
]
MOST_WORKERS = 8


def workers_or_cores(workers: int | None) -> int:
    """Return the number asked for, else one a usable core, at most MOST_WORKERS."""
    return workers or min(len(os.sched_getaffinity(0)), MOST_WORKERS)


def isolated() -> bool:
    """Return whether this machine can isolate untrusted code."""
    from prorl_sandbox import probe

    return bool(probe().strong)


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

    shown = Table(title=title, title_justify="left")
    for place, name in enumerate(head):
        shown.add_column(name, justify="left" if place in (0, words) else "right")
    for row in rows:
        shown.add_row(*row)
    stdout_console().print(shown)
