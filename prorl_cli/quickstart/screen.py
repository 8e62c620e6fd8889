"""Closing screen of ``prorl quickstart``: numbers, training curve, answers before and after, next commands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prorl_common import prorl_command
from prorl_common.markup import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from prorl_evaluation import EvalResult, Example

WINDOWS = 8
"""Maximum number of rows of the curve."""
AXIS = 41
"""Width of the curve's axis in characters."""
ANSWERS = 3
LONGEST = 160


def closing_screen(console: Console, run: Path, results: Sequence[EvalResult], page: Path) -> None:
    """Print the closing screen of ``run`` from the ``results`` before and after RL; ``page`` is the report."""
    from rich.text import Text

    from prorl_evaluation import compare

    def line(text: str = "", style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    before, after = results
    line()
    line(compare(before, after).headline(before.settings.k), style="bold")
    line(
        f"{before.overall.problems} held-out problems, {before.settings.n} sampled answers each, 95% intervals"
    )
    line()
    for row in numbers(before, after):
        line(row)
    line()
    line("Right answers in training, before any filtering (95% interval over prompts)")
    for row in curve(run):
        line(row)
    line()
    line("One answer before and after RL for each domain, if possible one that changed:")
    later = {e.id: e for e in after.examples}
    pairs = [(e, later[e.id]) for e in before.examples if e.id in later]
    console.print(answers_table(one_of_each_domain(pairs)[:ANSWERS]))
    line()
    line(f"The report, with curves, domains and examples: {page}", style="bold")
    line("Next:")
    for command, why in next_commands(run.name):
        line(f"  {command:<58} # {why}")


def numbers(before: EvalResult, after: EvalResult) -> list[str]:
    """Return one line per metric: before, after and the paired difference."""
    from prorl_evaluation import compare

    change = compare(before, after)
    rows = [(f"pass@{n}", f"pass@{n}", "overall") for n in dict.fromkeys((1, before.settings.k))]
    rows += [(f"pass@1, {group.name}", "pass@1", group.name) for group in before.groups[1:]]
    lines = [f"{'':<20} before   after  difference"]
    for label, metric, group in rows:
        d = change.find(group, metric)
        if d is not None and not math.isnan(d.interval.value):
            lines.append(f"{label:<20}  {d.a:.3f}   {d.b:.3f}  {d.size()}")
    return lines


def curve(run: Path) -> list[str]:
    """Return the fraction of right answers in training, one line per interval of steps."""
    from prorl_evaluation import bounded_columns

    steps = training_groups(run)
    if not steps:
        return ["(no step was recorded)"]
    size = max(1, math.ceil(len(steps) / WINDOWS))
    rows = [f"{'steps':<9} {'':<20}0{'':<{AXIS - 2}}1"]
    for start in range(0, len(steps), size):
        part = steps[start : start + size]
        interval = bounded_columns([[share] for _, shares in part for share in shares])[0]
        first, last = part[0][0], part[-1][0]
        label = f"{first}-{last}" if last > first else str(first)
        low, value, high = (
            round(x * (AXIS - 1)) for x in (interval.low, interval.value, interval.high)
        )
        cells = [" "] * AXIS
        cells[low : high + 1] = "─" * (high + 1 - low)
        cells[low], cells[high] = "├", "┤"
        cells[value] = "●"
        numbers = f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
        rows.append(f"{label:<9} {numbers}  {''.join(cells).rstrip()}")
    return rows


def training_groups(run: Path) -> list[tuple[int, list[float]]]:
    """Return (step, fraction of right answers to each prompt) for each step with recorded answers."""
    from prorl_common.rollout_files import read_rollouts, rollout_files
    from prorl_evaluation import FULL_MARKS

    steps = []
    for step, file in rollout_files(run).items():
        columns = read_rollouts(file, ["sample_id", "reward"]).to_pydict()
        groups: dict[str, list[bool]] = {}
        for name, reward in zip(columns["sample_id"], columns["reward"], strict=True):
            if reward is not None:
                groups.setdefault(name, []).append(reward >= FULL_MARKS)
        if groups:
            steps.append((step, [sum(g) / len(g) for g in groups.values()]))
    return steps


def one_of_each_domain(pairs: Sequence[tuple[Example, Example]]) -> list[tuple[Example, Example]]:
    """Return one pair per domain, if possible one whose responses differ."""
    firsts: dict[str, tuple[Example, Example]] = {}

    def is_unchanged(pair: tuple[Example, Example]) -> bool:
        return pair[0].response.strip() == pair[1].response.strip()

    for a, b in sorted(pairs, key=is_unchanged):  # stable
        firsts.setdefault(a.domain, (a, b))
    return list(firsts.values())


def answers_table(pairs: Sequence[tuple[Example, Example]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=True)
    for head in ("problem", "before RL", "after RL"):
        table.add_column(head, ratio=1)
    for a, b in pairs:
        prompt = a.prompt.rpartition("user: ")[2]
        cells = (_short(prompt), _graded(a), _graded(b))
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _graded(example: Example) -> str:
    if example.reward is None:
        return f"(not judged) {_short(example.response)}"
    return f"{'right' if example.reward >= 1 else 'wrong'}: {_short(example.response)}"


def _short(text: str) -> str:
    line = printable(text.strip())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def next_commands(name: str) -> list[tuple[str, str]]:
    return [
        (prorl_command("train", "explain", name), "the controller's decisions and their reasons"),
        (
            prorl_command("verify", "replay", name),
            "score every rollout again and compare the rewards",
        ),
        ("prorl quickstart --minutes 30", "a longer run with more steps and answers"),
    ]
