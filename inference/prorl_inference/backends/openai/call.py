"""The completions of one ``generate`` call as they come: who gets them, what is missing, what was refused.

Leaves out: asking for them (``request_pool``) and what a refusal means (``generator``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from prorl_inference.backends.openai.protocol import Answer, Job, completion
from prorl_inference.types import Completion, OnResult, Request

PROBE = -1
"""The request index of a sample that only asks whether the server works; nobody gets its answer."""


class Call:
    """Collects the answers of ``requests`` and reports them; see ``Generator.generate``.

    ``refused`` holds, by request, the first sample that was sent and turned down; ``answered`` counts the
    others. With ``stop`` a refused sample is never a completion.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        stop: bool,
        on_done: Callable[[int], None] | None,
        on_result: OnResult | None,
    ) -> None:
        self._found: list[list[Completion | None]] = [[None] * len(r.seeds) for r in requests]
        self._stop, self._on_done, self._on_result = stop, on_done, on_result
        self.refused: dict[int, tuple[Job, Answer]] = {}
        self.answered = 0
        for index, request in enumerate(requests):
            if not request.seeds and on_result is not None:
                on_result(index, [])

    def tick(self) -> None:
        """Tell the caller that time passes."""
        if self._on_done is not None:
            self._on_done(0)

    def take(self, job: Job, answer: Answer, tokenizer: Any) -> None:
        """Hand on one answer."""
        if answer.refusal and (self._stop or not job.refused):
            self.refused.setdefault(job.request, (job, answer))
        if answer.refusal and self._stop:
            return
        self.answered += not answer.refusal
        row = self._found[job.request]
        row[job.sample] = completion(job, answer, tokenizer)
        if self._on_done is not None:
            self._on_done(1)
        whole = [c for c in row if c is not None]
        if self._on_result is not None and len(whole) == len(row):
            self._on_result(job.request, whole)

    def hand_over(
        self,
        left: Iterator[tuple[Job, Answer]],
        take: Callable[[Job, Answer], None],
        cause: BaseException,
    ) -> None:
        """``take`` answers that were there when ``cause`` ended the call; what that raises is noted on it."""
        try:
            for job, answer in left:
                take(job, answer)
        except Exception as error:  # noqa: BLE001 - `cause` is what is raised
            cause.add_note(f"answers that had ended could not be handed over ({error!r})")

    def result(self) -> list[list[Completion]]:
        """Return the completions of each request."""
        return [[c for c in answers if c is not None] for answers in self._found]
