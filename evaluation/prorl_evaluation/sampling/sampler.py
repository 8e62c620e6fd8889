"""Generates the missing samples of a journal in batches.

"Fixed" batches (Transformers) are always generated as a whole. With a deterministic backend, a resumed run therefore
equals an uninterrupted one bit for bit. "Bucketed" batches have prompts of similar length. In these and with other
backends, only missing samples are generated.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_evaluation.sampling.journal import EvalJournal, Problem, SampleRecord
from prorl_evaluation.sampling.pipeline import Item
from prorl_evaluation.sampling.stored import chosen
from prorl_evaluation.types import EvalSettings
from prorl_inference import (
    BACKENDS,
    BackendOptions,
    Completion,
    Generator,
    Request,
    SamplingParams,
    model_digest,
    sample_batches,
)


class LazyGenerator:
    """A ``Generator`` that loads its model on first use."""

    def __init__(
        self,
        path: Path,
        name: str,
        device: str,
        batch_size: int,
        backend: str,
    ) -> None:
        self.model_id = name
        self.model_digest = model_digest(path)
        self._path, self._device = path, device
        self._batch_size, self._backend = batch_size, backend
        self._inner: Generator | None = None

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        return self.prepare().generate(requests, params, on_done, on_result)

    def prepare(self) -> Generator:
        if self._inner is None:
            options = BackendOptions(self._path, self._device, "auto", batch_rows=self._batch_size)
            self._inner = BACKENDS.get(self._backend).open(options)
        return self._inner

    def sync_weights(self, model: Any) -> None:
        if self._inner is not None:
            self._inner.sync_weights(model)

    def close(self) -> None:
        if self._inner is not None:
            self._inner.close()
            self._inner = None


def prepare(generator: Generator) -> None:
    load: Callable[[], object] | None = getattr(generator, "prepare", None)
    if load is not None:
        load()


INDEX_BLOCK = 16
"""Number of samples per problem in a batch; it does not depend on n, so that n can grow."""
ROUNDS, LARGE_BATCH = 8, 1024
"""Other backends than Transformers get batches of ROUNDS times ``batch_rows``, but at least LARGE_BATCH."""
FLUSH_SECONDS = 0.2
"""Time in seconds for which finished samples are collected before they are written."""


@dataclass(frozen=True, slots=True)
class Batch:
    """For each of some problems, the samples with indices from ``first`` to ``stop`` (exclusive)."""

    problems: tuple[Problem, ...]
    first: int
    stop: int

    @property
    def rows(self) -> int:
        return len(self.problems) * (self.stop - self.first)

    def items(self) -> Iterator[Item]:
        """Yield (problem, sample index) in the order of the requests."""
        for problem in self.problems:
            for index in range(self.first, self.stop):
                yield problem, index


def plan(problems: Sequence[Problem], settings: EvalSettings, start: int = 0) -> Plan:
    """Return batches of the samples with indices from ``start`` to ``settings.n``, low indices first."""
    rows = settings.batch_rows
    if settings.backend != "transformers":
        rows = max(ROUNDS * rows, LARGE_BATCH)
    elif settings.batches == "bucketed":
        order = sorted((-prompt_length(p), p.id, number) for number, p in enumerate(problems))
        problems = chosen(problems, [number for _, _, number in order])
    block = min(INDEX_BLOCK, settings.n - start, rows)
    return Plan(problems, range(start, settings.n, block), settings.n, max(1, rows // block))


@dataclass(frozen=True, slots=True)
class Plan:
    """The batches of an evaluation, of up to ``width`` problems; ``blocks`` holds their first sample indices."""

    problems: Sequence[Problem]
    blocks: range
    stop: int
    width: int

    def __iter__(self) -> Iterator[Batch]:
        for first in self.blocks:
            stop = min(first + self.blocks.step, self.stop)
            problems = iter(self.problems)
            while batch := tuple(itertools.islice(problems, self.width)):
                yield Batch(batch, first, stop)


@dataclass(slots=True)
class _Running:
    batch: Batch
    items: Sequence[Item]
    counted: int = 0
    answers: dict[int, list[Completion]] = field(default_factory=dict)

    def ended(self) -> list[tuple[Problem, int, Completion]]:
        place = {p.id: number for number, p in enumerate(self.batch.problems)}
        return [(p, i, self.answers[place[p.id]][i - self.batch.first]) for p, i in self.items]


def all_items(batches: Iterable[Batch]) -> Iterator[Item]:
    for batch in batches:
        yield from batch.items()


def prompt_length(problem: Problem) -> int:
    return sum(len(m["content"]) for m in problem.prompt)


def missing(batch: Batch, journal: EvalJournal) -> int:
    return len(_lacking(batch, journal))


def _lacking(batch: Batch, journal: EvalJournal) -> list[Item]:
    keys = journal.keys
    return [
        (p, i)
        for p, i in batch.items()
        if keys.key(p.id, p.prompt_sha256, i) not in journal.samples
    ]


class Sampler:
    """Generates missing samples and writes them to a journal.

    ``count(samples, tokens)`` reports progress, ``on_written(items)`` the samples just written.
    """

    def __init__(
        self,
        journal: EvalJournal,
        generator: Generator,
        settings: EvalSettings,
        count: Callable[[int, int], None],
        on_written: Callable[[Sequence[Item]], None],
    ) -> None:
        self._journal, self._generator = journal, generator
        self._whole_batches = settings.backend == "transformers" and settings.batches == "fixed"
        self._params = SamplingParams(settings.temperature, settings.top_p, settings.max_tokens)
        self._count, self._on_written = count, on_written
        self._written_at = time.perf_counter()

    def fill(self, batches: Iterable[Batch], samples: int) -> None:
        self._written_at = time.perf_counter()
        if self._whole_batches:
            self._fill_whole(batches)
        else:
            self._fill_sample_by_sample(batches, samples)

    def _fill_whole(self, batches: Iterable[Batch]) -> None:
        seed = self._journal.keys.seed
        running: dict[int, _Running] = {}

        def units() -> Iterator[list[Request]]:
            lacking = ((batch, _lacking(batch, self._journal)) for batch in batches)
            for number, (batch, items) in enumerate(pair for pair in lacking if pair[1]):
                running[number] = _Running(batch, items)
                indices = range(batch.first, batch.stop)
                yield [
                    Request(p.prompt, tuple(seed(p.id, i) for i in indices), about=p.task)
                    for p in batch.problems
                ]

        def done(number: int | None, count: int) -> None:
            if (batch := running.get(-1 if number is None else number)) is not None:
                count = min(count, len(batch.items) - batch.counted)
                batch.counted += count
                self._count(count, 0)

        def take(number: int, index: int, completions: list[Completion]) -> None:
            batch = running[number]
            batch.answers[index] = completions
            if len(batch.answers) == len(batch.batch.problems):
                del running[number]
                tokens = self._write(batch.ended(), batch.batch.rows)
                self._count(len(batch.items) - batch.counted, tokens)
                self._on_written(batch.items)

        sample_batches(self._generator, units(), self._params, done, take)

    def _fill_sample_by_sample(self, batches: Iterable[Batch], samples: int) -> None:
        """Write finished samples about every FLUSH_SECONDS, and before an error propagates."""
        seed = self._journal.keys.seed
        ended: list[tuple[Problem, int, Completion]] = []
        requested: dict[int, list[Item]] = {}
        left: dict[int, int] = {}
        share: Callable[[int], int | None] = getattr(self._generator, "unit", lambda _: None)
        width = share(samples)

        def units() -> Iterator[list[Request]]:
            lacking = (_lacking(batch, self._journal) for batch in batches)
            parts = (
                items[place : place + (width or len(items))]
                for items in lacking
                for place in range(0, len(items), width or len(items))
            )
            for number, part in enumerate(parts):
                requested[number], left[number] = part, len(part)
                yield [Request(p.prompt, (seed(p.id, i),), about=p.task) for p, i in part]

        def flush() -> list[Item]:
            tokens = self._write(ended, len(ended))
            done = [(p, i) for p, i, _ in ended]
            ended.clear()
            self._count(len(done), tokens)
            return done

        def tick(*_: object) -> None:
            if ended and time.perf_counter() - self._written_at >= FLUSH_SECONDS:
                self._on_written(flush())

        def take(number: int, index: int, completions: list[Completion]) -> None:
            ended.append((*requested[number][index], completions[0]))
            left[number] -= 1
            if not left[number]:
                del requested[number], left[number]
            tick()

        try:
            sample_batches(self._generator, units(), self._params, tick, take)
        except BaseException:
            flush()
            raise
        self._on_written(flush())

    def _write(self, ended: Sequence[tuple[Problem, int, Completion]], made: int) -> int:
        keys, now = self._journal.keys, time.perf_counter()
        share = (now - self._written_at) / max(1, made)
        self._written_at = now
        records: list[SampleRecord] = []
        fields: list[dict[str, Any]] = []
        for problem, index, completion in ended:
            parts = keys.fields(problem.id, problem.prompt_sha256, index)
            record = SampleRecord(
                key=keys.key(problem.id, problem.prompt_sha256, index),
                sample_id=problem.id,
                index=index,
                seed=parts["seed"],
                text=completion.text,
                tokens=len(completion.token_ids),
                logprob=round(sum(completion.logprobs), 6),
                finish_reason=completion.finish_reason,
                seconds=round(share, 6),
                note=completion.note,
                turns=completion.turns,
            )
            fields.append(parts)
            records.append(record)
        if records:
            self._journal.add_samples(records, fields)
        return sum(record.tokens for record in records)
