"""An answer of lines that come one after another, with blank ones while there is nothing to say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from prorl_common.serving.gate import watched
from prorl_sandbox.remote.protocol import BEAT_SECONDS

_SEND_SECONDS = 60.0
"""A client that takes nothing for so long is gone."""


def json_line(value: object) -> bytes:
    """Return a line of JSON."""
    return json.dumps(value, allow_nan=False).encode() + b"\n"


class LineStream(Response):
    """Sends ``lines`` as they come, until they end or the client leaves; ``at_end`` is called then."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: AsyncGenerator[bytes, None], at_end: Callable[[], None]) -> None:
        # proxies that gather answers (nginx) leave this one as it comes
        super().__init__(headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._lines, self._at_end = lines, at_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it all."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        following: asyncio.Future[bytes | None] | None = None
        try:
            async with watched(Request(scope, receive)) as gone:
                await send(start)
                while True:
                    following = following or asyncio.ensure_future(anext(self._lines, None))
                    either: set[asyncio.Future[Any]] = {following, gone}
                    await asyncio.wait(
                        either, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                    if gone.done():
                        return
                    if not following.done():
                        await _send(send, b"\n")
                        continue
                    line, following = following.result(), None
                    if line is None:
                        break
                    await _send(send, line)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            return  # it does not read any more
        finally:
            if following is not None:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
            await self._lines.aclose()
            self._at_end()


async def _send(send: Send, data: bytes) -> None:
    async with asyncio.timeout(_SEND_SECONDS):
        await send({"type": "http.response.body", "body": data, "more_body": True})
