"""The reward service's endpoints: ``/verify`` (also NeMo-Gym's), ``/openrlhf``, ``/healthz`` and ``/metrics``."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from prorl_common import UserError
from prorl_common.serving.metrics import CONTENT_TYPE, SECOND_BUCKETS, ServiceMetrics
from prorl_common.serving.requests import (
    Bodies,
    Refusal,
    busy,
    json_response,
    refused,
    unknown_route,
)
from prorl_verifiers.pool.stats import PoolStats
from prorl_verifiers.replicas import PROBE_PROGRAM
from prorl_verifiers.serve import wire
from prorl_verifiers.serve.options import ServeOptions
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Item, Task, Verdict

T = TypeVar("T")
PROBE: Item = (r"\boxed{2}", Task("math", {"answer": "2"}))
CODE_PROBE: Item = (PROBE_PROGRAM, Task("code", {"tests": [{"stdin": "", "stdout": "2"}]}))
BAD_IN_A_ROW = 10
"""Number of consecutive ``infra_error`` verdicts after which the service is not ready."""
PROBE_PAUSE = 2.0
RETRY_PAUSE = 0.5
LAST_ANSWERS = 5.0
"""Maximum seconds for the last answers at shutdown."""
INLINE_BYTES = 32 * 1024
"""Larger requests and answers are processed outside the event loop."""
REWARD_BUCKETS = (0.0, 0.25, 0.5, 0.75, 0.999, 1.0)
ENDPOINTS = ("verify", "openrlhf", "seed_session", "metrics", "healthz")
POOL_GAUGES = {
    "workers": "Threads of the pool.",
    "worker_starts": "Workers started since the start.",
    "worker_kills": "Workers ended for a timeout, a limit, a crash or a bug.",
    "worker_recycles": "Workers replaced because of their age.",
    "retries": "Items scored a second time.",
    "canary_failures": "Workers that failed a canary, a test question with a known verdict.",
    "unjudged": "Answers with reward 0 because the verifier fails on them only.",
    "rescored": "Verdicts discarded because of a failed canary and computed again.",
    "doubtful": "Verdicts of workers that failed a canary when they retired.",
    "template_starts": "Starts of the process that workers are forked from.",
}
"""Fields of ``PoolStats`` that are exported as gauges, with descriptions."""


class Pool(Protocol):
    """The methods of ``VerifierPool`` that the service uses."""

    async def score_async(self, items: Sequence[Item]) -> list[Verdict]: ...

    @property
    def stats(self) -> PoolStats: ...


class Metrics(ServiceMetrics):
    def __init__(self) -> None:
        super().__init__("prorl_verify")
        self._items = self.counter("items", "Verdicts.", "verifier", "status")
        self._reward = self.histogram("reward", "Rewards of verdicts.", REWARD_BUCKETS, "verifier")
        self._seconds = self.histogram(
            "seconds", "Seconds from start of work to verdict.", SECOND_BUCKETS, "verifier"
        )
        self._pool = {name: self.gauge(name, text) for name, text in POOL_GAUGES.items()}

    def count_verdict(self, task: Task, verdict: Verdict) -> None:
        self._items.labels(task.verifier, verdict.status).inc()
        self._seconds.labels(task.verifier).observe(verdict.seconds)
        if verdict.reward is not None:
            self._reward.labels(task.verifier).observe(verdict.reward)

    def set_pool_gauges(self, stats: PoolStats) -> None:
        self.queue.set(stats.queued)
        self.busy.set(stats.busy)
        for name, gauge in self._pool.items():
            gauge.set(getattr(stats, name))


class Service:
    def __init__(
        self, pool: Pool, options: ServeOptions, say: Callable[[str], None] = lambda _line: None
    ) -> None:
        self.options = options
        self.metrics = Metrics()
        self.bodies = Bodies(options)
        self.unanswered = 0
        """Accepted items without a verdict."""
        self._pool = pool
        self._say = say
        self._bad_in_a_row = 0
        self._last_probe = 0.0

    def app(self) -> Starlette:
        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            yield
            limit = time.monotonic() + LAST_ANSWERS
            while self.unanswered and time.monotonic() < limit:
                await asyncio.sleep(0.02)

        async def answer_refusal(_: Request, error: Exception) -> Response:
            assert isinstance(error, Refusal)
            return refused(error)

        async def answer_nobody(_: Request, __: Exception) -> Response:
            return Response(status_code=499)  # nobody is left to read it

        return Starlette(
            routes=[
                Route("/verify", self.verify, methods=["POST"]),
                Route("/openrlhf", self.openrlhf, methods=["POST"]),
                Route("/seed_session", self.seed_session, methods=["POST"]),
                Route("/metrics", self.show_metrics, methods=["GET"]),
                Route("/healthz", self.healthz, methods=["GET"]),
            ],
            lifespan=lifespan,
            middleware=[Middleware(Counted, metrics=self.metrics)],
            exception_handlers={
                HTTPException: unknown_route(
                    "POST /verify, POST /openrlhf, POST /seed_session, GET /healthz, GET /metrics"
                ),
                Refusal: answer_refusal,
                ClientDisconnect: answer_nobody,
            },
        )

    async def start(self) -> None:
        """Wait until the workers answer. Raises UserError if the sandbox is missing."""
        while not await self._probe():
            await asyncio.sleep(PROBE_PAUSE)
        for spec in VERIFIERS.all():  # so that no request waits for imports
            if spec.data.example is not None:
                await asyncio.to_thread(load_task, spec.name, spec.data.example)
        await self._probe_code()

    async def verify(self, request: Request) -> Response:
        options = self.options
        async with self.bodies.read(request) as body:
            batch = await _run_off_loop_if_large(
                len(body), lambda: wire.read_verify(body, options.modes, options.think_open)
            )
            if batch.nemo_gym is not None:
                verdicts = await self._score_every(request, batch.items)
                return json_response(wire.nemo_gym_reply(batch.nemo_gym, verdicts[0]))
            verdicts = await self._score(request, batch.items)
            size = 400 * len(verdicts)
            return await _run_off_loop_if_large(
                size, lambda: json_response(wire.verify_reply(batch, verdicts))
            )

    async def openrlhf(self, request: Request) -> Response:
        async with self.bodies.read(request) as body:
            batch = await _run_off_loop_if_large(
                len(body), lambda: wire.read_openrlhf(body, self.options.modes)
            )
            verdicts = await self._score_every(request, batch.items)
            return json_response(wire.openrlhf_reply(verdicts))

    async def seed_session(self, request: Request) -> Response:
        """Answer NeMo-Gym's request to open a session. The service itself needs none."""
        async with self.bodies.read(request) as body:
            return json_response(wire.session_reply(body))

    async def show_metrics(self, _: Request) -> Response:
        self.metrics.ready.set(self._bad_in_a_row < BAD_IN_A_ROW)
        self.metrics.set_pool_gauges(self._pool.stats)
        return Response(self.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def healthz(self, _: Request) -> Response:
        """Return 200, or 503 after BAD_IN_A_ROW items without a verdict until the workers can score again."""
        now = time.monotonic()
        if self._bad_in_a_row >= BAD_IN_A_ROW and now - self._last_probe > PROBE_PAUSE:
            self._last_probe = now
            if await self._probe():
                self._bad_in_a_row = 0
                self._say("ready again")
        is_ready = self._bad_in_a_row < BAD_IN_A_ROW
        return json_response(
            {"status": "ready" if is_ready else "unhealthy"}, 200 if is_ready else 503
        )

    async def _score_every(self, request: Request, items: Sequence[Item]) -> list[Verdict]:
        """Score the items, with one retry. Raises Refusal (503) if an item still has no verdict."""
        verdicts = await self._score(request, items)
        again = [i for i, verdict in enumerate(verdicts) if verdict.is_infra_error]
        if again:
            await asyncio.sleep(RETRY_PAUSE)
            second = await self._score(request, [items[i] for i in again])
            for index, verdict in zip(again, second, strict=True):
                verdicts[index] = verdict
        for index, verdict in enumerate(verdicts):
            if verdict.is_infra_error:
                raise busy(f"item {index} could not be judged: {verdict.reason}", 5.0)
        return verdicts

    async def _score(self, request: Request, items: Sequence[Item]) -> list[Verdict]:
        limit = self.options.queue
        if len(items) > limit:
            raise Refusal(413, f"{len(items)} items in one request: send at most {limit}")
        if self.unanswered + len(items) > limit:
            raise busy(f"the queue is full ({limit} items)", 2.0)
        self.unanswered += len(items)
        work = asyncio.ensure_future(self._pool.score_async(items))
        leaving = asyncio.ensure_future(_wait_for_disconnect(request))
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientDisconnect
            verdicts = work.result()
        except asyncio.CancelledError as error:  # by the server, at the end of its shutdown time
            raise busy("the service shut down before all items were scored", 5.0) from error
        except UserError as error:  # such as code that cannot be isolated here
            raise Refusal(501, str(error)) from error
        finally:
            self.unanswered -= len(items)
            work.cancel()
            leaving.cancel()
        for (_, task), verdict in zip(items, verdicts, strict=True):
            self._count(task, verdict)
        return verdicts

    def _count(self, task: Task, verdict: Verdict) -> None:
        self.metrics.count_verdict(task, verdict)
        if not verdict.is_infra_error:
            self._bad_in_a_row = 0
            return
        self._bad_in_a_row += 1
        if self._bad_in_a_row == BAD_IN_A_ROW:
            self._say(
                f"not ready: {BAD_IN_A_ROW} items in a row without a verdict ({verdict.reason})"
            )

    async def _probe(self) -> bool:
        verdicts = await self._pool.score_async([PROBE] * self.options.workers)
        bad = next((verdict for verdict in verdicts if verdict.reward != 1.0), None)
        if bad is not None:
            self._say(f"the workers do not answer: {bad.status}, {bad.reason}")
        return bad is None

    async def _probe_code(self) -> None:
        """Run a test program. If this is impossible, print a warning; unless the backend is ``local``, raise UserError."""
        try:
            verdict = (await self._pool.score_async([CODE_PROBE]))[0]
        except UserError as error:
            if self.options.backend != "local":
                raise
            self._say(f"WARNING: code tasks will be refused: {error}")
            return
        if verdict.is_infra_error:
            self._say(f"WARNING: the sandbox does not work: {verdict.reason}")


class Counted:
    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 500  # in case of a bug

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noting_status)
        finally:
            name = scope["path"].strip("/")
            endpoint = name if name in ENDPOINTS else "other"
            self._metrics.answer(endpoint, status, time.monotonic() - started)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _run_off_loop_if_large(size: int, work: Callable[[], T]) -> T:
    return work() if size <= INLINE_BYTES else await asyncio.to_thread(work)
