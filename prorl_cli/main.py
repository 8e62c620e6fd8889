"""The ``prorl`` command: groups of verbs, one place where errors become exit codes.

Exit codes: 0 success, 2 a user's mistake (one line with the cure), 1 a fault of ours or of a service,
130 interrupted. A bug keeps its traceback. Leaves out: all work; each verb calls a room.
"""

from __future__ import annotations

import sys

import typer

from prorl_cli import (
    data_commands,
    doctor_command,
    eval_commands,
    model_commands,
    sandbox_commands,
    train_commands,
    verify_commands,
)
from prorl_common import ServiceError, UserError

EPILOG = (
    "Start with: prorl doctor · prorl data build · prorl train --steps 3000 · prorl eval pass-at-k"
)


def build_app() -> typer.Typer:
    """Return the Typer app with every group attached."""
    app = typer.Typer(
        name="prorl",
        help="Train a reasoning model with verifiable rewards for thousands of steps, and find out "
        "honestly whether it learned.",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.add_typer(data_commands.app, name="data")
    app.add_typer(train_commands.app, name="train")
    app.add_typer(eval_commands.app, name="eval")
    app.add_typer(verify_commands.app, name="verify")
    app.add_typer(sandbox_commands.app, name="sandbox")
    app.add_typer(model_commands.app, name="model")
    app.command("doctor")(doctor_command.doctor)
    return app


def main() -> None:
    """Run the command line; see the module docstring for exit codes."""
    try:
        build_app()()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except ServiceError as error:
        print(f"service error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
