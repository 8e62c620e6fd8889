"""``prorl view``: runs, datasets and evaluations in a browser, or as one file.

The page's address (or the file's name) goes to stdout, messages to stderr.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import say
from prorl_cli.options import AllowHost, file_to_write, whole


def view(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Runs, datasets, results, or folders that contain them (default: this folder)."
        ),
    ] = None,
    port: Annotated[int, whole(high=65535, help="Port on 127.0.0.1; 0 chooses a free one.")] = 0,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write the page to this self-contained file instead of serving it.",
            callback=file_to_write,
        ),
    ] = None,
    share_safe: Annotated[
        bool, typer.Option("--share-safe", help="Omit prompts, answers and all other texts.")
    ] = False,
    allow_host: AllowHost = None,
) -> None:
    """Show runs, datasets and evaluations in a browser.

    Example: prorl view runs/mine

    The page is read-only and updates while a run trains. Only this machine can open it, at an address that contains
    a token. To open it from another machine, forward the port: ssh -L 8000:127.0.0.1:8000 HOST prorl view --port 8000.
    """
    from prorl_common.serving.server import require_server_extra
    from prorl_viewer import Subjects, write_html

    with contextlib.closing(Subjects(paths or [Path()])) as subjects:
        if html is not None:
            current = subjects.now()
            size = write_html(current, html, share_safe)
            say(f"{len(current)} subjects, {size / 2**20:.1f} MiB")
            print(html)
            return
        require_server_extra()
        from prorl_viewer.app import serve

        def ready(address: str) -> None:
            print(address, flush=True)
            say("press Ctrl-C to stop")

        serve(subjects.now, port, ready, say, share_safe, allow_host or [])
