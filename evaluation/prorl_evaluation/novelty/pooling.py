"""Whether evaluation folders side by side are one set of responses: one model, sampled in one way, once.

Leaves out: reading the responses (``responses``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from prorl_evaluation.sampling.job import EvalJob
from prorl_evaluation.sampling.journal import Problem, digest
from prorl_evaluation.types import EvaluationError

SAMPLING = ("temperature", "top_p", "max_tokens", "backend", "extra")
"""Settings that change what a model says; the number of samples and their seed may differ."""
CURE = "name one of these folders"

Job = tuple[EvalJob, Sequence[Problem]]


def check_one_set(path: Path, jobs: Mapping[Path, Job]) -> None:
    """Raise EvaluationError, naming the folders, where those in ``path`` are of two models, were sampled
    differently, or hold a benchmark or a problem more than once."""
    models: dict[str, Path] = {}
    samplings: dict[str, Path] = {}
    for folder, (job, _) in jobs.items():
        models.setdefault(job.model_digest, folder)
        samplings.setdefault(_sampling(job), folder)
    if len(models) > 1:
        raise EvaluationError(f"{path}: {_both(*models.values())} are of two models: {CURE}")
    if len(samplings) > 1:
        first, second, *_ = samplings.values()
        how = _differing(jobs[first][0], jobs[second][0])
        raise EvaluationError(
            f"{path}: {_both(first, second)} were sampled differently ({how}): {CURE}"
        )
    _check_once(path, jobs)


def _check_once(path: Path, jobs: Mapping[Path, Job]) -> None:
    benchmarks: dict[tuple[str, str], list[Path]] = {}
    owners: dict[str, Path] = {}
    for folder, (job, _) in jobs.items():
        origin = job.settings.dataset
        if name := origin.get("path", ""):
            benchmarks.setdefault((name, origin.get("split", "")), []).append(folder)
    for (name, _), folders in benchmarks.items():
        if len(folders) > 1:
            named = " and ".join(_named(f, jobs[f][0]) for f in folders)
            raise EvaluationError(f"{path}: {name} is there more than once, in {named}: {CURE}")
    for folder, (_, problems) in jobs.items():
        for problem in problems:
            if (owner := owners.setdefault(problem.id, folder)) != folder:
                raise EvaluationError(
                    f"{path}: {_both(owner, folder)} share problems ({problem.id}): {CURE}"
                )


def _sampling(job: EvalJob) -> str:
    return digest([getattr(job.settings, name) for name in SAMPLING])


def _differing(first: EvalJob, second: EvalJob) -> str:
    a, b = first.settings, second.settings
    return ", ".join(
        f"{name} {getattr(a, name)} and {getattr(b, name)}"
        for name in SAMPLING
        if getattr(a, name) != getattr(b, name)
    )


def _both(first: Path, second: Path, *_: Path) -> str:
    return f"{first.name} and {second.name}"


def _named(folder: Path, job: EvalJob) -> str:
    limit = job.settings.dataset.get("limit")
    return folder.name + (f" (limit {limit})" if limit is not None else "")
