"""Runs the reward service until a signal. Accepted items are then finished."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from prorl_common import atomic_write_text, on_interrupt
from prorl_common.serving.server import listening, make_server, require_server_extra
from prorl_verifiers.serve.options import ServeOptions, check_options

if TYPE_CHECKING:
    from prorl_verifiers.pool.pool import VerifierPool


def serve(options: ServeOptions, say: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. Raises UserError for invalid options, or MissingExtraError."""
    require_server_extra()
    check_options(options)
    from prorl_verifiers.pool.pool import VerifierPool, WorkerOptions
    from prorl_verifiers.spec import VERIFIERS

    tell = say or partial(print, "prorl verify serve:", file=sys.stderr, flush=True)
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
            # A signal before the service is ready cancels it; the server handles later ones.
            with on_interrupt(None), contextlib.suppress(asyncio.CancelledError):
                asyncio.run(_run(pool, options, sock, address, tell))
        finally:
            pool.close(drain_seconds=0.0)
    tell("stopped")


async def _run(
    pool: VerifierPool,
    options: ServeOptions,
    sock: socket.socket,
    address: str,
    say: Callable[[str], None],
) -> None:
    from prorl_verifiers.serve.service import Service

    def ready() -> None:
        if options.ready_file is not None:
            atomic_write_text(options.ready_file, address + "\n")
        print(address, flush=True)
        say(
            f"ready: {options.workers} workers, {options.backend} sandbox, queue {options.queue} items"
        )

    service = Service(pool, options, say)
    say(f"starting {options.workers} workers, then listening on {address}")
    server = make_server(service.app(), options, ready, say)
    starting = asyncio.ensure_future(service.start())
    loop = asyncio.get_running_loop()

    def cancel_start() -> None:
        loop.call_soon_threadsafe(starting.cancel)

    with on_interrupt("the service ends before it was ready", cancel_start, say):
        await starting
    await server.serve(sockets=[sock])
