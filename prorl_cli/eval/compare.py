"""``prorl eval compare``: results against the first of them, with paired differences and boundary claims.

Tables and JSON go to stdout, messages to stderr. Leaves out: the numbers (the evaluation room).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from prorl_cli.console import print_json, say, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.tables import print_table, warn_of
from prorl_cli.options import JsonNotTables, PluginOption, file_to_write

if TYPE_CHECKING:
    from prorl_evaluation.config import ComparisonSection
    from prorl_evaluation.report.data import ReportOptions
    from prorl_evaluation.tables import TextTable


def compare_command(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Result folders or runs, the baseline first.")],
    html: Annotated[
        Path | None,
        typer.Option(help="Also write the report to this file.", callback=file_to_write),
    ] = None,
    md: Annotated[
        Path | None, typer.Option(help="Also write the report as Markdown.", callback=file_to_write)
    ] = None,
    k: o.ClaimK = None,
    alpha: o.Alpha = 0.05,
    margin: o.Margin = 0.05,
    cluster: o.Cluster = "problem",
    beta: o.Beta = False,
    false_positive_rate: o.Rate = 0.0,
    json_out: JsonNotTables = False,
    plugin: PluginOption = None,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Compare results on the problems they share.

    Paired differences and boundary claims. Every later result is compared with the first. All claims are corrected together for their number.
    """
    from prorl_evaluation import boundary_report, compare
    from prorl_evaluation.boundary.tables import (
        boundary_tables,
        posterior_table,
        posteriors,
        suspicion_table,
        suspicions,
    )
    from prorl_evaluation.report.data import report_data
    from prorl_evaluation.sampling.choose import gather
    from prorl_evaluation.tables import (
        comparison_table,
        doubt_table,
        near_n_lines,
        result_table,
    )
    from prorl_evaluation.types import finite, shown_ks

    asked = o.settings(context, config, overrides, ("comparison",)).comparison
    results, run_dir = gather(names)
    how = report_options("compare", names, asked)
    report = boundary_report(results, how.boundary)
    comparisons = [compare(results[0], later, cluster=asked.cluster) for later in results[1:]]
    extra: dict[str, Any] = {}
    extra_tables: list[TextTable] = []
    if asked.beta:
        found = posteriors(results)
        extra_tables.append(posterior_table(found))
        extra["posterior"] = [
            {"label": label, "rows": [finite(dataclasses.asdict(p)) for p in rows]}
            for label, rows in found
        ]
    if (rate := asked.false_positive_rate) > 0:
        suspect = suspicions(results, rate)
        extra_tables.append(suspicion_table(suspect, rate))
        extra["false_positives"] = [
            {"label": label, "rows": [finite(dataclasses.asdict(s)) for s in rows]}
            for label, rows in suspect
        ]
    if html is not None or md is not None:
        data = report_data(results, run_dir, how, report)
        if html is not None:
            from prorl_evaluation.report.html import write_html

            say(f"report written: {write_html(data, html)}")
        if md is not None:
            from prorl_evaluation.report.markdown import write_markdown

            say(f"tables written: {write_markdown(data, md)}")
    if json_out:
        shown = [c.to_json() for c in comparisons]
        print_json({"comparisons": shown, "boundary": report.to_json(), **extra})
        return
    metrics = [*(f"pass@{k}" for k in shown_ks(results)), "reward"]
    tables = [result_table(r) for r in results]
    tables += [comparison_table(c, metrics) for c in comparisons]
    tables.append(doubt_table(results, comparisons))
    for table in [*tables, *boundary_tables(report), *extra_tables]:
        print_table(table)
    for line in dict.fromkeys([*near_n_lines(results), *report.near_n, *report.warnings]):
        warn(line)
    for comparison in comparisons:
        warn_of(comparison)


def report_options(verb: str, names: Sequence[str], asked: ComparisonSection) -> ReportOptions:
    """Return what a report is to hold, with the command line that makes it again."""
    import shlex

    from prorl_evaluation import BoundaryOptions
    from prorl_evaluation.report.data import ReportOptions

    options = BoundaryOptions(
        k=asked.k, alpha=asked.alpha, margin=asked.margin, cluster=asked.cluster
    )
    beta, rate = asked.beta, asked.false_positive_rate
    usual, given = dataclasses.asdict(BoundaryOptions()), dataclasses.asdict(options)
    words = ["prorl eval", verb, *map(shlex.quote, names)]
    words += [f"--{name} {value}" for name, value in given.items() if value != usual[name]]
    words += ["--beta"] if beta else []
    words += [f"--false-positive-rate {rate:g}"] if rate else []
    words += ["--html report.html"] if verb == "compare" else []
    return ReportOptions(options, verb == "compare", beta, rate, " ".join(words))
