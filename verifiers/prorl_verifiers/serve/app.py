"""The HTTP face of the service: routes, the token, body limits, refusals as JSON.

Endpoints: ``POST /verify``, ``POST /openrlhf``, ``GET /healthz`` (no token), ``GET /metrics``.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from prorl_common import UserError
from prorl_verifiers.serve import wire
from prorl_verifiers.serve.body import read_body, unread
from prorl_verifiers.serve.metrics import CONTENT_TYPE
from prorl_verifiers.serve.scheduler import Item, QueueFullError, StoppedError
from prorl_verifiers.serve.service import Held, Service, counted
from prorl_verifiers.serve.wire import Refusal, busy
from prorl_verifiers.types import Verdict

INLINE_BYTES = 32 * 1024
"""A larger body is parsed, and a larger answer written, outside the event loop."""
RETRY_PAUSE = 0.5
Handler = Callable[[Request], Awaitable[Response]]
View = Callable[[Request, Held], Awaitable[Response]]
Gone = asyncio.Future[None]
T = TypeVar("T")


def build_app(service: Service) -> Starlette:
    """Return the ASGI application of one service; its lifespan starts and stops the service."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    views = Views(service)
    routes = [
        Route("/verify", views.guarded("verify", views.verify), methods=["POST"]),
        Route("/openrlhf", views.guarded("openrlhf", views.openrlhf), methods=["POST"]),
        Route("/metrics", views.guarded("metrics", views.metrics), methods=["GET"]),
        Route("/healthz", views.healthz, methods=["GET"]),
    ]
    return Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _not_found}
    )


class Views:
    """The handlers of one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._token = service.options.token.encode()

    def guarded(self, endpoint: str, view: View) -> Handler:
        """Wrap a view: token first, then the view, refusals as JSON, every answer counted."""

        async def handle(request: Request) -> Response:
            started = time.monotonic()
            status = 500  # of a bug, which goes on its way
            try:
                response = await self._answer(request, view)
                status = response.status_code
            finally:
                seconds = time.monotonic() - started
                self._service.metrics.answer(endpoint, status, seconds)
            return response

        return handle

    async def _answer(self, request: Request, view: View) -> Response:
        try:
            if not self._authorised(request):
                refusal = Refusal(401, "a token is required: Authorization: Bearer TOKEN")
                refusal.headers["WWW-Authenticate"] = "Bearer"
                raise await unread(request, refusal)
            with counted(self._service) as held:
                return await view(request, held)
        except Refusal as refusal:
            response = _json(refusal.body(), refusal.status)
            response.headers.update(refusal.headers)
            return response
        except (ConnectionAbortedError, ClientDisconnect):
            return Response(status_code=499)  # nobody is there to read it

    async def verify(self, request: Request, held: Held) -> Response:
        """Score a batch or a single item."""
        options = self._service.options
        body = await read_body(request, self._service, held)
        batch = await _apart(len(body), wire.read_verify, body, options.modes, options.think_open)
        del body  # the items wait without it
        async with _watched(request) as gone:
            verdicts = await self._score(request, batch.items, gone)
        size = 400 * len(verdicts)
        return await _apart(size, lambda: _json(wire.verify_reply(batch, verdicts)))

    async def openrlhf(self, request: Request, held: Held) -> Response:
        """Score what OpenRLHF sends; without a verdict for every item the whole answer is a 503."""
        body = await read_body(request, self._service, held)
        batch = await _apart(len(body), wire.read_openrlhf, body, self._service.options.modes)
        del body
        async with _watched(request) as gone:
            verdicts = await self._score(request, batch.items, gone)
            again = [i for i, verdict in enumerate(verdicts) if verdict.is_infra_error]
            if again:
                await asyncio.sleep(RETRY_PAUSE)
                found = await self._score(request, [batch.items[i] for i in again], gone)
                for index, verdict in zip(again, found, strict=True):
                    verdicts[index] = verdict
        for index, verdict in enumerate(verdicts):
            if verdict.is_infra_error:
                raise busy(f"item {index} could not be judged: {verdict.reason}", 5.0)
        return _json(wire.openrlhf_reply(verdicts))

    async def metrics(self, _: Request, __: Held) -> Response:
        """Return the metrics as Prometheus text."""
        self._service.update_gauges()
        return Response(self._service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def healthz(self, _: Request) -> Response:
        """Return 200 when items are taken and the workers answer, else 503, with the state."""
        state = self._service.state
        return _json({"status": state}, 200 if state == "ready" else 503)

    def _authorised(self, request: Request) -> bool:
        if not self._token:
            return True
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode(), self._token)
        return right and scheme.lower() == "bearer"

    async def _score(self, request: Request, items: Sequence[Item], gone: Gone) -> list[Verdict]:
        limit = self._service.options.queue
        if len(items) > limit:
            raise Refusal(413, f"{len(items)} items in one request: send at most {limit}")
        # who takes turns: the name a client gives itself, else its host
        host = request.client.host if request.client is not None else "local"
        client = f"{host} {request.headers.get('x-client-id', '')[:64]}"
        try:
            return await self._service.verdicts(client, items, gone)
        except QueueFullError as error:
            raise busy(f"the queue is full ({limit} items)", error.seconds) from error
        except StoppedError as error:
            raise busy("the service shut down before all items were scored", 5.0) from error
        except UserError as error:  # code that this machine cannot isolate, for one
            raise Refusal(501, str(error)) from error


@contextlib.asynccontextmanager
async def _watched(request: Request) -> AsyncIterator[Gone]:
    """Give a future that is done when the client has left."""

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    watcher = asyncio.ensure_future(watch())
    try:
        yield watcher
    finally:
        watcher.cancel()


async def _apart(size: int, work: Callable[..., T], *arguments: object) -> T:
    """Do small work here and large work in a thread."""
    if size <= INLINE_BYTES:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def _json(value: object, status: int = 200) -> Response:
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    return Response(data, status, media_type="application/json")


async def _not_found(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = "POST /verify, POST /openrlhf, GET /healthz, GET /metrics"
    response = _json({"error": f"{error}: use {known}"}, status)
    if isinstance(error, HTTPException):
        response.headers.update(error.headers or {})  # Allow, of a 405
    return response
