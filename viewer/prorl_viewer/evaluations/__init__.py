"""Evaluations: the folders that ``prorl eval pass-at-k`` and ``run`` write, one or several models of them together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prorl_evaluation.sampling.job import EVAL_FILE
from prorl_evaluation.types import RESULT_FILE
from prorl_viewer.evaluations.grouping import group
from prorl_viewer.evaluations.subject import EvaluationSubject

__all__ = ["EvaluationSubject", "looks_like", "open_subjects"]


def looks_like(folder: Path) -> bool:
    """Whether a folder is an evaluation, finished or begun."""
    return (folder / EVAL_FILE).is_file() or (folder / RESULT_FILE).is_file()


def open_subjects(folders: Sequence[Path], given: Sequence[Path] = ()) -> list[EvaluationSubject]:
    """Return the evaluations in ``folders``; those ``given`` one by one are models of one, the first the baseline."""
    return [EvaluationSubject(found) for found in group(folders, given)]
