"""The report: one HTML file that holds everything, reads in light and dark, and prints.

The first result is the baseline and the last one is judged against it. Leaves out: boundary regimes,
novelty, Markdown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text
from prorl_evaluation.compare import Comparison, against_baseline
from prorl_evaluation.report_figures import (
    MAX_POINTS,
    curves_figure,
    differences_figure,
    training_figure,
)
from prorl_evaluation.report_style import CSS
from prorl_evaluation.report_tables import (
    example_cards,
    facts_table,
    metric_name,
    number,
    rate_facts,
    results_table,
    setting_facts,
    signed,
    text,
)
from prorl_evaluation.types import BEFORE_RL, EvalResult, EvaluationError, shown_ks

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""


def write_report(results: Sequence[EvalResult], run_dir: Path | None, out: Path) -> Path:
    """Write the report on ``results`` (baseline first) and the run's training curves to ``out``.

    ``run_dir`` is a run's folder or None; absent journals and keys leave their part out. Returns ``out``.
    Raises EvaluationError without results, MissingExtraError without matplotlib, UserError when the file
    cannot be written.
    """
    if not results:
        raise EvaluationError("a report needs at least one result: run prorl eval pass-at-k first")
    comparison = against_baseline(results)
    metrics = read_rows(run_dir / "metrics.jsonl") if run_dir is not None else []
    decisions = read_rows(run_dir / "decisions.jsonl") if run_dir is not None else []
    name = run_dir.name if run_dir is not None else results[-1].label
    body = [
        _header(name, results, comparison),
        _notes(results, comparison, decisions),
        _numbers(results, comparison),
        _curves(results),
        _training(metrics, decisions),
        "<h2>Truncation, extraction and infrastructure</h2>",
        facts_table(results, rate_facts(results)),
        _examples(results),
        "<h2>Settings and versions</h2>",
        facts_table(results, setting_facts(results)),
        _method(results[0]),
    ]
    title = f"<title>{text(name)} · prorl evaluation</title><style>{CSS}</style></head>"
    page = f"{HEAD}{title}<body><main>{''.join(body)}</main></body></html>\n"
    atomic_write_text(out, page)
    return out


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the complete JSON objects of a journal that may still be written; [] when it is absent.

    Raises EvaluationError naming file and line for a line that is not a JSON object.
    """
    if not path.is_file():
        return []
    data = path.read_bytes()
    rows = []
    for place, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise EvaluationError(f"{path}:{place}: not valid JSON ({error})") from error
        if not isinstance(row, dict):
            raise EvaluationError(f"{path}:{place}: expected a JSON object")
        rows.append(row)
    return rows


def headline_metrics(results: Sequence[EvalResult]) -> list[str]:
    """Return the metrics that the table shows; see ``shown_ks``."""
    return [*(f"pass@{k}" for k in shown_ks(results)), "reward"]


def headline(results: Sequence[EvalResult], comparison: Comparison | None) -> list[str]:
    """Return the sentences that sum the report up, one a metric, each with its interval."""
    lines = []
    for metric in headline_metrics(results):
        name = metric_name(metric)
        found = comparison.find("overall", metric) if comparison is not None else None
        if found is None:
            group = results[-1].overall
            k = metric.removeprefix("pass@")
            i = group.reward if metric == "reward" else group.pass_at_k[int(k)]
            lines.append(f"{name} {number(i.value)} [{number(i.low)}, {number(i.high)}]")
            continue
        i = found.interval
        change = f"{name} {number(found.a)} → {number(found.b)}"
        difference = f"difference {signed(i.value)} [{signed(i.low)}, {signed(i.high)}]"
        if found.distinguishable:
            lines.append(f"{change}, {difference}")
        elif found.statement.startswith("not"):
            lines.append(f"{change}: not distinguishable ({difference})")
        else:
            lines.append(f"{change}: {found.statement} ({difference})")
    return lines


def _header(name: str, results: Sequence[EvalResult], comparison: Comparison | None) -> str:
    first, *rest = headline(results, comparison)
    labels = results[-1].label if comparison is None else f"{comparison.b} against {comparison.a}"
    count = comparison.paired if comparison is not None else len(results[0].problems)
    s = results[-1].settings
    lead = (
        f"{labels}, {count} {'paired ' if comparison else ''}problems, {s.n} samples each at "
        f"temperature {s.temperature:g}, top-p {s.top_p:g}. Brackets are {100 * s.level:g}% intervals."
    )
    lines = "".join(f"<p>{text(line)}</p>" for line in rest)
    return (
        f"<header><p class='kicker'>prorl evaluation · {text(name)}</p><h1>{text(first)}</h1>"
        f"<p class='lead'>{text(lead)}</p><div class='headline'>{lines}</div></header>"
    )


def caveats(
    results: Sequence[EvalResult],
    comparison: Comparison | None,
    decisions: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Return what a reader must know before believing the numbers."""
    found = list(comparison.warnings) if comparison is not None else []
    warm = next((d for d in decisions if d.get("kind") == "warm_start"), None)
    if warm is not None and comparison is not None and not comparison.a.endswith(BEFORE_RL):
        found.append(
            f"the run began with supervised steps before RL ({warm.get('reason', 'warm start')}): a "
            "difference to the untrained model includes what they taught"
        )
    for r in results:
        if r.settings.near_any_success:
            found.append(
                f"{r.label}: k = {r.settings.k} is more than half of n = {r.settings.n}, so pass@"
                f"{r.settings.k} is little more than whether any sample succeeded"
            )
        if r.overall.infra_errors:
            found.append(
                f"{r.label}: {r.overall.infra_errors} of {r.overall.sampled} samples have no verdict "
                "(infra error) and are left out; the same command tries them again"
            )
        if r.overall.truncation_rate > 0.05:
            share = 100 * r.overall.truncation_rate
            found.append(f"{r.label}: {share:.0f}% of the answers were cut at the token limit")
        if any("weak" in level for level in r.isolation):
            found.append(f"{r.label}: untrusted code ran without full isolation")
        if len(r.problems) < 20:
            found.append(f"{r.label}: {len(r.problems)} problems say little about others like them")
    if comparison is not None and (comparison.only_a or comparison.only_b or comparison.altered):
        found.append(
            f"{len(comparison.only_a)} problems are only in {comparison.a}, {len(comparison.only_b)} "
            f"only in {comparison.b}, {len(comparison.altered)} differ: none of them is compared"
        )
    return found


def _notes(
    results: Sequence[EvalResult],
    comparison: Comparison | None,
    decisions: Sequence[Mapping[str, Any]],
) -> str:
    lines = caveats(results, comparison, decisions)
    if not lines:
        return ""
    items = "".join(f"<li>{text(line)}</li>" for line in lines)
    return f"<div class='notes'><strong>Before you believe it</strong><ul>{items}</ul></div>"


def _numbers(results: Sequence[EvalResult], comparison: Comparison | None) -> str:
    metrics = headline_metrics(results)
    parts = ["<h2>Results by domain</h2>", results_table(results, metrics, comparison)]
    if comparison is not None:
        parts.append(differences_figure(comparison, metrics[:3]))
        parts.append(
            f"<p class='caption'>Paired differences of {text(comparison.b)} against "
            f"{text(comparison.a)}, with intervals. Coloured: the interval excludes 0 "
            "over at least 10 problems. The intervals are not widened for being many: of twenty that "
            "show no true change, one is expected to exclude 0.</p>"
        )
    return "".join(parts)


def _legend(entries: Sequence[tuple[str, str, str]]) -> str:
    """Return a legend of (CSS class, CSS variable, text)."""
    spans = [f"<span class='{c}' style='--key: var({v})'>{text(t)}</span>" for c, v, t in entries]
    return f"<div class='legend'>{''.join(spans)}</div>"


def _curves(results: Sequence[EvalResult]) -> str:
    entries = [("", f"--series{i % 4}", r.label) for i, r in enumerate(results)]
    return (
        "<h2>pass@k</h2>"
        + _legend([*entries, ("block", "--muted", "k above n/2: near 'any success'")])
        + curves_figure(results)
        + "<p class='caption'>Unbiased estimate for every power of two up to n; bands are intervals "
        "over problems.</p>"
    )


def _training(metrics: Sequence[Mapping[str, Any]], decisions: Sequence[Mapping[str, Any]]) -> str:
    figure = training_figure(metrics, decisions)
    if not figure:
        return ""
    entries = [
        ("", "--series1", "mean reward, KL, entropy, length"),
        ("dash", "--series1", "pass rate"),
        ("dot", "--series2", "validation reward"),
        ("block", "--window", "length penalty on"),
        ("dash", "--reset", "reference reset"),
    ]
    caption = f"{len(metrics)} steps; rewards are raw, without the length penalty."
    if len(metrics) > MAX_POINTS:
        caption += " Lines are means over equal stretches of steps."
    return f"<h2>Training</h2>{_legend(entries)}{figure}<p class='caption'>{caption}</p>"


def _examples(results: Sequence[EvalResult]) -> str:
    return (
        "<h2>Examples</h2><p class='caption'>The first sample of the first problems of each domain: "
        f"chosen by place, not by outcome.</p>{example_cards(results)}"
    )


def _method(result: EvalResult) -> str:
    s = result.settings
    estimate = (
        "pass@k is the unbiased estimate 1 − C(n−c, k) / C(n, k) of Chen et al. 2021 for each problem, "
        "averaged over problems; a sample counts as solved only at full marks (reward ≥ 1 − 1e−9). "
        "Partial credit enters the mean reward."
    )
    intervals = (
        f"Intervals are {100 * s.level:g}% intervals over problems ({s.draws:,} draws), stratified by "
        "domain for the overall row: a Bayesian bootstrap with half a problem at either bound, for lengths "
        "the expanded percentile bootstrap; differences are paired by problem. Wrong, unparsable and "
        "timed-out answers have reward 0; infra errors are left out of n and counted. A problem with "
        "fewer than k scored samples has no pass@k and is counted as undefined. 'No spread' marks an "
        "interval without width, which does not mean certainty."
    )
    chance = (
        "Chance is what the best single constant answer would earn, where the dataset states it."
    )
    lines = (estimate, intervals, chance)
    paragraphs = "".join(f"<p>{text(line)}</p>" for line in lines)
    return f"<footer><h2>How these numbers are made</h2>{paragraphs}</footer>"
