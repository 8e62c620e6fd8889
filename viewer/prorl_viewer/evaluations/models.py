"""The models of one evaluation, each with its problems: one folder, or one a benchmark where a suite was run.

Leaves out: which folders are of one evaluation (``grouping``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from prorl_evaluation.sampling.journal import Problem
from prorl_evaluation.suites.joining import join_results, joined_problems
from prorl_evaluation.types import EvalResult, ProblemResult
from prorl_viewer.evaluations.parts import Answer, Asked, Part, State
from prorl_viewer.subject import NotFoundError


class Model:
    """One model. ``key`` names it in addresses; ``parts`` are its folders by benchmark, ``""`` where it has one."""

    def __init__(self, key: str, parts: Mapping[str, Part]) -> None:
        self.key = key
        self.parts = dict(parts)
        self.label = key

    @property
    def one(self) -> Part:
        """The first of its folders, for what is the same in all of them."""
        return next(iter(self.parts.values()))

    def refresh(self) -> None:
        """Take up what changed in its folders."""
        for part in self.parts.values():
            part.refresh()
        self.label = self.one.label

    def state(self) -> tuple[State, ...]:
        """Return what changes whenever a file of its folders does."""
        return tuple(part.state() for part in self.parts.values())

    @property
    def finished(self) -> bool:
        """Whether all of its results are there."""
        return all(part.finished for part in self.parts.values())

    @property
    def progress(self) -> tuple[int, int]:
        """How many answers are judged, and how many were asked for."""
        done, total = zip(*(part.progress for part in self.parts.values()), strict=True)
        return sum(done), sum(total)

    @property
    def problems(self) -> list[ProblemResult]:
        """Every problem's counts; those of a suite have ids and benchmarks as the joined result has them."""
        return [
            p
            for benchmark, part in self.parts.items()
            for p in (joined_problems(benchmark, part.problems) if benchmark else part.problems)
        ]

    def results(self) -> dict[str, EvalResult]:
        """Return the result of each benchmark that is finished."""
        return {
            name: part.result
            for name, part in self.parts.items()
            if part.finished and part.result is not None
        }

    def result(self, benchmarks: Sequence[str]) -> EvalResult:
        """Return one result over ``benchmarks`` with the model's label; joining several takes seconds."""
        found = {name: result for name, result in self.results().items() if name in benchmarks}
        (one, *others) = found.values()
        if others or "" not in found:
            one = join_results(found, str(one.settings.dataset.get("path", "")).partition("/")[0])
        settings = dataclasses.replace(one.settings, label=self.label)
        return dataclasses.replace(one, settings=settings)

    def asked(self) -> dict[str, Asked]:
        """Return what is known of every problem's prompt, by its id here."""
        return {
            _joined_id(benchmark, own): asked
            for benchmark, part in self.parts.items()
            for own, asked in part.asked.items()
        }

    def problem(self, problem: str) -> Problem:
        """Return a problem with its task. Raises NotFoundError."""
        part, own = self._place(problem)
        return part.problem(own)

    def answers(self, problem: str, indices: Sequence[int] | None = None) -> list[Answer]:
        """Return its answers to a problem, all or those of ``indices``. Raises NotFoundError."""
        part, own = self._place(problem)
        return part.answers(own, indices)

    def has(self, problem: str) -> bool:
        """Whether its folders say what the problem asks."""
        return any(own in part.asked for part, own in self._places(problem))

    def _place(self, problem: str) -> tuple[Part, str]:
        for part, own in self._places(problem):
            if own in part.asked:
                return part, own
        raise NotFoundError(f"{self.label} has no problem '{problem}'")

    def _places(self, problem: str) -> list[tuple[Part, str]]:
        return [
            (part, problem.removeprefix(f"{benchmark}/" if benchmark else ""))
            for benchmark, part in self.parts.items()
            if not benchmark or problem.startswith(f"{benchmark}/")
        ]


def _joined_id(benchmark: str, own: str) -> str:
    return f"{benchmark}/{own}" if benchmark else own


def tell_apart(models: Sequence[Model]) -> None:
    """Give models of one label longer ones: their folder's name follows."""
    labels = [m.label for m in models]
    for model in models:
        if labels.count(model.label) > 1:
            model.label = f"{model.label} ({_folder(model).name})"


def _folder(model: Model) -> Path:
    folder = model.one.folder
    return folder if "" in model.parts else folder.parent
