"""``prorl eval``: the group of the verbs that sample, judge, compare and report.

Leaves out: the verbs themselves, a file each.
"""

from __future__ import annotations

import typer

from prorl_cli.eval.compare import compare_command
from prorl_cli.eval.exporting import export_command
from prorl_cli.eval.importing import import_command
from prorl_cli.eval.novelty import novelty_command
from prorl_cli.eval.pass_at_k import pass_at_k_command
from prorl_cli.eval.plan import plan_command
from prorl_cli.eval.regrade import regrade_command
from prorl_cli.eval.report import report_command
from prorl_cli.eval.run import run_command
from prorl_cli.eval.table import table_command

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Evaluate: pass@k with intervals, comparisons, reports."""


app.command("pass-at-k")(pass_at_k_command)
app.command("run")(run_command)
app.command("novelty")(novelty_command)
app.command("plan")(plan_command)
app.command("compare")(compare_command)
app.command("table")(table_command)
app.command("regrade")(regrade_command)
app.command("report")(report_command)
app.command("import")(import_command)
app.command("export")(export_command)
