"""``prorl data push``: put a dataset on the hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, say
from prorl_cli.options import JsonNotTables


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

    data/<split>-*.parquet, the card and the manifest, as load_dataset reads them. Needs HF_TOKEN and the extra 'hub'.
    """
    from prorl_datasets import plan_push, push

    if dry_run:
        done = plan_push(folder, repo)
    else:
        done = push(folder, repo, private=private, environment=os.environ, progress=make_progress())
    if json_out:
        facts = {
            "repo": done.repo,
            "files": done.sizes(),
            "rows": done.rows,
            "removed": done.removed,
        }
        print_json({**facts, "url": done.url, "commit": done.commit})
        return
    for name, size in done.sizes().items():
        print(f"{size:12,}  {name}")
    for name in done.removed:
        print(f"     removed  {name}")
    say(
        f"dry run: nothing was sent to {repo}"
        if dry_run
        else f"pushed: {done.url} at {done.commit[:8]}"
    )
