"""``prorl verify serve``: the verifiers as an HTTP service.

Parses and calls prorl_verifiers.serve.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.options import PluginOption, ReadyFile, SandboxBackend, TokenFile
from prorl_cli.verify.options import AllowWeak, Modes, ThinkOpen, Workers


def serve(
    host: Annotated[str, typer.Option(help="Address; not loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free port.")] = 8421,
    uds: Annotated[Path | None, typer.Option(help="Unix socket instead of host and port.")] = None,
    workers: Workers = 2,
    backend: SandboxBackend = "local",
    allow_weak: AllowWeak = False,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds a try at one response.")] = 10.0,
    queue: Annotated[int, typer.Option(min=1, help="Items that may wait.")] = 20_000,
    max_body_mb: Annotated[float, typer.Option(help="Largest request body in MiB.")] = 64.0,
    token_file: TokenFile = None,
    mode: Modes = None,
    plugin: PluginOption = None,
    think_open: ThinkOpen = False,
    drain: Annotated[float, typer.Option(min=0, help="Seconds to finish after SIGTERM.")] = 60.0,
    ready_file: ReadyFile = None,
) -> None:
    """Serve the verifiers over HTTP.

    Prints its address when ready; ends at SIGTERM or Ctrl-C.
    """
    from prorl_common.serving.options import read_token
    from prorl_verifiers import parse_modes
    from prorl_verifiers.serve.options import ServeOptions
    from prorl_verifiers.serve.run import serve as run

    run(
        ServeOptions(
            host=host,
            port=port,
            uds=uds,
            workers=workers,
            backend=backend,
            allow_weak=allow_weak,
            timeout=timeout,
            queue=queue,
            max_body_mb=max_body_mb,
            token=read_token(token_file),
            modes=parse_modes(mode or []),
            think_open=think_open,
            drain_seconds=drain,
            ready_file=ready_file,
        )
    )
