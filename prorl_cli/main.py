"""The ``prorl`` command: groups of verbs, one place where errors become exit codes.

Exit codes: 0 success, 2 a user's mistake (one line with the cure), 1 a fault of ours or of a service,
130 interrupted. A bug keeps its traceback. Leaves out: all work; each verb calls a room.
"""

from __future__ import annotations

import sys

import typer

from prorl_cli.data.app import app as data_app
from prorl_cli.doctor import doctor
from prorl_cli.eval.app import app as eval_app
from prorl_cli.model import app as model_app
from prorl_cli.sandbox.app import app as sandbox_app
from prorl_cli.train.app import app as train_app
from prorl_cli.verify.app import app as verify_app
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
    app.add_typer(data_app, name="data")
    app.add_typer(train_app, name="train")
    app.add_typer(eval_app, name="eval")
    app.add_typer(verify_app, name="verify")
    app.add_typer(sandbox_app, name="sandbox")
    app.add_typer(model_app, name="model")
    app.command("doctor")(doctor)
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
