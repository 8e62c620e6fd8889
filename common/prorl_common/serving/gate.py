"""The way into a service: the token, refusals as JSON, every answer counted; and small helps of its views."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from prorl_common.serving.body import unread
from prorl_common.serving.refusal import Refusal
from prorl_common.serving.traffic import Held, Traffic

INLINE_BYTES = 32 * 1024
"""A larger body is parsed, and a larger answer written, outside the event loop."""
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

    def guarded(self, endpoint: str, view: View) -> Guarded:
        """Return the view behind the gate, as an application of one route."""
        return Guarded(self, endpoint, view)

    async def pass_through(
        self, endpoint: str, view: View, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Check the token, call the view, send its answer or refusal, and count it.

        The request is in flight, with what it holds, until the last byte of its answer is sent.
        """
        request = Request(scope, receive, send)
        started = time.monotonic()
        status = 500  # of a bug, which goes on its way
        try:
            with contextlib.ExitStack() as stack:
                response = await self._answer(request, view, stack)
                status = response.status_code
                await response(scope, receive, send)
        finally:
            self._count(endpoint, status, time.monotonic() - started)

    async def _answer(self, request: Request, view: View, stack: contextlib.ExitStack) -> Response:
        try:
            if not self._authorised(request):
                refusal = Refusal(401, "a token is required: Authorization: Bearer TOKEN")
                refusal.headers["WWW-Authenticate"] = "Bearer"
                raise await unread(request, refusal)
            return await view(request, stack.enter_context(self._traffic.counted()))
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


@dataclass(frozen=True, slots=True)
class Guarded:
    """One route's view behind the gate: an ASGI application."""

    gate: Gate
    endpoint: str
    view: View

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.gate.pass_through(self.endpoint, self.view, scope, receive, send)


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
