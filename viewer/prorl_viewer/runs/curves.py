"""The lines of a chart, thinned for the screen: overall, by domain, or by task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_viewer.runs.catalogue import BY_NAME, INTERVALS, STALE, Chart, charts_of, other
from prorl_viewer.runs.journal import Metrics
from prorl_viewer.runs.tasks import Sums, totals
from prorl_viewer.runs.thinning import Line, thin
from prorl_viewer.subject import Json, NotFoundError

WIDTH = 400
"""Buckets of a line: a chart is about that many pixels wide."""
MEANS = (1, 5, 10, 20, 50, 100)
"""Steps to a mean that the page offers."""
PARTS = 8
"""Lines that a chart shows at once: the page has that many colours."""
WEIGHTS = {"domains": "groups", "tasks": "responses"}
"""Breakdown of a step's line -> what it counts a part by."""
Z95 = 1.959964
"""Standard normal quantile at 0.975."""


def catalogue(metrics: Metrics, has_rollouts: bool) -> Json:
    """Return the charts that the run has, and by what each can be divided."""
    in_domains = metrics.keys_of_parts("domains")
    in_tasks = metrics.keys_of_parts("tasks")
    in_tasks |= set(Sums(responses=1, scored=1).rates()) if has_rollouts else set()
    charts = []
    for chart in charts_of({*metrics.columns, *([STALE] if _staleness(metrics) else [])}):
        by = ["domain"] if chart.part_key in in_domains else []
        by += ["task"] if chart.part_key in in_tasks else []
        charts.append(
            {
                "name": chart.name,
                "title": chart.title,
                "unit": chart.unit,
                "section": chart.section,
                "about": chart.about,
                "by": by,
                "smooth": chart.smooth,
                "first": chart.first and _moves(metrics, chart),
            }
        )
    return {"charts": charts, "means": MEANS}


def _moves(metrics: Metrics, chart: Chart) -> bool:
    """Return whether any of the chart's numbers is not 0 in some step."""
    return any(v and math.isfinite(v) for key, _ in chart.lines for v in values_of(metrics, key))


def smoothing(chart: Chart, steps: int) -> int:
    """Return how many steps of ``steps`` go into a mean where nobody chose: none in a short run."""
    return max((n for n in MEANS if n * 30 <= steps), default=1) if chart.smooth else 1


def values_of(metrics: Metrics, key: str) -> Sequence[float]:
    """Return the column of a chart's key."""
    return _staleness(metrics) if key == STALE else metrics.column(key)


def find_chart(metrics: Metrics, name: str) -> Chart:
    """Return the chart of this name. Raises NotFoundError for one that the run has no numbers for."""
    chart = BY_NAME.get(name)
    if chart is None and name in metrics.columns:
        chart = other(name)
    if chart is None:
        raise NotFoundError(f"no step of this run recorded '{name}'")
    return chart


def overall(metrics: Metrics, chart: Chart, mean: int, span: tuple[int, int]) -> list[Json]:
    """Return the chart's own lines."""
    found = []
    for key, label in chart.lines:
        values = values_of(metrics, key)
        line = _line(metrics.steps, values, mean, span)
        if line.points:
            band = _interval(metrics, key, line) if key in INTERVALS else []
            found.append(_told(label, line) | ({"band": band} if band else {}))
    return found


def by_part(
    metrics: Metrics,
    breakdown: str,
    chart: Chart,
    mean: int,
    span: tuple[int, int],
    chosen: Sequence[str] = (),
) -> Json:
    """Return a line for each of the ``chosen`` domains or tasks (none: the largest), and all there are."""
    weight = WEIGHTS[breakdown]
    counts = {
        name: math.fsum(
            n for n in metrics.column(f"{breakdown}/{name}/{weight}") if math.isfinite(n)
        )
        for name in metrics.parts(breakdown)
    }
    names, parts = _drawn(counts, weight, chosen)
    lines = []
    for name in names:
        values = metrics.column(f"{breakdown}/{name}/{chart.part_key}")
        line = _line(metrics.steps, values, mean, span)
        if line.points:
            lines.append(_told(name, line))
    return {"lines": lines, "parts": parts}


def by_task_of_rollouts(
    steps: Mapping[int, Mapping[str, Sums]],
    chart: Chart,
    mean: int,
    span: tuple[int, int],
    chosen: Sequence[str] = (),
) -> Json:
    """Return what ``by_part`` does, of the tasks of a run whose journal does not know them."""
    counts = {task: float(one.responses) for task, one in totals(steps.values()).items()}
    names, parts = _drawn(counts, WEIGHTS["tasks"], chosen)
    rows = sorted(steps.items())
    lines = []
    for task in names:
        rates = [one[task].rates() if task in one else {} for _, one in rows]
        values = [rate.get(chart.part_key, math.nan) for rate in rates]
        line = _line([step for step, _ in rows], values, mean, span)
        if line.points:
            lines.append(_told(task, line))
    return {"lines": lines, "parts": parts}


def _drawn(
    counts: Mapping[str, float], weight: str, chosen: Sequence[str]
) -> tuple[list[str], list[Json]]:
    """Return the parts to draw, by name as their colours go by it, and all of them, the largest first."""
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    names = [name for name in chosen if name in counts] or ranked[:PARTS]
    return sorted(names), [
        {"name": name, "size": f"{counts[name]:,.0f} {weight}"} for name in ranked
    ]


def axes(metrics: Metrics) -> Json:
    """Return tokens and hours at a thinned choice of steps, for charts over them: straight lines lie between.

    Hours are those of the steps themselves, added up: a pause between two runs is not in them.
    """
    steps, stride = metrics.steps, max(len(metrics.steps) // WIDTH, 1)
    seconds, hours = 0.0, []
    for value in metrics.column("seconds"):
        seconds += value if math.isfinite(value) else 0.0
        hours.append(seconds / 3600)
    places = [*range(0, len(steps), stride)]
    places += [len(steps) - 1] if steps and places[-1] != len(steps) - 1 else []
    tokens = metrics.column("tokens_total")
    known = [tokens[i] if math.isfinite(tokens[i]) else None for i in places]
    return {
        "step": [0, *(steps[i] for i in places)],
        "tokens": [0, *known],
        "hours": [0.0, *(hours[i] for i in places)],
    }


def _line(steps: Sequence[int], values: Sequence[float], mean: int, span: tuple[int, int]) -> Line:
    first, last = span
    pairs = [(s, v) for s, v in zip(steps, values, strict=True) if first <= s <= last]
    return thin([s for s, _ in pairs], [v for _, v in pairs], WIDTH, mean)


def _interval(metrics: Metrics, key: str, line: Line) -> list[list[float]]:
    """Return [step, low, high] of the 95 % interval at the line's points, where a standard error was recorded."""
    errors = dict(zip(metrics.steps, metrics.column(INTERVALS[key]), strict=True))
    known = ((step, value, errors[int(step)]) for step, value in line.points)
    return [[s, v - Z95 * error, v + Z95 * error] for s, v, error in known if math.isfinite(error)]


def _staleness(metrics: Metrics) -> list[float]:
    """Return groups carried in, as a share of those trained on; nothing for a run that recorded neither."""
    if not {"groups_carried_in", "groups_kept"} <= set(metrics.columns):
        return []
    carried, kept = metrics.column("groups_carried_in"), metrics.column("groups_kept")
    return [c / k if k else math.nan for c, k in zip(carried, kept, strict=True)]


def _told(name: str, line: Line) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "points": line.points}
    return told | ({"raw": line.raw} if line.raw else {})
