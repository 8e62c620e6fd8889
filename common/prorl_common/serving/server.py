"""The socket of a service, and a uvicorn server that drains it.

SIGTERM or SIGINT once: what was taken is finished, then the server returns. A second signal ends it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from prorl_common.errors import MissingExtraError, UserError
from prorl_common.http import notice_a_vanished_host
from prorl_common.serving.options import ListenOptions

BACKLOG = 2048
KEEP_ALIVE = 75
"""Seconds; longer than HTTP clients keep an idle connection, so that they close first."""
LAST_ANSWERS = 5
"""Seconds to send the last answers after the drain."""


def require_server_extra() -> None:
    """Raise MissingExtraError where a package of the extra ``server`` is not installed."""
    for module in ("starlette", "uvicorn", "prometheus_client"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("server", module)


def make_server(app: Any, drain: Callable[[], Awaitable[bool]], say: Callable[[str], None]) -> Any:
    """Return a uvicorn server whose first signal calls ``drain`` and whose second ends it.

    ``drain`` finishes what was taken and tells whether all of it was. Called in the event loop that will
    run it.
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
            if not await drain():
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
def listening(options: ListenOptions) -> Iterator[tuple[socket.socket, str]]:
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
        notice_a_vanished_host(sock)  # every connection takes it over
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
