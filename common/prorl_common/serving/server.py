"""Create the socket and the uvicorn server of a service.

The first SIGTERM or SIGINT lets running requests finish within ``drain_seconds``; the second ends the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from prorl_common.errors import MissingExtraError, UserError
from prorl_common.http import enable_keepalive
from prorl_common.serving.options import ListenOptions

BACKLOG = 2048
LAST_ANSWERS = 1
"""Seconds to wait for the last answers before the remaining requests are cancelled."""


def require_server_extra() -> None:
    """Raise MissingExtraError if a package of the extra ``server`` is missing."""
    for module in ("starlette", "uvicorn", "prometheus_client"):
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("server", module)


def make_server(
    app: Any, options: ListenOptions, ready: Callable[[], None], say: Callable[[str], None]
) -> Any:
    """Return a uvicorn server for ``app``. It calls ``ready`` once it accepts requests. Needs a running event loop."""
    import uvicorn

    from prorl_common.serving.connections import ACCEPTED_AT_ONCE, ConnectionGuard
    from prorl_common.serving.requests import Gate

    guard, gate = ConnectionGuard(options.connections), Gate(app, options)
    loop = asyncio.get_running_loop()

    class GuardedServer(uvicorn.Server):
        ending: asyncio.Task[None] | None = None

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            for sock in sockets or []:
                sock.listen(BACKLOG)  # the kernel may queue more than one turn can accept
            ready()

        async def on_tick(self, counter: int) -> bool:
            if counter % 10 == 0:  # once a second
                guard.sweep()
            return await super().on_tick(counter)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._signalled)  # uvicorn's handler raises it again

        def _signalled(self) -> None:
            if self.ending is None:
                say(
                    "draining: new requests are refused, accepted requests are finished "
                    "(Ctrl-C again stops at once)"
                )
                self.ending = asyncio.create_task(self._end())
            else:
                logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
                self.should_exit = self.force_exit = True

        async def _end(self) -> None:
            if not await gate.end(options.drain_seconds):
                say("not everything was finished in time: those requests are answered with 503")
            self.should_exit = True

    config = uvicorn.Config(
        gate,
        http=guard.protocol,  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        log_level="error",  # lower levels log a line for every malformed request
        access_log=False,
        lifespan="on",
        timeout_keep_alive=int(options.connections.idle),
        timeout_graceful_shutdown=LAST_ANSWERS,
        backlog=ACCEPTED_AT_ONCE,
        server_header=False,
    )
    return GuardedServer(config)


@contextlib.contextmanager
def listening(options: ListenOptions) -> Iterator[tuple[socket.socket, str]]:
    """Yield (bound socket, its address). A socket file is removed afterwards."""
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
    # With an explicit protocol asyncio turns off Nagle's algorithm, which would cost 40 ms per answer.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        enable_keepalive(sock)  # inherited by every connection
        sock.bind((host, options.port))
        sock.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        sock.close()
        cure = "choose another with --port (0 takes a free one)"
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(f"cannot listen on {host} port {options.port}: {why}; {cure}") from error
    name = f"[{host}]" if ":" in host else host
    with sock:
        yield sock, f"http://{name}:{sock.getsockname()[1]}"


def _bind_path(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if path.is_socket():
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                probe.connect(str(path))
            raise UserError(f"a service already listens on {path}: choose another --uds")
        except ConnectionRefusedError:  # left by a killed service
            with contextlib.suppress(OSError):
                path.unlink()
        except OSError:
            pass  # not ours, or busy: bind reports the error
    try:
        sock.bind(str(path))
        path.chmod(0o600)
    except OSError as error:
        sock.close()
        raise UserError(f"cannot listen on {path} ({error}): choose another --uds") from error
    return sock
