"""The HTTP face of the service. What is asked and answered: ``prorl_sandbox.remote.protocol``.

Endpoints: ``POST /run``, ``POST /cancel``, ``GET /healthz`` (no token), ``GET /metrics``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from prorl_common.serving.body import read_body
from prorl_common.serving.fair_queue import QueueFullError
from prorl_common.serving.gate import (
    Gate,
    apart,
    client_name,
    json_response,
    unknown_route,
    watched,
)
from prorl_common.serving.metrics import CONTENT_TYPE
from prorl_common.serving.refusal import Refusal, busy
from prorl_common.serving.traffic import Held
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.remote.protocol import BEAT_SECONDS, MOST_OUTPUT_KB, PROTOCOL
from prorl_sandbox.remote.submission import Submission, read_submission
from prorl_sandbox.serve.batch import Batch
from prorl_sandbox.serve.service import Service

_SEND_SECONDS = 60.0
"""A client that takes nothing for so long is gone."""
_LONGEST_NAME = 64


def build_app(service: Service) -> Starlette:
    """Return the ASGI application of one service; its lifespan starts and stops the service."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    views = Views(service)
    gate = Gate(service.options.token, service.traffic, service.metrics.answer)
    routes = [
        Route("/run", gate.guarded("run", views.run), methods=["POST"]),
        Route("/cancel", gate.guarded("cancel", views.cancel), methods=["POST"]),
        Route("/metrics", gate.guarded("metrics", views.metrics), methods=["GET"]),
        Route("/healthz", views.healthz, methods=["GET"]),
    ]
    known = "POST /run, POST /cancel, GET /healthz, GET /metrics"
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
        body = await read_body(request, service.options, service.traffic, held)
        name, submissions = await apart(len(body), _read_run, body)
        del body  # the jobs wait without it; what it held stays booked for them
        if len(submissions) > service.options.queue:
            raise Refusal(
                413, f"{len(submissions)} jobs in one request: send at most {service.options.queue}"
            )
        if service.state == "unhealthy":
            raise Refusal(503, "the sandbox of this service does not work at the moment")
        if service.state != "ready":
            raise busy(f"the service is {service.state}", 1.0)
        try:
            batch = service.take(client_name(request), submissions, name)
        except QueueFullError as error:
            limit = service.options.queue
            raise busy(f"the queue is full ({limit} jobs)", error.seconds, 429) from error
        return AnswerStream(service, batch)

    async def cancel(self, request: Request, held: Held) -> Response:
        """End jobs that nobody waits for any more."""
        body = await read_body(request, self._service.options, self._service.traffic, held)
        found = _json_object(body, {"id", "jobs"})
        places = found["jobs"]
        if not isinstance(places, list) or not all(type(at) is int for at in places):
            raise Refusal(422, "'jobs' must be a list of places")
        self._service.cancel(str(found["id"]), places)
        return json_response({})

    async def metrics(self, _: Request, __: Held) -> Response:
        """Return the metrics as Prometheus text."""
        self._service.update_gauges()
        return Response(self._service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def healthz(self, _: Request) -> Response:
        """Return the state: 200 when jobs are taken and the sandbox works, else 503."""
        hello = self._service.hello()
        return json_response(asdict(hello), 200 if hello.status == "ready" else 503)


class AnswerStream(Response):
    """The answers of a request, as they come. When the client leaves, its jobs end."""

    media_type = "application/x-ndjson"

    def __init__(self, service: Service, batch: Batch) -> None:
        # proxies that gather answers (nginx) leave this one as it comes
        super().__init__(headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._service, self._batch = service, batch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until all jobs are answered or the client has left."""
        batch = self._batch
        try:
            async with watched(Request(scope, receive)) as gone:
                await send(
                    {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
                )
                await _send(send, json.dumps(asdict(self._service.hello())).encode() + b"\n")
                while not batch.finished:
                    news = asyncio.ensure_future(batch.news())
                    await asyncio.wait(
                        {news, gone}, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                    news.cancel()
                    if gone.done():
                        return
                    lines = batch.take()
                    if lines or not batch.finished:
                        await _send(send, lines or b"\n")
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            return  # it does not read any more
        finally:
            self._service.drop(batch)


async def _send(send: Send, data: bytes) -> None:
    async with asyncio.timeout(_SEND_SECONDS):
        await send({"type": "http.response.body", "body": data, "more_body": True})


def _read_run(body: bytes) -> tuple[str, list[Submission]]:
    """Return the name and the jobs of a request. Raises Refusal 400 or 422 (which job, why)."""
    found = _json_object(body, {"protocol", "id", "jobs"})
    if found["protocol"] != PROTOCOL:
        raise Refusal(
            400,
            f"this service speaks protocol {PROTOCOL}, the client {str(found['protocol'])[:20]}: "
            "install the same version of prorl on both sides",
        )
    name, jobs = found["id"], found["jobs"]
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        raise Refusal(422, f"'id' must be a text of at most {_LONGEST_NAME} characters")
    if not isinstance(jobs, list):
        raise Refusal(422, "'jobs' must be a list")
    submissions = []
    for at, job in enumerate(jobs):
        try:
            submission = read_submission(job)
            if submission.limits.output_kb > MOST_OUTPUT_KB:
                raise MalformedError(f"limit output_kb must be at most {MOST_OUTPUT_KB}")
        except MalformedError as error:
            raise Refusal(422, f"job {at}: {str(error)[:500]}", job=at) from error
        submissions.append(submission)
    return name, submissions


def _json_object(body: bytes, names: set[str]) -> dict[str, Any]:
    try:
        found = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the body is not valid JSON ({str(error)[:200]})") from error
    if not isinstance(found, dict) or set(found) != names:
        raise Refusal(422, f"the body must be a JSON object of {', '.join(sorted(names))}")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")
