"""Run the service until a signal: open the socket, say when it is ready, drain, exit cleanly.

SIGTERM or SIGINT once: new requests get 503, what was taken is finished (up to ``drain_seconds``), then it
returns. A second signal ends it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from prorl_common import MissingExtraError, UserError, atomic_write_text, on_interrupt
from prorl_verifiers.serve.options import ServeOptions, check_options

if TYPE_CHECKING:
    from prorl_verifiers.serve.service import Service

BACKLOG = 2048
KEEP_ALIVE = 75
"""Seconds; longer than HTTP clients keep an idle connection, so that they close first."""
LAST_ANSWERS = 5
"""Seconds to send the last answers after the drain."""


def serve(options: ServeOptions, say: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. Raises UserError for a mistake in the options, MissingExtraError."""
    import importlib.util

    for module in ("starlette", "uvicorn", "prometheus_client"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("server", module)
    check_options(options)
    from prorl_verifiers.pool.core import WorkerOptions
    from prorl_verifiers.pool.verifier_pool import VerifierPool
    from prorl_verifiers.spec import VERIFIERS

    told = say or partial(print, "prorl verify serve:", file=sys.stderr, flush=True)
    warm = [spec.name for spec in VERIFIERS.all() if spec.score is not None]
    with _listening(options) as (sock, address):
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
    server = make_server(service, build_app(service), say)
    service.on_fault = lambda: setattr(server, "should_exit", True)
    announcer = asyncio.create_task(_announce(service, address, say))
    announcer.add_done_callback(service.watched)
    try:
        await server.serve(sockets=[sock])
    finally:
        announcer.cancel()
    if service.fault is not None:
        raise service.fault


async def _announce(service: Service, address: str, say: Callable[[str], None]) -> None:
    """Print the address to stdout (and into the ready file) once the workers answer."""
    options = service.options
    say(f"listening on {address}, starting {options.workers} workers")
    await service.became_ready.wait()
    if options.ready_file is not None:
        atomic_write_text(options.ready_file, address + "\n")
    print(address, flush=True)
    say(f"ready: {options.workers} workers, {options.backend} sandbox, queue {options.queue} items")


def make_server(service: Service, app: Any, say: Callable[[str], None]) -> Any:
    """Return a uvicorn server whose first signal drains the service and whose second ends it.

    Called in the event loop that will run it.
    """
    import uvicorn

    loop = asyncio.get_running_loop()

    class DrainingServer(uvicorn.Server):
        drainer: asyncio.Task[None] | None = None

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._signalled)

        def _signalled(self) -> None:
            if self.drainer is None:
                say(
                    "draining: new requests are refused, what was taken is finished "
                    "(Ctrl-C again stops at once)"
                )
                self.drainer = asyncio.create_task(self._drain())
            else:
                logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
                self.should_exit = self.force_exit = True

        async def _drain(self) -> None:
            if not await service.drain():
                say("not everything was finished in time: those requests were answered with 503")
            self.should_exit = True

    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=LAST_ANSWERS,
        backlog=BACKLOG,
        server_header=False,
    )
    return DrainingServer(config)


@contextlib.contextmanager
def _listening(options: ServeOptions) -> Iterator[tuple[socket.socket, str]]:
    """Give the bound socket and its address; remove the socket file afterwards."""
    if options.uds is not None:
        sock = _bind_path(options.uds)
        try:
            yield sock, f"unix:{options.uds}"
        finally:
            sock.close()
            options.uds.unlink(missing_ok=True)
        return
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    host = options.host.strip("[]")
    # With the protocol named, asyncio turns Nagle's algorithm off for every connection: 40 ms an answer.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, options.port))
        sock.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        sock.close()
        cure = "choose another with --port (0 takes a free one)"
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(f"cannot listen on {host} port {options.port}: {why}; {cure}") from error
    shown = f"[{host}]" if ":" in host else host
    with sock:
        yield sock, f"http://{shown}:{sock.getsockname()[1]}"


def _bind_path(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if path.is_socket():
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                probe.connect(str(path))
            raise UserError(f"a service already listens on {path}: choose another --uds")
        except ConnectionRefusedError:  # left behind by a service that was killed
            with contextlib.suppress(OSError):
                path.unlink()
        except OSError:
            pass  # another's, or too busy to answer: binding says so
    try:
        sock.bind(str(path))
        path.chmod(0o600)
    except OSError as error:
        sock.close()
        raise UserError(f"cannot listen on {path} ({error}): choose another --uds") from error
    return sock
