"""Options shared by ``prorl data`` commands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from prorl_cli.options import whole

Workers = Annotated[
    int | None,
    whole(low=1, help="Processes (default: one a core, 8 at most); same result for any."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(help="This entry, group or pattern alone; repeatable."),
]
Skip = Annotated[
    list[str] | None,
    typer.Option(help="All but this entry, group or pattern; repeatable."),
]
MOST_WORKERS = 8


def workers_or_cores(workers: int | None) -> int:
    """Return the given number, else one worker per usable core, at most MOST_WORKERS."""
    return workers or min(len(os.sched_getaffinity(0)), MOST_WORKERS)


def isolated(servers: Sequence[str] = ()) -> bool:
    """Return whether untrusted code can be scored, at reward ``servers`` or isolated on this machine."""
    from prorl_sandbox import no_isolation

    return bool(servers) or no_isolation() is None
