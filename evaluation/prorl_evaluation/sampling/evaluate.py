"""Evaluates one model in a resumable folder, and scores stored answers again."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from prorl_common import Progress, ServiceError
from prorl_datasets import Sample
from prorl_evaluation.sampling.conversations import Player, are_played
from prorl_evaluation.sampling.job import (
    EvalJob,
    Part,
    check_same_model,
    check_same_parts,
    parts_of,
    problems_of,
    read_job,
    recorded_parts,
    write_job,
    written_problems,
)
from prorl_evaluation.sampling.journal import (
    VERDICTS_FILE,
    EvalJournal,
    Keys,
    Problem,
)
from prorl_evaluation.sampling.pipeline import GradingThread, Meter, Scorer, grade
from prorl_evaluation.sampling.sampler import Sampler, all_items, missing, plan, prepare
from prorl_evaluation.stats.distributions import require_scipy
from prorl_evaluation.summary import graded, group_results, pick_examples, problem_result
from prorl_evaluation.types import EvalResult, EvalSettings, EvaluationError, ProblemResult
from prorl_inference import Generator
from prorl_verifiers import renewed_records

BLOCK = 4096


def evaluate(
    generator: Generator,
    samples: Sequence[Sample],
    settings: EvalSettings,
    out: Path,
    pool: Scorer,
    progress: Progress,
    parts: Sequence[Part] = (),
) -> EvalResult:
    """Sample ``settings.n`` answers per problem, score them, and save the result in ``out``.

    A repeated call continues, and a larger n adds samples. Raises EvaluationError for invalid problems, a damaged
    journal, or a folder that was made with another model or plug-in version. Raises ServiceError if the scorer or the
    server fails; finished samples are kept.
    """
    require_scipy()
    started = time.perf_counter()
    job = EvalJob(generator.model_id, generator.model_digest, settings)
    check_same_model(out, job)
    with contextlib.ExitStack() as scope:
        written = scope.enter_context(written_problems(out, problems_of(samples)))
        problems = written.problems
        parts = check_same_parts(out, [*parts, *parts_of(problems, settings.backend)])
        journal = scope.enter_context(EvalJournal(out, Keys(job.model_digest, settings)))
        write_job(out, job, written, parts)
        refused = journal.forget_refused()
        batches = plan(problems, settings)
        if journal.foreign:
            progress.message(
                f"{journal.foreign} samples in {out} have other sampling parameters: they "
                "are not used"
            )
        if refused:
            progress.message(f"{refused} samples without an answer are requested again")
        total, lack = len(problems) * settings.n, sum(missing(batch, journal) for batch in batches)
        if lack < total:
            progress.message(f"{total - lack} of {total} samples already exist")
        if are_played(problems):
            generator = Player(generator, pool, settings.turns)
        every = functools.partial(all_items, batches)
        with GradingThread(journal, pool, progress.message, every, lack < total) as grader:
            if lack:
                prepare(generator)  # load the model before the progress clock starts
                progress.start(f"eval {job.label}", lack)
                meter = Meter(progress, lack, lambda: getattr(generator, "usage", None))
                sampler = Sampler(journal, generator, settings, meter.count, grader.submit)
                sampler.fill(batches, lack)
                progress.finish()
            grader.finish(progress, job.label)
        progress.finish()
        return _finish(job, problems, journal, time.perf_counter() - started, parts)


def _finish(
    job: EvalJob,
    problems: Sequence[Problem],
    journal: EvalJournal,
    wall_seconds: float,
    parts: Sequence[Part],
) -> EvalResult:
    results: list[ProblemResult] = []
    isolation: set[str] = set()
    seconds: list[float] = []
    for problem in problems:
        rows = graded(problem, journal, job.settings.n)
        results.append(problem_result(problem, rows))
        isolation |= {v.isolation for _, v in rows if v.isolation}
        seconds.append(math.fsum(s.seconds for s, _ in rows))
    result = EvalResult(
        model_id=job.model_id,
        model_digest=job.model_digest,
        settings=job.settings,
        problems=tuple(results),
        groups=group_results(results, job.settings),
        isolation=tuple(sorted(isolation)),
        examples=pick_examples(problems, journal),
        tokens=sum(p.tokens for p in results),
        sampling_seconds=round(math.fsum(seconds), 3),
        wall_seconds=round(wall_seconds, 3),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions(parts),
    )
    result.save(journal.folder)
    return result


@dataclass(frozen=True, slots=True)
class RegradeReport:
    """The new result; ``changed`` is the number of verdicts that differ from before."""

    result: EvalResult
    verdicts: int
    changed: int


def regrade(out: Path, pool: Scorer, progress: Progress) -> RegradeReport:
    """Score all stored samples again, without the model, and save the new result.

    The previous verdicts move to ``verdicts.previous.jsonl``. Raises EvaluationError if samples are missing, and
    ServiceError if a sample can no longer be scored; the previous verdicts then stay in place.
    """
    require_scipy()
    started = time.perf_counter()
    job, problems = read_job(out)
    current, fresh = out / VERDICTS_FILE, out / f".{VERDICTS_FILE}.new"
    fresh.unlink(missing_ok=True)
    keys = Keys(job.model_digest, job.settings)
    batches = plan(problems, job.settings)
    with EvalJournal(out, keys) as journal:
        if lack := sum(missing(batch, journal) for batch in batches):
            raise EvaluationError(
                f"{out} lacks {lack} samples, because its evaluation was interrupted: run its "
                "pass-at-k command again first"
            )
        old = journal.verdicts  # its open file is read until the end, even after a rename
    with EvalJournal(out, keys, verdicts_file=fresh.name) as journal:
        progress.start(f"regrade {job.label}", len(problems) * job.settings.n)
        for batch in batches:
            progress.advance(grade(batch.items(), journal, pool))
        progress.finish()
        made, lost, changed = len(journal.verdicts), [], 0
        for verdict in journal.verdicts.values():
            before = old.get((verdict.key, verdict.task))
            judged = None if before is None else (before.reward, before.status)
            changed += judged != (verdict.reward, verdict.status)
            if verdict.status == "infra_error" and before is not None:
                lost.append(verdict.reason)
        if lost:
            raise ServiceError(
                f"{len(lost)} of {made} answers got no verdict (infra error: {lost[0]}): fix this "
                f"error and run the same command again; {out} still has its old verdicts"
            )
        remaining = (v for v in old.values() if (v.key, v.task) not in journal.verdicts)
        while block := list(itertools.islice(remaining, BLOCK)):
            journal.add_verdicts(block)
        if current.exists():
            further = (f"verdicts.previous-{i}.jsonl" for i in itertools.count(2))
            names = itertools.chain(["verdicts.previous.jsonl"], further)
            os.replace(current, next(out / n for n in names if not (out / n).exists()))
        os.replace(fresh, current)
        parts = renewed_records(recorded_parts(out), [p.task for p in problems])
        write_job(out, job, None, parts)  # record the parts that made the new verdicts
        result = _finish(job, problems, journal, time.perf_counter() - started, parts)
        return RegradeReport(result, made, changed)


def versions(parts: Iterable[Part] = ()) -> dict[str, str]:
    from importlib import metadata

    by_name = {"python": platform.python_version()}
    for name in ("prorl", "torch", "transformers", "math-verify", "reasoning-gym", "numpy"):
        try:
            by_name[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            by_name[name] = "not installed"
    return by_name | {f"{p['name']} ({p['group']})": f"{p['source']} {p['version']}" for p in parts}
