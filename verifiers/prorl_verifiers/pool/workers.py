"""Starts worker processes and communicates with them."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import prorl_common
from prorl_common import plugin_environment
from prorl_common.forks import START_SECONDS, Child, ChildError, Template
from prorl_common.frames import FrameError, FrameTimeout, Reader, encode, write
from prorl_verifiers.pool.confine import NOBODY
from prorl_verifiers.pool.sandbox_calls import LONGEST_RUN
from prorl_verifiers.pool.stats import Counters
from prorl_verifiers.spec import VERIFIERS, runs_in_worker

PROGRAM = ("-c", "from prorl_verifiers.pool.worker import main; main()")
_FLAGS = ("-P", "-s", "-B")
_OF_PYTHON = ("LD_LIBRARY_PATH", "PYTHONHOME")
"""Environment variables with which the interpreter finds its libraries."""
RunProgram = Callable[[dict[str, Any], float], dict[str, Any]]
"""Answers a worker's sandbox call within the given seconds, like ``sandbox_calls.WorkerCalls``."""
_WINDOW = 32 * 1024
"""Maximum bytes of requests that are sent ahead. If they did not fit into the pipe, both sides could block."""
MAX_REPLY = 4 * 1024 * 1024
MAX_CALL = 32 * 1024 * 1024
"""Maximum bytes of a worker's sandbox call."""
_LIMIT_SIGNALS = {24: "cpu limit", 25: "file size limit"}  # SIGXCPU, SIGXFSZ
_AGAIN_SECONDS = 5.0
"""After two failed starts, callers get the same error for this many seconds."""
_LOG = logging.getLogger(__name__)


class WorkerTimeout(Exception):
    """Raised if an item exceeds a limit. The worker has been killed."""


class WorkerProcess:
    """A worker process. Not thread-safe. Raises ChildError if the process fails to start."""

    def __init__(self, child: Child, origin: WorkerTemplate) -> None:
        self._child, self.origin = child, origin
        self._reader = Reader(child.source)
        self.pid = child.pid
        for handle in (child.to, child.source):
            os.set_blocking(handle, False)
        self.isolation = self._wait_until_ready()

    def ask_many(
        self, requests: Sequence[bytes], seconds: float, run: RunProgram | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """Yield the reply (see ``result_frame``) to each encoded request, in order.

        ``seconds`` limits each result, without imports and programs. The caller must take all results or kill the
        worker. After WorkerTimeout or ChildError the worker is dead.
        """
        sent = waiting = 0
        try:
            self._refuse_surplus()
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
                    write(self._child.to, b"".join(ready), deadline)
                yield self._reply(seconds, run)
                waiting -= len(request)
            self._refuse_surplus()
        except FrameTimeout as error:
            self.kill()
            raise WorkerTimeout(f"no verdict after {seconds:g} s") from error
        except FrameError as error:
            raise self._explain_death(str(error)) from error

    def _refuse_surplus(self) -> None:
        if self._reader.waiting:
            raise FrameError("a scoring worker returned more answers than requests")

    def _reply(self, seconds: float, run: RunProgram | None) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        remaining, is_loading = seconds, False
        for_loading, for_programs = START_SECONDS, LONGEST_RUN
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
                    raise FrameError(
                        f"a scoring worker sent an invalid sandbox call: {error}"
                    ) from error
                for_programs -= answer.get("outcome", {}).get("wall_seconds", 0.0)
                if for_programs <= 0:
                    self.kill()
                    raise WorkerTimeout(
                        f"the programs of the item ran for more than {LONGEST_RUN:g} s"
                    )
                deadline += time.monotonic() - now
                data = encode(answer)
                write(self._child.to, data, time.monotonic() + START_SECONDS)
                continue
            if (event == "loading") == is_loading:
                raise FrameError("a scoring worker sent an unexpected event")
            is_loading = event == "loading"
            if is_loading:
                remaining = deadline - now
                deadline = now + for_loading
            else:
                for_loading = deadline - now
                deadline = now + remaining

    @property
    def alive(self) -> bool:
        return self._child.alive

    def kill(self) -> int | None:
        return self._child.kill()

    def _wait_until_ready(self) -> str:
        try:
            hello = self._reader.receive(time.monotonic() + START_SECONDS, MAX_REPLY)
        except FrameTimeout as error:
            self.kill()
            raise ChildError("a scoring worker did not start in time") from error
        except FrameError as error:
            raise self._explain_death("a scoring worker did not start") from error
        return str(hello.get("isolation", ""))

    def _explain_death(self, message: str) -> Exception:
        poller = select.poll()
        poller.register(self._child.source, 0)
        poller.poll(2000)  # an ending worker may still hold its pipes
        lines = self._child.last_lines()
        code = self.kill()
        limit = _LIMIT_SIGNALS.get(-code) if code is not None else None
        if limit is not None:
            return WorkerTimeout(limit)
        return ChildError(f"{message} ({': '.join([f'worker exit code {code}', *lines[-1:]])})")


class WorkerTemplate(Template):
    """The process that has loaded the verifiers and from which workers are forked. Raises ChildError."""

    def __init__(self, verifiers: Iterable[str] = ()) -> None:
        self.verifiers = frozenset(verifiers)
        self._plugins = plugin_environment()
        self.warm: frozenset[str] = frozenset()
        """Those of ``verifiers`` whose libraries are loaded and whose deep canaries pass."""
        self.broken: dict[str, str] = {}
        """Maps a verifier to the quick canary that it misjudged; its verdicts cannot be trusted."""
        # Plug-ins need the modules that can be imported here.
        path = [os.path.abspath(folder) for folder in sys.path]
        words = json.dumps({"verifiers": sorted(self.verifiers), "path": path})
        command = [sys.executable, *_FLAGS, *PROGRAM, words]
        super().__init__(command, _environment() | self._plugins, "a scoring worker")

    @property
    def knows_plugins(self) -> bool:
        """Whether the workers have the current plug-ins."""
        return self._plugins == plugin_environment()

    def wait_until_ready(self) -> Self:
        hello = self.hello()
        self.warm, self.broken = self.verifiers - set(hello["failed"]), hello["broken"]
        for name, reason in {**hello["failed"], **self.broken}.items():
            _LOG.warning("the %s verifier fails its own canaries: %s", name, reason)
        return self

    def worker(self, memory_mb: int = 2048) -> WorkerProcess:
        return WorkerProcess(self.child({"memory_mb": memory_mb}, owner=NOBODY), self)


def _environment() -> dict[str, str]:
    python = {name: os.environ[name] for name in _OF_PYTHON if name in os.environ}
    verifiers = Path(__file__).resolve().parents[2]
    common = Path(prorl_common.__file__).resolve().parent.parent
    return python | {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(dict.fromkeys((str(verifiers), str(common)))),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


class WorkerFactory:
    """Starts workers, and keeps one in reserve. Thread-safe.

    If ``grow`` is set, the libraries of a verifier are loaded in the background when its first task arrives.
    """

    def __init__(self, memory_mb: int, counters: Counters, warm: Iterable[str], grow: bool) -> None:
        self._memory_mb, self._counters, self._grow = memory_mb, counters, grow
        self._verifiers = frozenset(warm)
        self._changed = threading.Condition()
        self._template_lock = threading.Lock()
        self._template: WorkerTemplate | None = None
        self._spare: WorkerProcess | None = None
        self._disposed: list[WorkerProcess] = []
        self._failure: tuple[float, ChildError] | None = None
        self._unready: set[WorkerTemplate] = set()
        self._closed = False
        self._thread = threading.Thread(
            target=self._maintain, name="verifier-worker-factory", daemon=True
        )
        if grow:
            self._thread.start()

    def warm_up(self, verifiers: Iterable[str]) -> None:
        if not self._grow:
            return
        new = {name for name in verifiers if runs_in_worker(VERIFIERS.get(name))}
        if not new <= self._verifiers:
            with self._changed:
                self._verifiers = self._verifiers | new
                self._changed.notify_all()

    def take(self, warm: bool = False) -> WorkerProcess:
        """Return an unused worker. Raises ChildError.

        If ``warm`` is set, first wait until the libraries of all verifiers in use are loaded.
        """
        with self._changed:
            if warm and self._thread.is_alive():
                self._changed.wait_for(self._is_warm, START_SECONDS)
            spare, self._spare = self._spare, None
            self._changed.notify_all()
        if spare is not None and spare.alive and not self.is_old(spare):
            return spare
        if spare is not None:
            self.dispose(spare)
        return self._fork()

    def wait_until_warm(self, seconds: float) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._is_warm() and not self._has_work(), seconds)
            template = self._template
            return template is not None and self._verifiers <= template.verifiers

    def is_old(self, worker: WorkerProcess) -> bool:
        return worker.origin is not self._template or not worker.origin.knows_plugins

    def broken(self, verifier: str) -> str | None:
        """Return how the verifier fails its quick test questions, or None."""
        template = self._template
        return None if template is None else template.broken.get(verifier)

    def dispose(self, worker: WorkerProcess) -> None:
        with self._changed:
            if self._thread.is_alive() and not self._closed:
                self._disposed.append(worker)
                self._changed.notify_all()
                return
        worker.kill()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            unready = list(self._unready)
        for template in unready:
            template.kill()
        with self._template_lock:
            last, self._template = self._template, None
        if last is not None:
            last.kill()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        self._kill_disposed()

    def _is_warm(self) -> bool:
        template = self._template
        warm = template is not None and self._verifiers <= template.verifiers
        return warm or self._closed or self._failure is not None

    def _ready_template(self) -> WorkerTemplate:
        with self._template_lock:
            template = self._template
            if template is not None and template.alive:
                if template.knows_plugins:
                    return template
                template.retire()
            elif template is not None:
                template.kill()
            self._template = None
            if self._failure is not None and time.monotonic() - self._failure[0] < _AGAIN_SECONDS:
                raise self._failure[1]
            verifiers = () if self._grow else self._verifiers
            try:
                self._template = self._new_template(verifiers)
            except ChildError:  # perhaps killed; all waiting callers would get the error
                if self._closed:
                    raise
                self._template = self._new_template(verifiers)
            return self._template

    def _new_template(self, verifiers: Iterable[str]) -> WorkerTemplate:
        self._counters.add("template_starts")
        template = None
        try:
            template = WorkerTemplate(verifiers)
            with self._changed:
                self._unready.add(template)
                closed = self._closed
            if closed:
                template.kill()
                raise ChildError("the verifier pool is closed")
            template.wait_until_ready()
        except ChildError as error:
            with self._changed:
                self._failure = time.monotonic(), error
                self._changed.notify_all()
            raise
        finally:
            with self._changed:
                self._unready -= {template} if template is not None else set()
        self._failure = None
        return template

    def _fork(self) -> WorkerProcess:
        while True:
            template = self._ready_template()
            self._counters.add("worker_starts")
            try:
                return template.worker(self._memory_mb)
            except ChildError:
                if self._closed or template is self._template:
                    raise  # otherwise it was replaced in the meantime; fork from the new one

    def _maintain(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._has_work())
                if self._closed:
                    return
            self._kill_disposed()
            try:
                self._renew()
                self._refill()
            except ChildError as error:  # callers of take get the same error
                _LOG.info("no spare worker: %s", error)
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, _AGAIN_SECONDS)

    def _has_work(self) -> bool:
        template = self._template
        stale = template is None or not self._verifiers <= template.verifiers
        return bool(self._disposed) or self._spare is None or stale

    def _renew(self) -> None:
        current = self._ready_template()
        verifiers = self._verifiers
        if verifiers <= current.verifiers:
            return
        new = self._new_template(verifiers)
        with self._template_lock:
            if self._closed:
                new.kill()
                return
            self._template = new
        with self._changed:
            spare, self._spare = self._spare, None
            self._changed.notify_all()
        current.retire()
        if spare is not None:
            spare.kill()

    def _refill(self) -> None:
        if self._spare is None:
            spare = self._fork()
            with self._changed:
                if not self._closed:
                    self._spare = spare
                    self._changed.notify_all()
                    return
            spare.kill()

    def _kill_disposed(self) -> None:
        with self._changed:
            disposed, self._disposed = self._disposed, []
            if self._closed and self._spare is not None:
                disposed.append(self._spare)
                self._spare = None
        for worker in disposed:
            with contextlib.suppress(OSError):
                worker.kill()
