"""The way into a service: the token, refusals as JSON, every answer counted; and small helps of its views."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from prorl_common.serving.body import unread
from prorl_common.serving.refusal import Refusal
from prorl_common.serving.traffic import Held, Traffic

INLINE_BYTES = 32 * 1024
"""A larger body is parsed, and a larger answer written, outside the event loop."""
Handler = Callable[[Request], Awaitable[Response]]
View = Callable[[Request, Held], Awaitable[Response]]
Gone = asyncio.Future[None]
T = TypeVar("T")


class Gate:
    """Lets requests through to the views of one service.

    ``count`` is told endpoint, status and seconds of every answer.
    """

    def __init__(
        self, token: str, traffic: Traffic, count: Callable[[str, int, float], None]
    ) -> None:
        self._token = token.encode()
        self._traffic = traffic
        self._count = count

    def guarded(self, endpoint: str, view: View) -> Handler:
        """Wrap a view: token first, then the view, refusals as JSON, every answer counted."""

        async def handle(request: Request) -> Response:
            started = time.monotonic()
            status = 500  # of a bug, which goes on its way
            try:
                response = await self._answer(request, view)
                status = response.status_code
            finally:
                self._count(endpoint, status, time.monotonic() - started)
            return response

        return handle

    async def _answer(self, request: Request, view: View) -> Response:
        try:
            if not self._authorised(request):
                refusal = Refusal(401, "a token is required: Authorization: Bearer TOKEN")
                refusal.headers["WWW-Authenticate"] = "Bearer"
                raise await unread(request, refusal)
            with self._traffic.counted() as held:
                return await view(request, held)
        except Refusal as refusal:
            response = json_response(refusal.body(), refusal.status)
            response.headers.update(refusal.headers)
            return response
        except (ConnectionAbortedError, ClientDisconnect):
            return Response(status_code=499)  # nobody is there to read it

    def _authorised(self, request: Request) -> bool:
        if not self._token:
            return True
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode(), self._token)
        return right and scheme.lower() == "bearer"


@contextlib.asynccontextmanager
async def watched(request: Request) -> AsyncIterator[Gone]:
    """Give a future that is done when the client has left."""

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    watcher = asyncio.ensure_future(watch())
    try:
        yield watcher
    finally:
        watcher.cancel()


async def apart(size: int, work: Callable[..., T], *arguments: object) -> T:
    """Do small work here and large work in a thread."""
    if size <= INLINE_BYTES:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def json_response(value: object, status: int = 200) -> Response:
    """Return an answer of JSON."""
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    return Response(data, status, media_type="application/json")


def client_name(request: Request) -> str:
    """Return who takes turns with others: the name a client gives itself, and its host."""
    host = request.client.host if request.client is not None else "local"
    return f"{host} {request.headers.get('x-client-id', '')[:64]}"


def unknown_route(known: str) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return the handler of paths and methods that are none of the ``known``."""

    async def handle(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        response = json_response({"error": f"{error}: use {known}"}, status)
        if isinstance(error, HTTPException):
            response.headers.update(error.headers or {})  # Allow, of a 405
        return response

    return handle
