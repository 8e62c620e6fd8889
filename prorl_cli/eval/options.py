"""Options shared by ``prorl eval`` commands.

Each option sets one key of ``prorl_evaluation.config.EvalConfig``; ``--set`` sets any key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.options import file_to_write, folder_to_write

if TYPE_CHECKING:
    from prorl_evaluation.config import EvalConfig

Model = Annotated[str | None, typer.Option(help="Model: name, folder or hub id.")]
RunName = Annotated[
    str | None, typer.Option("--run", help="Run: a name or a folder (default: newest).")
]
Checkpoint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STEP",
        help="Checkpoint: base, latest or a step number; repeatable (default: base and latest).",
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        metavar="INTEGER", help="Evaluate only this many problems, taken from the domains in turn."
    ),
]
Out = Annotated[Path | None, typer.Option(help="Output folder.", callback=folder_to_write)]
ClaimK = Annotated[
    str | None,
    typer.Option(
        "--k",
        metavar="INTEGER",
        help="k of pass@k in the claims (default: the largest power of two up to half the samples per problem).",
    ),
]
MarkdownFile = Annotated[
    Path | None,
    typer.Option(
        "--md", help="Also write the tables to this Markdown file.", callback=file_to_write
    ),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="YAML file of settings; options override it.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.KEY=VALUE",
        help="Override a setting, e.g. server.url=http://host:8000/v1; repeatable.",
    ),
]

SAMPLING = ("model", "data", "sampling", "suite", "output")
"""Sections whose keys are options of the sampling commands."""
OPTION_OF = {"model.path": "model", "model.checkpoints": "checkpoint", "suite.name": "suite"}
"""Options whose name differs from their key."""


def option_keys(sections: Iterable[str] = SAMPLING) -> dict[str, str]:
    """Return {command-line option: config key} of the settings in ``sections``."""
    from prorl_evaluation.config import EvalConfig

    tree, keys = EvalConfig(), {}
    for section in sections:
        for name in type(getattr(tree, section)).model_fields:
            key = f"{section}.{name}"
            keys[OPTION_OF.get(key, name)] = key
    return keys


def settings(
    context: typer.Context,
    file: Path | None,
    overrides: Sequence[str] | None,
    sections: Iterable[str] = SAMPLING,
) -> EvalConfig:
    from prorl_evaluation.config import load_eval_config

    keys = option_keys(sections)
    values = {
        keys[name]: value
        for name, value in context.params.items()
        if name in keys and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return load_eval_config(file, values, overrides or ())
