"""Groups evaluation folders into evaluations with their models."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prorl_evaluation.sampling.choose import settings_hash
from prorl_evaluation.sampling.job import EVAL_FILE
from prorl_evaluation.sampling.journal import Problem
from prorl_evaluation.suites.runner import SUITES, join_results, joined_problems
from prorl_evaluation.types import RESULT_FILE, EvalResult, EvalSettings, ProblemResult
from prorl_viewer.evaluations.parts import Answer, ListedProblem, Part, State
from prorl_viewer.subject import NotFoundError


class Model:
    """One model of an evaluation; ``key`` names it in URLs.

    ``parts`` maps each benchmark of a suite to its result folder; without a suite, the only benchmark is "".
    """

    def __init__(self, key: str, parts: Mapping[str, Part]) -> None:
        self.key = key
        self.parts = dict(parts)
        self.label = key

    @property
    def one(self) -> Part:
        """The model's first result folder, for values that are equal in all."""
        return next(iter(self.parts.values()))

    def refresh(self) -> None:
        for part in self.parts.values():
            part.refresh()
        self.label = self.one.label

    def state(self) -> tuple[State, ...]:
        return tuple(part.state() for part in self.parts.values())

    @property
    def finished(self) -> bool:
        return all(part.finished for part in self.parts.values())

    @property
    def progress(self) -> tuple[int, int]:
        done, total = zip(*(part.progress for part in self.parts.values()), strict=True)
        return sum(done), sum(total)

    @property
    def problems(self) -> list[ProblemResult]:
        """All problems with their counts; ids of a suite's problems start with the benchmark."""
        return [
            p
            for benchmark, part in self.parts.items()
            for p in (joined_problems(benchmark, part.problems) if benchmark else part.problems)
        ]

    def results(self) -> dict[str, EvalResult]:
        return {
            name: part.result
            for name, part in self.parts.items()
            if part.finished and part.result is not None
        }

    def result(self, benchmarks: Sequence[str]) -> EvalResult:
        """Return one result over ``benchmarks``."""
        results = {name: result for name, result in self.results().items() if name in benchmarks}
        (one, *more) = results.values()
        if more or "" not in results:
            one = join_results(results, str(one.settings.dataset.get("path", "")).partition("/")[0])
        settings = dataclasses.replace(one.settings, label=self.label)
        return dataclasses.replace(one, settings=settings)

    def listed(self) -> dict[str, ListedProblem]:
        return {
            f"{benchmark}/{name}" if benchmark else name: problem
            for benchmark, part in self.parts.items()
            for name, problem in part.listed.items()
        }

    def problem(self, problem: str) -> Problem:
        part, name = self._place(problem)
        return part.problem(name)

    def answers(self, problem: str, indices: Sequence[int] | None = None) -> list[Answer]:
        """Return all answers to a problem, or those with ``indices``. Raises NotFoundError."""
        part, name = self._place(problem)
        return part.answers(name, indices)

    def has(self, problem: str) -> bool:
        return any(name in part.listed for part, name in self._places(problem))

    def _place(self, problem: str) -> tuple[Part, str]:
        for part, name in self._places(problem):
            if name in part.listed:
                return part, name
        raise NotFoundError(f"{self.label} has no problem '{problem}'")

    def _places(self, problem: str) -> list[tuple[Part, str]]:
        return [
            (part, problem.removeprefix(f"{benchmark}/" if benchmark else ""))
            for benchmark, part in self.parts.items()
            if not benchmark or problem.startswith(f"{benchmark}/")
        ]


def make_labels_unique(models: Sequence[Model]) -> None:
    """Append the folder's name to labels that occur more than once."""
    labels = [m.label for m in models]
    for model in models:
        if labels.count(model.label) > 1:
            folder = model.one.folder
            name = folder.name if "" in model.parts else folder.parent.name
            model.label = f"{model.label} ({name})"


DAMAGED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError)
"""Errors raised for settings of unexpected types."""


@dataclass(frozen=True, slots=True)
class Group:
    """Models that are evaluated together, baseline first."""

    name: str
    path: Path
    models: tuple[Model, ...]


@dataclass(frozen=True, slots=True)
class _Located:
    folder: Path
    settings: EvalSettings | None
    benchmark: str
    root: Path


def group(folders: Sequence[Path], named: Sequence[Path] = ()) -> list[Group]:
    """Group ``folders`` by evaluation; if several are also in ``named``, these form one evaluation."""
    named_paths = {path.resolve() for path in named}
    located = [_locate(folder) for folder in folders]
    chosen = [f for f in located if f.folder.resolve() in named_paths]
    together: dict[Any, list[_Located]] = {}
    for one in located:
        key = "named" if len(chosen) > 1 and one in chosen else _key(one)
        together.setdefault(key, []).append(one)
    return [_group(members, in_order=key == "named") for key, members in together.items()]


def _locate(folder: Path) -> _Located:
    for name in (EVAL_FILE, RESULT_FILE):
        try:
            row = json.loads((folder / name).read_text(encoding="utf-8"))
            settings = EvalSettings(**row["settings"])
            located = _Located(folder, settings, "", folder.parent)
            benchmark = settings.dataset.get("path", "").partition("/")[2]
            # a suite writes to <root>/<model>/<benchmark>-<hash>
            if benchmark and folder.name.startswith(f"{benchmark}-"):
                root = folder.parent.parent
                if root.name == SUITES or any(root.glob("suite-*.json")):
                    located = _Located(folder, settings, benchmark, root)
            hash(_key(located))
        except (OSError, RecursionError, *DAMAGED):
            continue
        return located
    return _Located(folder, None, "", folder.parent)


def _key(folder: _Located) -> tuple[object, ...]:
    s = folder.settings
    if s is None:
        return (folder.folder,)
    suite = s.dataset.get("path", "").partition("/")[0] if folder.benchmark else ""
    sampled = settings_hash(replace(s, dataset={}) if folder.benchmark else s)
    origin = (folder.root, suite, s.dataset.get("limit"))
    return (*origin, sampled, s.backend, str(dict(s.extra)))


def _group(members: Sequence[_Located], in_order: bool) -> Group:
    by_model: dict[Path, list[_Located]] = {}
    for one in members:
        by_model.setdefault(one.folder.parent if one.benchmark else one.folder, []).append(one)
    places = list(by_model)
    if not in_order:
        places.sort(key=_order)
    keys = _keys(places)
    models = []
    for place, key in zip(places, keys, strict=True):
        parts = {one.benchmark: Part(one.folder) for one in by_model[place]}
        models.append(Model(key, parts))
    if len(members) == 1:
        folder = members[0].folder
        return Group(folder.name, folder, tuple(models))
    root = members[0].root
    while not all(one.root.is_relative_to(root) for one in members):
        root = root.parent
    in_run = root.name in ("eval", SUITES) and (root.parent / "config.yaml").is_file()
    name = f"{root.parent.name}-{root.name}" if in_run else root.name or "evaluations"
    return Group(name, root, tuple(models))


def _order(place: Path) -> tuple[bool, str, float, str]:
    slug = _slug(place)
    if slug == "base":
        return (False, "", 0.0, "")
    if slug.startswith("step_"):
        return (True, slug, 0.0, "")
    times = [f.stat().st_mtime for f in place.rglob(EVAL_FILE)] or [0.0]
    return (True, "~", min(times), place.name)


def _slug(place: Path) -> str:
    slug, dash, suffix = place.name.rpartition("-")
    is_hash = len(suffix) == 8 and all(c in "0123456789abcdef" for c in suffix)
    return slug if dash and is_hash else place.name


def _keys(places: Sequence[Path]) -> list[str]:
    by_parent = [f"{p.parent.name}-{_slug(p)}" for p in places]
    for names in ([_slug(p) for p in places], [p.name for p in places], by_parent):
        if len(set(names)) == len(names):
            return names
    return [f"{name}-{at}" for at, name in enumerate(by_parent, start=1)]
