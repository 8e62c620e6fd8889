"""The options of ``prorl train`` and ``simulate`` that choose the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Preset = Annotated[str | None, typer.Option(help="A packaged preset; see prorl train presets.")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a setting; repeatable."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="YAML file of settings.")]
