"""Options and tables shared by ``prorl data`` commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from prorl_cli.console import print_table, stdout_console
from prorl_cli.options import whole

Workers = Annotated[
    int | None,
    whole(
        low=1,
        help="Number of processes (default: one per core, at most 8); the result does not depend on it.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(help="Build only the entries with this name, group or pattern; repeatable."),
]
Skip = Annotated[
    list[str] | None,
    typer.Option(help="Skip the entries with this name, group or pattern; repeatable."),
]
MOST_WORKERS = 8


def workers_or_cores(workers: int | None) -> int:
    """Return ``workers`` or, without it, the number of usable cores, at most MOST_WORKERS."""
    return workers or min(len(os.sched_getaffinity(0)), MOST_WORKERS)


def isolated(servers: Sequence[str] = ()) -> bool:
    """Return whether untrusted code can be scored, on reward ``servers`` or isolated on this machine."""
    from prorl_sandbox import no_isolation

    return bool(servers) or no_isolation() is None


def counts_table(counts: Mapping[str, Mapping[str, int]]) -> None:
    splits = [s for s in counts if counts[s]]
    domains = list(dict.fromkeys(d for s in splits for d in counts[s]))
    rows = [(d, *(str(counts[s].get(d, 0)) for s in splits)) for d in domains]
    rows.append(("all", *(str(sum(counts[s].values())) for s in splits)))
    print_table("Rows", ("domain", *splits), rows)


def show_example(name: str, prompt: Iterable[Mapping[str, Any]], gold: object) -> None:
    console = stdout_console()
    console.print(f"\n{name}", style="bold", markup=False)
    for message in prompt:
        console.print(f"{message['role']}: {message['content']}", markup=False)
    if gold is not None:
        console.print(f"gold: {gold}", style="dim", markup=False)
