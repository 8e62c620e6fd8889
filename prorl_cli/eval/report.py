"""``prorl eval report``: one page that shows results, their comparison and the run's training.

The file's name or JSON goes to stdout, messages to stderr.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import print_json, say
from prorl_cli.eval import options as o
from prorl_cli.eval.compare import report_options
from prorl_cli.options import PluginOption, file_to_write


def report_command(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(help="A run, or result folders, baseline first.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The HTML file (default: report.html in the run or here).", callback=file_to_write
        ),
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
    json_out: Annotated[
        bool, typer.Option("--json", help="Print every number as JSON instead of the file's name.")
    ] = False,
    plugin: PluginOption = None,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Write one self-contained HTML report.

    Numbers, curves, boundary claims, training, examples.
    """
    from prorl_evaluation.report.data import report_data
    from prorl_evaluation.report.html import write_html
    from prorl_evaluation.report.markdown import write_markdown
    from prorl_evaluation.sampling.choose import gather

    asked = o.settings(context, config, overrides, ("comparison",)).comparison
    results, run_dir = gather(names)
    data = report_data(results, run_dir, report_options("report", names, asked))
    page = write_html(data, out if out is not None else (run_dir or Path()) / "report.html")
    if md is not None:
        say(f"tables written: {write_markdown(data, md)}")
    if json_out:
        say(f"report written: {page}")
        print_json(data.to_json())
        return
    print(page)
