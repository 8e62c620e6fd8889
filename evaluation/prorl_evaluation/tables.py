"""Formats results and comparisons as text tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from prorl_evaluation.compare import Comparison
from prorl_evaluation.metrics import near_n_warning
from prorl_evaluation.stats.intervals import Interval
from prorl_evaluation.types import EvalResult, shown_ks


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table; in a narrow terminal, the columns in ``drop`` are omitted first."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    drop: tuple[str, ...] = ()


def bracket(interval: Interval, digits: int = 3) -> str:
    """Return ``0.310 [0.240, 0.390]``, or a dash if undefined.

    An interval of zero width is shown as ``no spread``.
    """
    if interval.count == 0:
        return "-"
    value = f"{interval.value:.{digits}f}"
    if interval.degenerate:
        return f"{value} [no spread]{interval.part}"
    low, high = f"{interval.low:.{digits}f}", f"{interval.high:.{digits}f}"
    return f"{value} [{low}, {high}]{interval.part}"


def result_table(result: EvalResult) -> TextTable:
    """Return a table with one row per group; k above n/2 have a star."""
    ks = shown_ks([result])
    n = result.settings.n
    votes = [k for k in ks if k > 1 and any(k in g.maj_at_k for g in result.groups)]
    names = [f"pass@{k}{'*' if near_n_warning(n, k) else ''}" for k in ks]
    names += [*(f"maj@{k}" for k in votes), "mean reward", "tokens"]
    rows = tuple(
        (
            g.name,
            str(g.problems),
            *(bracket(g.pass_at_k[k]) for k in ks),
            *(bracket(g.maj_at_k[k]) if k in g.maj_at_k else "-" for k in votes),
            bracket(g.reward),
            bracket(g.length, length_digits(g.length.value)),
            *(rate(v) for v in (g.truncation_rate, g.unparsable_rate, g.infra_share)),
        )
        for g in result.groups
    )
    level = f"{100 * result.settings.level:g}%"
    star = ", * k above n/2" if any(name.endswith("*") for name in names) else ""
    title = f"{result.label}, n = {n}, {level} intervals{star}"
    head = ("", "problems", *names, "cut", "unparsable", "infra")
    drop = (
        "infra",
        *names[len(ks) : -2],
        "tokens",
        "cut",
        "unparsable",
        "mean reward",
        *names[1 : len(ks) - 1],
    )
    return TextTable(title, head, rows, drop)


def interval_table(
    results: Sequence[EvalResult], comparisons: Sequence[Comparison] = ()
) -> TextTable:
    """Return a table of pass@k and differences, each with both intervals (see ``compare.Difference``)."""
    ks = shown_ks(results)
    rows = [
        (r.label, g.name, f"pass@{k}", bracket(g.pass_at_k[k]), bracket(g.fixed_pass_at_k[k]))
        for r in results
        for g in r.groups
        for k in ks
    ]
    rows += [
        (f"{c.b} - {c.a}", d.group, d.metric, signed_bracket(d.interval), signed_bracket(d.fixed))
        for c in comparisons
        for d in c.differences
        if d.fixed is not None and d.metric in {f"pass@{k}" for k in ks}
    ]
    head = ("", "", "", "problems like these", "these very problems, sampled again")
    return TextTable("What the interval is about", head, tuple(rows))


def number(value: float, digits: int = 3) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def undefined_lines(results: Sequence[EvalResult]) -> list[str]:
    lines = []
    for r in results:
        for k in shown_ks(results):
            i = r.overall.pass_at_k[k]
            if i.undefined:
                lines.append(
                    f"{r.label}: pass@{k} is over {i.count} of {i.count + i.undefined} problems, the "
                    f"others have fewer than {k} samples with a verdict"
                )
    return lines


def length_digits(tokens: float) -> int:
    return 1 if tokens < 100 else 0


def rate(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{100 * value:.0f}%" if value in (0.0, 1.0) else f"{100 * value:.1f}%"


def near_n_lines(results: Sequence[EvalResult]) -> list[str]:
    lines = []
    for r in results:
        for k in shown_ks(results):
            line = near_n_warning(r.settings.n, k)
            if line is not None:
                lines.append(f"{r.label}: {line}")
    return lines


def comparison_table(comparison: Comparison, metrics: Sequence[str] | None = None) -> TextTable:
    """Return a table with one row per group and metric (``metrics`` None: all)."""
    rows = []
    for d in comparison.differences:
        if metrics is not None and d.metric not in metrics:
            continue
        i = d.interval
        digits = length_digits(d.a) if d.metric == "length" else 3
        change = signed_bracket(i, digits)
        a, b = (number(v, digits) for v in (d.a, d.b))
        rows.append((d.group, d.metric, a, b, change, d.statement))
    title = f"{comparison.b} against {comparison.a}, {comparison.paired} paired problems"
    head = ("", "metric", comparison.a, comparison.b, "difference", "reading")
    return TextTable(title, head, tuple(rows), (comparison.a, comparison.b))


def signed_bracket(interval: Interval, digits: int = 3) -> str:
    if interval.count == 0:
        return "-"
    low, high = f"{interval.low:+.{digits}f}", f"{interval.high:+.{digits}f}"
    return f"{interval.value:+.{digits}f} [{low}, {high}]{interval.part}"


MOST_IDS = 10


def unpaired_lines(comparison: Comparison) -> list[str]:
    """Return a line for each reason why problems are not compared, with at most MOST_IDS ids."""
    kinds = (
        (f"only in {comparison.a}", comparison.only_a),
        (f"only in {comparison.b}", comparison.only_b),
        ("with another prompt or task", comparison.altered),
    )
    return [
        f"{len(ids)} problems {kind} are not compared: {', '.join(ids[:MOST_IDS])}"
        + (f" and {len(ids) - MOST_IDS} more" if len(ids) > MOST_IDS else "")
        for kind, ids in kinds
        if ids
    ]
