"""Sample rows until each has k samples in the store, in portions whose answers need no place for long.

    <folder>/ratings.jsonl           what is counted (``store``)
    <folder>/sampling-1f2e3d4c/      samples and verdicts of the portion in work (``sampling.journal``)

A kill loses nothing that was written: the portion's journal is gone on with. When its samples are counted its
answers are deleted. Leaves out: the choice of model and rows.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from prorl_common import Progress
from prorl_datasets import Sample
from prorl_evaluation.rating.store import Policy, RatingStore, RowSamples, policy_of
from prorl_evaluation.sampling.grading import Item, Scorer, ungraded
from prorl_evaluation.sampling.job import parts_of, problems_of
from prorl_evaluation.sampling.journal import EvalJournal, Keys, Problem, digest
from prorl_evaluation.sampling.lazy import prepare
from prorl_evaluation.sampling.meter import Meter
from prorl_evaluation.sampling.pipeline import GradingThread
from prorl_evaluation.sampling.sampler import Batch, Sampler, all_items, missing, plan
from prorl_evaluation.types import FULL_MARKS, EvalSettings
from prorl_inference import Generator

PORTION, SMALL_PORTION = 8192, 1024
"""Samples whose answers are held, and counted, at a time; the small one is of ``transformers``, which batches few."""
NAME = 16
"""Characters of a sample's journal key that name it in the store."""


def rate(
    generator: Generator,
    samples: Sequence[Sample],
    settings: EvalSettings,
    store: RatingStore,
    pool: Scorer,
    progress: Progress,
) -> Policy:
    """Sample each row until ``settings.n`` samples of it have a verdict, and return the policy they are of.

    What is in the store already is not sampled again, whatever its seed. Tasks are judged as in training.
    Samples without a verdict (infra errors, refusals) are not counted; the same call tries them again. Raises as
    ``evaluate`` does; whatever is raised, what was written is kept.
    """
    policy = policy_of(settings.label or generator.model_id, generator.model_digest, settings)
    keys = Keys(generator.model_digest, settings)
    problems = list(problems_of(samples, modes={}))
    parts = parts_of(problems, settings.backend)
    work = store.path.parent / f"sampling-{digest([policy.key, settings.backend, parts])[:8]}"
    by_id = {sample.id: sample for sample in samples}
    there = store.rows(samples, [policy])
    rows = {p.id: there.get(p.id, RowSamples()) for p in problems}
    if done := sum(row.n >= settings.n for row in rows.values()):
        progress.message(f"{done:,} of {len(rows):,} rows have {settings.n} samples already")
    for portion in _portions(problems, rows, keys, settings):
        with EvalJournal(work, keys) as journal:
            journal.forget_refused()
            names = {problem.id for batch in portion for problem in batch.problems}
            label = f"rate {policy.label}, {min(names)} to {max(names)}"
            _fill(generator, journal, settings, portion, pool, progress, label)
            counted = counts(all_items(portion), journal)
        store.add(policy, ((by_id[name], found) for name, found in counted.items()))
        shutil.rmtree(work)
    return policy


def _portions(
    problems: Sequence[Problem], rows: Mapping[str, RowSamples], keys: Keys, settings: EvalSettings
) -> Iterator[list[Batch]]:
    """Yield batches of about a portion's samples that the rows lack, rows that lack the same ones together."""
    lacking: dict[tuple[int, int], list[Problem]] = {}
    for problem in problems:
        row = rows[problem.id]
        known = row.passed | row.failed
        names = (keys.key(problem.id, problem.prompt_sha256, i)[:NAME] for i in range(settings.n))
        unknown = [i for i, name in enumerate(names) if name not in known]
        wanted = unknown[: max(0, settings.n - row.n)]
        for _, run in itertools.groupby(enumerate(wanted), lambda pair: pair[1] - pair[0]):
            indices = [i for _, i in run]
            lacking.setdefault((indices[0], indices[-1] + 1), []).append(problem)
    portion = SMALL_PORTION if settings.backend == "transformers" else PORTION
    for (start, stop), own in lacking.items():
        width = max(1, portion // (stop - start))
        for place in range(0, len(own), width):
            some = own[place : place + width]
            yield list(plan(some, replace(settings, n=stop, k=1), start))


def _fill(
    generator: Generator,
    journal: EvalJournal,
    settings: EvalSettings,
    portion: Sequence[Batch],
    pool: Scorer,
    progress: Progress,
    label: str,
) -> None:
    """Sample and judge what the journal lacks of a portion."""
    with GradingThread(journal, pool, progress.message) as grader:
        grader.submit(list(ungraded(all_items(portion), journal)))
        if total := sum(missing(batch, journal) for batch in portion):
            prepare(generator)  # before the clock starts
            progress.start(label, total)
            meter = Meter(progress, total, label, lambda: getattr(generator, "usage", None))
            sampler = Sampler(journal, generator, settings, meter.count, grader.submit)
            sampler.fill(portion, total)
        grader.finish(progress, label)
    progress.finish()


def counts(items: Iterator[Item], journal: EvalJournal) -> dict[str, RowSamples]:
    """Return row id -> samples of ``items`` that have a verdict: passed at full marks, else failed."""
    found: dict[str, RowSamples] = {}
    for problem, index in items:
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        verdict = journal.verdicts.get((key, problem.task_sha256))
        if verdict is None or verdict.reward is None:
            continue
        row = found.setdefault(problem.id, RowSamples())
        (row.passed if verdict.reward >= FULL_MARKS else row.failed).add(key[:NAME])
    return found
