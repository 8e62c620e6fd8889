"""Selects a run's charts, and reduces their lines to the resolution of the screen."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from prorl_viewer.runs.journal import Metrics, Sums, totals
from prorl_viewer.subject import Json, NotFoundError

Points = list[list[float]]
"""A list of [step, value]."""


class Line(NamedTuple):
    """The points of a line; if they are smoothed, ``raw`` has unsmoothed points."""

    points: Points
    raw: Points


def thin(steps: Sequence[int], values: Sequence[float], width: int, mean: int = 1) -> Line:
    """Return the finite values, smoothed over ``mean`` steps and reduced to at most 2 ``width`` points."""
    points = [(s, v) for s, v in zip(steps, values, strict=True) if math.isfinite(v)]
    single: Points = []
    if len(points) <= 2 * width:
        single = [[s, v] for s, v in points]
    else:
        for bucket in _buckets(points, width):
            low, high = min(bucket, key=_value), max(bucket, key=_value)
            single += [list(p) for p in dict.fromkeys(sorted((low, high)))]
    if mean <= 1:
        return Line(single, [])
    sums = [0.0, *accumulate(v for _, v in points)]
    smoothed: Points = []
    place = 0
    for bucket in _buckets(points, width):
        middle = place + len(bucket) // 2
        start, stop = max(middle - mean // 2, 0), min(middle + (mean + 1) // 2, len(points))
        smoothed.append([points[middle][0], (sums[stop] - sums[start]) / (stop - start)])
        place += len(bucket)
    return Line(smoothed, single)


def _buckets(points: Sequence[tuple[int, float]], width: int) -> list[Sequence[tuple[int, float]]]:
    size = max(math.ceil(len(points) / width), 1)
    return [points[i : i + size] for i in range(0, len(points), size)]


def _value(point: tuple[int, float]) -> float:
    return point[1]


WHOLE = (0.0, 1.0)
"""Axis range of rewards and shares."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart; ``lines`` are (metrics key, label).

    ``in_parts`` is the key that is drawn for a single domain or task (default: that of the first line).
    """

    name: str
    title: str
    unit: str
    section: str
    lines: tuple[tuple[str, str], ...] = ()
    about: str = ""
    in_parts: str = ""
    least: tuple[float, float] | None = (0.0, 0.0)
    """Range that the axis always includes."""
    first: bool = True
    """Whether the chart is shown by default."""
    smooth: bool = True
    """Whether the chart may be smoothed; False for rare metrics and those that jump."""

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        return self.lines or ((self.name, self.title),)

    @property
    def part_key(self) -> str:
        return self.in_parts or self.keys[0][0]


STALE = "stale_share"
"""Key of a computed metric: the share of trained groups that were carried over from earlier steps."""
INTERVALS = {"validation_reward": "validation_se"}
"""Maps a metrics key to the key of its standard error."""
LEARNING, ANSWERS = "Did it learn?", "How does it answer?"
POLICY, SAMPLER, TIME = "How does the policy move?", "Is the sampler true to it?", "How fast is it?"
SAME = "the same problems each time; band: 95 % interval between problems"
OF_STEP = "mean raw reward of all responses with a verdict"
MISMATCH = "KL between the sampler and the trainer before the update"
STAGES = (
    ("sample_seconds", "sampling"),
    ("score_seconds", "scoring"),
    ("update_seconds", "update"),
    ("validation_seconds", "validation"),
)
IN_STAGES = "seconds of a step; scoring is the time spent only waiting for verdicts"

# fmt: off
CHARTS = (
    Chart("validation_reward", "Validation reward", "", LEARNING, about=SAME, least=WHOLE, smooth=False),
    Chart("reward_mean", "Reward", "", LEARNING, about=OF_STEP, least=WHOLE),
    Chart("pass_rate", "Pass rate", "share of responses with full marks", LEARNING, least=WHOLE, first=False),
    Chart("response_length_mean", "Response length", "tokens", ANSWERS, in_parts="length_mean"),
    Chart("truncated_rate", "Cut by the token limit", "share", ANSWERS, least=(0, 0.1)),
    Chart("unparsable_rate", "Unparsable answers", "share", ANSWERS, least=(0, 0.1)),
    Chart("infra_errors", "Responses without a verdict", "count", ANSWERS, about="infra errors", least=WHOLE),
    Chart("filter_rate", "Groups without a learning signal", "share", ANSWERS, least=WHOLE, first=False),
    Chart("kl", "KL to the reference", "nats a token", POLICY, about="falls to 0 at a reference reset", least=(0, 0.01), smooth=False),
    Chart("entropy", "Entropy", "nats a token", POLICY),
    Chart("grad_norm", "Gradient norm", "", POLICY, about="before clipping", first=False),
    Chart("lr", "Learning rate", "", POLICY, first=False, smooth=False),
    Chart("mismatch_kl", "Sampler mismatch", "nats a token", SAMPLER, about=MISMATCH, least=(0, 0.001)),
    Chart("sampler_gap", "Sampler gap", "nats a token", SAMPLER, about="mean size of the difference of log-probs", least=(0, 0.001)),
    Chart("mismatch_ess", "Effective sample size of the ratios", "share", SAMPLER, about="trainer over sampler", least=WHOLE, first=False),
    Chart(STALE, "Staleness", "share", SAMPLER, about="share of the trained groups that an earlier step sampled", least=WHOLE),
    Chart("tokens_per_second", "Speed", "tokens/s", TIME),
    Chart("stages", "Time per stage", "s", TIME, STAGES, IN_STAGES),
)
# fmt: on
BY_NAME = {chart.name: chart for chart in CHARTS}
_DRAWN = {key for chart in CHARTS for key, _ in chart.keys}


def words(key: str) -> str:
    return key.replace("/", ": ").replace("_", " ")


def charts_of(keys: Collection[str]) -> list[Chart]:
    """Return the predefined charts that show any of ``keys``, and a chart for each key that none of them shows."""
    named = [chart for chart in CHARTS if any(key in keys for key, _ in chart.keys)]
    plain = (key for key in sorted(keys) if "/" not in key and key not in _DRAWN | {"step"})
    return [*named, *(other(key) for key in plain)]


def other(key: str) -> Chart:
    return Chart(key, words(key), "", "Other", least=None, first=False)


WIDTH = 400
"""Number of buckets of a line, about one per pixel."""
MEANS = (1, 5, 10, 20, 50, 100)
PARTS = 8
"""Maximum number of lines in a chart, which is the number of colours."""
WEIGHTS = {"domains": "groups", "tasks": "responses"}
"""Maps a breakdown to the metric that weights its parts."""
Z95 = 1.959964
"""Quantile of the standard normal distribution at 0.975."""


def catalogue(metrics: Metrics, has_rollouts: bool) -> Json:
    in_domains = metrics.keys_of_parts("domains")
    in_tasks = metrics.keys_of_parts("tasks")
    in_tasks |= set(Sums(responses=1, scored=1).rates()) if has_rollouts else set()
    charts = []
    for chart in charts_of({*metrics.columns, *([STALE] if _staleness(metrics) else [])}):
        by = ["domain"] if chart.part_key in in_domains else []
        by += ["task"] if chart.part_key in in_tasks else []
        values = (v for key, _ in chart.keys for v in values_of(metrics, key))
        moves = any(v and math.isfinite(v) for v in values)
        charts.append(
            {
                "name": chart.name,
                "title": chart.title,
                "unit": chart.unit,
                "section": chart.section,
                "about": chart.about,
                "least": chart.least,
                "by": by,
                "smooth": chart.smooth,
                "first": chart.first and moves,
            }
        )
    return {"charts": charts, "means": MEANS}


def smoothing(chart: Chart, steps: int) -> int:
    """Return the default smoothing window for a run of this many steps."""
    return max((n for n in MEANS if n * 30 <= steps), default=1) if chart.smooth else 1


def values_of(metrics: Metrics, key: str) -> Sequence[float]:
    return _staleness(metrics) if key == STALE else metrics.column(key)


def find_chart(metrics: Metrics, name: str) -> Chart:
    """Return the chart ``name``. Raises NotFoundError if the run has no such metric."""
    chart = BY_NAME.get(name)
    if chart is None and name in metrics.columns:
        chart = other(name)
    if chart is None:
        raise NotFoundError(f"no step of this run recorded '{name}'")
    return chart


def overall(metrics: Metrics, chart: Chart, mean: int, span: tuple[int, int]) -> list[Json]:
    lines = []
    for key, label in chart.keys:
        values = values_of(metrics, key)
        line = _line(metrics.steps, values, mean, span)
        if not line.points:
            continue
        row = _line_row(label, line)
        if key in INTERVALS:
            errors = dict(zip(metrics.steps, metrics.column(INTERVALS[key]), strict=True))
            with_errors = ((step, value, errors[int(step)]) for step, value in line.points)
            band = [[s, v - Z95 * e, v + Z95 * e] for s, v, e in with_errors if math.isfinite(e)]
            if band:
                row["band"] = band
        lines.append(row)
    return lines


def by_part(
    metrics: Metrics,
    breakdown: str,
    chart: Chart,
    mean: int,
    span: tuple[int, int],
    chosen: Sequence[str] = (),
) -> Json:
    """Return the chart's line for each domain or task in ``chosen`` (default: the largest), and a list of all."""
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
            lines.append(_line_row(name, line))
    return {"lines": lines, "parts": parts}


def by_task_of_rollouts(
    steps: Mapping[int, Mapping[str, Sums]],
    chart: Chart,
    mean: int,
    span: tuple[int, int],
    chosen: Sequence[str] = (),
) -> Json:
    """Return the same as ``by_part`` for tasks, computed from rollouts."""
    counts = {task: float(one.responses) for task, one in totals(steps.values()).items()}
    names, parts = _drawn(counts, WEIGHTS["tasks"], chosen)
    rows = sorted(steps.items())
    lines = []
    for task in names:
        rates = [one[task].rates() if task in one else {} for _, one in rows]
        values = [rate.get(chart.part_key, math.nan) for rate in rates]
        line = _line([step for step, _ in rows], values, mean, span)
        if line.points:
            lines.append(_line_row(task, line))
    return {"lines": lines, "parts": parts}


def _drawn(
    counts: Mapping[str, float], weight: str, chosen: Sequence[str]
) -> tuple[list[str], list[Json]]:
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    names = [name for name in chosen if name in counts] or ranked[:PARTS]
    return sorted(names), [
        {"name": name, "size": f"{counts[name]:,.0f} {weight}"} for name in ranked
    ]


def axes(metrics: Metrics) -> Json:
    """Return about WIDTH of the steps, with the tokens and hours (without pauses) up to each."""
    steps, stride = metrics.steps, max(len(metrics.steps) // WIDTH, 1)
    seconds, hours = 0.0, []
    for value in metrics.column("seconds"):
        seconds += value if math.isfinite(value) else 0.0
        hours.append(seconds / 3600)
    places = [*range(0, len(steps), stride)]
    places += [len(steps) - 1] if steps and places[-1] != len(steps) - 1 else []
    tokens = metrics.column("tokens_total")
    token_counts = [tokens[i] if math.isfinite(tokens[i]) else None for i in places]
    return {
        "step": [0, *(steps[i] for i in places)],
        "tokens": [0, *token_counts],
        "hours": [0.0, *(hours[i] for i in places)],
    }


def _line(steps: Sequence[int], values: Sequence[float], mean: int, span: tuple[int, int]) -> Line:
    first, last = span
    pairs = [(s, v) for s, v in zip(steps, values, strict=True) if first <= s <= last]
    return thin([s for s, _ in pairs], [v for _, v in pairs], WIDTH, mean)


def _staleness(metrics: Metrics) -> list[float]:
    if not {"groups_carried_in", "groups_kept"} <= set(metrics.columns):
        return []
    carried, trained = metrics.column("groups_carried_in"), metrics.column("groups_kept")
    return [c / k if k else math.nan for c, k in zip(carried, trained, strict=True)]


def _line_row(name: str, line: Line) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "points": line.points}
    return row | ({"raw": line.raw} if line.raw else {})
