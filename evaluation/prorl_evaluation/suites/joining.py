"""A model's results on the benchmarks of a suite as one result, so that a report can hold the whole suite.

Leaves out: averages over benchmarks as the paper prints them (``scores``): here every problem weighs the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from prorl_evaluation.metrics.summary import group_results
from prorl_evaluation.sampling.journal import digest
from prorl_evaluation.suites.runner import ModelScores
from prorl_evaluation.types import EvalResult, EvaluationError, ProblemResult


def joined(models: Sequence[ModelScores], suite: str) -> tuple[list[EvalResult], list[str]]:
    """Return one result a model over the benchmarks that all of them have, and the names of the others.

    Raises EvaluationError where they share none.
    """
    every = list(dict.fromkeys(name for m in models for name in m.results))
    shared = [name for name in every if all(name in m.results for m in models)]
    if not shared:
        raise EvaluationError(
            "no report: there is no benchmark that all models have finished; the same command goes on"
        )
    found = [join_results({name: m.results[name] for name in shared}, suite) for m in models]
    return found, [name for name in every if name not in shared]


def joined_problems(benchmark: str, problems: Sequence[ProblemResult]) -> list[ProblemResult]:
    """Return a benchmark's problems as a joined result has them."""
    return [
        dataclasses.replace(
            p, id=f"{benchmark}/{p.id}", labels={**p.labels, "benchmark": benchmark}
        )
        for p in problems
    ]


def join_results(results: Mapping[str, EvalResult], suite: str) -> EvalResult:
    """Return one result over the problems of all: ids become ``benchmark/id``, each problem is labelled with
    its benchmark. All must be of one model sampled in one way, as a suite does."""
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
