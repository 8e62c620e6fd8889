"""The service without HTTP: pool, fair queue, readiness, draining.

Everything runs in one event loop; the pool works beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from prorl_common import UserError
from prorl_common.serving.background import Background
from prorl_common.serving.fair_queue import ClientQueue, Job, StoppedError
from prorl_common.serving.traffic import Traffic
from prorl_verifiers.pool.stats import PoolStats
from prorl_verifiers.serve.metrics import Metrics
from prorl_verifiers.serve.options import ServeOptions
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import load_task, services_of
from prorl_verifiers.types import Task, Verdict

Item = tuple[str, Task]
PROBE: Item = (r"\boxed{2}", Task("math", {"answer": "2"}))
CODE_PROBE: Item = (
    "```python\nprint(2)\n```",
    Task("code", {"tests": [{"stdin": "", "stdout": "2"}]}),
)
BAD_IN_A_ROW = 10
"""So many verdicts of infra_error one after the other make the service not ready until a probe succeeds."""
PROBE_PAUSE = 2.0


class Pool(Protocol):
    """The part of ``VerifierPool`` that is used here."""

    async def score_async(self, items: Sequence[Item]) -> list[Verdict]:
        """Return one verdict per item, in order."""

    @property
    def stats(self) -> PoolStats:
        """What the pool has done so far."""


class Service:
    """Takes items, gives verdicts. ``start`` and ``stop`` are called in the event loop."""

    def __init__(
        self, pool: Pool, options: ServeOptions, say: Callable[[str], None] = lambda _line: None
    ) -> None:
        self.options = options
        self.metrics = Metrics()
        self.traffic = Traffic(options.max_body)
        self.became_ready = asyncio.Event()
        self.background = Background()
        self._pool = pool
        self._say = say
        self._healthy = False
        self._bad = 0
        self._slots = 2 * options.workers
        self._jobs: set[Job[Item, Verdict]] = set()
        self._queue: ClientQueue[Item, Verdict] | None = None

    @property
    def queue(self) -> ClientQueue[Item, Verdict]:
        """The queue; there is one after ``start``."""
        assert self._queue is not None
        return self._queue

    @property
    def state(self) -> str:
        """``ready``, ``draining``, ``starting`` or ``unhealthy`` (the workers do not answer)."""
        if self.traffic.draining:
            return "draining"
        if self._healthy:
            return "ready"
        return "unhealthy" if self.became_ready.is_set() else "starting"

    async def start(self) -> None:
        """Start dispatching and probe the workers in the background."""
        self._queue = ClientQueue(
            self._pool.score_async, self._seen, limit=self.options.queue, slots=self._slots
        )
        self._queue.start()
        self.background.run(self._watch())

    async def stop(self) -> None:
        """Stop dispatching. Does not wait for a worker; the pool's owner closes the pool."""
        await self.background.stop()
        await self.queue.stop()

    async def verdicts(
        self, client: str, items: Sequence[Item], gone: asyncio.Future[None]
    ) -> list[Verdict]:
        """Return the verdicts, in order.

        When ``gone`` is done first (the client has left), what has not begun is dropped and
        ConnectionAbortedError raised. Also raises QueueFullError, StoppedError and what the pool raises.
        """
        job = self.queue.submit(client, items)
        self._jobs.add(job)
        try:
            first: set[asyncio.Future[Any]] = {job.done, gone}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not job.done.done():
                raise ConnectionAbortedError("the client left")
            return job.done.result()
        finally:
            self._jobs.discard(job)
            if not job.done.done():
                self.queue.cancel(job)

    async def drain(self) -> bool:
        """Take no more work and finish what was taken; True when all of it was done in time.

        What is not done after ``drain_seconds`` ends with StoppedError.
        """
        return await self.traffic.drain(self.options.drain_seconds, self._give_up)

    def _give_up(self) -> None:
        for job in list(self._jobs):
            self.queue.cancel(job, StoppedError())

    def update_gauges(self) -> None:
        """Bring the gauges of the metrics up to date."""
        self.metrics.queue.set(self.queue.waiting)
        self.metrics.busy.set(self.queue.busy)
        self.metrics.ready.set(self.state == "ready")
        self.metrics.pool(self._pool.stats)

    def _seen(self, item: Item, verdict: Verdict) -> None:
        self.metrics.verdict(item[1], verdict)
        if services_of([item[1]]):  # a judge that is away says nothing of the workers
            return
        if not verdict.is_infra_error:
            self._bad = 0
            return
        self._bad += 1
        if self._bad == BAD_IN_A_ROW and self._healthy:
            self._healthy = False
            self._say(
                f"not ready: {BAD_IN_A_ROW} items in a row without a verdict ({verdict.reason})"
            )

    async def _watch(self) -> None:
        """Probe until the workers answer; again whenever they seem broken."""
        while True:
            if not self._healthy and await self._probe():
                if not self.became_ready.is_set():
                    # one good task a verifier, so that no request waits for what checking imports
                    for spec in VERIFIERS.all():
                        if spec.example is not None:
                            await asyncio.to_thread(load_task, spec.name, spec.example)
                    await self._probe_code()
                else:
                    self._say("ready again")
                self._healthy, self._bad = True, 0
                self.became_ready.set()
            await asyncio.sleep(0.2 if self._healthy else PROBE_PAUSE)

    async def _probe(self) -> bool:
        verdicts = await self._pool.score_async([PROBE] * self.options.workers)
        bad = next((verdict for verdict in verdicts if verdict.reward != 1.0), None)
        if bad is not None:
            self._say(f"the workers do not answer: {bad.status}, {bad.reason}")
        return bad is None

    async def _probe_code(self) -> None:
        """Open the sandbox now. Without one, a backend asked for by name is a fault, else code is refused."""
        try:
            verdict = (await self._pool.score_async([CODE_PROBE]))[0]
        except UserError as error:
            if self.options.backend != "local":
                raise
            self._say(f"WARNING: code tasks will be refused: {error}")
            return
        if verdict.is_infra_error:
            self._say(f"WARNING: the sandbox does not work: {verdict.reason}")
