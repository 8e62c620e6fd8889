"""``prorl view``: runs, datasets and evaluations in a browser, or as one file.

The page's address (or the file's name) goes to stdout, messages to stderr.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import say
from prorl_cli.options import AllowHost, file_to_write, whole


def view(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Runs, datasets, results, or folders of them (default: this folder)."),
    ] = None,
    port: Annotated[int, whole(high=65535, help="Of 127.0.0.1; 0 takes a free one.")] = 0,
    html: Annotated[
        Path | None,
        typer.Option(help="Write one self-contained file instead.", callback=file_to_write),
    ] = None,
    share_safe: Annotated[
        bool, typer.Option("--share-safe", help="Leave prompts, answers and all other texts out.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    allow_host: AllowHost = None,
) -> None:
    """Look at runs, datasets and evaluations in a browser.

    Example: prorl view runs/mine

    The page is read-only, follows running runs, and is for this machine alone: its address holds a token. On another
    machine, forward the port: ssh -L 8000:127.0.0.1:8000 HOST prorl view --port 8000.
    """
    from prorl_viewer import Subjects, write_html

    with contextlib.closing(Subjects(paths or [Path()])) as subjects:
        if html is not None:
            current = subjects.now()
            size = write_html(current, html, share_safe)
            say(f"{len(current)} subjects, {size / 2**20:.1f} MiB")
            print(html)
            return
        from prorl_viewer.serving import serve

        with contextlib.ExitStack() as stack:

            def ready(address: str) -> None:
                print(address, flush=True)
                say("Ctrl-C ends it")
                if open_browser:
                    import webbrowser

                    webbrowser.open(stack.enter_context(redirect_file(address)).as_uri())

            serve(subjects.now, port, ready, say, share_safe, allow_host or [])


@contextlib.contextmanager
def redirect_file(address: str) -> Iterator[Path]:
    """Yield a user-only file that leads to ``address``, because every user sees a command's arguments and so its
    token."""
    with tempfile.TemporaryDirectory(prefix="prorl-view-") as folder:
        file = Path(folder) / "open.html"
        file.write_text(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}">',
            encoding="utf-8",
        )
        yield file
