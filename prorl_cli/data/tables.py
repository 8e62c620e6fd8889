"""Tables of ``prorl data`` commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prorl_cli.console import print_table, stdout_console


def counts_table(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print row counts by domain and split."""
    splits = [s for s in counts if counts[s]]
    domains = list(dict.fromkeys(d for s in splits for d in counts[s]))
    rows = [(d, *(str(counts[s].get(d, 0)) for s in splits)) for d in domains]
    rows.append(("all", *(str(sum(counts[s].values())) for s in splits)))
    print_table("Rows", ("domain", *splits), rows)


def show_example(name: str, prompt: Iterable[Mapping[str, Any]], gold: object) -> None:
    """Print a sample's prompt and its gold response, if any."""
    console = stdout_console()
    console.print(f"\n{name}", style="bold", markup=False)
    for message in prompt:
        console.print(f"{message['role']}: {message['content']}", markup=False)
    if gold is not None:
        console.print(f"gold: {gold}", style="dim", markup=False)
