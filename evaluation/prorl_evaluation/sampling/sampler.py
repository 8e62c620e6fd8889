"""Fill the sample journal batch by batch, so that a kill changes nothing but the time.

What shares a batch is a function of the problem list and the settings alone.

    fixed       (transformers) neighbours in the problem list. A batch that is not wholly in the journal is
                generated whole again and only what was missing is written: killed and resumed equals never
                killed, bit for bit, where the backend repeats a batch bit for bit
    bucketed    (transformers) prompts of similar length. Only what is missing is generated and each sample
                is written as it ends: equal in items, counts and seeds, not in bits
    otherwise   (vllm, servers, which batch by themselves) as bucketed, in large batches of neighbours

Leaves out: scoring (``grading``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_evaluation.sampling.grading import Item
from prorl_evaluation.sampling.journal import EvalJournal, Problem, SampleRecord
from prorl_evaluation.types import EvalSettings
from prorl_inference import Completion, Generator, Request, SamplingParams

INDEX_BLOCK = 16
"""Sample indices of one problem that go into one batch: blocks of 16 stay as they are when n grows."""
ROUNDS, LARGE_BATCH = 8, 1024
"""A backend that batches by itself gets so many times its rows at once, at least ``LARGE_BATCH``."""
FLUSH_SECONDS = 0.2
"""Samples that end within this time are written with one sync."""


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

    def items(self) -> Iterator[Item]:
        """Yield (problem, sample index) in the order of the requests."""
        for problem in self.problems:
            for index in range(self.first, self.stop):
                yield problem, index


def plan(problems: Sequence[Problem], settings: EvalSettings, start: int = 0) -> list[Batch]:
    """Return the batches of the indices from ``start`` up to n: the first indices of every problem, then the
    next, so that an early estimate of the time left has seen every problem."""
    rows = settings.batch_rows
    if settings.backend != "transformers":
        rows = max(ROUNDS * rows, LARGE_BATCH)
    elif settings.batches == "bucketed":
        problems = sorted(problems, key=lambda p: (-prompt_length(p), p.id))
    block = min(INDEX_BLOCK, settings.n - start, rows)
    width = max(1, rows // block)
    return [
        Batch(tuple(problems[place : place + width]), first, min(first + block, settings.n))
        for first in range(start, settings.n, block)
        for place in range(0, len(problems), width)
    ]


def all_items(batches: Sequence[Batch]) -> Iterator[Item]:
    """Yield the items of every batch in turn."""
    for batch in batches:
        yield from batch.items()


def prompt_length(problem: Problem) -> int:
    """Return the characters of a problem's prompt: known without its model's tokenizer."""
    return sum(len(m["content"]) for m in problem.prompt)


def missing(batch: Batch, journal: EvalJournal) -> int:
    """Return how many of the batch's samples the journal lacks."""
    return len(_lacking(batch, journal))


def _lacking(batch: Batch, journal: EvalJournal) -> list[Item]:
    keys = journal.keys
    return [
        (p, i)
        for p, i in batch.items()
        if keys.key(p.id, p.prompt_sha256, i) not in journal.samples
    ]


class Sampler:
    """Samples batches into a journal. ``count(samples, tokens)`` hears of finished samples and of the tokens
    of written ones, ``hand_over`` gets what was written (not when an error is on its way)."""

    def __init__(
        self,
        journal: EvalJournal,
        generator: Generator,
        settings: EvalSettings,
        count: Callable[[int, int], None],
        hand_over: Callable[[Sequence[Item]], None],
    ) -> None:
        self._journal, self._generator = journal, generator
        self._whole_batches = settings.backend == "transformers" and settings.batches == "fixed"
        self._params = SamplingParams(settings.temperature, settings.top_p, settings.max_tokens)
        self._count, self._hand_over = count, hand_over

    def fill(self, batch: Batch) -> None:
        """Generate what the journal lacks of the batch (all of it where batches are fixed) and write it."""
        wanted = _lacking(batch, self._journal)
        if wanted and self._whole_batches:
            self._fill_whole(batch, wanted)
        elif wanted:
            self._fill_as_they_end(wanted)

    def _fill_whole(self, batch: Batch, wanted: Sequence[Item]) -> None:
        seed, indices = self._journal.keys.seed, range(batch.first, batch.stop)
        requests = [
            Request(p.prompt, tuple(seed(p.id, i) for i in indices)) for p in batch.problems
        ]
        reported = 0

        def count(done: int) -> None:
            nonlocal reported
            done = min(done, len(wanted) - reported)
            reported += done
            self._count(done, 0)

        started = time.perf_counter()
        answers = self._generator.generate(requests, self._params, count)
        share = (time.perf_counter() - started) / batch.rows
        flat = (completion for answer in answers for completion in answer)
        ended = dict(zip(((p.id, i) for p, i in batch.items()), flat, strict=True))
        tokens = self._write([(p, i, ended[p.id, i]) for p, i in wanted], share)
        self._count(len(wanted) - reported, tokens)
        self._hand_over(wanted)

    def _fill_as_they_end(self, wanted: Sequence[Item]) -> None:
        """Write each sample about ``FLUSH_SECONDS`` after its end, also when an error ends the call and where
        no other follows (a generator that waits calls ``on_done`` now and then)."""
        seed = self._journal.keys.seed
        requests = [Request(p.prompt, (seed(p.id, i),)) for p, i in wanted]
        ended: list[tuple[Problem, int, Completion]] = []
        written_at = time.perf_counter()

        def flush() -> list[Item]:
            nonlocal written_at
            now = time.perf_counter()
            share = (now - written_at) / max(1, len(ended))
            tokens = self._write(ended, share)
            done = [(p, i) for p, i, _ in ended]
            written_at = now
            ended.clear()
            self._count(len(done), tokens)
            return done

        def tick(_: int = 0) -> None:
            if ended and time.perf_counter() - written_at >= FLUSH_SECONDS:
                self._hand_over(flush())

        def take(index: int, completions: list[Completion]) -> None:
            ended.append((*wanted[index], completions[0]))
            tick()

        try:
            self._generator.generate(requests, self._params, tick, take)
        except BaseException:
            flush()
            raise
        self._hand_over(flush())

    def _write(self, ended: Sequence[tuple[Problem, int, Completion]], share: float) -> int:
        """Journal samples with one sync; return their tokens. ``share`` is each one's seconds."""
        keys = self._journal.keys
        records: list[SampleRecord] = []
        fields: list[dict[str, Any]] = []
        for problem, index, completion in ended:
            made = keys.fields(problem.id, problem.prompt_sha256, index)
            record = SampleRecord(
                key=keys.key(problem.id, problem.prompt_sha256, index),
                sample_id=problem.id,
                index=index,
                seed=made["seed"],
                text=completion.text,
                tokens=len(completion.token_ids),
                logprob=round(sum(completion.logprobs), 6),
                finish_reason=completion.finish_reason,
                seconds=round(share, 6),
                note=completion.note,
            )
            fields.append(made)
            records.append(record)
        if records:
            self._journal.add_samples(records, fields)
        return sum(record.tokens for record in records)
