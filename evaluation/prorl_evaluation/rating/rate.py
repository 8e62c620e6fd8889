"""Rates dataset rows from new samples, rollouts or evaluations."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prorl_common import Progress, read_jsonl
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_datasets import Sample
from prorl_evaluation.rating.store import Policy, RatingStore, RowSamples, content_of, policy_of
from prorl_evaluation.sampling.choose import Run
from prorl_evaluation.sampling.conversations import Player, are_played
from prorl_evaluation.sampling.job import parts_of, problems_of, read_job
from prorl_evaluation.sampling.journal import EvalJournal, Keys, Problem, digest
from prorl_evaluation.sampling.pipeline import GradingThread, Item, Meter, Scorer, ungraded
from prorl_evaluation.sampling.sampler import Batch, Sampler, all_items, missing, plan, prepare
from prorl_evaluation.types import FULL_MARKS, EvalSettings, EvaluationError
from prorl_inference import Generator
from prorl_verifiers import TaskError, load_task

COLUMNS = ("sample_id", "sample_index", "verifier", "reference", "prompt", "response", "reward")
"""Columns read from a run's rollouts; ``reward`` is null if there was no verdict."""


@dataclass(slots=True)
class FeedReport:
    """Counts of samples added to the store, and of those ignored.

    A sample is ignored if its row is not in the dataset (``elsewhere``) or has another prompt or task there
    (``altered``).
    """

    policies: list[Policy] = field(default_factory=list)
    samples: int = 0
    elsewhere: int = 0
    altered: int = 0

    def words(self) -> str:
        left = [f"{self.elsewhere:,} of rows that are not in the dataset"] if self.elsewhere else []
        left += [f"{self.altered:,} of rows with another prompt or task"] if self.altered else []
        return f"{self.samples:,} samples" + (f"; left out: {', '.join(left)}" if left else "")


def feed_evaluation(store: RatingStore, samples: Sequence[Sample], folder: Path) -> FeedReport:
    """Add the verdicts of an evaluation folder to the store.

    Raises EvaluationError for an invalid folder, UserError if another process is writing to it.
    """
    job, problems = read_job(folder)
    policy = policy_of(job.label, job.model_digest, job.settings)
    fed, by_id = FeedReport([policy]), {sample.id: sample for sample in samples}
    rows: list[tuple[Sample, RowSamples]] = []
    with EvalJournal(folder, Keys(job.model_digest, job.settings)) as journal:
        for problem in problems:
            items = ((problem, index) for index in range(job.settings.n))
            row_samples = counts(items, journal).get(problem.id, RowSamples())
            sample = by_id.get(problem.id)
            if sample is None:
                fed.elsewhere += row_samples.n
            elif content_of(problem.prompt, problem.task) != content_of(sample.prompt, sample.task):
                fed.altered += row_samples.n
            else:
                rows.append((sample, row_samples))
    fed.samples = store.add(policy, rows)
    return fed


def feed_run(
    store: RatingStore, samples: Sequence[Sample], run: Run, steps: tuple[int, int] | None = None
) -> FeedReport:
    """Add the rollouts of a run to the store, with a separate policy for each step.

    ``steps`` is (first, last). Raises EvaluationError if the run has no rollouts.
    """
    fed, by_id = FeedReport(), {sample.id: sample for sample in samples}
    files = rollout_files(run.path)
    if not files:
        raise EvaluationError(
            f"run {run.name} has no rollouts: {run.path / 'rollouts'} has no step_*.parquet "
            "(the run writes rollouts at the steps that its setting logging.rollouts_every selects)"
        )
    policies = _Policies(run)
    same: dict[tuple[str, str, str | None], bool] = {}
    for step, file in files.items():
        if steps is not None and not steps[0] <= step <= steps[1]:
            continue
        policy = policies(step)
        rows: dict[str, RowSamples] = {}
        for row in read_rollouts(file, COLUMNS).to_pylist():
            if row["reward"] is None:
                continue
            sample = by_id.get(row["sample_id"])
            if sample is None:
                fed.elsewhere += 1
                continue
            identity = (sample.id, row["reference"], row["prompt"])
            if identity not in same:
                same[identity] = _same_question(sample, row["verifier"], *identity[1:])
            if not same[identity]:
                fed.altered += 1
                continue
            parts = [policy.run, step, sample.id, row["sample_index"], row["response"]]
            row_samples = rows.setdefault(sample.id, RowSamples())
            (row_samples.passed if row["reward"] >= FULL_MARKS else row_samples.failed).add(
                digest(parts)[:NAME]
            )
        fed.samples += store.add(
            policy, ((by_id[name], row_samples) for name, row_samples in rows.items())
        )
        fed.policies.append(policy)
    return fed


def _same_question(sample: Sample, verifier: str, reference: str, prompt: str | None) -> bool:
    try:
        task = load_task(verifier, reference)
    except TaskError:
        return False
    messages = sample.prompt if prompt is None else json.loads(prompt)
    return content_of(messages, task) == content_of(sample.prompt, sample.task)


class _Policies:
    def __init__(self, run: Run) -> None:
        self._run = run
        identity = run.path / "identity.json"
        facts = json.loads(identity.read_text(encoding="utf-8")) if identity.is_file() else {}
        self._model = str(facts.get("model", ""))
        self._digest = digest([facts, run.name])[:16]
        metrics = run.path / "metrics.jsonl"
        rows = read_jsonl(metrics, on_bad=lambda _: None) if metrics.is_file() else iter(())
        self._phases = {row["step"]: row.get("phase", 0) for _, row in rows if "step" in row}

    def __call__(self, step: int) -> Policy:
        run, phases = self._run, self._run.setting("phases") or []
        rollout = dict(run.setting("rollout") or {})
        number = self._phases.get(step, 0)
        if isinstance(number, int) and number < len(phases):
            rollout |= (phases[number].get("set") or {}).get("rollout") or {}
        try:
            how = float(rollout["temperature"]), float(rollout["top_p"]), int(rollout["max_tokens"])
        except (KeyError, TypeError, ValueError) as error:
            raise EvaluationError(
                f"{run.path}/config.yaml lacks a valid rollout.temperature, top_p or max_tokens ({error}): restore the file"
            ) from error
        label = f"{run.name} step {step}"
        return Policy(self._model, label, *how, run=self._digest, step=step)


PORTION, SMALL_PORTION = 8192, 1024
"""Number of samples to generate before counting them; ``transformers``, with small batches, uses the smaller one."""
NAME = 16
"""Number of characters of a sample's key that the store keeps."""


def rate(
    generator: Generator,
    samples: Sequence[Sample],
    settings: EvalSettings,
    store: RatingStore,
    pool: Scorer,
    progress: Progress,
) -> Policy:
    """Sample each row until ``settings.n`` of its samples in the store have a verdict, and return the policy.

    Raises the errors of ``evaluate``.
    """
    policy = policy_of(settings.label or generator.model_id, generator.model_digest, settings)
    keys = Keys(generator.model_digest, settings)
    problems = list(problems_of(samples, modes={}))
    parts = parts_of(problems, settings.backend)
    work = store.path.parent / f"sampling-{digest([policy.key, settings.backend, parts])[:8]}"
    if are_played(problems):
        generator = Player(generator, pool, settings.turns)
    by_id = {sample.id: sample for sample in samples}
    stored = store.rows(samples, [policy])
    rows = {p.id: stored.get(p.id, RowSamples()) for p in problems}
    if done := sum(row.n >= settings.n for row in rows.values()):
        progress.message(f"{done:,} of {len(rows):,} rows have {settings.n} samples already")
    for portion in _portions(problems, rows, keys, settings):
        with EvalJournal(work, keys) as journal:
            journal.forget_refused()
            names = {problem.id for batch in portion for problem in batch.problems}
            label = f"rate {policy.label}, {min(names)} to {max(names)}"
            with GradingThread(journal, pool, progress.message) as grader:
                grader.submit(list(ungraded(all_items(portion), journal)))
                if total := sum(missing(batch, journal) for batch in portion):
                    prepare(generator)  # load the model before the progress clock starts
                    progress.start(label, total)
                    meter = Meter(progress, total, lambda: getattr(generator, "usage", None))
                    sampler = Sampler(journal, generator, settings, meter.count, grader.submit)
                    sampler.fill(portion, total)
                grader.finish(progress, label)
            progress.finish()
            counted = counts(all_items(portion), journal)
        store.add(policy, ((by_id[name], row_samples) for name, row_samples in counted.items()))
        shutil.rmtree(work)
    return policy


def _portions(
    problems: Sequence[Problem], rows: Mapping[str, RowSamples], keys: Keys, settings: EvalSettings
) -> Iterator[list[Batch]]:
    lacking: dict[tuple[int, int], list[Problem]] = {}
    for problem in problems:
        row = rows[problem.id]
        stored = row.passed | row.failed
        names = (keys.key(problem.id, problem.prompt_sha256, i)[:NAME] for i in range(settings.n))
        unknown = [i for i, name in enumerate(names) if name not in stored]
        indices_to_add = unknown[: max(0, settings.n - row.n)]
        for _, run in itertools.groupby(enumerate(indices_to_add), lambda pair: pair[1] - pair[0]):
            indices = [i for _, i in run]
            lacking.setdefault((indices[0], indices[-1] + 1), []).append(problem)
    portion = SMALL_PORTION if settings.backend == "transformers" else PORTION
    for (start, stop), members in lacking.items():
        width = max(1, portion // (stop - start))
        for place in range(0, len(members), width):
            some = members[place : place + width]
            yield list(plan(some, replace(settings, n=stop, k=1), start))


def counts(items: Iterator[Item], journal: EvalJournal) -> dict[str, RowSamples]:
    """Return each row's passed and failed samples, by row id; samples without a verdict are omitted."""
    rows: dict[str, RowSamples] = {}
    for problem, index in items:
        key = journal.keys.key(problem.id, problem.prompt_sha256, index)
        verdict = journal.verdicts.get((key, problem.task_sha256))
        if verdict is None or verdict.reward is None:
            continue
        row = rows.setdefault(problem.id, RowSamples())
        (row.passed if verdict.reward >= FULL_MARKS else row.failed).add(key[:NAME])
    return rows
