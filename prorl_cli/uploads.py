"""How a push to the hub is shown, whatever was pushed: files with their sizes, what was removed, where it is now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_cli.console import print_json, say
from prorl_common.hub import Upload


def show_upload(done: Upload, dry_run: bool, json_out: bool, more: Mapping[str, Any]) -> None:
    """Print an upload that was done, or only planned; ``more`` goes into the JSON."""
    if json_out:
        print_json({**done.to_json(), **more})
        return
    for name, size in done.sizes().items():
        print(f"{size:12,}  {name}")
    for name in done.removed:
        print(f"     removed  {name}")
    say(
        f"dry run: nothing was sent to {done.repo}"
        if dry_run
        else f"pushed: {done.url} at {done.commit[:8]}"
    )
