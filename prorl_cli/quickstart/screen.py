"""What ``prorl quickstart`` shows at its end: did it learn, the curve, answers before and after, what is next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prorl_common.markup import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from prorl_evaluation import EvalResult, Example, Interval

WINDOWS = 8
"""Points of the curve at most: each stands for as many steps."""
AXIS = 41
"""Columns of the curve, from 0 to 1."""
ANSWERS = 3
LONGEST = 160
"""Characters of a prompt or answer that are shown."""


def closing_screen(
    console: Console,
    run: Path,
    sampled: Sequence[EvalResult],
    greedy: Sequence[EvalResult],
    page: Path,
) -> None:
    """Print the closing screen of ``run``.

    ``sampled`` are the results before and after RL of sampled answers, ``greedy`` those of the likeliest
    answer; ``page`` is the report's file.
    """
    from rich.text import Text

    def line(text: str = "", style: str = "") -> None:
        console.print(Text(text, style=style), soft_wrap=True)

    before, after = sampled
    line()
    line(verdict(before, after), style="bold")
    line(
        f"{before.overall.problems} held-out problems, {before.settings.n} sampled answers each, 95% intervals"
    )
    line()
    for row in numbers(sampled, greedy):
        line(row)
    line()
    line("Right answers in training, before any filtering (95% interval over prompts)")
    for row in curve(run):
        line(row)
    line()
    line(f"Likeliest answers before and after: {moved(greedy[0], greedy[1])}")
    line("One of each domain, the first that changed if any did:")
    pairs = _pairs(greedy[0], greedy[1])
    console.print(answers_table(one_of_each_domain(pairs)[:ANSWERS]))
    line()
    line(f"The report, with curves, domains and examples: {page}", style="bold")
    line("Next:")
    for command, why in next_commands(run.name):
        line(f"  {command:<58} # {why}")


def verdict(before: EvalResult, after: EvalResult) -> str:
    """Return the headline: whether pass@1 rose, as the paired interval says."""
    from prorl_evaluation import compare

    change = compare(before, after).find("overall", "pass@1")
    assert change is not None
    i = change.interval
    size = f"{i.value:+.3f} [{i.low:+.3f}, {i.high:+.3f}]"
    if i.low > 0:
        return f"It learned: pass@1 rose by {size}."
    if i.high < 0:
        return f"It got worse: pass@1 changed by {size}."
    return f"No change that this test sees: pass@1 moved by {size}."


def numbers(sampled: Sequence[EvalResult], greedy: Sequence[EvalResult]) -> list[str]:
    """Return a line for each number: before, after and the paired difference."""
    from prorl_evaluation import compare

    change = compare(*sampled)
    k = sampled[0].settings.k
    rows = [(f"pass@{n}", f"pass@{n}", change, "overall") for n in dict.fromkeys((1, k))]
    rows.append(("likeliest answer", "pass@1", compare(*greedy), "overall"))
    domains = [g.name for g in sampled[0].groups[1:]]
    rows += [(f"pass@1, {name}", "pass@1", change, name) for name in domains]
    found = [f"{'':<20} before   after  difference"]
    for label, metric, comparison, group in rows:
        d = comparison.find(group, metric)
        if d is not None and not math.isnan(d.interval.value):
            i = d.interval
            found.append(
                f"{label:<20}  {d.a:.3f}   {d.b:.3f}  {i.value:+.3f} [{i.low:+.3f}, {i.high:+.3f}]"
            )
    return found


def curve(run: Path) -> list[str]:
    """Return the share of right answers in training, a line for every so many steps."""
    steps = training_groups(run)
    if not steps:
        return ["(no step was recorded)"]
    size = max(1, math.ceil(len(steps) / WINDOWS))
    rows = [f"{'steps':<9} {'':<20}0{'':<{AXIS - 2}}1"]
    for start in range(0, len(steps), size):
        part = steps[start : start + size]
        interval = _mean([share for _, shares in part for share in shares])
        first, last = part[0][0], part[-1][0]
        label = f"{first}-{last}" if last > first else str(first)
        rows.append(
            f"{label:<9} {interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]  {_bar(interval)}"
        )
    return rows


def training_groups(run: Path) -> list[tuple[int, list[float]]]:
    """Return (step, share of right answers to each of its prompts) of every step with recorded answers."""
    from prorl_common.rollout_files import read_rollouts, rollout_files
    from prorl_evaluation import FULL_MARKS

    found = []
    for step, file in rollout_files(run).items():
        columns = read_rollouts(file, ["sample_id", "reward"]).to_pydict()
        groups: dict[str, list[bool]] = {}
        for name, reward in zip(columns["sample_id"], columns["reward"], strict=True):
            if reward is not None:
                groups.setdefault(name, []).append(reward >= FULL_MARKS)
        if groups:
            found.append((step, [sum(g) / len(g) for g in groups.values()]))
    return found


def _mean(values: Sequence[float]) -> Interval:
    from prorl_evaluation import bounded_columns

    return bounded_columns([[value] for value in values])[0]


def _bar(interval: Interval) -> str:
    """Return the interval as a line with its ends and its mean, on an axis from 0 to 1."""
    low, value, high = (
        round(x * (AXIS - 1)) for x in (interval.low, interval.value, interval.high)
    )
    cells = [" "] * AXIS
    cells[low : high + 1] = "─" * (high + 1 - low)
    cells[low], cells[high] = "├", "┤"
    cells[value] = "●"
    return "".join(cells).rstrip()


def moved(before: EvalResult, after: EvalResult) -> str:
    """Return how many problems' likeliest answers became right and became wrong."""
    later = {p.id: p.c for p in after.problems}
    pairs = [(p.c, later[p.id]) for p in before.problems if p.id in later]
    gained, lost = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return f"of {len(pairs)}, {gained} became right and {lost} became wrong"


def _pairs(before: EvalResult, after: EvalResult) -> list[tuple[Example, Example]]:
    later = {e.id: e for e in after.examples}
    return [(e, later[e.id]) for e in before.examples if e.id in later]


def one_of_each_domain(
    pairs: Sequence[tuple[Example, Example]],
) -> list[tuple[Example, Example]]:
    """Return a pair of each domain, those whose answer changed before the others.

    Chosen by place, not by which answer is right.
    """
    firsts: dict[str, tuple[Example, Example]] = {}
    for a, b in sorted(pairs, key=lambda pair: not _changed(*pair)):  # stable
        firsts.setdefault(a.domain, (a, b))
    return list(firsts.values())


def _changed(before: Example, after: Example) -> bool:
    return before.response.strip() != after.response.strip()


def answers_table(pairs: Sequence[tuple[Example, Example]]) -> Table:
    """Return a table with a problem a row: the prompt, the answer before and the answer after."""
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=True)
    for head in ("problem", "before RL", "after RL"):
        table.add_column(head, ratio=1)
    for a, b in pairs:
        prompt = a.prompt.rpartition("user: ")[2]
        cells = (_short(prompt), _judged(a), _judged(b))
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _judged(example: Example) -> str:
    if example.reward is None:
        return f"(not judged) {_short(example.response)}"
    return f"{'right' if example.reward >= 1 else 'wrong'}: {_short(example.response)}"


def _short(text: str) -> str:
    shown = printable(text.strip())
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def next_commands(name: str) -> list[tuple[str, str]]:
    """Return three commands that lead on, with what each does."""
    return [
        (f"prorl train explain {name} --step 8", "why the run did what it did"),
        (f"prorl verify replay {name}", "give every reward again and compare"),
        ("prorl quickstart --full", "the long form: 60 steps, 16 answers a problem"),
    ]
