"""Terminal output: data to stdout, messages to stderr, a progress bar on a terminal."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import typer

from prorl_common import PlainProgress, Progress, on_interrupt
from prorl_common.interrupts import INTERRUPTED
from prorl_common.progress import Stage

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text


WIDE = 200
"""Width of tables that are not printed on a terminal."""


_SPELT = dict(
    zip("·–−…●✓✗×─━│├└┤→≥↑↓▲▼◆▁▂▃▄▅▆▇█○◐", "---~*+xx-=|+++>>^v^v*_.:-=+*#o%", strict=True)
)
"""ASCII replacements of drawing characters."""


def replace_unencodable() -> None:
    """Make stdout and stderr write ASCII instead of characters outside their encoding."""
    import codecs

    def spelt(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        text = error.object[error.start : error.end]
        return "".join(_SPELT.get(c) or ascii(c)[1:-1] for c in text), error.end

    codecs.register_error("prorl", spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a program or a test may have replaced the stream
            stream.reconfigure(errors="prorl")


def stderr_console() -> Console:
    """Return a rich console on stderr (plain if it is not a terminal or NO_COLOR is set)."""
    return _console(stderr=True)


def stdout_console() -> Console:
    """Return a rich console on stdout, as wide as the terminal or COLUMNS, else of width WIDE."""
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


_NUMBER = re.compile(r"[-+<>~]?\s?[\d.]|[-\u2013]?$")
_BEFORE_INTERVAL = re.compile(r" (?=[\[{(])")
PROSE = 24
"""Minimum width of a column of folded text."""


GAP = 2


def print_table(
    title: str, head: Sequence[str], rows: Iterable[Sequence[str | Text]], drop: Sequence[str] = ()
) -> None:
    """Print a table on stdout that fits the terminal.

    Texts are folded between words; numbers are never cut. If the table is still too wide, columns are dropped (first
    those in ``drop``, then from the right), and a line names them.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console, lines = stdout_console(), list(rows)
    columns = [_Column(name, [row[i] for row in lines]) for i, name in enumerate(head)]
    visible = list(columns)
    left_out: list[str] = []
    first = [c for name in drop for c in reversed(columns) if c.name == name]
    for column in [*first, *(c for c in reversed(columns[1:]) if c not in first)]:
        if sum(c.least + GAP for c in visible) - GAP <= console.width or len(visible) == 1:
            break
        visible.remove(column)
        left_out.insert(0, column.name or "one without a name")
    spare = max(0, console.width + GAP - sum(c.least + GAP for c in visible))
    numbers = [c for c in visible if c.numbers]
    if sum(c.widest - c.least for c in numbers) > spare:
        numbers = []  # fold the numbers of all columns or of none
    for column in [*numbers, *(c for c in visible if not c.numbers)]:
        column.width = min(column.widest, column.least + spare)
        spare -= column.width - column.least
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in visible:
        side: Literal["left", "right"] = "right" if column.numbers else "left"
        table.add_column(Text(column.name), justify=side, width=column.width, overflow="fold")
    for cells in zip(*(c.folded() for c in visible), strict=True):
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
    if title:
        console.print()
        console.print(title, style="italic", markup=False, soft_wrap=True)
    console.print(table)
    if left_out:
        names = ", ".join(left_out)
        console.print(
            f"columns left out because the terminal is too narrow: {names} (--json prints all)"
        )


class _Column:
    def __init__(self, name: str, cells: Sequence[str | Text]) -> None:
        self.name, self.cells = name, cells
        self.numbers = all(_NUMBER.match(str(cell)) for cell in cells) and any(map(str, cells))
        self.widest = max(map(_width, [name, *map(str, cells)]))
        parts = [word for text in (name, *map(str, cells)) for word in text.split()]
        if self.numbers:  # a value and its interval may stand below each other
            parts = [
                *name.split(),
                *(part for cell in cells for part in _BEFORE_INTERVAL.split(str(cell))),
            ]
        longest = max(map(_width, parts), default=0)
        self.least = longest if self.numbers else min(self.widest, max(longest, PROSE), 2 * PROSE)
        self.width = self.least

    def folded(self) -> Iterator[str | Text]:
        """Yield the cells, with a line break before the interval of a number that is too wide."""
        for cell in self.cells:
            broken = self.numbers and isinstance(cell, str) and _width(cell) > self.width
            yield _BEFORE_INTERVAL.sub("\n", str(cell)) if broken else cell


def _width(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


def say(text: str) -> None:
    """Print a message to stderr, without markup."""
    stderr_console().print(text, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    stderr_console().print(f"WARNING: {text}", style="bold yellow", markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


class RichProgress:
    """``Progress`` on a terminal: a bar with count and remaining time, above a line of further values."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._stage: Stage | None = None

    def start(self, label: str, total: int | None, done: int = 0) -> None:
        from rich.live import Live

        self.finish()
        self._stage = Stage(label, total, done)
        self._live = Live(console=stderr_console(), get_renderable=self._draw, refresh_per_second=4)
        self._live.start()

    def _draw(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        stage = self._stage
        if stage is None:
            return Text()
        line = Table.grid(padding=(0, 1))
        bar = ProgressBar(stage.total or 0, stage.done, width=24, pulse=stage.total is None)
        line.add_row(Text(stage.label, style="bold"), bar, stage.count(), stage.eta())
        facts = " · ".join(f"{k} {v}" for k, v in stage.fields.items())
        return Group(line, *([Text(facts, style="dim")] if facts else []))

    def advance(self, count: int = 1, **fields: str) -> None:
        if self._stage is not None:
            self._stage.advance(count, fields)

    def message(self, text: str) -> None:
        console = self._live.console if self._live is not None else stderr_console()
        console.print(text, markup=False, soft_wrap=True)

    def finish(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = self._stage = None


def make_progress() -> Progress:
    """Return a rich bar if stderr is a terminal, else a plain line every few seconds."""
    return RichProgress() if sys.stderr.isatty() else PlainProgress()


KEPT = "stopping; finished parts are kept, run the same command again to continue"


@contextmanager
def stoppable(words: str | Callable[[], str], progress: Progress) -> Iterator[None]:
    """On the first Ctrl-C in the block, print ``words`` (what is kept, how to continue) and end the command."""
    try:
        with on_interrupt(words, say=progress.message):
            yield
    except KeyboardInterrupt:
        progress.finish()
        raise typer.Exit(INTERRUPTED) from None
