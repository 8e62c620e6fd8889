"""``prorl verify serve``: the verifiers as an HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.options import (
    AllowHost,
    ReadyFile,
    SandboxBackend,
    TokenFile,
    real,
    whole,
)
from prorl_cli.verify.options import AllowWeak, Modes, ThinkOpen, Workers


def serve(
    host: Annotated[str, typer.Option(help="Address; not loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, whole(high=65535, help="0 takes a free port.")] = 8421,
    uds: Annotated[Path | None, typer.Option(help="Unix socket instead of host and port.")] = None,
    workers: Workers = 2,
    backend: SandboxBackend = "local",
    allow_weak: AllowWeak = False,
    timeout: Annotated[float, real(low=0.1, help="Seconds a try at one response.")] = 10.0,
    queue: Annotated[int, whole(low=1, help="Items that may wait.")] = 20_000,
    max_body_mb: Annotated[float, real(help="Largest request body in MiB.")] = 64.0,
    token_file: TokenFile = None,
    allow_host: AllowHost = None,
    mode: Modes = None,
    think_open: ThinkOpen = False,
    drain: Annotated[float, real(help="Seconds to finish after SIGTERM.")] = 60.0,
    ready_file: ReadyFile = None,
) -> None:
    """Serve the verifiers over HTTP.

    Example: prorl verify serve --port 8421 --workers 8

    Prints its address when ready; ends at SIGTERM or Ctrl-C.
    """
    from prorl_common.serving.options import read_token
    from prorl_verifiers import parse_modes
    from prorl_verifiers.serve import run
    from prorl_verifiers.serve.options import ServeOptions

    run.serve(
        ServeOptions(
            host=host,
            port=port,
            hosts=tuple(allow_host or ()),
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
