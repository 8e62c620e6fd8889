"""The command group ``prorl eval``."""

from __future__ import annotations

import typer

from prorl_cli.eval.comparing import compare_command, novelty_command, table_command
from prorl_cli.eval.sampling import pass_at_k_command, plan_command, regrade_command, run_command
from prorl_cli.groups import by_purpose

PURPOSES = {
    "Commands to plan, sample and score": "plan pass-at-k run regrade",
    "Commands to compare and report": "compare table novelty",
}
app = typer.Typer(cls=by_purpose(PURPOSES), no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Evaluate models: pass@k, benchmarks and comparisons."""


app.command("pass-at-k")(pass_at_k_command)
app.command("run")(run_command)
app.command("novelty")(novelty_command)
app.command("plan")(plan_command)
app.command("compare")(compare_command)
app.command("table")(table_command)
app.command("regrade")(regrade_command)
