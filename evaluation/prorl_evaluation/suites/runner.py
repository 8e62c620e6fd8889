"""Runs a suite: evaluates every model on every loaded benchmark, each in a separate folder.

If a benchmark fails, the others still run.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prorl_common import Progress, ServiceError, UserError
from prorl_evaluation.sampling.choose import EVALS, Run, Target
from prorl_evaluation.sampling.conversations import settings_for
from prorl_evaluation.sampling.journal import digest
from prorl_evaluation.sampling.pipeline import Scorer
from prorl_evaluation.sampling.session import Session
from prorl_evaluation.sampling.stored import chosen
from prorl_evaluation.suites.sources import Failure, Gathered, Ready, is_service, one_line
from prorl_evaluation.suites.suite import Suite
from prorl_evaluation.summary import group_results
from prorl_evaluation.types import EvalResult, EvalSettings, ProblemResult
from prorl_verifiers import runs_programs

SUITES = "suites"
SAME_FAILURES = 2
"""After this many consecutive service failures of a model, its remaining benchmarks are skipped."""


@dataclass(frozen=True, slots=True)
class ModelScores:
    label: str
    results: Mapping[str, EvalResult]
    folders: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The outcome of a suite.

    ``shared`` maps a benchmark to the ids of its problems that are also in the training data.
    """

    suite: Suite
    names: tuple[str, ...]
    settings: EvalSettings
    models: tuple[ModelScores, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...] = ()
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    limit: int | None = None

    @property
    def partial(self) -> bool:
        return self.limit is not None

    @property
    def exit_code(self) -> int:
        """0 for success, 1 if a service failed, 2 for other failures."""
        if any(f.service for f in self.failures):
            return 1
        return 2 if self.failures else 0


def suites_root(run: Run | None, out: Path | None) -> Path:
    if out is not None:
        return out
    return (run.path if run is not None else EVALS) / SUITES


def without_code(gathered: Gathered, complaint: str) -> Gathered:
    """Return the benchmarks without their code problems.

    A benchmark with only code problems becomes a failure, with the reason ``complaint``.
    """
    remaining = Gathered(failures=list(gathered.failures))
    for one in gathered.ready:
        runnable = [number for number, s in enumerate(one.samples) if not runs_programs(s.task)]
        lost = len(one.samples) - len(runnable)
        if not runnable:
            remaining.failures.append(Failure(one.name, complaint, service=False))
        elif lost:
            note = f"{one.name}: {lost} code problems are left out: {complaint}"
            remaining.ready.append(
                replace(one, samples=chosen(one.samples, runnable), notes=(*one.notes, note))
            )
        else:
            remaining.ready.append(one)
    return remaining


def run_suite(
    suite: Suite, gathered: Gathered, session: Session, pool: Scorer, progress: Progress
) -> SuiteResult:
    """Evaluate every target of ``session`` on all gathered benchmarks.

    Raises UserError if a model cannot be opened. Later errors are recorded as failures in the result.
    """
    work = _Work(suite, session, pool, progress, list(gathered.failures))
    models = [work.model(target, gathered.ready) for target in session.targets]
    requested = [f.benchmark for f in gathered.failures] + [one.name for one in gathered.ready]
    return SuiteResult(
        suite=suite,
        names=tuple(name for name in suite.sources if name in requested),
        settings=session.settings,
        models=tuple(models),
        failures=tuple(work.failures),
        notes=tuple(note for one in gathered.ready for note in one.notes),
        limit=session.limit,
    )


@dataclass(slots=True)
class _Work:
    suite: Suite
    session: Session
    pool: Scorer
    progress: Progress
    failures: list[Failure]

    def model(self, target: Target, ready: Sequence[Ready]) -> ModelScores:
        results: dict[str, EvalResult] = {}
        folders: dict[str, Path] = {}
        broken: list[str] = []
        with contextlib.closing(self.session.open(target, self.progress)) as generator:
            for one in ready:
                if len(broken) >= SAME_FAILURES:
                    reason = f"not tried after service failures with {' and '.join(broken)}"
                    self.failures.append(Failure(one.name, reason, True, target.label))
                    continue
                part = self._part(target, one)
                try:
                    results[one.name] = part.evaluate_with(
                        generator, target, self.pool, self.progress
                    )
                    folders[one.name] = part.folder(target)
                    broken = []
                except (UserError, ServiceError) as error:
                    self.progress.finish()
                    failure = Failure(one.name, one_line(error), is_service(error), target.label)
                    self.failures.append(failure)
                    self.progress.message(f"{target.label}: {one.name} failed: {failure.reason}")
                    broken = [*broken, one.name] if failure.service else []
        return ModelScores(target.label, results, folders)

    def _part(self, target: Target, one: Ready) -> Session:
        limit = self.session.limit
        origin = {"path": f"{self.suite.name}/{one.name}", "manifest_sha256": one.manifest}
        origin |= {"split": "test", **({"limit": str(limit)} if limit is not None else {})}
        settings = settings_for(one.samples, self.session.settings, dataset=origin)
        part = replace(
            self.session, targets=(target,), samples=one.samples, settings=settings, parts=one.parts
        )
        root = suites_root(self.session.run, self.session.out)
        return replace(part, out=root / target.slug / f"{one.name}-{part.suffix()}")


def finished_by_all(models: Sequence[ModelScores]) -> tuple[list[str], list[str]]:
    """Return the benchmarks finished by all models, and by only some."""
    every = dict.fromkeys(name for m in models for name in m.results)
    finished = [name for name in every if all(name in m.results for m in models)]
    return finished, [name for name in every if name not in finished]


def joined_problems(benchmark: str, problems: Sequence[ProblemResult]) -> list[ProblemResult]:
    return [
        dataclasses.replace(
            p, id=f"{benchmark}/{p.id}", labels={**p.labels, "benchmark": benchmark}
        )
        for p in problems
    ]


def join_results(results: Mapping[str, EvalResult], suite: str) -> EvalResult:
    """Merge one model's equally sampled results on several benchmarks."""
    first = next(iter(results.values()))
    problems = [p for name, r in results.items() for p in joined_problems(name, r.problems)]
    manifests = {n: r.settings.dataset.get("manifest_sha256", "") for n, r in results.items()}
    origin = {**first.settings.dataset, "path": f"{suite}/", "manifest_sha256": digest(manifests)}
    settings = dataclasses.replace(first.settings, dataset=origin)
    examples = [
        dataclasses.replace(r.examples[0], id=f"{name}/{r.examples[0].id}")
        for name, r in results.items()
        if r.examples
    ]
    return dataclasses.replace(
        first,
        settings=settings,
        problems=tuple(problems),
        groups=group_results(problems, settings),
        isolation=tuple(dict.fromkeys(level for r in results.values() for level in r.isolation)),
        examples=tuple(examples),
        tokens=sum(r.tokens for r in results.values()),
        sampling_seconds=sum(r.sampling_seconds for r in results.values()),
        wall_seconds=sum(r.wall_seconds for r in results.values()),
        created=max(r.created for r in results.values()),
    )
