"""``prorl data push``: put a dataset on the hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress
from prorl_cli.options import JsonNotTables
from prorl_cli.uploads import show_upload


def push_command(
    folder: Annotated[Path, typer.Argument(metavar="DATASET", help="A dataset folder.")],
    repo: Annotated[str, typer.Argument(metavar="REPO", help="Where to: owner/name.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository private, where it is made.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be put there, and ask nobody.")
    ] = False,
    json_out: JsonNotTables = False,
) -> None:
    """Put a dataset on the Hugging Face hub in one commit.

    data/<split>-*.parquet, the card and the manifest, as load_dataset reads them. Files with the texts of rows that the
    build left out stay here. Needs HF_TOKEN and the extra 'hub'.
    """
    from prorl_datasets import plan_push, push, rows_by_split

    if dry_run:
        done = plan_push(folder, repo)
    else:
        done = push(folder, repo, private=private, environment=os.environ, progress=make_progress())
    show_upload(done, dry_run, json_out, {"rows": rows_by_split(folder)})
