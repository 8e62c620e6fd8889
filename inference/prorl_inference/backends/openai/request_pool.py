"""Threads that send requests to a server, with retries and rate limits."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from prorl_common.http import Connection, ServerWatch, StoppedError, TransientError
from prorl_inference.backends.openai.context import ContextLimits
from prorl_inference.backends.openai.protocol import (
    PROBE,
    Answer,
    Job,
    RefusedError,
    read_answer,
    read_object,
)

TRIES = 6
"""Number of failures after which a sample counts as refused, if the server answers other samples."""
JOIN_SECONDS = 2.0
NOTHING_SECONDS = 0.05
"""Seconds to wait while there is no job."""
TICK_SECONDS = 0.2
"""Seconds without an answer after which ``run`` yields None."""

Outcome = tuple[Job, Answer] | BaseException | None


class Rate:
    """Token bucket that allows ``per_minute`` units (None: no limit), in bursts of at most one second's units."""

    def __init__(
        self, per_minute: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = None if per_minute is None else per_minute / 60.0
        self._clock = clock
        self._most = max(1.0, self._per_second or 0.0)
        self._have, self._at = self._most, clock()
        self._lock = threading.Lock()

    def take(self, units: float) -> float:
        """Take ``units`` from the bucket and return 0, or take nothing and return the seconds to wait."""
        if self._per_second is None:
            return 0.0
        with self._lock:
            now = self._clock()
            self._have = min(self._most, self._have + (now - self._at) * self._per_second)
            self._at = now
            need = min(units, self._most)
            if self._have + 1e-9 < need:
                return (need - self._have) / self._per_second
            self._have -= units
            return 0.0

    def correct(self, units: float) -> None:
        """Take the ``units`` that a request used beyond its estimate; return them if negative."""
        if self._per_second is not None:
            with self._lock:
                self._have = min(self._most, self._have - units)


class RequestPool:
    """Threads that send the requests of one call. ``check_same_model`` is called before a failed request is retried."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        watch: ServerWatch,
        rates: tuple[Rate, Rate],
        chat: bool,
        check_same_model: Callable[[Connection], None],
        limits: ContextLimits | None = None,
    ) -> None:
        self._connect, self._watch, self._chat, self._limits = connect, watch, chat, limits
        self._check_same_model = check_same_model
        self._path = "/chat/completions" if chat else "/completions"
        self._probing = threading.Lock()
        self._probe: Job | None = None
        self._requests, self._tokens = rates
        self._waiting: Iterator[Job | None] = iter(())
        self._taking = threading.Lock()
        self._ended = False
        self._done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._connections: list[Connection] = []
        self._expected = 0.0
        self._answers = 0

    def run(
        self,
        jobs: Iterable[Job | None],
        threads: int,
        stop_at_refusal: bool,
        probe: Job | None = None,
    ) -> Generator[tuple[Job, Answer] | None, None, None]:
        """Send all jobs. Yields (job, answer) in any order, and None after every ``TICK_SECONDS`` without an answer.

        ``jobs`` is advanced by one thread at a time and may yield None while it has no job. After an error, or a
        refusal if ``stop_at_refusal``, no more jobs start, and the answers of running ones are yielded before the error
        is raised. After a failure, ``probe`` is sent to test the server; its answer is yielded too.
        """
        self._waiting, self._ended, self._probe = iter(jobs), False, probe
        self._watch.start()
        workers = [
            threading.Thread(target=self._work, daemon=True, name=f"prorl-server-{i}")
            for i in range(threads)
        ]
        for worker in workers:
            worker.start()
        running, error = len(workers), None
        try:
            while running:
                try:
                    outcome = self._done.get(timeout=TICK_SECONDS)
                except queue.Empty:
                    yield None
                    continue
                if outcome is None:
                    running -= 1
                elif isinstance(outcome, BaseException):
                    error = error or outcome
                    self._ended = True
                    self._watch.stop()
                else:
                    if outcome[1].refusal and stop_at_refusal:
                        self._ended = True
                    yield outcome
            if error is not None:
                raise error
        finally:
            self._ended = True
            self._watch.stop()
            if running:
                for connection in self._connections:
                    connection.cut()
            until = time.monotonic() + JOIN_SECONDS
            for worker in workers:
                worker.join(max(0.0, until - time.monotonic()))

    def left(self) -> Iterator[tuple[Job, Answer]]:
        """Yield the answers that :meth:`run` has received but not yielded."""
        while True:
            try:
                outcome = self._done.get_nowait()
            except queue.Empty:
                return
            if isinstance(outcome, tuple):
                yield outcome

    def _work(self) -> None:
        connection = self._connect()
        self._connections.append(connection)
        try:
            with connection:
                while True:
                    with self._taking:
                        if self._ended:
                            return
                        try:
                            job = next(self._waiting)
                        except StopIteration:
                            return
                    if job is None:
                        self._watch.wait(NOTHING_SECONDS)
                    else:
                        self._done.put((job, self._ask(connection, job)))
        except StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._done.put(error)
        finally:
            self._done.put(None)

    def _ask(self, connection: Connection, job: Job) -> Answer:
        if job.refused:
            return Answer("", "refused", refusal=job.refused)
        body = job.body
        failures = blamed = 0
        first_failure = 0.0
        maybe_another = False  # the server may have restarted
        while True:
            attempt_start = time.monotonic()
            try:
                if maybe_another:
                    self._check_same_model(connection)
                    maybe_another = False
                result = self._attempt(connection, job, body)
                if isinstance(result, Answer):
                    return result
                body = result
            except RefusedError as refusal:
                self._watch.answered()
                return Answer("", "refused", refusal=str(refusal))
            except TransientError as failure:
                first_failure = first_failure or time.monotonic()
                failures += 1
                maybe_another = maybe_another or not failure.alive
                blamed += failure.blames_request
                if blamed >= TRIES and self._server_works(connection, first_failure):
                    return Answer("", "refused", refusal=f"{failure}, {blamed} times")
                self._watch.failed(failure, attempt_start)
                self._watch.wait(self._watch.policy.wait(failures, failure.wait), failure.alive)

    def _attempt(
        self, connection: Connection, job: Job, body: Mapping[str, Any]
    ) -> Answer | Mapping[str, Any]:
        if self._limits is None:
            return self._send(connection, job, body)

        def measure(smaller: Mapping[str, Any]) -> Answer:
            answer = self._send(connection, job, smaller)
            self._done.put((replace(job, request=PROBE), answer))
            return answer

        body = self._limits.fitted(body)
        try:
            return self._send(connection, job, body)
        except RefusedError as refusal:
            self._watch.answered()
            return self._limits.learn(body, refusal, measure)

    def _send(self, connection: Connection, job: Job, body: Mapping[str, Any]) -> Answer:
        estimate = job.prompt_tokens + (self._expected or 256.0)
        while (seconds := self._requests.take(1.0)) > 0.0:
            self._watch.wait(seconds)
        while (seconds := self._tokens.take(estimate)) > 0.0:
            self._watch.wait(seconds)
        self._watch.wait(0.0)
        answer = read_answer(read_object(connection.post(self._path, body)), self._chat)
        self._watch.answered()
        used = answer.completion_tokens or 0
        self._answers += 1
        self._expected += (used - self._expected) / self._answers
        self._tokens.correct((answer.prompt_tokens or 0) + used - estimate)
        return answer

    def _server_works(self, connection: Connection, since: float) -> bool:
        """Return whether the server has answered since the time ``since``, or answers the probe."""
        with self._probing:
            if self._watch.last_answer > since:
                return True
            if self._probe is None:
                return False
            try:
                answer = self._send(connection, self._probe, self._probe.body)
            except RefusedError:
                self._watch.answered()
                return True
            except TransientError:
                return False
            self._done.put((self._probe, answer))
            return True
