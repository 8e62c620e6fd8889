"""The command group ``prorl sandbox``."""

from __future__ import annotations

import typer

from prorl_cli.sandbox.building import build_env_command, build_image_command
from prorl_cli.sandbox.doctor import doctor_command
from prorl_cli.sandbox.run import run_command

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Run untrusted programs under limits."""


app.command("run")(run_command)
app.command("doctor")(doctor_command)
app.command("build-image")(build_image_command)
app.command("build-env")(build_env_command)
