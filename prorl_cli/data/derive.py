"""``prorl data show``, ``filter`` and ``merge``: look at a row, and make datasets out of datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import print_json, say, stdout_console
from prorl_cli.data.tables import show_example
from prorl_cli.options import JsonNotTables, PluginOption, folder_to_write

Out = Annotated[
    Path, typer.Option(help="Folder to write (must not exist).", callback=folder_to_write)
]


def show_command(
    folder: Annotated[Path, typer.Argument(help="A dataset folder, or one Parquet file of it.")],
    row: Annotated[str, typer.Argument(metavar="ID", help="Id of a row, or of a dropped item.")],
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Show all that a dataset says of one row.

    Prompt, gold, verifier and where it comes from; of a row that was dropped, what was recorded of it.
    """
    import json

    from prorl_datasets import show

    found = show(folder, row)
    if json_out:
        print_json(found)
        return
    console = stdout_console()
    if found["kept"]:
        show_example(found["id"], found["prompt"], found["gold_response"])
    shown = {k: v for k, v in found.items() if k not in ("prompt", "gold_response", "id")}
    for name, value in shown.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        console.print(f"{name}: {text}", markup=False, soft_wrap=True)


def filter_command(
    folder: Annotated[Path, typer.Argument(help="A dataset folder.")],
    where: Annotated[str, typer.Option(help="A condition, like 'domain == \"math\"'.")],
    out: Out,
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Write the rows for which a condition holds.

    Names are the dataset's columns and the keys of the metadata; one that a row lacks is null there.
    """
    from prorl_datasets import filter_dataset

    derived = filter_dataset(folder, where, out)
    if json_out:
        print_json({"path": str(out), "rows": derived.rows, "left_out": derived.left_out})
    lost = sum(derived.left_out.values())
    say(f"{out}: {sum(derived.rows.values())} rows kept, {lost} left out")


def merge_command(
    folders: Annotated[list[Path], typer.Argument(help="Two dataset folders or more.")],
    out: Out,
    plugin: PluginOption = None,
    json_out: JsonNotTables = False,
) -> None:
    """Join datasets, each text once.

    Of equal texts the first stays, one of an evaluation split before one of train; an id that is taken gets ~2.
    """
    from prorl_datasets import merge_datasets

    derived, renamed = merge_datasets(folders, out)
    if json_out:
        counts = {"rows": derived.rows, "left_out": derived.left_out, "renamed": renamed}
        print_json({"path": str(out), **counts})
    for reason, count in derived.left_out.items():
        say(f"{count} rows left out: {reason}")
    say(f"{out}: {sum(derived.rows.values())} rows, {renamed} ids renamed")
