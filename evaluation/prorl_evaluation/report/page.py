"""The report: one HTML file that holds everything, reads in light and dark, and prints.

The first result is the baseline and the last one is judged against it. Leaves out: the numbers
(``report.data``), Markdown (``report.markdown``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prorl_common import atomic_write_text
from prorl_evaluation.boundary.tables import posterior_table, suspicion_table
from prorl_evaluation.boundary.types import BoundaryGroup
from prorl_evaluation.report.boundary import (
    FOLD_ABOVE,
    boundary_sections,
    by_size,
    chip,
    kinds_of,
)
from prorl_evaluation.report.data import ReportData, ReportOptions, report_data
from prorl_evaluation.report.figures import curves_panel, rates_panel
from prorl_evaluation.report.style import CSS
from prorl_evaluation.report.tables import (
    example_cards,
    facts_table,
    folded,
    legend,
    panels,
    rates_table,
    results_table,
    setting_facts,
    text_table,
)
from prorl_evaluation.report.text import text
from prorl_evaluation.report.training import MAX_POINTS, training_panels
from prorl_evaluation.report.words import (
    REGIMES,
    caveats,
    commands,
    headline,
    headline_metrics,
    in_short,
    lead,
    method,
)
from prorl_evaluation.types import EvalResult

HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""


def write_report(
    results: Sequence[EvalResult],
    run_dir: Path | None,
    out: Path,
    options: ReportOptions | None = None,
) -> Path:
    """Write the report on ``results`` (baseline first) and the run's training curves to ``out``.

    ``run_dir`` is a run's folder or None; absent journals and keys leave their part out. Returns ``out``.
    Raises EvaluationError as ``report.data`` does, UserError when the file cannot be written.
    """
    return write_html(report_data(results, run_dir, options), out)


def write_html(data: ReportData, out: Path) -> Path:
    """Write the page that shows ``data``; return ``out``. Raises UserError when it cannot be written."""
    atomic_write_text(out, page(data))
    return out


def page(data: ReportData) -> str:
    """Return the page: no script, nothing fetched, every text that is not ours escaped."""
    body = [
        _header(data),
        _notes(data),
        _numbers(data),
        _curves(data),
        _rates(data),
        boundary_sections(data),
        _training(data),
        "<section><h2>Truncation, extraction and infrastructure</h2>",
        text_table(rates_table(data.results)),
        "</section>",
        _extras(data),
        _examples(data),
        _settings(data),
        _method(data),
    ]
    title = f"<title>{text(data.name)} · prorl evaluation</title><style>{CSS}</style></head>"
    return f"{HEAD}{title}<body><main>{''.join(body)}</main></body></html>\n"


def _header(data: ReportData) -> str:
    first, *rest = headline(data.results, data.comparison)
    lines = "".join(f"<p>{text(line)}</p>" for line in [*rest, *in_short(data)])
    return (
        f"<header><p class='kicker'>prorl evaluation · {text(data.name)}</p><h1>{text(first)}</h1>"
        f"<p class='lead'>{text(lead(data))}</p><div class='headline'>{lines}</div></header>"
    )


def _notes(data: ReportData) -> str:
    lines = caveats(data)
    if not lines:
        return ""
    items = "".join(f"<li>{text(line)}</li>" for line in lines)
    return f"<div class='notes'><strong>Before you believe it</strong><ul>{items}</ul></div>"


def _numbers(data: ReportData) -> str:
    shown = results_table(data.results, headline_metrics(data.results), data.comparison)
    caption = ""
    if data.comparison is not None:
        c = data.comparison
        caption = (
            f"<p class='caption'>Difference: {text(c.b)} against {text(c.a)}, paired by problem, with its "
            "interval beside it on a scale that all rows share. A statement takes at least 10 problems."
            f"{_other_sets(data)}</p>"
        )
    return f"<section><h2>Results by domain</h2>{shown}{caption}</section>"


def _legend(data: ReportData) -> str:
    return legend([(place, r.label) for place, r in enumerate(data.results)])


def _other_sets(data: ReportData) -> str:
    """Say that results are over other problems than the differences, where they are."""
    c = data.comparison
    if c is None or all(len(r.problems) == c.paired for r in data.results):
        return ""
    return (
        f" Differences are over the {c.paired} problems that both share; each result's own columns are over all "
        "of its problems, so that a difference need not be theirs."
    )


def _curves(data: ReportData) -> str:
    coarse, fine = by_size(data.groups)
    problems = "the problems that all share" if data.boundary is not None else "problems"
    parts = [
        "<section><h2>pass@k</h2>",
        _legend(data),
        panels([_curve(data, g) for g in coarse]),
        (
            "<p class='caption'>Unbiased estimate for every power of two up to n, on a scale of log2 k; bands "
            f"are intervals over {problems}. Shaded: k above n/2, where pass@k is little more than whether any "
            "sample succeeded.</p>"
        ),
    ]
    if fine:
        inside = "".join(_by_regime(data, fine))
        parts.append(
            folded(f"pass@k by {kinds_of(fine)} ({len(fine)})", inside, len(fine) <= FOLD_ABOVE)
        )
    return "".join([*parts, "</section>"])


def _by_regime(data: ReportData, groups: Sequence[BoundaryGroup]) -> list[str]:
    """Return the small panels, sorted by what the last checkpoint shows."""
    if data.boundary is None:
        return [panels([_curve(data, g) for g in groups])]
    parts = []
    for regime in REGIMES:
        own = [g for g in groups if g.claims[-1].regime == regime]
        if own:
            head = f"<h3>{chip(regime)} {text(data.results[-1].label)}, {len(own)}</h3>"
            parts.append(head + panels([_curve(data, g) for g in own]))
    return parts


def _curve(data: ReportData, group: BoundaryGroup) -> tuple[str, str]:
    fewest = min(r.settings.n for r in data.results)
    plural = "" if group.problems == 1 else "s"
    title = f"{group.name} · {group.problems} problem{plural}"
    return title, curves_panel(group.name, data.lines(group), fewest)


def _rates(data: ReportData) -> str:
    groups, _ = by_size(data.groups)
    figures = [(g.name, rates_panel(g.name, data.rates(g))) for g in groups]
    return (
        f"<section><h2>Success rates of the problems</h2>{_legend(data)}{panels(figures)}"
        "<p class='caption'>Share of problems by their success rate c/n, in steps of a tenth; never and "
        "always solved stand apart. The bars of a step are in the order of the legend.</p></section>"
    )


def _training(data: ReportData) -> str:
    figures = training_panels(data.metrics, data.decisions)
    if not figures:
        return ""
    caption = f"{len(data.metrics)} steps; rewards are raw, without the length penalty."
    if len(data.metrics) > MAX_POINTS:
        caption += " Lines are means over equal stretches of steps."
    entries = (
        ("line", "mean reward, KL, entropy, length"),
        ("dash", "pass rate"),
        ("dot", "validation reward"),
        ("block", "length penalty on"),
        ("reset", "reference reset"),
    )
    spans = "".join(f"<span><i class='{kind}'></i>{text(what)}</span>" for kind, what in entries)
    return (
        f"<section><h2>Training</h2><div class='legend'>{spans}</div>{panels(figures)}"
        f"<p class='caption'>{caption}</p></section>"
    )


def _extras(data: ReportData) -> str:
    """Return what was asked for beside the usual: verifier's false positives, posteriors."""
    parts = []
    if data.suspicions:
        rate = data.options.false_positive_rate
        parts.append(
            f"<section><h2>If the verifier is wrong</h2>{text_table(suspicion_table(data.suspicions, rate))}"
            "<p class='caption'>What a problem that no sample solves would read, and pass@k without such "
            "false positives, if errors are independent. A wrong gold answer is not.</p></section>"
        )
    if data.posteriors:
        shown = text_table(posterior_table(data.posteriors))
        parts.append(f"<section><h2>Posterior pass@k</h2>{shown}</section>")
    return "".join(parts)


def _examples(data: ReportData) -> str:
    if not data.results[0].examples:
        return ""
    return (
        "<section><h2>Examples</h2><p class='caption'>The first sample of the first problems of each "
        f"domain: chosen by place, not by outcome.</p>{example_cards(data.results)}</section>"
    )


def _settings(data: ReportData) -> str:
    lines = "\n".join(commands(data))
    return (
        "<section><h2>Settings and versions</h2>"
        f"{facts_table('How each result was obtained', data.results, setting_facts(data.results))}"
        "<h3>To make it again</h3><p class='caption'>With the weights, data and versions above; samples of a "
        f"server or of vLLM need not repeat bit for bit.</p><pre>{text(lines)}</pre></section>"
    )


def _method(data: ReportData) -> str:
    paragraphs = "".join(f"<p>{text(line)}</p>" for line in method(data))
    return f"<footer><h2>How these numbers are made</h2>{paragraphs}</footer>"
