"""The ``prorl`` command; the only place where errors become exit codes.

Exit codes: 0 success, 2 a user's mistake (one line with the fix), 1 an error of prorl or a service, 130 interrupted. A
bug keeps its traceback. Data goes to stdout, progress and messages to stderr.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

import typer

from prorl_cli.console import replace_unencodable
from prorl_cli.data.app import app as data_app
from prorl_cli.doctor import doctor
from prorl_cli.eval.app import app as eval_app
from prorl_cli.groups import ByPurpose
from prorl_cli.model import app as model_app
from prorl_cli.push import push
from prorl_cli.quickstart.command import quickstart
from prorl_cli.sandbox.app import app as sandbox_app
from prorl_cli.train.app import app as train_app
from prorl_cli.verify.app import app as verify_app
from prorl_cli.view import view
from prorl_cli.watch import watch
from prorl_common import ServiceError, UserError, on_interrupt, plain_words, use_plugins
from prorl_common.interrupts import INTERRUPTED, NOTHING_KEPT

EPILOG = "Start with: prorl quickstart"


@functools.cache
def build_app() -> typer.Typer:
    app = typer.Typer(
        name="prorl",
        cls=_Root,
        help="Train a reasoning model for thousands of RL steps on rewards that programs verify, and "
        "measure whether it learned.",
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
        plugin: Annotated[
            list[Path] | None,
            typer.Option(
                "--plugin",
                metavar="FILE.py",
                callback=_load_plugins,
                help="Load your own verifiers, losses and other parts from this file; repeatable.",
            ),
        ] = None,
    ) -> None:
        del version, plugin  # their callbacks have handled them

    app.add_typer(data_app, name="data")
    app.add_typer(train_app, name="train")
    app.add_typer(eval_app, name="eval")
    app.add_typer(verify_app, name="verify")
    app.add_typer(sandbox_app, name="sandbox")
    app.add_typer(model_app, name="model")
    app.command("doctor")(doctor)
    app.command("quickstart")(quickstart)
    app.command("push")(push)
    app.command("view")(view)
    app.command("watch")(watch)
    return app


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        print(f"prorl {version('prorl')}")
        raise typer.Exit


def _load_plugins(paths: list[Path] | None) -> list[Path]:
    use_plugins(paths or [])
    return paths or []


_UsageError: Any = typer.BadParameter.__base__
"""Base class of usage errors; it has no public name in Typer."""


class _Root(ByPurpose):
    """The root command: it reports usage errors in one line, and raises other exceptions unchanged."""

    purposes: ClassVar = {
        "Commands to get started": "quickstart doctor model",
        "Commands to build, train and evaluate": "data train eval",
        "Commands to show and share results": "view watch push",
        "Commands to score answers and run programs": "verify sandbox",
    }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, plugins_first(args))

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


def plugins_first(args: list[str]) -> list[str]:
    """Move each ``--plugin FILE`` to the front of the arguments, except after ``--``."""
    end = args.index("--") if "--" in args else len(args)
    plugins: list[str] = []
    remaining: list[str] = []
    words = iter(args[:end])
    for word in words:
        if word == "--plugin":
            plugins += [word, *([value] if (value := next(words, None)) is not None else [])]
        else:
            (plugins if word.startswith("--plugin=") else remaining).append(word)
    return [*plugins, *remaining, *args[end:]]


def _in_a_line(error: Any) -> Exception:
    if "NoArgsIsHelp" in type(error).__name__:  # print the help page instead of an error line
        return cast(Exception, error)
    words = plain_words(" ".join(error.format_message().split())).rstrip(".")
    command = error.ctx.command_path if error.ctx is not None else "prorl"
    if unknown := re.match(r"No such (?:option:|command) '?([\w-]+)", words):
        options = [] if error.ctx is None else error.ctx.command.params
        settable = any("--set" in option.opts for option in options)
        if cure := replacement(command, unknown[1], settable):
            words = unknown[0].replace("'", "") + f": {cure}"
    words = re.sub(r" \(Possible options: (.*)\)", r" (did you mean \1?)", words)
    return UserError(f"{words[:1].lower()}{words[1:]}; see {command} --help")


TREES = {
    "train": ("prorl_training.config", "TrainConfig"),
    "eval": ("prorl_evaluation.config", "EvalConfig"),
    "data": ("prorl_evaluation.config", "EvalConfig"),
}
"""Maps a command group to the module and class of its settings."""
SECTIONS = {
    "compare": "comparison",
    "table": "comparison",
    "novelty": "novelty",
}
"""Maps a command to the section that contains all its settings."""
SHORT = {"server": "server.url", "gpus": "openrlhf.gpus_per_node"}
"""Options whose setting has a different name."""


REMOVED = {
    "data doctor": "use prorl data build --check",
    "data show": "use prorl data inspect FOLDER ID",
    "eval report": "use prorl eval compare NAMES --html FILE, or prorl view FOLDER --html FILE for one result",
    "eval regrade --server": "use --set scoring.servers=URL",
    "eval run --markdown": "the command writes a Markdown file, whose name it prints",
    "eval table --markdown": "use --md FILE",
    **{
        f"eval {verb} --config": "use --set SECTION.KEY=VALUE"
        for verb in ("compare", "table", "novelty", "regrade")
    },
    "push --fall-back": "use --checkpoint STEP with the step of an intact checkpoint",
    "sandbox attack": "use prorl sandbox doctor --attack all, or --attack CASE",
    "sandbox doctor --case": "use --attack CASE",
    "train export --best": "use --checkpoint best",
    "train export --fall-back": "use --checkpoint STEP with the step of an intact checkpoint",
    "train export --step": "use --checkpoint STEP",
    "train forecast --widest": "remove it; the limit is 0.1",
    "train fit --gpu-tflops": "remove it; hours are for an H100 and scale with the GPU's peak",
    "train simulate --plot": "use the printed timeline, or prorl view for the run's curves and decisions",
    "view --open": "open the address that the command prints",
}
"""Advice for removed commands and options."""


def replacement(command: str, name: str, settable: bool) -> str | None:
    """Return advice for an unknown option or subcommand ``name``, or None.

    ``settable`` says whether the command takes ``--set``.
    """
    cure = REMOVED.get(f"{command} {name}".removeprefix("prorl "))
    if cure is None and settable and (key := setting_for(command, name)):
        return f"use --set {key}=VALUE"
    return cure


def setting_for(command: str, option: str) -> str | None:
    """Return the setting that replaces ``option`` of ``command`` (such as ``prorl eval run``), or None."""
    _, group, *verbs = [*command.split(), ""]
    if group not in TREES:
        return None
    from prorl_common.config import all_keys

    module, tree = TREES[group]
    keys = all_keys(getattr(import_module(module), tree))
    name = option.lstrip("-").replace("-", "_")
    matches = [key for key in keys if name in (key.replace(".", "_"), key.rpartition(".")[2])]
    if section := SECTIONS.get(verbs[0]):
        matches = [key for key in matches if key.startswith(f"{section}.")]
    return SHORT.get(name) or (matches[0] if matches else None)


class _ClosedPipeError(Exception):
    """The reader closed stdout."""


class _InterruptedError(Exception):
    """Ctrl-C was pressed."""


def _names_argument(path: object) -> bool:
    """Return whether an argument of the command line is this path or a parent folder."""
    if not isinstance(path, str):
        return False
    words = [word.rpartition("=")[2] for word in sys.argv[1:]]
    return any(word and (path == word or path.startswith(f"{word.rstrip('/')}/")) for word in words)


def main() -> None:
    # Set before torch loads, so that its waiting threads sleep instead of spinning and another busy process
    # only slows a run down.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    replace_unencodable()
    try:
        try:
            with on_interrupt(NOTHING_KEPT):
                build_app()(prog_name="prorl")  # the same name however it was started
        finally:
            if sys.stdout is not None:  # the process may have no stdout
                sys.stdout.flush()
    except (_ClosedPipeError, BrokenPipeError):  # prorl ... | head -1
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if not _names_argument(error.filename):
            raise
        print(f"error: {error.filename} cannot be used: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except ServiceError as error:
        print(f"service error: {error}", file=sys.stderr)
        sys.exit(1)
    except (_InterruptedError, KeyboardInterrupt):  # the message has been printed
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
