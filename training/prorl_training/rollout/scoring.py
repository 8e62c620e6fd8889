"""Scores groups in a thread during sampling. A ServiceError of the scorer becomes a verdict ``infra_error``."""

from __future__ import annotations

import math
import os
import queue
import threading
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from prorl_common import ServiceError
from prorl_training.config import TrainConfig
from prorl_training.types import Scorer
from prorl_verifiers import Task, Verdict

Judged = tuple[int, list[Verdict]]
"""A group's key and the verdicts of its responses."""
Items = Sequence[tuple[str, Task]]
_Item = tuple[int, Items]


class Scoring:
    """Context manager that scores the groups given to ``add``. ``take`` returns their verdicts in order.

    Without ``overlap``, ``take`` itself scores the groups. It raises the scorer's errors except ServiceError.
    """

    def __init__(self, scorer: Scorer, overlap: bool) -> None:
        self.scorer = scorer
        self.pending = 0
        self._overlap = overlap
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Judged | BaseException] = queue.SimpleQueue()
        self._ready: deque[Judged] = deque()
        self._cancelled = False
        self._thread = threading.Thread(target=self._work, name="prorl-scoring", daemon=True)

    def __enter__(self) -> Self:
        if self._overlap:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cancelled = True  # groups still waiting are not needed any more
        self._waiting.put(None)
        if self._overlap:
            self._thread.join()

    def add(self, key: int, items: Items) -> None:
        """Score the responses of a group, each with its task."""
        self.pending += 1
        self._waiting.put((key, items))

    def take(self, least: int, most: int | None = None) -> list[Judged]:
        """Wait for ``least`` groups; return the verdicts of the oldest groups, at most ``most`` (None: all)."""
        if not self._overlap and not self._waiting.empty():
            self._score([])
        most = self.pending if most is None else most
        while len(self._ready) < most:
            try:
                result = self._done.get(block=len(self._ready) < least)
            except queue.Empty:
                break
            if isinstance(result, BaseException):
                raise result
            self._ready.append(result)
        taken = [self._ready.popleft() for _ in range(min(most, len(self._ready)))]
        self.pending -= len(taken)
        return taken

    def _work(self) -> None:
        try:
            while self._score([self._waiting.get()]):
                pass
        except BaseException as error:  # noqa: BLE001 - raised by take()
            self._done.put(error)

    def _score(self, waiting: list[_Item | None]) -> bool:
        """Score ``waiting`` and all queued groups. Returns False if None, which ends the queue, is reached."""
        while not self._waiting.empty():
            waiting.append(self._waiting.get())
        groups = [group for group in waiting if group is not None]
        if groups and not self._cancelled:
            every = [item for _, items in groups for item in items]
            verdicts = iter(score_or_infra(self.scorer, every))
            for key, items in groups:
                self._done.put((key, [next(verdicts) for _ in items]))
        return None not in waiting


def score_or_infra(scorer: Scorer, items: Items) -> list[Verdict]:
    try:
        return scorer.score(items)
    except ServiceError as error:
        return [Verdict(None, "infra_error", str(error))] * len(items)


SECONDS_AN_ANSWER = 0.06
"""Assumed CPU seconds per response: three times the mean of a load test (0.021 s)."""
WITHIN = 10.0
"""Seconds in which the workers should score a whole batch."""
LEAST = 2


def answers_in_a_step(config: TrainConfig) -> int:
    return max(c.rollout.prompts * c.rollout.samples for c in config.phase_configs)


def worker_count(answers: int) -> int:
    return max(math.ceil(answers * SECONDS_AN_ANSWER / WITHIN), LEAST)


def workers_here(config: TrainConfig) -> int:
    """Return the number of scoring workers: ``reward.workers``, or else enough for a step's responses."""
    cores = len(os.sched_getaffinity(0))
    needed = worker_count(answers_in_a_step(config))
    return config.reward.workers or max(min(needed, cores), LEAST)
