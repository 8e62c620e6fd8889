"""The HTTP face of the service. What is asked and answered: ``prorl_sandbox.remote.protocol``.

Endpoints: ``POST /run``, ``POST /cancel``, ``POST /environment``, ``POST /session`` and below it ``/run``,
``/fork``, ``/close``; ``GET /healthz`` (no token), ``GET /metrics``.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import asdict

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prorl_common.serving.body import read_body
from prorl_common.serving.fair_queue import QueueFullError
from prorl_common.serving.gate import Gate, apart, client_name, json_response, unknown_route
from prorl_common.serving.metrics import CONTENT_TYPE
from prorl_common.serving.refusal import Refusal, busy
from prorl_common.serving.traffic import Held
from prorl_sandbox.remote import codec
from prorl_sandbox.serve.batch import Batch
from prorl_sandbox.serve.reading import (
    check_output,
    json_object,
    read_run,
    require_protocol,
    strictly,
)
from prorl_sandbox.serve.service import Service
from prorl_sandbox.serve.stream import LineStream, json_line
from prorl_sandbox.types import Limits


def build_app(service: Service) -> Starlette:
    """Return the ASGI application of one service; its lifespan starts and stops the service."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    views = Views(service)
    gate = Gate(service.options.token, service.traffic, service.metrics.answer)
    posts = {
        "run": views.run,
        "cancel": views.cancel,
        "environment": views.environment,
        "session": views.session,
        "session/run": views.session_run,
        "session/fork": views.session_fork,
        "session/close": views.session_close,
    }
    routes = [
        Route(f"/{name}", gate.guarded(name, view), methods=["POST"])
        for name, view in posts.items()
    ]
    routes.append(Route("/metrics", gate.guarded("metrics", views.metrics), methods=["GET"]))
    routes.append(Route("/healthz", views.healthz, methods=["GET"]))
    known = f"{', '.join(f'POST /{name}' for name in posts)}, GET /healthz, GET /metrics"
    return Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: unknown_route(known)}
    )


class Views:
    """The handlers of one service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def run(self, request: Request, held: Held) -> Response:
        """Take the jobs of a request; the answer streams."""
        service = self._service
        body = await self._body(request, held)
        name, asked = await apart(len(body), read_run, body)
        del body  # the jobs wait without it; what it held stays booked for them
        limit = service.options.queue
        if len(asked) > limit:
            raise Refusal(413, f"{len(asked)} jobs in one request: send at most {limit}")
        self._require_ready()
        try:
            batch = service.take(client_name(request), asked, name)
        except QueueFullError as error:
            raise busy(f"the queue is full ({limit} jobs)", error.seconds, 429) from error
        return LineStream(_batch_lines(service, batch), lambda: service.drop(batch))

    async def cancel(self, request: Request, held: Held) -> Response:
        """End jobs that nobody waits for any more."""
        found = json_object(await self._body(request, held), "id", "jobs")
        places = found["jobs"]
        if not isinstance(places, list) or not all(type(at) is int for at in places):
            raise Refusal(422, "'jobs' must be a list of places")
        self._service.cancel(str(found["id"]), places)
        return json_response({})

    async def environment(self, request: Request, held: Held) -> Response:
        """Say whether programs can have an environment: {} or an error."""
        name = json_object(await self._body(request, held), "name")["name"]
        if not isinstance(name, str):
            raise Refusal(422, "'name' must be a text")
        return json_response(await asyncio.to_thread(self._service.missing_environment, name))

    async def session(self, request: Request, held: Held) -> Response:
        """Open a session, which lives as long as this request."""
        body = await self._body(request, held)
        names = ("limits", "environment", "idle_seconds", "total_seconds")
        found = json_object(body, "protocol", *names)
        require_protocol(found["protocol"])
        limits = strictly("limits", lambda: codec.read(Limits, found["limits"]))
        strictly("limits", lambda: check_output(limits))
        times = [found["idle_seconds"], found["total_seconds"]]
        if not isinstance(found["environment"], str) or any(
            type(seconds) not in (int, float) for seconds in times
        ):
            raise Refusal(422, "'environment' must be a text, the seconds numbers")
        self._require_ready()
        opened = self._service.sessions.opened(limits, found["environment"], times[0], times[1])
        return LineStream(*opened)

    async def session_run(self, request: Request, held: Held) -> Response:
        """Run one message of a session."""
        found = json_object(await self._body(request, held), "session", "source", "limits")
        limits = found["limits"]
        if limits is not None:
            limits = strictly("limits", lambda: codec.read(Limits, found["limits"]))
            strictly("limits", lambda: check_output(limits))
        if not isinstance(found["source"], str):
            raise Refusal(422, "'source' must be a text")
        sessions = self._service.sessions
        _, session = sessions.find(found["session"])
        return LineStream(sessions.message(session, found["source"], limits), _nothing)

    async def session_fork(self, request: Request, held: Held) -> Response:
        """Fork a session."""
        found = json_object(await self._body(request, held), "session")
        sessions = self._service.sessions
        return LineStream(sessions.fork(*sessions.find(found["session"])), _nothing)

    async def session_close(self, request: Request, held: Held) -> Response:
        """Close one session."""
        found = json_object(await self._body(request, held), "session")
        sessions = self._service.sessions
        sessions.close(*sessions.find(found["session"]))
        return json_response({})

    async def metrics(self, _: Request, __: Held) -> Response:
        """Return the metrics as Prometheus text."""
        self._service.update_gauges()
        return Response(self._service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def healthz(self, _: Request) -> Response:
        """Return the state: 200 when jobs are taken and the sandbox works, else 503."""
        hello = self._service.hello()
        return json_response(asdict(hello), 200 if hello.status == "ready" else 503)

    async def _body(self, request: Request, held: Held) -> bytes:
        return await read_body(request, self._service.options, self._service.traffic, held)

    def _require_ready(self) -> None:
        state = self._service.state
        if state == "unhealthy":
            raise Refusal(503, "the sandbox of this service does not work at the moment")
        if state != "ready":
            raise busy(f"the service is {state}", 1.0)


async def _batch_lines(service: Service, batch: Batch) -> AsyncGenerator[bytes, None]:
    """Yield the service's state, and the answers as they come."""
    yield json_line(asdict(service.hello()))
    while not batch.finished:
        await batch.news()
        if lines := batch.take():
            yield lines


def _nothing() -> None:
    """What ends with the answer of a message: nothing."""
