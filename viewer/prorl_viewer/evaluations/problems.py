"""Shows an evaluation's problems: matrix, single problems and samples."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_evaluation.sampling.journal import SampleRecord
from prorl_evaluation.stats.paired import same_problem
from prorl_evaluation.types import FULL_MARKS, ProblemResult
from prorl_viewer.answering import label, message
from prorl_viewer.checking import shown_metrics
from prorl_viewer.evaluations.models import Model
from prorl_viewer.evaluations.parts import Answer, ListedProblem
from prorl_viewer.subject import Json, NotFoundError, Private, Query

PROMPT_START = 160
"""Number of characters shown of a prompt in lists."""


@dataclass(frozen=True, slots=True)
class Row:
    """One problem, with each model's counts of samples (None without samples)."""

    name: str
    first: ProblemResult
    listed: ListedProblem | None
    cells: tuple[ProblemResult | None, ...]

    @property
    def altered(self) -> bool:
        """Whether the models' results have different prompts or tasks for this id."""
        return not all(same_problem(self.first, cell) for cell in self.cells if cell is not None)


def rows_of(models: Sequence[Model]) -> dict[str, Row]:
    tables = [{p.id: p for p in model.problems} for model in models]
    listed: dict[str, ListedProblem] = {}
    for model in reversed(models):
        listed.update(model.listed())
    firsts: dict[str, ProblemResult] = {}
    for table in tables:
        for name, problem in table.items():
            firsts.setdefault(name, problem)
    return {
        name: Row(name, first, listed.get(name), tuple(table.get(name) for table in tables))
        for name, first in firsts.items()
    }


def matrix(models: Sequence[Model], rows: Mapping[str, Row]) -> Json:
    """Return each model's ``[correct, scored]`` for each problem (null if not sampled)."""
    listed = []
    for name, row in rows.items():
        labels = row.first.labels
        prompt = None
        if row.listed is not None:
            end = row.listed.prompt[-40 * PROMPT_START :]
            prompt = Private(" ".join(end.split())[:PROMPT_START])
        levels = (label(labels[k]) for k in ("rung", "level", "difficulty") if k in labels)
        listed.append(
            {
                "id": name,
                "domain": row.first.domain,
                "benchmark": label(labels.get("benchmark", "")),
                "family": label(labels.get("family", "")),
                "level": next(levels, ""),
                "prompt": prompt,
                "altered": row.altered,
                "cells": [None if p is None else [p.c, p.n] for p in row.cells],
            }
        )
    return {
        "models": [{"key": m.key, "label": m.label, "finished": m.finished} for m in models],
        "rows": listed,
    }


def search(rows: Mapping[str, Row], words: str) -> Json:
    text = words.casefold()
    return {
        "ids": [
            name
            for name, row in rows.items()
            if text in name.casefold()
            or (row.listed is not None and text in row.listed.prompt.casefold())
        ]
    }


ANSWER_START = 200
"""Number of characters shown of an answer in lists."""
KINDS = ("right", "wrong", "unparsable", "timeout", "infra_error", "cut", "unjudged")
"""Kinds of answers; an answer can have several."""


def problem_page(models: Sequence[Model], row: Row) -> Json:
    holder = next((m for m in models if m.has(row.name)), None)
    problem = holder.problem(row.name) if holder is not None else None
    return {
        "id": row.name,
        "domain": row.first.domain,
        "labels": {name: label(value) for name, value in row.first.labels.items()},
        "altered": row.altered,
        "verifier": problem.task.verifier if problem is not None else "",
        "prompt": [
            message(m["role"], str(m["content"]))
            for m in (problem.prompt if problem is not None else ())
        ],
        "reference": Private(problem.task.reference_json()) if problem is not None else None,
        "models": [_counts(m, cell) for m, cell in zip(models, row.cells, strict=True)],
    }


def _counts(model: Model, result: ProblemResult | None) -> Json:
    head = {"key": model.key, "label": model.label}
    if result is None:
        return {**head, "asked": False}
    return {
        **head,
        "asked": True,
        "right": result.c,
        "judged": result.n,
        "sampled": result.sampled,
        "reward": result.reward_mean,
        "infra_errors": result.infra_errors,
        "timeouts": result.timeouts,
        "unparsable": result.unparsable,
        "cut": result.truncated,
        "length": result.length,
    }


def samples_page(model: Model, problem: str, query: Query) -> Json:
    words = query.get("q", "").casefold()
    answers = model.answers(problem)
    matches = [a for a in answers if words in _said(a.sample).casefold()]
    kinds = [kind for a in answers for kind in _kinds(a)]
    return {
        "model": model.key,
        "label": model.label,
        "all": len(answers),
        "counts": {kind: kinds.count(kind) for kind in KINDS if kind in kinds},
        "samples": [_line(a) for a in matches],
    }


def sample_page(model: Model, problem: str, index: int) -> Json:
    answer = one_answer(model, problem, index)
    sample, verdict = answer.sample, answer.verdict
    return {
        **_line(answer),
        "model": model.key,
        "label": model.label,
        "problem": problem,
        "text": Private(sample.turns[-1]["content"] if sample.turns else sample.text),
        "seed": str(sample.seed),
        "seconds": sample.seconds,
        "turns": [message(m["role"], m["content"]) for m in sample.turns],
        "note": Private(sample.note) if sample.note else None,
        "reason": Private(verdict.reason) if verdict is not None else None,
        "isolation": verdict.isolation if verdict is not None else "",
        "metrics": shown_metrics(verdict.metrics) if verdict is not None else {},
        "checkable": not sample.refused,
    }


def recorded(model: Model, problem: str, index: int) -> dict[str, Any]:
    """Return an answer with its verdict, as ``Checker.check`` reads it. Raises NotFoundError."""
    answer, task = one_answer(model, problem, index), model.problem(problem).task
    verdict = answer.verdict
    return {
        "verifier": task.verifier,
        "reference": task.reference_json(),
        "response": answer.sample.text,
        "turns": json.dumps(list(answer.sample.turns)),
        "reward": verdict.reward if verdict is not None else None,
        "status": verdict.status if verdict is not None else None,
        "reason": verdict.reason if verdict is not None else None,
    }


def one_answer(model: Model, problem: str, index: int) -> Answer:
    answers = model.answers(problem, [index])
    if not answers:
        raise NotFoundError(f"{model.label} has no sample {index} of problem '{problem}'")
    return answers[0]


def _said(sample: SampleRecord) -> str:
    return "\n".join(m["content"] for m in sample.turns) or sample.text


def _line(answer: Answer) -> Json:
    sample, verdict = answer.sample, answer.verdict
    extracted = (
        {}
        if verdict is None or verdict.extracted is None
        else {"extracted": Private(verdict.extracted)}
    )
    return {
        "index": answer.index,
        "kinds": list(_kinds(answer)),
        "reward": verdict.reward if verdict is not None else None,
        "status": verdict.status if verdict is not None else "",
        "tokens": sample.tokens,
        "characters": len(sample.text),
        "finish": sample.finish_reason,
        "logprob_mean": sample.logprob / sample.tokens if sample.tokens else math.nan,
        "start": Private(sample.text[:ANSWER_START]),
        **extracted,
    }


def _kinds(answer: Answer) -> tuple[str, ...]:
    verdict, cut = answer.verdict, ("cut",) if answer.sample.finish_reason == "length" else ()
    if verdict is None:
        return ("unjudged", *cut)
    if verdict.reward is None:
        return ("infra_error", *cut)
    right = "right" if verdict.reward >= FULL_MARKS else "wrong"
    special = (verdict.status,) if verdict.status in ("unparsable", "timeout") else ()
    return (right, *special, *cut)
