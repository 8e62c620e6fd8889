"""``prorl data ladder``: write the recipe that has every generator at each of its sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, say
from prorl_cli.options import PluginOption, file_to_write


def ladder_command(
    recipe: Annotated[str, typer.Argument(help="Name of a recipe, or a .yaml file.")],
    out: Annotated[Path, typer.Option(help="The .yaml file to write.", callback=file_to_write)],
    items: Annotated[int, typer.Option(min=1, help="Rows of each size.")] = 8,
    split: Annotated[str, typer.Option(help="train, validation or test.")] = "train",
    only: Annotated[
        list[str] | None, typer.Option(help="Only this entry; repeatable (default: all).")
    ] = None,
    plugin: PluginOption = None,
) -> None:
    """Write a recipe of every generator at each size.

    The levels of a family; a reasoning-gym task as it is configured (now) and at its curriculum's first levels. Build
    it, then rate it: prorl data rate --suggest says which sizes suit a model.
    """
    from prorl_common import UserError, atomic_write_text, nearest
    from prorl_common.config import write_yaml
    from prorl_datasets import SPLITS, load_recipe
    from prorl_datasets.recipe.ladder import ladder

    if split not in SPLITS:
        raise UserError(
            f"unknown split '{split}'{nearest(split, SPLITS)}; known: {', '.join(SPLITS)}"
        )
    made = ladder(load_recipe(recipe), items, split, only or [], make_progress())
    atomic_write_text(out, write_yaml(made))
    say(
        f"{len(made['entries'])} entries of {items} rows: {out}; build it with prorl data build --recipe {out}"
    )
