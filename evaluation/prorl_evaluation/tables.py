"""Results and comparisons as plain rows of text, for a terminal or Markdown. Leaves out: drawing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prorl_evaluation.bootstrap import Interval
from prorl_evaluation.compare import Comparison
from prorl_evaluation.types import EvalResult, shown_ks


@dataclass(frozen=True, slots=True)
class TextTable:
    """A title, the heads of the columns and the rows; the first column holds names."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def bracket(interval: Interval) -> str:
    """Return ``0.310 [0.240, 0.390]``, or a dash when nothing is defined.

    An interval without width is called ``no spread``: all problems agree, which is not certainty.
    """
    if interval.count == 0:
        return "-"
    if interval.degenerate:
        return f"{interval.value:.3f} [no spread]"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def result_table(result: EvalResult) -> TextTable:
    """Return one row a group: pass@1, pass@8 (or the next smaller), the k asked for, reward, rates."""
    ks = shown_ks([result])
    names = ("problems", *(f"pass@{k}" for k in ks), "mean reward", "cut", "unparsable", "infra")
    rows = tuple(
        (
            g.name,
            str(g.problems),
            *(bracket(g.pass_at_k[k]) for k in ks),
            bracket(g.reward),
            f"{100 * g.truncation_rate:.0f}%",
            f"{100 * g.unparsable_rate:.0f}%",
            str(g.infra_errors),
        )
        for g in result.groups
    )
    level = f"{100 * result.settings.level:g}%"
    title = f"{result.label}, n = {result.settings.n}, {level} intervals"
    return TextTable(title, ("", *names), rows)


def comparison_table(comparison: Comparison, metrics: Sequence[str] | None = None) -> TextTable:
    """Return one row a group and metric (None: all metrics) with the paired difference."""
    rows = []
    for d in comparison.differences:
        if metrics is not None and d.metric not in metrics:
            continue
        i = d.interval
        change = f"{i.value:+.3f} [{i.low:+.3f}, {i.high:+.3f}]" if i.count else "-"
        rows.append((d.group, d.metric, f"{d.a:.3f}", f"{d.b:.3f}", change, d.statement))
    title = f"{comparison.b} against {comparison.a}, {comparison.paired} paired problems"
    head = ("", "metric", comparison.a, comparison.b, "difference", "reading")
    return TextTable(title, head, tuple(rows))


def unpaired_lines(comparison: Comparison, most: int = 10) -> list[str]:
    """Return a line for each kind of problem that was not compared, naming at most ``most`` of them."""
    kinds = (
        (f"only in {comparison.a}", comparison.only_a),
        (f"only in {comparison.b}", comparison.only_b),
        ("with another prompt or task", comparison.altered),
    )
    return [
        f"{len(ids)} problems {kind} are not compared: {', '.join(ids[:most])}"
        + (f" and {len(ids) - most} more" if len(ids) > most else "")
        for kind, ids in kinds
        if ids
    ]
