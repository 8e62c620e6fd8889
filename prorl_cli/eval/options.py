"""Options shared by ``prorl eval`` commands, and the settings from file, options and ``--set``.

Each option writes one key of ``prorl_evaluation.config.EvalConfig``; ``--set`` writes any other key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.options import folder_to_write

if TYPE_CHECKING:
    from prorl_evaluation.config import EvalConfig

Model = Annotated[str | None, typer.Option(help="A model's name, path or hub id, without a run.")]
RunName = Annotated[str | None, typer.Option("--run", help="A run (default: the newest).")]
Checkpoint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STEP", help="base, latest or a step; repeatable (default: base and latest)."
    ),
]
Temperature = Annotated[str | None, typer.Option(metavar="FLOAT", help="Sampling temperature.")]
TopP = Annotated[str | None, typer.Option(metavar="FLOAT", help="Sampling top-p.")]
MaxTokens = Annotated[
    str | None,
    typer.Option(
        metavar="INTEGER", help="Token limit of an answer (default: the run's, else 512)."
    ),
]
Limit = Annotated[
    str | None, typer.Option(metavar="INTEGER", help="Problems, the domains in turn.")
]
Out = Annotated[
    Path | None, typer.Option(help="Folder for all that is written.", callback=folder_to_write)
]
ClaimK = Annotated[
    str | None,
    typer.Option("--k", metavar="INTEGER", help="k of the claims (default: largest <= n/2)."),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="YAML file of settings; options win over it.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.KEY=VALUE",
        help="Override a setting, as server.url=http://host:8000/v1; repeatable, wins over all.",
    ),
]

SAMPLING = ("model", "data", "sampling", "suite", "output")
"""Sections whose keys are options of the sampling commands."""
OPTION_OF = {"model.path": "model", "model.checkpoints": "checkpoint", "suite.name": "suite"}
"""Options whose name differs from their key."""


def option_keys(sections: Iterable[str] = SAMPLING) -> dict[str, str]:
    """Return a map from option to key for the given ``sections``."""
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
    """Return the settings from the file, the given options and ``--set``."""
    from prorl_evaluation.config import load_eval_config

    keys = option_keys(sections)
    values = {
        keys[name]: value
        for name, value in context.params.items()
        if name in keys and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return load_eval_config(file, values, overrides or ())
