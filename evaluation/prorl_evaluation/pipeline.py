"""Verdicts while sampling goes on: a thread grades what is written, from a bounded queue.

The model and the verifiers so work at the same time. A sampler that is far ahead waits. Leaves out: how an
item is graded (``grading``) and how it was sampled (``sampling``).
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Sequence

from prorl_common import Closing, Progress
from prorl_evaluation.grading import Item, Scorer, grade
from prorl_evaluation.journal import EvalJournal

DEPTH = 64
"""Hand-overs that may wait for their verdicts before the sampler does."""
CHUNK = 128
"""Samples graded, synced and counted at once, at most."""
LOOK_SECONDS = 0.2


class GradingThread(Closing):
    """Grades handed-over samples in a thread of its own.

    What its scorer raises is raised by the next ``submit`` or by ``finish``. ``close`` drops what waits
    (the next call of the evaluation grades it) and lets the chunk in work end.
    """

    def __init__(self, journal: EvalJournal, scorer: Scorer) -> None:
        self._journal, self._scorer = journal, scorer
        self._queue: queue.Queue[Sequence[Item] | None] = queue.Queue(DEPTH)
        self._error: BaseException | None = None
        self._stop = threading.Event()
        self._submitted = self._graded = 0
        self._ended = False
        self._thread = threading.Thread(target=self._work, daemon=True, name="prorl-grading")
        self._thread.start()

    def submit(self, items: Sequence[Item]) -> None:
        """Hand over written samples; waits while the queue is full."""
        self._submitted += len(items)
        while items:
            self._raise()
            try:
                self._queue.put(items, timeout=LOOK_SECONDS)
                return
            except queue.Full:
                continue

    def finish(self, progress: Progress, label: str) -> None:
        """Wait until everything has its verdict, under a bar of its own where much is left."""
        self._queue_end()
        shown, begun = 0, time.monotonic()
        left = self._submitted - self._graded
        counted = self._graded
        while self._thread.is_alive():
            self._thread.join(LOOK_SECONDS)
            if not shown and time.monotonic() - begun > 5 * LOOK_SECONDS and left > CHUNK:
                progress.start(f"verdicts {label}", left)
                shown = 1
            if shown:
                now = self._graded
                progress.advance(now - counted)
                counted = now
        self._raise()

    def _queue_end(self) -> None:
        while self._thread.is_alive():
            try:
                self._queue.put(None, timeout=LOOK_SECONDS)
                return
            except queue.Full:
                continue

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            while (items := self._gather()) and not self._stop.is_set():
                for start in range(0, len(items), CHUNK):
                    if self._stop.is_set():
                        return
                    chunk = items[start : start + CHUNK]
                    grade(chunk, self._journal, self._scorer)
                    self._graded += len(chunk)
        except BaseException as error:  # noqa: BLE001 - raised again in the sampler's thread
            self._error = error

    def _gather(self) -> list[Item]:
        """Return all that waits now, at least one hand-over; nothing at the end."""
        if self._ended:
            return []
        first = self._queue.get()
        found: list[Item] = []
        while True:
            if first is None:
                self._ended = True
                return found
            found += first
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                return found

    def close(self) -> None:
        """Stop after the chunk in work; harmless after ``finish``."""
        self._stop.set()
        while self._thread.is_alive():
            with contextlib.suppress(queue.Full):
                self._queue.put_nowait(None)
            self._thread.join(LOOK_SECONDS)
