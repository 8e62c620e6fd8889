"""Where workers come from: the template in force, the next one warming up, and a spare worker.

A pool begins with a template that has only the scorers. When it first sees a verifier, a template that has
its libraries warm is started in the background and takes over when it is ready; workers of the old one
are replaced as they come back.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterable

from prorl_common import plugin_environment
from prorl_verifiers.pool.stats import Counters
from prorl_verifiers.pool.worker_client import START_SECONDS, WorkerError, WorkerProcess
from prorl_verifiers.pool.worker_spawn import Template
from prorl_verifiers.spec import VERIFIERS, runs_in_worker

_AGAIN_SECONDS = 5.0
"""A template that did not start twice is not tried again for so long; those who ask get the same error."""
_LOG = logging.getLogger(__name__)


class WorkerFactory:
    """Starts workers. Thread-safe. ``grow``: warm up for verifiers as they are first seen."""

    def __init__(self, memory_mb: int, counters: Counters, warm: Iterable[str], grow: bool) -> None:
        self._memory_mb, self._counters, self._grow = memory_mb, counters, grow
        self._wanted = frozenset(warm)
        self._changed = threading.Condition()
        self._starting = threading.Lock()
        self._template: Template | None = None
        self._spare: WorkerProcess | None = None
        self._gone: list[WorkerProcess] = []
        self._failure: tuple[float, WorkerError] | None = None
        self._making: set[Template] = set()
        self._closed = False
        self._thread = threading.Thread(
            target=self._tend, name="verifier-worker-factory", daemon=True
        )

    def start(self) -> None:
        """Begin in the background: a template, then a spare worker."""
        self._thread.start()

    def seen(self, verifiers: Iterable[str]) -> None:
        """Warm up, in the background, for verifiers that were not seen before."""
        if not self._grow:
            return
        wanted = self._wanted | {n for n in verifiers if runs_in_worker(VERIFIERS.get(n))}
        if wanted != self._wanted:
            with self._changed:
                self._wanted = wanted | self._wanted
                self._changed.notify_all()

    def take(self, warm: bool = False) -> WorkerProcess:
        """Return a worker that nobody has asked yet: the spare, else a new one. Raises WorkerError.

        ``warm``: wait for a template that is warming up rather than have the worker load by itself.
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
        """Wait for the template that has everything warm that was seen, and its spare worker."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_warm() and not self._has_work(), seconds)
            template = self._template
            return template is not None and self._wanted <= template.verifiers

    def is_old(self, worker: WorkerProcess) -> bool:
        """Whether the worker's template has been replaced, or knows not all plug-ins of this process."""
        origin = worker.origin
        return origin is not self._template or not self._is_current(self._template)

    def warm_for(self, worker: WorkerProcess) -> frozenset[str]:
        """Return the verifiers whose libraries the worker's template had and whose canaries it knew."""
        origin = worker.origin
        if not isinstance(origin, Template):
            return frozenset()
        return origin.verifiers - set(origin.failed)

    def broken(self, verifier: str) -> str | None:
        """Return why the verifier fails its own first questions here, if it does."""
        template = self._template
        return None if template is None else template.broken.get(verifier)

    def dispose(self, worker: WorkerProcess) -> None:
        """Have the worker killed and reaped, in the background."""
        with self._changed:
            if self._thread.is_alive() and not self._closed:
                self._gone.append(worker)
                self._changed.notify_all()
                return
        worker.kill()

    def close(self) -> None:
        """Kill every worker and the templates."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            making = list(self._making)
        for template in making:
            template.kill()
        with self._starting:
            last, self._template = self._template, None
        if last is not None:
            last.kill()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        self._sweep()

    def _is_warm(self) -> bool:
        template = self._template
        warm = template is not None and self._wanted <= template.verifiers
        return warm or self._closed or self._failure is not None

    def _ready_template(self) -> Template:
        """Return the living template; starts one when there is none. Raises WorkerError."""
        with self._starting:
            template = self._template
            if template is not None and template.alive:
                if self._is_current(template):
                    return template
                template.retire()
            elif template is not None:
                template.kill()
            self._template = None
            if self._failure is not None and time.monotonic() - self._failure[0] < _AGAIN_SECONDS:
                raise self._failure[1]
            verifiers = () if self._grow else self._wanted
            try:
                self._template = self._new_template(verifiers)
            except WorkerError:  # it may have been killed: all who wait would get the error
                if self._closed:
                    raise
                self._template = self._new_template(verifiers)
            return self._template

    def _is_current(self, template: Template | None) -> bool:
        """Whether the template has loaded the plug-ins that this process has by now."""
        return template is not None and template.plugins == plugin_environment()

    def _new_template(self, verifiers: Iterable[str]) -> Template:
        self._counters.add("template_starts")
        template = None
        try:
            template = Template(verifiers)
            with self._changed:
                self._making.add(template)
                closed = self._closed
            if closed:
                template.kill()
                raise WorkerError("the verifier pool is closed")
            template.wait_until_ready()
        except WorkerError as error:
            with self._changed:
                self._failure = time.monotonic(), error
                self._changed.notify_all()
            raise
        finally:
            with self._changed:
                self._making -= {template} if template is not None else set()
        self._failure = None
        for name, reason in {**template.failed, **template.broken}.items():
            _LOG.warning("the %s verifier fails its own questions: %s", name, reason)
        return template

    def _fork(self) -> WorkerProcess:
        while True:
            template = self._ready_template()
            self._counters.add("worker_starts")
            try:
                return template.worker(self._memory_mb)
            except WorkerError:
                if self._closed or template is self._template:
                    raise  # else it was replaced, and ended, since we looked: the new one forks

    def _tend(self) -> None:
        """Keep template, spare and graves in order until the pool closes."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._has_work())
                if self._closed:
                    return
            self._sweep()
            try:
                self._renew()
                self._refill()
            except WorkerError as error:  # whoever takes a worker gets the same error
                _LOG.info("no spare worker: %s", error)
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, _AGAIN_SECONDS)

    def _has_work(self) -> bool:
        template = self._template
        stale = template is None or not self._wanted <= template.verifiers
        return bool(self._gone) or self._spare is None or stale

    def _renew(self) -> None:
        """Replace a template that lacks a verifier that was seen."""
        current = self._ready_template()
        wanted = self._wanted
        if wanted <= current.verifiers:
            return
        new = self._new_template(wanted)
        with self._starting:
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

    def _sweep(self) -> None:
        with self._changed:
            gone, self._gone = self._gone, []
            if self._closed and self._spare is not None:
                gone.append(self._spare)
                self._spare = None
        for worker in gone:
            with contextlib.suppress(OSError):
                worker.kill()
