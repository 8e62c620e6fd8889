"""Score finished groups in a thread while the sampler works on the others.

The thread takes all groups that wait and scores them in one call. What a verdict says does not depend
on when it was asked for, so results are the same without the overlap.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from prorl_common import ServiceError
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.rollout.types import Scorer
from prorl_verifiers import Task, Verdict

_Item = tuple[int, Sequence[Completion]]


class OverlappedScoring:
    """Takes groups by ``add`` as they finish; ``verdicts`` waits and returns all, in prompt order.

    A ServiceError of the scorer becomes infra-error verdicts for the groups it was asked about; any
    other error is raised by ``verdicts``. With ``overlap`` False everything is scored by ``verdicts``.
    """

    def __init__(self, scorer: Scorer, samples: Sequence[Sample], overlap: bool) -> None:
        self.scorer = scorer
        self.samples = samples
        self._overlap = overlap
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._done: dict[int, list[Verdict]] = {}
        self._error: BaseException | None = None
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
        if self._overlap and self._thread.is_alive():
            self._given_up = kind is not None  # what waits is of no use any more
            self._waiting.put(None)
            self._thread.join()

    def add(self, index: int, completions: Sequence[Completion]) -> None:
        """Take the finished group of sample number ``index``."""
        self._waiting.put((index, completions))

    def verdicts(self) -> list[list[Verdict]]:
        """Return the verdicts of every group, once all are there."""
        self._waiting.put(None)
        if self._overlap:
            self._thread.join()
        else:
            self._work()
        if self._error is not None:
            raise self._error
        return [self._done[i] for i in range(len(self.samples))]

    def _work(self) -> None:
        try:
            open_ = True
            while open_:
                items = [self._waiting.get()]
                while not self._waiting.empty():
                    items.append(self._waiting.get())
                open_ = None not in items
                self._score([item for item in items if item is not None])
        except BaseException as error:  # noqa: BLE001 - raised by verdicts()
            self._error = error

    def _score(self, items: Sequence[_Item]) -> None:
        asked = [(c.text, self.samples[i].task) for i, cs in items for c in cs]
        if not asked or self._given_up:
            return
        found = iter(score_or_infra(self.scorer, asked))
        for i, completions in items:
            self._done[i] = [next(found) for _ in completions]


def score_or_infra(scorer: Scorer, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
    """Return the scorer's verdicts; where the service itself failed, an infra error for each item."""
    try:
        return scorer.score(items)
    except ServiceError as error:
        return [Verdict(None, "infra_error", str(error))] * len(items)
