"""Threads that ask a server for many samples at once, each again until it is answered.

Leaves out: what is asked (``protocol``) and who gets the answers (``generator``).
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from prorl_inference.backends.openai.call import PROBE
from prorl_inference.backends.openai.client import Connection, Refused, Transient
from prorl_inference.backends.openai.context import Rooms
from prorl_inference.backends.openai.protocol import Answer, Job, read_answer
from prorl_inference.backends.openai.retry import Patience, Rate, StoppedError, backoff

TRIES = 6
"""Failures of one sample that may be its own doing, while others are answered, before it counts as refused."""
JOIN_SECONDS = 2.0
TICK_SECONDS = 0.2
"""How often the caller hears that nothing came."""

Outcome = tuple[Job, Answer] | BaseException | None


class Crew:
    """What the threads of one call share. ``rates`` are those of requests and of tokens; ``rooms`` is there
    where nobody counted the prompts' tokens."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        patience: Patience,
        rates: tuple[Rate, Rate],
        chat: bool,
        rooms: Rooms | None = None,
    ) -> None:
        self._connect, self._patience, self._chat, self._rooms = connect, patience, chat, rooms
        self._path = "/chat/completions" if chat else "/completions"
        self._probing = threading.Lock()
        self._probe: Job | None = None
        self._requests, self._tokens = rates
        self._waiting: deque[Job] = deque()
        self._done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._connections: list[Connection] = []
        self._expected = 0.0
        self._answers = 0

    def run(
        self, jobs: Sequence[Job], threads: int, stop_at_refusal: bool, probe: Job | None = None
    ) -> Generator[tuple[Job, Answer] | None, None, None]:
        """Yield every job with its answer as it comes, in any order, and None every ``TICK_SECONDS`` without.

        The first error (or refusal, if asked) hands out no more jobs; what is under way is still yielded,
        then the error is raised. Closing the iterator drops what is under way, see ``left``. ``probe`` is
        sent where only samples that break the server may be left: does it answer another? It (and what is
        sent to measure a prompt) is yielded too, with ``PROBE`` as its request.
        """
        self._waiting, self._probe = deque(jobs), probe
        crew = self._begin(min(threads, len(jobs)))
        running, error = len(crew), None
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
                    self._waiting.clear()
                    self._patience.stop()
                else:
                    if outcome[1].refusal and stop_at_refusal:
                        self._waiting.clear()
                    yield outcome
            if error is not None:
                raise error
        finally:
            self._end(crew, bool(running))

    def _begin(self, threads: int) -> list[threading.Thread]:
        self._patience.start()
        crew = [
            threading.Thread(target=self._work, daemon=True, name=f"prorl-server-{i}")
            for i in range(threads)
        ]
        for thread in crew:
            thread.start()
        return crew

    def _end(self, crew: Sequence[threading.Thread], cut: bool) -> None:
        """Hand out nothing more and wait a little for the threads; ``cut`` ends what they wait for."""
        self._waiting.clear()
        self._patience.stop()
        if cut:
            for connection in self._connections:
                connection.cut()
        until = time.monotonic() + JOIN_SECONDS
        for thread in crew:
            thread.join(max(0.0, until - time.monotonic()))

    def left(self) -> Iterator[tuple[Job, Answer]]:
        """Yield the answers that had come when ``run`` was closed or interrupted and that it did not yield."""
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
                    try:
                        job = self._waiting.popleft()
                    except IndexError:
                        return
                    self._done.put((job, self._ask(connection, job)))
        except StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._done.put(error)
        finally:
            self._done.put(None)

    def _ask(self, connection: Connection, job: Job) -> Answer:
        """Send the job until it is answered or refused."""
        if job.refused:
            return Answer("", "refused", refusal=job.refused)
        body = job.body
        failures = blamed = 0
        first_failure = 0.0
        while True:
            try:
                found = self._attempt(connection, job, body)
                if isinstance(found, Answer):
                    return found
                body = found
            except Refused as refusal:
                self._patience.answered()
                return Answer("", "refused", refusal=str(refusal))
            except Transient as failure:
                first_failure = first_failure or time.monotonic()
                failures += 1
                blamed += failure.blames_sample
                if blamed >= TRIES and self._others_pass(connection, first_failure):
                    return Answer("", "refused", refusal=f"{failure}, {blamed} times")
                self._patience.failed(failure)
                self._patience.wait(backoff(failures, failure.wait), failure.alive)

    def _attempt(
        self, connection: Connection, job: Job, body: Mapping[str, Any]
    ) -> Answer | Mapping[str, Any]:
        """Return the answer, or the body to send instead where the server's context is exceeded."""
        if self._rooms is None:
            return self._send(connection, job, body)

        def measure(smaller: Mapping[str, Any]) -> Answer:
            answer = self._send(connection, job, smaller)
            self._done.put((replace(job, request=PROBE), answer))
            return answer

        body = self._rooms.fitted(body)
        try:
            return self._send(connection, job, body)
        except Refused as refusal:
            self._patience.answered()
            return self._rooms.learn(body, refusal, measure)

    def _send(self, connection: Connection, job: Job, body: Mapping[str, Any]) -> Answer:
        """Send one request when the rates allow it."""
        estimate = self._take_turn(job)
        answer = read_answer(connection.post(self._path, body), self._chat)
        self._patience.answered()
        self._settle(answer, estimate)
        return answer

    def _others_pass(self, connection: Connection, since: float) -> bool:
        """Return whether the server has answered anything since, if need be the probe."""
        with self._probing:
            if self._patience.last_answer > since:
                return True
            if self._probe is None:
                return False
            try:
                answer = self._send(connection, self._probe, self._probe.body)
            except Refused:
                self._patience.answered()
                return True
            except Transient:
                return False
            self._done.put((self._probe, answer))
            return True

    def _take_turn(self, job: Job) -> float:
        """Wait until the rates allow the request; return how many tokens were counted for it."""
        estimate = job.prompt_tokens + (self._expected or 256.0)
        while (seconds := self._requests.take(1.0)) > 0.0:
            self._patience.wait(seconds)
        while (seconds := self._tokens.take(estimate)) > 0.0:
            self._patience.wait(seconds)
        self._patience.wait(0.0)
        return estimate

    def _settle(self, answer: Answer, estimate: float) -> None:
        used = answer.completion_tokens or 0
        self._answers += 1
        self._expected += (used - self._expected) / self._answers
        self._tokens.correct((answer.prompt_tokens or 0) + used - estimate)
