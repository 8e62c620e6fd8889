"""Fill the sample journal in fixed batches, so that a kill changes nothing but the time.

A batch is a block of sample indices of a few problems, a function of the problem list, n and
``batch_rows`` alone. One that is not wholly in the journal is generated whole again and only what was
missing is written: with a backend whose result depends on the batch's shape, killed and resumed equals
never killed, bit for bit. Leaves out: scoring (``grading``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_evaluation.journal import EvalJournal, Problem, SampleRecord
from prorl_evaluation.types import EvalSettings
from prorl_inference import Completion, Generator, Request, SamplingParams

INDEX_BLOCK = 16
"""Sample indices of one problem that go into one batch: blocks of 16 stay as they are when n grows."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples ``first`` up to ``stop`` of each of ``problems``."""

    problems: tuple[Problem, ...]
    first: int
    stop: int

    @property
    def rows(self) -> int:
        """How many samples the batch holds."""
        return len(self.problems) * (self.stop - self.first)

    def items(self) -> Iterator[tuple[Problem, int]]:
        """Yield (problem, sample index) in the order of the requests."""
        for problem in self.problems:
            for index in range(self.first, self.stop):
                yield problem, index


def plan(problems: Sequence[Problem], settings: EvalSettings) -> list[Batch]:
    """Return the batches: the first indices of every problem, then the next, so that an early estimate
    of the time left has seen every problem."""
    block = min(INDEX_BLOCK, settings.n, settings.batch_rows)
    width = max(1, settings.batch_rows // block)
    return [
        Batch(tuple(problems[start : start + width]), first, min(first + block, settings.n))
        for first in range(0, settings.n, block)
        for start in range(0, len(problems), width)
    ]


def missing(batch: Batch, journal: EvalJournal) -> int:
    """Return how many of the batch's samples the journal lacks."""
    return sum(
        journal.keys.key(p.id, p.prompt_sha256, i) not in journal.samples for p, i in batch.items()
    )


def fill(
    batch: Batch,
    journal: EvalJournal,
    generator: Generator,
    settings: EvalSettings,
    on_done: Callable[[int], None],
) -> None:
    """Generate the whole batch and journal what was missing; ``on_done`` counts missing samples only."""
    params = SamplingParams(settings.temperature, settings.top_p, settings.max_tokens)
    indices = range(batch.first, batch.stop)
    requests = [
        Request(p.prompt, tuple(journal.keys.seed(p.id, i) for i in indices))
        for p in batch.problems
    ]
    wanted, reported = missing(batch, journal), 0

    def count(done: int) -> None:
        nonlocal reported
        done = min(done, wanted - reported)
        reported += done
        on_done(done)

    started = time.perf_counter()
    answers = generator.generate(requests, params, count)
    share = (time.perf_counter() - started) / batch.rows
    flat = [completion for answer in answers for completion in answer]
    records: list[SampleRecord] = []
    fields: list[dict[str, Any]] = []
    for (problem, index), completion in zip(batch.items(), flat, strict=True):
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        if key not in journal.samples:
            fields.append(journal.keys.fields(problem.id, problem.prompt_sha256, index))
            records.append(_record(key, problem.id, index, fields[-1]["seed"], completion, share))
    journal.add_samples(records, fields)
    count(wanted - reported)


def _record(
    key: str, sample_id: str, index: int, seed: int, completion: Completion, seconds: float
) -> SampleRecord:
    return SampleRecord(
        key=key,
        sample_id=sample_id,
        index=index,
        seed=seed,
        text=completion.text,
        tokens=len(completion.token_ids),
        logprob=round(sum(completion.logprobs), 6),
        finish_reason=completion.finish_reason,
        seconds=round(seconds, 6),
    )
