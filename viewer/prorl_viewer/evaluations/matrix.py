"""Problems by models: how many of each problem's samples each model got right.

Leaves out: sorting and filtering by what the rows hold, which the page does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prorl_evaluation.stats.paired import same_problem
from prorl_evaluation.types import ProblemResult
from prorl_viewer.evaluations.models import Model
from prorl_viewer.evaluations.parts import Asked
from prorl_viewer.messages import label
from prorl_viewer.subject import Json, Private

START = 160
"""Characters of a prompt that a row holds; its last message is what tells problems apart."""


@dataclass(frozen=True, slots=True)
class Row:
    """One problem: what it asks, as far as a folder says it, and each model's counts (None: not asked)."""

    name: str
    first: ProblemResult
    asked: Asked | None
    cells: tuple[ProblemResult | None, ...]

    @property
    def altered(self) -> bool:
        """Whether models were asked different things under this id, so that they cannot be compared."""
        return not all(same_problem(self.first, own) for own in self.cells if own is not None)


def rows_of(models: Sequence[Model]) -> dict[str, Row]:
    """Return every problem of any model by its id, in the order in which they come."""
    tables = [{p.id: p for p in model.problems} for model in models]
    asked: dict[str, Asked] = {}
    for model in reversed(models):
        asked.update(model.asked())
    firsts: dict[str, ProblemResult] = {}
    for table in tables:
        for name, problem in table.items():
            firsts.setdefault(name, problem)
    return {
        name: Row(name, first, asked.get(name), tuple(table.get(name) for table in tables))
        for name, first in firsts.items()
    }


def matrix(models: Sequence[Model], rows: Mapping[str, Row]) -> Json:
    """Return the whole matrix; a cell is ``[right, judged]``, None where the model was not asked."""
    return {
        "models": [{"key": m.key, "label": m.label, "finished": m.finished} for m in models],
        "rows": [_row(name, row) for name, row in rows.items()],
    }


def _row(name: str, row: Row) -> Json:
    labels = row.first.labels
    return {
        "id": name,
        "domain": row.first.domain,
        "benchmark": label(labels.get("benchmark", "")),
        "family": label(labels.get("family", "")),
        "level": next(
            (label(labels[k]) for k in ("rung", "level", "difficulty") if k in labels), ""
        ),
        "prompt": Private(_start(row.asked.prompt)) if row.asked is not None else None,
        "altered": row.altered,
        "cells": [None if p is None else [p.c, p.n] for p in row.cells],
    }


def _start(prompt: str) -> str:
    line = (
        " ".join(prompt[-40 * START :].split())
        if len(prompt) > 40 * START
        else " ".join(prompt.split())
    )
    return line[:START]


def search(rows: Mapping[str, Row], words: str) -> Json:
    """Return the ids of the problems whose id or prompt holds ``words``; large and small letters are the same."""
    wanted = words.casefold()
    return {
        "ids": [
            name
            for name, row in rows.items()
            if wanted in name.casefold()
            or (row.asked is not None and wanted in row.asked.prompt.casefold())
        ]
    }
