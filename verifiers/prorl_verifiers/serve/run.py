"""Run the service until a signal: open the socket, say when it is ready, drain, exit cleanly.

SIGTERM or SIGINT once: new requests get 503, what was taken is finished (up to ``drain_seconds``), then it
returns. A second signal ends it at once.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from prorl_common import atomic_write_text, on_interrupt
from prorl_common.serving.server import listening, make_server, require_server_extra
from prorl_verifiers.serve.options import ServeOptions, check_options

if TYPE_CHECKING:
    from prorl_verifiers.serve.service import Service


def serve(options: ServeOptions, say: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. Raises UserError for a mistake in the options, MissingExtraError."""
    require_server_extra()
    check_options(options)
    from prorl_verifiers.pool.core import WorkerOptions
    from prorl_verifiers.pool.verifier_pool import VerifierPool
    from prorl_verifiers.spec import VERIFIERS

    told = say or partial(print, "prorl verify serve:", file=sys.stderr, flush=True)
    warm = [spec.name for spec in VERIFIERS.all() if spec.score is not None]
    with listening(options) as (sock, address):
        pool = VerifierPool(
            options.workers,
            options.backend,
            allow_weak=options.allow_weak,
            timeout_seconds=options.timeout,
            modes=options.modes,
            worker_options=WorkerOptions(warm=warm),
        )
        try:
            with on_interrupt(None):  # the server's own handlers speak
                asyncio.run(_run(pool, options, sock, address, told))
        finally:
            pool.close(drain_seconds=0.0)
    told("stopped")


async def _run(
    pool: Any, options: ServeOptions, sock: socket.socket, address: str, say: Callable[[str], None]
) -> None:
    from prorl_verifiers.serve.app import build_app
    from prorl_verifiers.serve.service import Service

    service = Service(pool, options, say)
    server = make_server(build_app(service), service.drain, say)
    service.background.on_fault = lambda: setattr(server, "should_exit", True)
    service.background.run(_announce(service, address, say))
    await server.serve(sockets=[sock])
    if service.background.fault is not None:
        raise service.background.fault


async def _announce(service: Service, address: str, say: Callable[[str], None]) -> None:
    """Print the address to stdout (and into the ready file) once the workers answer."""
    options = service.options
    say(f"listening on {address}, starting {options.workers} workers")
    await service.became_ready.wait()
    if options.ready_file is not None:
        atomic_write_text(options.ready_file, address + "\n")
    print(address, flush=True)
    say(f"ready: {options.workers} workers, {options.backend} sandbox, queue {options.queue} items")
