"""The HTTP face of the service: routes, the token, body limits, refusals as JSON.

Endpoints: ``POST /verify``, ``POST /openrlhf``, ``GET /healthz`` (no token), ``GET /metrics``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prorl_common import UserError
from prorl_common.serving.body import read_body
from prorl_common.serving.fair_queue import QueueFullError, StoppedError
from prorl_common.serving.gate import (
    Gate,
    Gone,
    apart,
    client_name,
    json_response,
    unknown_route,
    watched,
)
from prorl_common.serving.metrics import CONTENT_TYPE
from prorl_common.serving.refusal import Refusal, busy
from prorl_common.serving.traffic import Held
from prorl_verifiers.serve import wire
from prorl_verifiers.serve.service import Item, Service
from prorl_verifiers.types import Verdict

RETRY_PAUSE = 0.5


def build_app(service: Service) -> Starlette:
    """Return the ASGI application of one service; its lifespan starts and stops the service."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    views = Views(service)
    gate = Gate(service.options.token, service.traffic, service.metrics.answer)
    known = "POST /verify, POST /openrlhf, GET /healthz, GET /metrics"
    routes = [
        Route("/verify", gate.guarded("verify", views.verify), methods=["POST"]),
        Route("/openrlhf", gate.guarded("openrlhf", views.openrlhf), methods=["POST"]),
        Route("/metrics", gate.guarded("metrics", views.metrics), methods=["GET"]),
        Route("/healthz", views.healthz, methods=["GET"]),
    ]
    return Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: unknown_route(known)}
    )


class Views:
    """The handlers of one service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def verify(self, request: Request, held: Held) -> Response:
        """Score a batch or a single item."""
        options = self._service.options
        body = await self._body(request, held)
        batch = await apart(len(body), wire.read_verify, body, options.modes, options.think_open)
        del body  # the items wait without it
        async with watched(request) as gone:
            verdicts = await self._score(request, batch.items, gone)
        size = 400 * len(verdicts)
        return await apart(size, lambda: json_response(wire.verify_reply(batch, verdicts)))

    async def openrlhf(self, request: Request, held: Held) -> Response:
        """Score what OpenRLHF sends; without a verdict for every item the whole answer is a 503."""
        body = await self._body(request, held)
        batch = await apart(len(body), wire.read_openrlhf, body, self._service.options.modes)
        del body
        async with watched(request) as gone:
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
        return json_response(wire.openrlhf_reply(verdicts))

    async def metrics(self, _: Request, __: Held) -> Response:
        """Return the metrics as Prometheus text."""
        self._service.update_gauges()
        return Response(self._service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def healthz(self, _: Request) -> Response:
        """Return 200 when items are taken and the workers answer, else 503, with the state."""
        state = self._service.state
        return json_response({"status": state}, 200 if state == "ready" else 503)

    async def _body(self, request: Request, held: Held) -> bytes:
        return await read_body(request, self._service.options, self._service.traffic, held)

    async def _score(self, request: Request, items: Sequence[Item], gone: Gone) -> list[Verdict]:
        limit = self._service.options.queue
        if len(items) > limit:
            raise Refusal(413, f"{len(items)} items in one request: send at most {limit}")
        try:
            return await self._service.verdicts(client_name(request), items, gone)
        except QueueFullError as error:
            raise busy(f"the queue is full ({limit} items)", error.seconds) from error
        except StoppedError as error:
            raise busy("the service shut down before all items were scored", 5.0) from error
        except UserError as error:  # code that this machine cannot isolate, for one
            raise Refusal(501, str(error)) from error
