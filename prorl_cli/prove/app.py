"""``prorl prove``: the group of the verbs that show by running what works on a machine."""

from __future__ import annotations

import typer

from prorl_cli.prove.gpu import gpu_command

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Show by running what works on this machine."""


app.command("gpu")(gpu_command)
