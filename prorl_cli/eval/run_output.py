"""How ``prorl eval run`` shows a suite: tables, Markdown or JSON on stdout, and the list of suites.

Leaves out: the numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from prorl_cli.console import print_json, say, stdout_console, warn
from prorl_cli.eval.tables import WIDE, print_table
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_evaluation.sampling.session import Session
    from prorl_evaluation.suites import SuiteResult
    from prorl_evaluation.suites.published import Shown
    from prorl_evaluation.suites.suite import Source

PUBLISHED = ("core", "all", "none")


def check_kind(published: str) -> None:
    """Raise UserError where the published rows asked for are none of the kinds there are."""
    if published not in PUBLISHED:
        raise UserError(f"--published is '{published}': use {', '.join(PUBLISHED)}")


def show_suite(
    result: SuiteResult, session: Session, how: str, published: str, html: Path | None = None
) -> None:
    """Save and print the outcome (``how``: tables, markdown or json; the report to ``html``), then exit
    with its code where that is not 0."""
    from prorl_evaluation.suites import markdown, save_suite, suite_json, suite_tables
    from prorl_evaluation.suites.runner import suites_root

    shown = cast("Shown", published)
    page = save_suite(result, suites_root(session.run, session.out), shown)
    tables = suite_tables(result, shown)
    if how == "json":
        print_json(suite_json(result))
    elif how == "markdown":
        print(markdown(tables), end="")
    else:
        for table in tables:
            for line in table.before:
                _line(line)
            print_table(table.table)
            for line in table.below:
                _line(line)
    say(
        f"written: {page} and .json beside it; each benchmark's folder works with prorl eval compare"
    )
    if html is not None:
        _write_report(result, session, html)
    if result.failures:
        say(f"{len(result.failures)} benchmarks were not done, the same command tries them again")
        raise typer.Exit(result.exit_code)


def _write_report(result: SuiteResult, session: Session, html: Path) -> None:
    from prorl_evaluation import EvaluationError
    from prorl_evaluation.report.data import report_data
    from prorl_evaluation.report.html import write_html
    from prorl_evaluation.suites import joined

    try:
        results, left = joined(result.models, result.suite.name)
    except EvaluationError as error:
        warn(str(error))  # the failures' own exit code stands
        return
    for name in left:
        warn(f"{name} is not in the report: not every model has finished it")
    run = session.run.path if session.run is not None else None
    say(f"report written: {write_html(report_data(results, run), html)}")


def _line(text: str) -> None:
    stdout_console().print(text, markup=False, soft_wrap=True)


def list_suites(json_out: bool) -> None:
    """Print the packaged suites with their benchmarks and where those come from."""
    from rich.table import Table
    from rich.text import Text

    from prorl_evaluation.suites import load_suite, suite_names

    suites = [load_suite(name) for name in suite_names()]
    rows: list[dict[str, Any]] = []
    for suite in suites:
        for name, source in suite.sources.items():
            where, need = _origin(source)
            metric = "pass@1" if suite.metric(name) == "mean_of_n" else "mean reward"
            row = {"suite": suite.name, "benchmark": name, "metric": metric, "from": where}
            rows.append({**row, "needs": need})
    if json_out:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for title in ("suite", "benchmark", "metric", "from", "needs"):
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(v)) for v in row.values()))
    console = stdout_console()
    if not console.is_terminal:
        console.width = WIDE
    console.print(table)
    say("run one: prorl eval run --suite NAME; a .yaml of your own: docs/reference/suites.md")


def _origin(source: Source) -> tuple[str, str]:
    """Return where a benchmark comes from and what that needs."""
    from prorl_evaluation.suites.suite import DatasetSpec, ProceduralSpec

    if isinstance(source, DatasetSpec):
        return source.dataset, "the folder"
    if isinstance(source, ProceduralSpec) or source.hub is None:
        return "generated", "nothing"
    return source.hub.repo, "the hub and its terms" if source.gated else "the hub or --mirror"
