"""``prorl sandbox serve``: a sandbox of this machine behind HTTP, for machines that cannot isolate programs.

Parses and calls prorl_sandbox.serve.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.options import PluginOption, ReadyFile, TokenFile
from prorl_cli.sandbox.opening import Weak


def serve_command(
    host: Annotated[str, typer.Option(help="Address; not loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port.")] = 8422,
    uds: Annotated[Path | None, typer.Option(help="Unix socket instead of host and port.")] = None,
    backend: Annotated[
        str, typer.Option(help="Sandbox: local, docker or docker:RUNTIME.")
    ] = "local",
    slots: Annotated[
        int, typer.Option(min=0, help="Programs at once; 0: one a processor, at least two.")
    ] = 0,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions open at once.")] = 16,
    queue: Annotated[int, typer.Option(min=1, help="Jobs that may wait.")] = 1000,
    max_body_mb: Annotated[float, typer.Option(help="Largest request body in MiB.")] = 64.0,
    allow_weak: Weak = False,
    token_file: TokenFile = None,
    plugin: PluginOption = None,
    drain: Annotated[float, typer.Option(min=0, help="Seconds to finish after SIGTERM.")] = 60.0,
    ready_file: ReadyFile = None,
) -> None:
    """Run others' programs over HTTP.

    Prints its address when ready; ends at SIGTERM or Ctrl-C.
    """
    from prorl_common.serving.options import read_token
    from prorl_sandbox.serve.options import ServeOptions
    from prorl_sandbox.serve.run import serve

    serve(
        ServeOptions(
            host=host,
            port=port,
            uds=uds,
            backend=backend,
            slots=slots,
            sessions=sessions,
            queue=queue,
            max_body_mb=max_body_mb,
            allow_weak=allow_weak,
            token=read_token(token_file),
            drain_seconds=drain,
            ready_file=ready_file,
        )
    )
