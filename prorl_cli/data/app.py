"""The command group ``prorl data``."""

from __future__ import annotations

import typer

from prorl_cli.data.building import (
    benchmarks_command,
    build_command,
    ladder_command,
    recipes_command,
)
from prorl_cli.data.looking import (
    diff_command,
    export_command,
    inspect_command,
    verify_command,
)
from prorl_cli.data.rate import rate_command
from prorl_cli.groups import by_purpose

PURPOSES = {
    "Commands to build a dataset": "recipes benchmarks build",
    "Commands to look at a dataset": "inspect verify diff",
    "Commands to rate and export": "rate ladder export",
}
app = typer.Typer(cls=by_purpose(PURPOSES), no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Build and inspect the training data."""


app.command("inspect")(inspect_command)
app.command("export")(export_command)
app.command("verify")(verify_command)
app.command("diff")(diff_command)
app.command("recipes")(recipes_command)
app.command("benchmarks")(benchmarks_command)
app.command("build")(build_command)
app.command("ladder")(ladder_command)
app.command("rate")(rate_command)
