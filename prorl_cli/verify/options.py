"""Options shared by ``prorl verify`` commands."""

from __future__ import annotations

from typing import Annotated

import typer

from prorl_cli.options import real, whole
from prorl_common.seeds import MOST_WORKERS

AllowWeak = Annotated[bool, typer.Option(help="Run code without full isolation.")]
Workers = Annotated[int, whole(low=1, high=MOST_WORKERS, help="Worker processes.")]
Timeout = Annotated[float, real(low=0.1, help="Seconds a try at one response.")]
ThinkOpen = Annotated[
    bool, typer.Option(help="The chat template opens the thinking: responses begin inside it.")
]
Modes = Annotated[
    list[str] | None,
    typer.Option(
        "--mode",
        metavar="VERIFIER=MODE",
        help="Like math=either; may be repeated. A task's own mode stays.",
    ),
]
