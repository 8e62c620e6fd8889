"""The options that verbs of every group take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_common import check_output, use_plugins


def _load(paths: list[Path] | None) -> list[Path]:
    use_plugins(paths or [])
    return paths or []


def file_to_write(path: Path | None) -> Path | None:
    """Return the path that an option or argument gave; the callback of every file that a verb writes."""
    if path is not None:
        check_output(path)
    return path


def folder_to_write(path: Path | None) -> Path | None:
    """Return the path that an option or argument gave; the callback of every folder that a verb writes."""
    if path is not None:
        check_output(path, folder=True)
    return path


PluginOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        help="Python file with parts of your own; repeatable.",
        callback=_load,
        is_eager=True,
    ),
]
"""A parameter of this type needs no further handling: by the time the command runs, the files are loaded."""

SandboxBackend = Annotated[
    str,
    typer.Option(
        "--backend",
        envvar="PRORL_BACKEND",
        help="Sandbox: local, docker, docker:RUNTIME or remote:URL[,URL].",
    ),
]
TokenFile = Annotated[
    Path | None, typer.Option(help="File with the token that clients send (else PRORL_TOKEN).")
]
ReadyFile = Annotated[
    Path | None,
    typer.Option(help="Write the address here once it is ready.", callback=file_to_write),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]
JsonNotTables = Annotated[
    bool, typer.Option("--json", help="Print JSON to stdout instead of tables.")
]
