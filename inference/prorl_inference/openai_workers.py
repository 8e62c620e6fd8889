"""Threads that ask a server for many samples at once, each again until it is answered.

Leaves out: what is asked (``openai_requests``) and who gets the answers (``openai_generator``).
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence

from prorl_inference.openai_client import Connection, Refused, Transient
from prorl_inference.openai_patience import Patience, Rate, StoppedError, backoff
from prorl_inference.openai_requests import Answer, Job, read_answer

TRIES = 6
"""Failures of one sample that may be its own doing, while others are answered, before it counts as refused."""
JOIN_SECONDS = 2.0

Outcome = tuple[Job, Answer] | BaseException | None


class Crew:
    """What the threads of one call share. ``rates`` are those of requests and of tokens."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        patience: Patience,
        rates: tuple[Rate, Rate],
        path: str,
        chat: bool,
    ) -> None:
        self._connect, self._patience, self._path, self._chat = connect, patience, path, chat
        self._requests, self._tokens = rates
        self._waiting: deque[Job] = deque()
        self._done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._connections: list[Connection] = []
        self._expected = 0.0
        self._answers = 0

    def run(
        self, jobs: Sequence[Job], threads: int, stop_at_refusal: bool
    ) -> Generator[tuple[Job, Answer], None, None]:
        """Yield every job with its answer as it comes, in any order.

        The first error (or refusal, if asked) hands out no more jobs; what is under way is still yielded,
        then the error is raised. Closing the iterator drops what is under way.
        """
        self._waiting = deque(jobs)
        self._patience.start()
        crew = [
            threading.Thread(target=self._work, daemon=True, name=f"prorl-server-{i}")
            for i in range(min(threads, len(jobs)))
        ]
        for thread in crew:
            thread.start()
        running, error = len(crew), None
        try:
            while running:
                outcome = self._done.get()
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
            self._waiting.clear()
            self._patience.stop()
            if running:
                for connection in self._connections:
                    connection.cut()
            for thread in crew:
                thread.join(JOIN_SECONDS)

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
        failures = blamed = 0
        first_failure = 0.0
        while True:
            estimate = self._take_turn(job)
            try:
                answer = read_answer(connection.post(self._path, job.body), self._chat)
            except Refused as refusal:
                self._patience.answered()
                return Answer("", "refused", refusal=str(refusal))
            except Transient as failure:
                first_failure = first_failure or time.monotonic()
                failures += 1
                blamed += failure.blames_sample
                others_pass = self._patience.last_answer > first_failure
                if blamed >= TRIES and others_pass:
                    return Answer("", "refused", refusal=f"{failure}, {blamed} times")
                self._patience.failed(failure)
                self._patience.wait(backoff(failures, failure.wait))
            else:
                self._patience.answered()
                self._settle(answer, estimate)
                return answer

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
