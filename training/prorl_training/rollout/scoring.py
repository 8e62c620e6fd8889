"""Scores groups beside sampling: in a thread of its own, verdicts taken in the order in which groups came.

A ServiceError of the scorer becomes infra-error verdicts for what it was asked about: it is never a reward of 0.
"""

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
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.config import TrainConfig
from prorl_training.types import Scorer
from prorl_verifiers import Task, Verdict

Judged = tuple[int, list[Verdict]]
"""A group's key and a verdict for each of its completions."""
_Item = tuple[int, Sample, Sequence[Completion]]


class Scoring:
    """Takes groups by ``add`` and returns their verdicts by ``take``; a context manager.

    With ``overlap`` False everything is scored by ``take``, in the caller's thread. An error of the scorer that
    is not a ServiceError is raised by ``take``. ``pending`` counts the groups not yet taken.
    """

    def __init__(self, scorer: Scorer, overlap: bool) -> None:
        self.scorer = scorer
        self.pending = 0
        self._overlap = overlap
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Judged | BaseException] = queue.SimpleQueue()
        self._ready: deque[Judged] = deque()
        self._given_up = False
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
        self._given_up = True  # what still waits is of no use any more
        self._waiting.put(None)
        if self._overlap:
            self._thread.join()

    def add(self, key: int, sample: Sample, completions: Sequence[Completion]) -> None:
        """Take a group whose completions are all there."""
        self.pending += 1
        self._waiting.put((key, sample, completions))

    def take(self, least: int, most: int | None = None) -> list[Judged]:
        """Return verdicts of the groups that came first: at least ``least``, at most ``most`` (None: all there are)."""
        if not self._overlap:
            self._score_waiting()
        most = self.pending if most is None else most
        while len(self._ready) < most:
            try:
                found = self._done.get(block=len(self._ready) < least)
            except queue.Empty:
                break
            if isinstance(found, BaseException):
                raise found
            self._ready.append(found)
        taken = [self._ready.popleft() for _ in range(min(most, len(self._ready)))]
        self.pending -= len(taken)
        return taken

    def _work(self) -> None:
        try:
            while self._score([self._waiting.get()]):
                pass
        except BaseException as error:  # noqa: BLE001 - raised by take()
            self._done.put(error)

    def _score_waiting(self) -> None:
        if not self._waiting.empty():
            self._score([])

    def _score(self, items: list[_Item | None]) -> bool:
        """Score ``items`` and all that waits, in one call; return whether there may be more."""
        while not self._waiting.empty():
            items.append(self._waiting.get())
        groups = [item for item in items if item is not None]
        if groups and not self._given_up:
            asked = [(c.text, sample.task) for _, sample, cs in groups for c in cs]
            found = iter(score_or_infra(self.scorer, asked))
            for key, _, completions in groups:
                self._done.put((key, [next(found) for _ in completions]))
        return None not in items


def score_or_infra(scorer: Scorer, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
    """Return the scorer's verdicts; where the service itself failed, an infra error for each item."""
    try:
        return scorer.score(items)
    except ServiceError as error:
        return [Verdict(None, "infra_error", str(error))] * len(items)


SECONDS_AN_ANSWER = 0.06
"""Processor time of one answer: three times what benchmarks/reward_tier.py measures on a five-domain mix of easy
answers (0.021 s)."""
WITHIN = 10.0
"""Seconds in which a whole batch could be checked, if all of it came at once; more is drawn than one batch, and most
answers come while others are still sampled."""
LEAST = 2


def answers_in_a_step(config: TrainConfig) -> int:
    """Return the answers of a batch, of the phase with the most."""
    phases = (config.in_phase(number) for number in range(max(len(config.phases), 1)))
    return max(phase.rollout.prompts * phase.rollout.samples for phase in phases)


def wanted_workers(answers: int) -> int:
    """Return the workers that ``answers`` a step ask for, at least ``LEAST``."""
    return max(math.ceil(answers * SECONDS_AN_ANSWER / WITHIN), LEAST)


def workers_here(config: TrainConfig) -> int:
    """Return the workers of a pool on this machine: ``reward.workers``, else as many as the answers ask for and
    the cores allow."""
    cores = len(os.sched_getaffinity(0))
    wanted = wanted_workers(answers_in_a_step(config))
    return config.reward.workers or max(min(wanted, cores), LEAST)
