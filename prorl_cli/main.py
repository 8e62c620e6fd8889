"""The ``prorl`` command: groups of verbs, one place where errors become exit codes.

Exit codes: 0 success, 2 a user's mistake (one line with the cure), 1 a fault of ours or of a service,
130 interrupted. A bug keeps its traceback. Leaves out: all work; each verb calls a room.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from prorl_cli.data.app import app as data_app
from prorl_cli.doctor import doctor
from prorl_cli.eval.app import app as eval_app
from prorl_cli.model import app as model_app
from prorl_cli.plan import plan
from prorl_cli.prove.app import app as prove_app
from prorl_cli.push import push
from prorl_cli.quickstart.command import quickstart
from prorl_cli.sandbox.app import app as sandbox_app
from prorl_cli.train.app import app as train_app
from prorl_cli.verify.app import app as verify_app
from prorl_cli.view import view
from prorl_common import ServiceError, UserError, on_interrupt, plain_words
from prorl_common.interrupts import INTERRUPTED, NOTHING_KEPT

EPILOG = "Start with: prorl quickstart"


def build_app() -> typer.Typer:
    """Return the Typer app with every group attached."""
    app = typer.Typer(
        name="prorl",
        cls=_Root,
        help="Train a reasoning model with verifiable rewards for thousands of steps, and find out "
        "honestly whether it learned.",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: Annotated[
            bool,
            typer.Option(
                "--version", is_eager=True, callback=_print_version, help="Print the version."
            ),
        ] = False,
    ) -> None:
        del version

    app.add_typer(data_app, name="data")
    app.add_typer(train_app, name="train")
    app.add_typer(eval_app, name="eval")
    app.add_typer(verify_app, name="verify")
    app.add_typer(sandbox_app, name="sandbox")
    app.add_typer(model_app, name="model")
    app.add_typer(prove_app, name="prove")
    app.command("doctor")(doctor)
    app.command("quickstart")(quickstart)
    app.command("plan")(plan)
    app.command("push")(push)
    app.command("view")(view)
    return app


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"prorl {version('prorl')}")
        raise typer.Exit


_UsageError: Any = typer.BadParameter.__base__
"""A wrong option, argument or command; Typer has no public name for it."""


class _Root(TyperGroup):
    """Says a wrong option in one line, and lets through what Typer would turn into an exit code without a
    word."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().make_context(*arguments, **options)
        except _UsageError as error:
            raise _in_a_line(error) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            raise _in_a_line(error) from error
        except BrokenPipeError as error:
            raise _ClosedPipeError from error
        except KeyboardInterrupt as error:
            raise _InterruptedError from error


def _in_a_line(error: Any) -> Exception:
    if "NoArgsIsHelp" in type(error).__name__:  # the whole page, not a mistake's line
        return cast(Exception, error)
    words = plain_words(" ".join(error.format_message().split())).rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "prorl"
    return UserError(f"{words[:1].lower()}{words[1:]}; see {command} --help")


class _ClosedPipeError(Exception):
    """The reader of stdout has enough."""


class _InterruptedError(Exception):
    """Ctrl-C."""


def main() -> None:
    """Run the command line; see the module docstring for exit codes."""
    # before torch loads: its threads sleep, rather than spin, while they wait for each other, so that another busy
    # process on the machine slows a run down and does not stop it
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        try:
            with on_interrupt(NOTHING_KEPT):
                build_app()(prog_name="prorl")  # however it was started
        finally:
            if sys.stdout is not None:  # started without one
                sys.stdout.flush()
    except (_ClosedPipeError, BrokenPipeError):  # prorl ... | head -1
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except ServiceError as error:
        print(f"service error: {error}", file=sys.stderr)
        sys.exit(1)
    except (_InterruptedError, KeyboardInterrupt):  # what happens has been said
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
