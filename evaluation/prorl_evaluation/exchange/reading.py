"""Which reader a foreign task file has, by its ending. Leaves out: reading it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from prorl_evaluation.exchange.golds import gold_notes
from prorl_evaluation.exchange.suite_files import ForeignSuite
from prorl_evaluation.types import EvaluationError


def read_foreign(
    file: Path,
    data: Mapping[str, Path],
    *,
    task: str | None = None,
    pipeline: str | None = None,
    limit: int | None = None,
) -> ForeignSuite:
    """Return the problems of the task in ``file``: YAML of lm-evaluation-harness (any ending but .py), Python of lighteval.

    Raises EvaluationError for a file or task that cannot be taken, with the reasons.
    """
    found = _read(file, data, task, pipeline, limit)
    return replace(found, notes=(*found.notes, *gold_notes(found.problems)))


def _read(
    file: Path, data: Mapping[str, Path], task: str | None, pipeline: str | None, limit: int | None
) -> ForeignSuite:
    if not file.is_file():
        raise EvaluationError(f"no task file {file}")
    if file.suffix == ".py":
        from prorl_evaluation.exchange.lighteval_problems import lighteval_suite

        if pipeline is not None:
            raise EvaluationError("--filter is of lm-evaluation-harness: lighteval has none")
        return lighteval_suite(file, data, task=task, limit=limit)
    from prorl_evaluation.exchange.harness_problems import harness_suite
    from prorl_evaluation.exchange.harness_task import read_harness_task

    found = read_harness_task(file)
    if task not in (None, found.name):
        raise EvaluationError(f"{file} defines task {found.name}, not {task}")
    return harness_suite(found, data, pipeline=pipeline, limit=limit)
