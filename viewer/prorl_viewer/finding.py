"""Which subjects there are under the paths that were given.

Each kind has a package with ``looks_like(folder)`` and ``open_subjects(folders)``; several results of evaluations may
become one subject.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prorl_common import UserError
from prorl_viewer.subject import Subject

DEPTH = 4
"""Folders below a path that are searched."""
NOT_SEARCHED = frozenset({"checkpoints", "rollouts", "tensorboard", "openrlhf", "node_modules"})


@dataclass(frozen=True, slots=True)
class _Kind:
    looks_like: Callable[[Path], bool]
    open_subjects: Callable[[Sequence[Path]], Sequence[Subject]]


def find_subjects(paths: Sequence[Path]) -> list[Subject]:
    """Return the runs, datasets and evaluations at ``paths`` and below them, each with a name of its own.

    Raises UserError for a path that is not there, and when nothing is found.
    """
    kinds = _kinds([path.resolve() for path in paths])
    found: dict[int, list[Path]] = {at: [] for at in range(len(kinds))}
    for path in paths:
        if not path.exists():
            raise UserError(
                f"{path} does not exist: give a run, a dataset, results, or a folder of them"
            )
        for folder in _folders(path.resolve(), DEPTH):
            for at, kind in enumerate(kinds):
                if _is_one(kind, folder) and folder not in found[at]:
                    found[at].append(folder)
    subjects = [s for at, kind in enumerate(kinds) for s in kind.open_subjects(found[at])]
    if not subjects:
        where = ", ".join(map(str, paths))
        raise UserError(
            f"no run, dataset or evaluation in {where}: make one with prorl train, prorl data build or prorl eval"
        )
    _name_apart(subjects)
    return subjects


def _kinds(given: Sequence[Path]) -> list[_Kind]:
    from prorl_viewer import datasets, evaluations, runs

    together = partial(evaluations.open_subjects, given=given)
    kinds = [_Kind(kind.looks_like, kind.open_subjects) for kind in (runs, datasets)]
    return [*kinds, _Kind(evaluations.looks_like, together)]


def _is_one(kind: _Kind, folder: Path) -> bool:
    try:
        return kind.looks_like(folder)
    except OSError:  # another user's
        return False


def _folders(path: Path, depth: int) -> Iterator[Path]:
    """Yield ``path`` and the folders below it, in the order of their names; links are not followed."""
    if not path.is_dir():
        return
    yield path
    if depth == 0:
        return
    try:
        with os.scandir(path) as entries:
            below = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:  # it went, or is another user's
        return
    for name in below:
        if not name.startswith(".") and name not in NOT_SEARCHED:
            yield from _folders(path / name, depth - 1)


def _name_apart(subjects: Sequence[Subject]) -> None:
    """Give subjects of one name longer ones: their folder's, then a number."""
    taken: set[str] = set()
    for subject in subjects:
        # of bytes that are no text an address cannot be made; the root folder has no name
        subject.name = subject.name.encode(errors="replace").decode() or subject.kind
        name, tries = subject.name, 1
        if name in taken:
            name = f"{subject.path.parent.name}-{subject.name}"
        while name in taken:
            tries += 1
            name = f"{subject.name}-{tries}"
        subject.name = name
        taken.add(name)
