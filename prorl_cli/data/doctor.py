"""``prorl data doctor``: check a recipe's published sources without fetching them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json
from prorl_cli.data.options import Only, Skip
from prorl_cli.options import JsonNotTables, PluginOption


def doctor_command(
    hub: Annotated[
        bool, typer.Option("--hub", help="Check layout and columns of each source on the hub.")
    ] = False,
    recipe: Annotated[str, typer.Option(help="Name of a recipe or a .yaml file.")] = "prorl-136k",
    only: Only = None,
    skip: Skip = None,
    benchmarks: Annotated[
        bool, typer.Option("--benchmarks", help="And the benchmarks that it is checked against.")
    ] = False,
    mirror: Annotated[
        Path | None, typer.Option(help="Folder with copies of hub files, looked in first.")
    ] = None,
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Check what a build would take, a line a source.

    Lists each repository and reads a Parquet footer or a text's first row: no file is fetched. Exit 1 where a source fails.
    """
    from prorl_common import UserError
    from prorl_datasets import examine_sources, load_recipe

    if not hub:
        raise UserError("say what to check: prorl data doctor --hub")
    failed, found = 0, []
    checked = examine_sources(
        load_recipe(recipe), only or (), skip or (), mirror, benchmarks, make_progress()
    )
    for one in checked:
        failed += bool(one.problem)
        found.append({"ok": not one.problem, **asdict(one)})
        if json_out:
            continue
        if one.problem:
            print(f"FAILED  {one.name}: {one.repo}: {one.problem}")
            continue
        at = f" at {one.revision[:8]}" if one.revision else ""
        print(
            f"ok      {one.name}: {one.repo}{at}: {', '.join(one.candidates)} ({len(one.files)} of its files, "
            f"{one.size / 1e6:,.1f} MB; columns {', '.join(one.columns)})"
        )
    if json_out:
        print_json(found)
    if failed:
        raise typer.Exit(1)
