"""How the command line talks: data to stdout, messages to stderr, a rich bar on a terminal.

NO_COLOR is honoured by rich itself. Leaves out: any decision; rooms only see ``Progress``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from prorl_common import PlainProgress, Progress, on_interrupt
from prorl_common.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.progress import Progress as RichBar
    from rich.progress import TaskID


WIDE = 200
"""Columns of a table that goes to a file or a pipe: lines are not folded there."""


def stderr_console() -> Console:
    """Return a rich console on stderr (plain when it is not a terminal or NO_COLOR is set)."""
    return _console(stderr=True)


def stdout_console() -> Console:
    """Return a rich console on stdout, for tables that are data: as wide as the terminal or COLUMNS says,
    and wide enough for every table where neither says."""
    console = _console(stderr=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console


def _console(stderr: bool) -> Console:
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1

    return Piped(stderr=stderr, highlight=False)


def say(text: str) -> None:
    """Print one message line to stderr, without markup."""
    stderr_console().print(text, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Print one loud line to stderr."""
    stderr_console().print(f"WARNING: {text}", style="bold yellow", markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a JSON document to stdout."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


class RichProgress:
    """The ``Progress`` interface on a terminal: a bar with count and ETA, the facts on a line below."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._bar: RichBar | None = None
        self._task: TaskID | None = None
        self._facts = ""

    def start(self, label: str, total: int | None) -> None:
        """Begin a stage with its own bar."""
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichBar

        self.finish()
        self._facts = ""
        self._bar = RichBar(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("ETA"),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task(label, total=total)
        self._live = Live(console=stderr_console(), get_renderable=self._draw, refresh_per_second=4)
        self._live.start()

    def _draw(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        parts = [self._bar] if self._bar is not None else []
        return Group(*parts, Text(self._facts, style="dim")) if self._facts else Group(*parts)

    def advance(self, count: int = 1, **fields: str) -> None:
        """Count finished items and show the facts below the bar."""
        if self._bar is None or self._task is None:
            return
        self._facts = " · ".join(f"{k} {v}" for k, v in fields.items()) or self._facts
        self._bar.update(self._task, advance=count)

    def message(self, text: str) -> None:
        """Print a line that stays above the bar."""
        console = self._live.console if self._live is not None else stderr_console()
        console.print(text, markup=False, soft_wrap=True)

    def finish(self) -> None:
        """End the stage and leave its bar as drawn."""
        if self._live is not None:
            self._live.stop()
            self._live = self._bar = self._task = None


def make_progress() -> Progress:
    """Return a rich bar when stderr is a terminal, else one plain line every few seconds."""
    return RichProgress() if sys.stderr.isatty() else PlainProgress()


KEPT = "stopping; finished batches are kept, give the same command again to go on"
"""What a Ctrl-C leaves of sampling."""


@contextmanager
def stoppable(words: str | Callable[[], str], progress: Progress) -> Iterator[None]:
    """Say ``words`` at the first Ctrl-C inside the block, what is kept and how to go on, and end the command."""
    try:
        with on_interrupt(words, say=progress.message):
            yield
    except KeyboardInterrupt:
        progress.finish()
        raise typer.Exit(INTERRUPTED) from None
