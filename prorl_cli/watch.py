"""``prorl watch``: show a run in the terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from prorl_cli.console import stdout_console
from prorl_cli.options import RunArgument, run_or_newest, whole
from prorl_common import format_seconds, on_interrupt
from prorl_common.markup import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from prorl_viewer.subject import Page

CURVES = 8
LATEST = 6
WIDTH = 48
"""Number of characters of a curve."""
BARS = "▁▂▃▄▅▆▇█"
MARKS = {1.0: "●", 0.0: "○", None: "-"}
COLOURS = {"rose": "green", "fell": "red"}


def watch(
    run: RunArgument = None,
    every: Annotated[int, whole(low=1, help="Seconds between updates.")] = 2,
) -> None:
    """Watch a run in the terminal.

    Example: prorl watch mine

    Shows whether the run has learned, its curves, and its latest decisions and rollouts, until it ends or you press
    Ctrl-C. Without a terminal, it prints them once.
    """
    from rich.live import Live

    from prorl_viewer.runs.subject import RunSubject

    subject = RunSubject(run_or_newest(run).path)
    with contextlib.closing(subject):
        pages = subject.pages()
        if not sys.stdout.isatty():
            stdout_console().print(screen(pages))
            return
        live = Live(screen(pages), console=stdout_console(), auto_refresh=False)
        with on_interrupt(None), live, contextlib.suppress(KeyboardInterrupt):
            while pages["header"]({})["state"] == "running":
                time.sleep(every)
                live.update(screen(pages), refresh=True)
            live.update(screen(pages), refresh=True)


def screen(pages: Mapping[str, Page]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    head = pages["header"]({})
    steps = f"step {head['step']:,}" + (f" of {head['steps']:,}" if head["steps"] else "")
    left = f", {format_seconds(head['eta_seconds'])} left" if head["eta_seconds"] else ""
    title = Text.assemble((head["name"], "bold"), f"  {head['state_words']}  {steps}{left}")
    sentence = Text(head["sentence"], COLOURS.get(head["verdict"], ""))
    curves, decisions, prompts = (Table.grid(padding=(0, 2)) for _ in range(3))
    for name, line, last in islice(_curves(pages), CURVES):
        curves.add_row(name, Text(line, "cyan"), last)
    for one in pages["decisions"]({})["list"][-LATEST:]:
        decisions.add_row(str(one["step"]), one["label"], Text(printable(one["reason"])))
    for one in pages["groups"]({"limit": str(LATEST)})["rows"]:
        marks = "".join(MARKS.get(reward, "◐") for reward in one["rewards"])
        mean = "-" if one["mean_reward"] is None else f"{one['mean_reward']:.2f}"
        asked = Text(printable(" ".join(one["head"].text.split())), "dim", no_wrap=True)
        asked.truncate(WIDTH, overflow="ellipsis")
        prompts.add_row(str(one["step"]), marks, mean, asked)
    parts: list[RenderableType] = [title, sentence]
    if head["reason"]:
        parts.append(Text(printable(head["reason"]), "red"))
    for name, table in (("", curves), ("Decisions", decisions), ("Rollouts", prompts)):
        if table.row_count:
            parts += [Text(f"\n{name}" if name else "", "bold"), table]
    return Group(*parts)


def _curves(pages: Mapping[str, Page]) -> Iterator[tuple[str, str, str]]:
    for chart in pages["charts"]({})["charts"]:
        if not chart["first"] or chart["name"] == "stages":
            continue
        lines = pages["curves"]({"chart": chart["name"]})["lines"]
        if lines and (values := [value for _, value in lines[0]["points"]]):
            unit = f" {chart['unit']}" if chart["unit"] else ""
            yield chart["title"], bars(values, chart["least"] or ()), f"{values[-1]:.4g}{unit}"


def bars(values: Sequence[float], least: Sequence[float] = ()) -> str:
    """Draw ``values`` as a line of bars, on an axis that includes ``least``."""
    size = max(len(values) / WIDTH, 1)
    places = range(min(len(values), WIDTH))
    buckets = [values[int(i * size) : max(int((i + 1) * size), int(i * size) + 1)] for i in places]
    means: list[Any] = [sum(bucket) / len(bucket) for bucket in buckets]
    low, high = min([*means, *least]), max([*means, *least])
    span = high - low or 1.0
    return "".join(BARS[round((len(BARS) - 1) * (mean - low) / span)] for mean in means)
