"""``prorl eval compare`` and ``report``: results against each other, and the page that shows them.

Tables and JSON go to stdout, messages to stderr. Leaves out: the numbers (the evaluation room).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import print_json, say, warn
from prorl_cli.eval.tables import Json, print_table, warn_of
from prorl_cli.plugin_option import PluginOption

if TYPE_CHECKING:
    from prorl_evaluation import BoundaryOptions, BoundaryReport, Comparison, EvalResult
    from prorl_evaluation.report.data import ReportData
    from prorl_evaluation.tables import TextTable

K = Annotated[
    int | None, typer.Option("--k", min=1, help="k of the claims (default: largest <= n/2).")
]
Beta = Annotated[bool, typer.Option("--beta", help="Add pass@k from Beta posteriors.")]
Rate = Annotated[
    float, typer.Option(min=0.0, max=0.99, help="Share of wrong answers the verifier accepts.")
]
Alpha = Annotated[
    float, typer.Option(min=1e-9, max=0.5, help="Chance of any false claim, all claims together.")
]
Margin = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Change of pass@k that counts as none.")
]
Cluster = Annotated[
    str, typer.Option(help="What is resampled: problem, or task with all its problems.")
]


def compare_command(
    names: Annotated[list[str], typer.Argument(help="Result folders or runs, the baseline first.")],
    html: Annotated[Path | None, typer.Option(help="Also write the report to this file.")] = None,
    md: Annotated[Path | None, typer.Option(help="Also write the report as Markdown.")] = None,
    k: K = None,
    alpha: Alpha = 0.05,
    margin: Margin = 0.05,
    cluster: Cluster = "problem",
    beta: Beta = False,
    false_positive_rate: Rate = 0.0,
    json_out: Json = False,
    plugin: PluginOption = None,
) -> None:
    """Compare two or more results on the problems they share: paired differences, boundary claims.

    Every later result is compared with the first. All claims are corrected together for their number.
    """
    from prorl_evaluation import BoundaryOptions, boundary_report, compare
    from prorl_evaluation.report.data import ReportOptions, report_data
    from prorl_evaluation.sampling.choose import gather

    results, run_dir = gather(names)
    options = BoundaryOptions(k=k, alpha=alpha, margin=margin, cluster=cluster)
    report = boundary_report(results, options)
    comparisons = [compare(results[0], later, cluster=cluster) for later in results[1:]]
    extra_tables, extra = _extras(results, beta, false_positive_rate)
    tables = [*_tables(results, comparisons, report), *extra_tables]
    if html is not None or md is not None:
        command = _typed("compare", names, options, beta, false_positive_rate)
        asked = ReportOptions(options, True, beta, false_positive_rate, command)
        _write(report_data(results, run_dir, asked, report), html, md)
    if json_out:
        shown = [c.to_json() for c in comparisons]
        print_json({"comparisons": shown, "boundary": report.to_json(), **extra})
        return
    for table in tables:
        print_table(table)
    _warn(results, comparisons, report)


def _write(data: ReportData, html: Path | None, md: Path | None) -> None:
    from prorl_evaluation.report.html import write_html
    from prorl_evaluation.report.markdown import write_markdown

    if html is not None:
        say(f"report written: {write_html(data, html)}")
    if md is not None:
        say(f"tables written: {write_markdown(data, md)}")


def _typed(
    verb: str, names: Sequence[str], options: BoundaryOptions, beta: bool, rate: float
) -> str:
    """Return the command line that makes this report again."""
    import dataclasses
    import shlex

    from prorl_evaluation import BoundaryOptions

    usual = BoundaryOptions()
    parts = ["prorl eval", verb, *map(shlex.quote, names)]
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if value != getattr(usual, field.name):
            parts.append(f"--{field.name} {value}")
    parts += ["--beta"] if beta else []
    parts += [f"--false-positive-rate {rate:g}"] if rate else []
    return " ".join([*parts, "--html report.html"] if verb == "compare" else parts)


def _tables(
    results: Sequence[EvalResult], comparisons: Sequence[Comparison], report: BoundaryReport
) -> list[TextTable]:
    from prorl_evaluation.boundary.tables import boundary_tables
    from prorl_evaluation.tables import comparison_table, result_table
    from prorl_evaluation.types import shown_ks

    metrics = [*(f"pass@{k}" for k in shown_ks(results)), "reward"]
    tables = [result_table(r) for r in results]
    tables += [comparison_table(c, metrics) for c in comparisons]
    return [*tables, *boundary_tables(report)]


def _extras(
    results: Sequence[EvalResult], beta: bool, rate: float
) -> tuple[list[TextTable], dict[str, Any]]:
    """Return the tables and JSON that were asked for beside the usual."""
    import dataclasses

    from prorl_evaluation.boundary.tables import (
        posterior_table,
        posteriors,
        suspicion_table,
        suspicions,
    )
    from prorl_evaluation.boundary.types import finite

    tables: list[TextTable] = []
    value: dict[str, Any] = {}
    if beta:
        found = posteriors(results)
        tables.append(posterior_table(found))
        value["posterior"] = [
            {"label": label, "rows": [finite(dataclasses.asdict(p)) for p in rows]}
            for label, rows in found
        ]
    if rate > 0:
        suspect = suspicions(results, rate)
        tables.append(suspicion_table(suspect, rate))
        value["false_positives"] = [
            {"label": label, "rows": [finite(dataclasses.asdict(s)) for s in rows]}
            for label, rows in suspect
        ]
    return tables, value


def _warn(
    results: Sequence[EvalResult], comparisons: Sequence[Comparison], report: BoundaryReport
) -> None:
    from prorl_evaluation.tables import near_n_lines

    for line in dict.fromkeys([*near_n_lines(results), *report.near_n, *report.warnings]):
        warn(line)
    for comparison in comparisons:
        warn_of(comparison)


def report_command(
    names: Annotated[list[str], typer.Argument(help="A run, or result folders, baseline first.")],
    out: Annotated[
        Path | None, typer.Option(help="The HTML file (default: report.html in the run or here).")
    ] = None,
    md: Annotated[Path | None, typer.Option(help="Also write the report as Markdown.")] = None,
    k: K = None,
    alpha: Alpha = 0.05,
    margin: Margin = 0.05,
    cluster: Cluster = "problem",
    beta: Beta = False,
    false_positive_rate: Rate = 0.0,
    json_out: Annotated[
        bool, typer.Option("--json", help="Print every number as JSON instead of the file's name.")
    ] = False,
    plugin: PluginOption = None,
) -> None:
    """Write one self-contained HTML report: numbers, curves, boundary claims, training, examples."""
    from prorl_evaluation import BoundaryOptions
    from prorl_evaluation.report.data import ReportOptions, report_data
    from prorl_evaluation.report.html import write_html
    from prorl_evaluation.report.markdown import write_markdown
    from prorl_evaluation.sampling.choose import gather

    results, run_dir = gather(names)
    options = BoundaryOptions(k=k, alpha=alpha, margin=margin, cluster=cluster)
    command = _typed("report", names, options, beta, false_positive_rate)
    asked = ReportOptions(options, False, beta, false_positive_rate, command)
    data = report_data(results, run_dir, asked)
    page = write_html(data, out if out is not None else (run_dir or Path()) / "report.html")
    if md is not None:
        say(f"tables written: {write_markdown(data, md)}")
    if json_out:
        say(f"report written: {page}")
        print_json(data.to_json())
        return
    print(page)
