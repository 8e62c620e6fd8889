"""Serves the page on the loopback address until Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence

from prorl_common import on_interrupt
from prorl_common.serving.options import ListenOptions
from prorl_common.serving.server import listening, make_server, require_server_extra
from prorl_viewer.subject import Subject


def serve(
    subjects: Callable[[], Sequence[Subject]],
    port: int,
    ready: Callable[[str], None],
    say: Callable[[str], None],
    share_safe: bool = False,
    hosts: Sequence[str] = (),
) -> None:
    """Serve ``subjects``; ``ready`` gets the page's address with a new token.

    ``port`` 0 takes a free one. ``hosts`` are further host names that requests may use. Raises UserError for a used
    port, MissingExtraError without the extra ``server``.
    """
    require_server_extra()
    from prorl_viewer.app import build_app

    token = secrets.token_urlsafe(24)
    app = build_app(subjects, token, share_safe)
    options = ListenOptions(port=port, queue=1, hosts=tuple(hosts))

    async def run(address: str) -> None:
        server = make_server(app, options, lambda: ready(f"{address}/?token={token}"), say)
        await server.serve(sockets=[sock])

    with listening(options) as (sock, address), on_interrupt(None):
        asyncio.run(run(address))
