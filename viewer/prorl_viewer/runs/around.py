"""Compares the steps before and after step N, to explain a fall of the reward.

Changes are in standard errors, estimated from single steps. Because neighbouring steps are correlated, they are not a
significance test.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from prorl_viewer.runs.curves import BY_NAME, WEIGHTS, words
from prorl_viewer.runs.journal import Metrics, Sums, totals
from prorl_viewer.subject import Json

STEPS = 20
"""Number of steps compared before and after."""
FALLS = 5
"""Maximum number of falls that a run's page lists."""
FALL_Z = -4.0
"""Maximum z-score of a fall; among thousands of steps, -3 occurs by chance."""
PARTS = 25
"""Maximum number of domains or tasks shown."""
NOT_COMPARED = frozenset({"step", "tokens_total", "phase", "length_penalty_active"})
"""Metrics that are not compared: counters and states of the controller."""
PART_RATES = ("pass_rate", "unparsable_rate", "truncated_rate", "length_mean", "infra_errors")
"""Rates shown with the reward of a domain or task."""


class Spans(NamedTuple):
    """The (first, last) steps before step N, and from step N on."""

    before: tuple[int, int]
    after: tuple[int, int]


@dataclass
class Part:
    """Means of one domain or task over some steps; ``weight`` counts a domain's groups or a task's responses."""

    weight: float
    reward: float
    rates: Mapping[str, float] = field(default_factory=dict)


def spans_at(steps: Sequence[int], step: int, width: int = STEPS) -> Spans:
    """Return two ranges: up to ``width`` steps before ``step``, and up to ``width`` steps that start with it."""
    first, last = (steps[0], steps[-1]) if steps else (1, 0)
    return Spans((max(step - width, first), step - 1), (step, min(step + width - 1, last)))


def movers(metrics: Metrics, spans: Spans) -> list[Json]:
    """Return each metric's means before and after; the largest change in standard errors comes first."""
    rows = []
    for key in metrics.columns:
        if "/" in key or key in NOT_COMPARED:
            continue
        before, after = metrics.window(key, *spans.before), metrics.window(key, *spans.after)
        if not before or not after:
            continue
        change = statistics.fmean(after) - statistics.fmean(before)
        chart = BY_NAME.get(key)
        rows.append(
            {
                "key": key,
                "title": chart.title if chart else words(key),
                "unit": chart.unit if chart else "",
                "before": statistics.fmean(before),
                "after": statistics.fmean(after),
                "change": change,
                "z": _in_errors(change, before, after),
            }
        )
    return sorted(rows, key=lambda row: -abs(row["z"] or 0.0))


def _in_errors(change: float, before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return the change in standard errors (Welch), or None without variance."""
    if len(before) < 2 or len(after) < 2:
        return None
    error = statistics.variance(before) / len(before) + statistics.variance(after) / len(after)
    return change / math.sqrt(error) if error > 0 else None


def journal_parts(metrics: Metrics, breakdown: str, span: tuple[int, int]) -> dict[str, Part]:
    """Return each domain's or task's means over the steps of ``span`` (first, last), from the metrics."""
    parts, weight = {}, WEIGHTS[breakdown]
    start, stop = bisect_left(metrics.steps, span[0]), bisect_left(metrics.steps, span[1] + 1)
    for name in metrics.parts(breakdown):
        columns = {
            key: metrics.column(f"{breakdown}/{name}/{key}")[start:stop]
            for key in (weight, "reward_mean", *PART_RATES)
        }
        weights = columns.pop(weight)
        means: dict[str, float] = {}
        for key, values in columns.items():
            pairs = zip(weights, values, strict=True)
            defined = [(w, v) for w, v in pairs if 0 < w < math.inf and math.isfinite(v)]
            total = math.fsum(w for w, _ in defined)
            if total:
                means[key] = math.fsum(w * v for w, v in defined) / total
        if "reward_mean" in means:
            rewards = zip(weights, columns["reward_mean"], strict=True)
            whole = math.fsum(w for w, reward in rewards if math.isfinite(reward))
            parts[name] = Part(whole, means.pop("reward_mean"), means)
    return parts


def task_parts(steps: Mapping[int, Mapping[str, Sums]], span: tuple[int, int]) -> dict[str, Part]:
    """Return each task's means over the steps of ``span`` (first, last), from rollouts."""
    sums = totals(one for step, one in steps.items() if span[0] <= step <= span[1])
    parts = {}
    for task, one in sums.items():
        rates = one.rates()
        if "reward_mean" in rates:
            reward = rates.pop("reward_mean")
            parts[task] = Part(one.scored, reward, {k: rates[k] for k in PART_RATES})
    return parts


def split_change(before: Mapping[str, Part], after: Mapping[str, Part]) -> Json:
    """Split the change of the mean reward exactly among domains or tasks, largest first.

    ``within`` is the change of a part's reward times its mean share. ``mix`` is the change of its share times the
    distance of its reward from the overall mean. ``rest`` sums up all but the PARTS largest.
    """
    whole_before, whole_after = (sum(p.weight for p in side.values()) for side in (before, after))
    if not whole_before or not whole_after:
        return {"before": None, "after": None, "parts": [], "rest": {"parts": 0, "change": 0.0}}
    mean_before, mean_after = (
        sum(p.weight * p.reward for p in side.values()) / whole
        for side, whole in ((before, whole_before), (after, whole_after))
    )
    level = (mean_before + mean_after) / 2
    rows: list[dict[str, Any]] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        share_before = old.weight / whole_before if old else 0.0
        share_after = new.weight / whole_after if new else 0.0
        was = (old or after[name]).reward
        now = (new or before[name]).reward
        rows.append(
            {
                "name": name,
                "share_before": share_before,
                "share_after": share_after,
                "weight_after": new.weight if new else 0,
                "reward_before": old.reward if old else None,
                "reward_after": new.reward if new else None,
                "within": (share_before + share_after) / 2 * (now - was),
                "mix": ((was + now) / 2 - level) * (share_after - share_before),
                "rates_before": dict(old.rates) if old else {},
                "rates_after": dict(new.rates) if new else {},
            }
        )
    rows.sort(key=lambda row: -abs(row["within"] + row["mix"]))
    others_sum = {
        "parts": len(rows[PARTS:]),
        "change": sum(r["within"] + r["mix"] for r in rows[PARTS:]),
    }
    return {"before": mean_before, "after": mean_after, "parts": rows[:PARTS], "rest": others_sum}


def falls(metrics: Metrics) -> list[Json]:
    """Return the steps at which the mean reward fell most, at least STEPS apart.

    The means of STEPS rewards (fewer in short runs) before and after a fall differ with a z-score below FALL_Z.
    """
    rewards = zip(metrics.steps, metrics.column("reward_mean"), strict=True)
    points = [(s, v) for s, v in rewards if math.isfinite(v)]
    width = min(STEPS, len(points) // 4)
    if width < 2:
        return []
    values = [v for _, v in points]
    candidates = []
    for place in range(width, len(points) - width + 1):
        before, after = values[place - width : place], values[place : place + width]
        change = (math.fsum(after) - math.fsum(before)) / width
        if change < 0:
            candidates.append((change, place))
    chosen: list[int] = []
    rows: list[Json] = []
    for change, place in sorted(candidates):
        if len(rows) == FALLS:
            break
        if any(abs(place - other) < width for other in chosen):
            continue
        chosen.append(place)
        before, after = values[place - width : place], values[place : place + width]
        z = _in_errors(change, before, after)
        if z is not None and z < FALL_Z:
            rows.append({"step": points[place][0], "change": change, "z": z})
    return rows
