"""Run the service until a signal: open the sandbox and the socket, say when it is ready, drain, exit cleanly."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from prorl_common import atomic_write_text, on_interrupt
from prorl_common.serving.server import listening, make_server, require_server_extra
from prorl_sandbox.capabilities import open_sandbox
from prorl_sandbox.serve.options import ServeOptions, check_options
from prorl_sandbox.types import ToolSandbox

if TYPE_CHECKING:
    from prorl_sandbox.serve.service import Service


def serve(options: ServeOptions, say: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises UserError for a mistake in the options and for a machine without isolation, MissingExtraError.
    """
    require_server_extra()
    check_options(options)
    told = say or partial(print, "prorl sandbox serve:", file=sys.stderr, flush=True)
    with listening(options) as (sock, address):
        sandbox = open_sandbox(
            options.backend,
            allow_weak=options.allow_weak,
            slots=options.boxes,
            sessions=options.sessions,
        )
        try:
            with on_interrupt(None):  # the server's own handlers speak
                asyncio.run(_run(sandbox, options, sock, address, told))
        finally:
            sandbox.close()
    told("stopped")


async def _run(
    sandbox: ToolSandbox,
    options: ServeOptions,
    sock: socket.socket,
    address: str,
    say: Callable[[str], None],
) -> None:
    from prorl_sandbox.serve.app import build_app
    from prorl_sandbox.serve.service import Service

    service = Service(sandbox, options, say)
    server = make_server(build_app(service), service.drain, say)
    service.background.on_fault = lambda: setattr(server, "should_exit", True)
    service.background.run(_announce(service, address, say))
    await server.serve(sockets=[sock])
    if service.background.fault is not None:
        raise service.background.fault


async def _announce(service: Service, address: str, say: Callable[[str], None]) -> None:
    """Print the address to stdout (and into the ready file) once the sandbox has run a program."""
    say(f"listening on {address}, trying the sandbox")
    await service.became_ready.wait()
    if service.options.ready_file is not None:
        atomic_write_text(service.options.ready_file, address + "\n")
    print(address, flush=True)
    hello = service.hello()
    say(f"ready: {hello.isolation}, {hello.slots} programs at once, queue {hello.queue} jobs")
