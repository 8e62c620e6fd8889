"""The service without HTTP: the sandbox in threads, a fair queue before it, readiness, draining.

Everything but the runs themselves happens in one event loop.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version

from prorl_common import UserError
from prorl_common.serving.background import Background
from prorl_common.serving.fair_queue import ClientQueue, StoppedError
from prorl_common.serving.refusal import Refusal
from prorl_common.serving.traffic import Traffic
from prorl_sandbox.remote.asking import Asked, answers, pack_error
from prorl_sandbox.remote.protocol import PROTOCOL, Hello
from prorl_sandbox.serve.batch import Batch, Order
from prorl_sandbox.serve.metrics import Metrics
from prorl_sandbox.serve.options import ServeOptions
from prorl_sandbox.serve.sessions import Sessions
from prorl_sandbox.serve.stream import json_line
from prorl_sandbox.types import Limits, Program, SandboxError, ToolSandbox

_PROBE = Program("print(6 * 7)")
_PROBE_LIMITS = Limits(wall_seconds=60.0, cpu_seconds=30.0)
_PROBE_PAUSE = 2.0
_BAD_IN_A_ROW = 10
"""So many jobs one after the other that the sandbox failed at make the service not ready until a probe succeeds."""
_MOST_UNSENT = 256 * 1024 * 1024
"""Bytes of answers that wait for one request's client to take them; more ends the request."""


class Service:
    """Takes jobs, gives answers. ``start`` and ``stop`` are called in the event loop."""

    def __init__(
        self,
        sandbox: ToolSandbox,
        options: ServeOptions,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.options = options
        self.metrics = Metrics()
        self.traffic = Traffic(options.max_body)
        self.became_ready = asyncio.Event()
        self.sessions = Sessions(sandbox)
        self._sandbox = sandbox
        self._say = say
        self._healthy = False
        self._bad = 0
        self._batches: dict[str, Batch] = {}
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(options.boxes + 1, "sandbox")  # one for the probe
        self._queue: ClientQueue[Order, int] = ClientQueue(
            self._work,
            lambda _order, _count: None,
            limit=options.queue,
            slots=options.boxes,
            chunk=1,
        )
        self.background = Background()

    @property
    def state(self) -> str:
        """``ready``, ``draining``, ``starting`` or ``unhealthy`` (the sandbox fails)."""
        if self.traffic.draining:
            return "draining"
        if self._healthy:
            return "ready"
        return "unhealthy" if self.became_ready.is_set() else "starting"

    def hello(self) -> Hello:
        """Return the state as clients see it."""
        return Hello(
            protocol=PROTOCOL,
            version=version("prorl"),
            status=self.state,
            isolation=self._sandbox.isolation,
            slots=self.options.boxes,
            free=self.options.boxes - self._queue.busy,
            queued=self._queue.waiting,
            queue=self.options.queue,
        )

    async def start(self) -> None:
        """Start dispatching and try the sandbox in the background."""
        self._queue.start()
        self.background.run(self._watch())

    async def stop(self) -> None:
        """Stop dispatching; the sandbox's owner closes the sandbox."""
        await self.background.stop()
        self.give_up()
        await self._queue.stop()
        self.sessions.stop()
        self._threads.shutdown(wait=False)

    def take(self, client: str, asked: list[Asked], name: str) -> Batch:
        """Queue all jobs of a request, or none. Raises QueueFullError, and Refusal for a name in use."""
        if name in self._batches:
            raise Refusal(422, "'id' is that of a request in work")
        self._queue.require_room(len(asked))
        batch = Batch(asked, name)
        self._batches[name] = batch
        for order in batch.orders:
            order.job = self._queue.submit(client, [order])
            order.job.done.add_done_callback(partial(self._over, order))
        return batch

    def drop(self, batch: Batch) -> None:
        """Forget a request: what waits is not run, what runs is killed."""
        self._cancel(batch.orders)
        self._batches.pop(batch.name, None)

    def cancel(self, name: str, places: Iterable[int]) -> None:
        """End jobs of a request that nobody waits for any more."""
        batch = self._batches.get(name)
        if batch is not None:
            self._cancel([batch.orders[at] for at in places if 0 <= at < len(batch.orders)])

    def missing_environment(self, name: str) -> dict[str, object]:
        """Return the error of an environment that programs cannot have here, nothing for others."""
        try:
            self._sandbox.check_environment(name)
        except (UserError, SandboxError) as error:
            return pack_error(error)
        return {}

    async def drain(self) -> bool:
        """Take no more work and finish what was taken; True when all of it was done in time."""
        return await self.traffic.drain(self.options.drain_seconds, self.give_up)

    def give_up(self) -> None:
        """End every job and session; the answers of their requests end without them."""
        self.sessions.close_all()
        for batch in list(self._batches.values()):
            self._cancel(batch.orders)

    def update_gauges(self) -> None:
        """Bring the gauges of the metrics up to date."""
        self.metrics.queue.set(self._queue.waiting)
        self.metrics.busy.set(self._queue.busy)
        self.metrics.sessions.set(self.sessions.count)
        self.metrics.ready.set(self.state == "ready")

    def _cancel(self, orders: Iterable[Order]) -> None:
        for order in orders:
            if order.ended or order.job is None:
                continue
            order.batch.end(order)
            order.cancellation.cancel()
            self.metrics.cancelled.inc()
            if order.job.waiting:
                self._queue.cancel(order.job)

    def _over(self, order: Order, done: asyncio.Future[list[int]]) -> None:
        """Close an order whose job has ended, also by a bug of ours."""
        error = None if done.cancelled() else done.exception()
        if isinstance(error, Exception) and not isinstance(error, StoppedError):
            self._say("".join(traceback.format_exception(error)).rstrip())
            order.batch.put(_line(order, pack_error(error)))
        order.batch.end(order)

    async def _work(self, orders: Sequence[Order]) -> list[int]:
        """Run orders in a thread; return how many answers each has."""
        return [await self._loop.run_in_executor(self._threads, self._run, o) for o in orders]

    def _run(self, order: Order) -> int:
        count = 0
        with order.cancellation.covering():
            for answer in answers(self._sandbox, order.asked):
                line = _line(order, answer)
                self._loop.call_soon_threadsafe(self._answered, order, answer, line)
                count += 1
        return count

    def _answered(self, order: Order, answer: dict[str, object], line: bytes) -> None:
        if order.ended:
            return
        outcome, kind = answer.get("outcome"), answer.get("kind")
        if isinstance(outcome, dict):
            self.metrics.outcome(outcome["status"], outcome["wall_seconds"])
        elif kind is not None:
            self.metrics.error(str(kind))
        self._note(kind == "sandbox", str(answer.get("error", "")))
        order.batch.put(line)
        if order.batch.unsent > _MOST_UNSENT:
            self._say("a client does not take its answers: its request is ended")
            self._cancel(order.batch.orders)

    def _note(self, failed: bool, why: str) -> None:
        self._bad = self._bad + 1 if failed else 0
        if self._bad == _BAD_IN_A_ROW and self._healthy:
            self._healthy = False
            self._say(f"not ready: the sandbox failed {_BAD_IN_A_ROW} times in a row ({why})")

    async def _watch(self) -> None:
        """Try the sandbox until it works; again whenever it seems broken."""
        while True:
            if not self._healthy and await self._loop.run_in_executor(self._threads, self._probe):
                if self.became_ready.is_set():
                    self._say("ready again")
                self._healthy, self._bad = True, 0
                self.became_ready.set()
            await asyncio.sleep(0.2 if self._healthy else _PROBE_PAUSE)

    def _probe(self) -> bool:
        try:
            outcome = self._sandbox.run(_PROBE, _PROBE_LIMITS)
        except SandboxError as error:
            self._say(f"the sandbox does not work: {error}")
            return False
        if (outcome.status, outcome.stdout) != ("ok", "42\n"):
            self._say(f"the sandbox does not work: a trial program ended as {outcome.status}")
            return False
        return True


def _line(order: Order, answer: dict[str, object]) -> bytes:
    return json_line({"job": order.place, **answer})
