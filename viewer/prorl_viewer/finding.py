"""Finds the runs, datasets and evaluations below given paths."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from prorl_common import UserError
from prorl_viewer.subject import Subject

if TYPE_CHECKING:
    from prorl_evaluation.report.data import ReportOptions

DEPTH = 4
"""Maximum depth of folders that are searched."""
NOT_SEARCHED = frozenset({"checkpoints", "rollouts", "tensorboard", "openrlhf", "node_modules"})
SHARE = 20
"""Minimum time between searches, as a multiple of the last search's duration."""
AT_LEAST = 5.0
"""Minimum time between searches in seconds."""


@dataclass(frozen=True, slots=True)
class _Kind:
    looks_like: Callable[[Path], bool]
    open_subjects: Callable[[Sequence[Path]], Sequence[Subject]]


def find_subjects(paths: Sequence[Path]) -> list[Subject]:
    """Return the runs, datasets and evaluations in ``paths``. Raises UserError if a path is missing or there are none."""
    return Subjects(paths).now()


def report_subjects(
    folders: Sequence[Path], options: ReportOptions, run: Path | None = None
) -> list[Subject]:
    """Return all ``folders`` (baseline first) as one evaluation, then ``run``, if given. Raises EvaluationError."""
    from prorl_viewer.evaluations.models import group
    from prorl_viewer.evaluations.subject import EvaluationSubject
    from prorl_viewer.runs.subject import RunSubject

    (models,) = group(folders, folders)
    evaluation = EvaluationSubject(models, options)
    evaluation.prepare()
    subjects: list[Subject] = [evaluation]
    if run is not None:
        subjects.append(RunSubject(run))
    _make_names_unique(subjects, set())
    return subjects


class Subjects:
    """The runs, datasets and results at or below ``paths``, which are searched again from time to time. Thread-safe.

    Each keeps its name, and stays listed if its files are deleted. Raises like ``find_subjects``.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        for path in paths:
            if not path.exists():
                raise UserError(
                    f"{path} does not exist: give a run, a dataset, results, or a folder of them"
                )
        self._paths = [path.resolve() for path in paths]
        self._kinds = _kinds(self._paths)
        self._lock = threading.Lock()
        self._folders: list[list[Path]] = [[] for _ in self._kinds]
        self._open: list[list[Subject]] = [[] for _ in self._kinds]
        self._replaced: list[Subject] = []
        self._next = 0.0
        self._search()
        if not self._all():
            where = ", ".join(map(str, paths))
            raise UserError(
                f"no run, dataset or evaluation in {where}: make one with prorl train, prorl data build or prorl eval"
            )

    def now(self) -> list[Subject]:
        with self._lock:
            if time.monotonic() >= self._next:
                self._search()
            return self._all()

    def close(self) -> None:
        for subject in (*self._all(), *self._replaced):
            subject.close()

    def _all(self) -> list[Subject]:
        return [subject for subjects in self._open for subject in subjects]

    def _search(self) -> None:
        began = time.monotonic()
        by_kind: list[list[Path]] = [[] for _ in self._kinds]
        for folder in dict.fromkeys(f for path in self._paths for f in _folders(path, DEPTH)):
            for matching, kind in zip(by_kind, self._kinds, strict=True):
                with contextlib.suppress(OSError):  # the folder is not readable
                    if kind.looks_like(folder):
                        matching.append(folder)
        for at, folders in enumerate(by_kind):
            if not {*folders} <= {*self._folders[at]}:
                self._folders[at] = list(dict.fromkeys((*self._folders[at], *folders)))
                self._replace(at, self._kinds[at].open_subjects(self._folders[at]))
        ended = time.monotonic()
        self._next = ended + max(AT_LEAST, SHARE * (ended - began))

    def _replace(self, at: int, opened: Sequence[Subject]) -> None:
        before = {tuple(subject.folders): subject for subject in self._open[at]}
        self._open[at] = [before.pop(tuple(s.folders), s) for s in opened]
        self._replaced += before.values()  # requests may still use them
        new = [subject for subject in opened if subject in self._open[at]]
        _make_names_unique(new, {subject.name for subject in self._all() if subject not in new})


def _kinds(paths: Sequence[Path]) -> list[_Kind]:
    from prorl_viewer.datasets import subject as datasets
    from prorl_viewer.evaluations import subject as evaluations
    from prorl_viewer.runs import subject as runs

    return [
        _Kind(runs.looks_like, runs.open_subjects),
        _Kind(datasets.looks_like, datasets.open_subjects),
        _Kind(evaluations.looks_like, partial(evaluations.open_subjects, named=paths)),
    ]


def _folders(path: Path, depth: int) -> Iterator[Path]:
    if not path.is_dir():
        return
    yield path
    if depth == 0:
        return
    try:
        with os.scandir(path) as entries:
            below = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:  # the folder was deleted or is not readable
        return
    for name in below:
        if not name.startswith(".") and name not in NOT_SEARCHED:
            yield from _folders(path / name, depth - 1)


def _make_names_unique(subjects: Sequence[Subject], taken: set[str]) -> None:
    for subject in subjects:
        # names must be valid in addresses, and the root folder has no name
        subject.name = subject.name.encode(errors="replace").decode() or subject.kind
        name, tries = subject.name, 1
        if name in taken:
            name = f"{subject.path.parent.name}-{subject.name}"
        while name in taken:
            tries += 1
            name = f"{subject.name}-{tries}"
        subject.name = name
        taken.add(name)
