"""The pool's side of one worker: ask it, kill it by its process id. Not thread-safe: one
asker at a time.
"""

from __future__ import annotations

import os
import select
import shutil
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import IO, Any

from prorl_common import ServiceError
from prorl_verifiers.pool import frames
from prorl_verifiers.pool.worker_calls import LONGEST_RUN

RunProgram = Callable[[dict[str, Any], float], dict[str, Any]]
"""Runs what a worker asks of the sandbox, for so many seconds (``worker_calls.WorkerCalls``)."""
START_SECONDS = 60.0
"""A worker that is not ready after this is broken; also what the imports of one item may take in all."""
_WINDOW = 32 * 1024
"""Bytes of requests that may lie in the pipe beyond the one in work: less than a pipe holds, or both
sides could wait for the other to read."""
MAX_REPLY = 4 * 1024 * 1024
MAX_CALL = 32 * 1024 * 1024
"""Bytes of what a worker may ask of the sandbox at once."""
_LIMIT_SIGNALS = {24: "cpu limit", 25: "file size limit"}  # SIGXCPU, SIGXFSZ


class WorkerError(ServiceError):
    """The worker could not start or died without a reason that lies in the answer."""


class WorkerTimeout(Exception):
    """The item's time ran out (or it hit a resource limit); the worker has been killed."""


class WorkerProcess:
    """One worker that has been forked: its pipes, its scratch folder and what ends it.

    ``end`` kills and reaps the process and returns its exit code (None: unknown). Raises WorkerError when
    the worker does not get ready. ``origin``: the template that forked it.
    """

    def __init__(
        self,
        pid: int,
        pipes: tuple[int, int],
        stderr: IO[bytes],
        scratch: str,
        end: Callable[[], int | None],
        origin: object = None,
    ) -> None:
        self.pid = pid
        self.origin = origin
        self.isolation = ""
        self._to, self._from = pipes
        self._stderr, self._scratch, self._end = stderr, scratch, end
        self._reader = frames.Reader(self._from)
        self._dead = False
        for handle in pipes:
            os.set_blocking(handle, False)
        self._wait_until_ready()

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the worker's result frame (see ``worker``).

        ``seconds`` count from the moment the worker has the request, without library imports.
        Raises WorkerTimeout or WorkerError; the worker is dead after either.
        """
        return next(self.ask_many([frames.encode(request)], seconds))

    def ask_many(
        self, requests: Sequence[bytes], seconds: float, run: RunProgram | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """Yield the result frame of each encoded request, in order; ``ask`` for several at once.

        Each has ``seconds`` from the reply before it, without the programs that it has ``run``. The
        caller takes every reply or drops the worker.
        """
        sent = waiting = 0
        try:
            for at, request in enumerate(requests):
                ready: list[bytes] = []
                while sent < len(requests) and (
                    sent == at or waiting + len(requests[sent]) <= _WINDOW
                ):
                    ready.append(requests[sent])
                    waiting += len(requests[sent])
                    sent += 1
                if ready:
                    deadline = time.monotonic() + START_SECONDS
                    frames.write(self._to, b"".join(ready), deadline)
                yield self._reply(seconds, run)
                waiting -= len(request)
            if self._reader.waiting:
                raise frames.FrameError("the worker gave more answers than there were questions")
        except frames.FrameTimeout as error:
            self.kill()
            raise WorkerTimeout(f"no verdict after {seconds:g} s") from error
        except frames.FrameError as error:
            raise self._post_mortem(str(error)) from error

    def _reply(self, seconds: float, run: RunProgram | None) -> dict[str, Any]:
        """Return the next result; the clock of ``seconds`` stands still for imports and programs."""
        deadline = time.monotonic() + seconds
        loading, left, is_loading = START_SECONDS, seconds, False
        for_programs = LONGEST_RUN
        longest = MAX_REPLY if run is None else MAX_CALL
        while True:
            reply = self._reader.receive(deadline, longest)
            event = reply.get("event")
            if event is None:
                return reply
            now = time.monotonic()
            if event == "sandbox" and run is not None and not is_loading:
                try:
                    answer = run(reply, for_programs)
                except ValueError as error:
                    raise frames.FrameError(f"the worker asked for no program: {error}") from error
                for_programs -= answer.get("outcome", {}).get("wall_seconds", 0.0)
                if for_programs <= 0:
                    self.kill()
                    raise WorkerTimeout(f"its programs ran for more than {LONGEST_RUN:g} s")
                deadline += time.monotonic() - now
                data = frames.encode(answer)
                frames.write(self._to, data, time.monotonic() + START_SECONDS)
                continue
            if (event == "loading") == is_loading:
                raise frames.FrameError("the worker keeps loading")
            is_loading = event == "loading"
            if is_loading:
                left = deadline - now
                deadline = now + loading
            else:
                loading = deadline - now
                deadline = now + left

    @property
    def alive(self) -> bool:
        """False when the worker has been killed or has closed its end of the pipes."""
        if self._dead:
            return False
        poller = select.poll()
        poller.register(self._to, 0)
        return not poller.poll(0)

    def kill(self) -> int | None:
        """Kill and reap the worker, close the pipes, drop its scratch folder; return its exit code."""
        if self._dead:
            return None
        self._dead = True
        code = self._end()
        for handle in (self._to, self._from):
            os.close(handle)
        self._stderr.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return code

    def _wait_until_ready(self) -> None:
        try:
            hello = self._reader.receive(time.monotonic() + START_SECONDS, MAX_REPLY)
        except frames.FrameTimeout as error:
            self.kill()
            raise WorkerError("a scoring worker did not start in time") from error
        except frames.FrameError as error:
            raise self._post_mortem("a scoring worker did not start") from error
        self.isolation = str(hello.get("isolation", ""))

    def _post_mortem(self, what: str) -> Exception:
        """Kill what is left and say why it ended: a limit of the answer's, or a fault."""
        poller = select.poll()
        poller.register(self._from, 0)
        poller.poll(2000)  # a worker that is ending may still hold its pipes
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 4000))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        code = self.kill()
        limit = _LIMIT_SIGNALS.get(-code) if code is not None else None
        if limit is not None:
            return WorkerTimeout(limit)
        last = f": {lines[-1][:300]}" if lines else ""
        return WorkerError(f"{what} (worker exit code {code}{last})")
