"""The ``--mode VERIFIER=MODE`` option of the commands that score."""

from __future__ import annotations

from typing import Annotated

import typer

Modes = Annotated[
    list[str] | None,
    typer.Option(
        "--mode",
        metavar="VERIFIER=MODE",
        help="Like math=either; may be repeated. A task's own mode stays.",
    ),
]
