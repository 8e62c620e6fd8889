"""Open a sandbox for a command."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import warn

if TYPE_CHECKING:
    from prorl_sandbox import ToolSandbox

Weak = Annotated[
    bool, typer.Option("--allow-weak", help="Run code without full isolation. Dangerous.")
]


@contextlib.contextmanager
def opened(backend: str, allow_weak: bool) -> Iterator[ToolSandbox]:
    """Open a sandbox, warn if its isolation is weak, and close it afterwards."""
    from prorl_sandbox import open_sandbox

    sandbox = open_sandbox(backend, allow_weak=allow_weak)
    if "weak" in sandbox.isolation:
        warn(f"isolation is {sandbox.isolation}: do not run code that you do not trust")
    try:
        yield sandbox
    finally:
        sandbox.close()
