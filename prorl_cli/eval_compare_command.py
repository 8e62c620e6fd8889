"""``prorl eval compare`` and ``report``: results against each other, and the page that shows them.

Tables and JSON go to stdout, messages to stderr. Leaves out: the numbers (the evaluation room).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import print_json, say
from prorl_cli.eval_shared import Json, print_table, warn_of


def compare_command(
    a: Annotated[Path, typer.Argument(help="The baseline's result folder.")],
    b: Annotated[Path, typer.Argument(help="The other result folder.")],
    html: Annotated[Path | None, typer.Option(help="Also write the report to this file.")] = None,
    json_out: Json = False,
) -> None:
    """Compare two results on the problems they share: paired differences with intervals."""
    from prorl_evaluation import compare, load_result, write_report
    from prorl_evaluation.tables import comparison_table

    results = [load_result(a), load_result(b)]
    comparison = compare(*results)
    if html is not None:
        say(f"report written: {write_report(results, None, html)}")
    if json_out:
        print_json(comparison.to_json())
        return
    print_table(comparison_table(comparison))
    warn_of(comparison)


def report_command(
    names: Annotated[list[str], typer.Argument(help="A run, or result folders, baseline first.")],
    out: Annotated[
        Path | None, typer.Option(help="The HTML file (default: report.html in the run or here).")
    ] = None,
) -> None:
    """Write one self-contained HTML report: numbers, curves, training, examples."""
    from prorl_evaluation import write_report
    from prorl_evaluation.choose import gather

    results, run_dir = gather(names)
    target = out if out is not None else (run_dir or Path()) / "report.html"
    print(write_report(results, run_dir, target))
