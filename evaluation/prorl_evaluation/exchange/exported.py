"""What of one of our results other harnesses have a place for: metrics with standard errors, names, settings.

A standard error is that of the mean over problems, as theirs: spread of the problems' values over sqrt(problems).
Leaves out: the files' shapes (``harness_results``, ``lighteval_results``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_evaluation.metrics.passk import pass_at_k
from prorl_evaluation.sampling.job import read_job
from prorl_evaluation.sampling.journal import Problem
from prorl_evaluation.types import EvalResult, EvaluationError, finite, load_result

EXACT = "exact_match"


@dataclass(frozen=True, slots=True)
class Exported:
    """One result. ``filter`` is what the harness that a task came from calls its filters, else ``none``; ``metrics`` are
    value and standard error (NaN where unknown) by name; ``first`` names the metric that is pass@1."""

    folder: Path
    result: EvalResult
    problems: Mapping[str, Problem]
    task: str
    filter: str
    first: str
    metrics: Mapping[str, tuple[float, float]]

    @property
    def generation(self) -> dict[str, Any]:
        """How the answers were sampled."""
        s = self.result.settings
        return {
            "do_sample": s.temperature > 0,
            "temperature": s.temperature,
            "top_p": s.top_p,
            "max_gen_toks": s.max_tokens,
            **dict(s.extra),
        }

    @property
    def about(self) -> dict[str, Any]:
        """What is ours alone: how the numbers were made, and by what."""
        r = self.result
        return {
            "label": r.label,
            "model_digest": r.model_digest,
            "created": r.created,
            "samples_a_problem": r.settings.n,
            "seed": r.settings.seed,
            "backend": r.settings.backend,
            "dataset": dict(r.settings.dataset),
            "isolation": list(r.isolation),
            "versions": dict(r.versions),
            "answers_without_verdict": r.overall.infra_errors,
        }


def exported(folder: Path) -> Exported:
    """Return what an evaluation folder has to say. Raises EvaluationError where it is unfinished or damaged."""
    result = load_result(folder)
    where = folder if folder.is_dir() else folder.parent
    _, problems = read_job(where)
    by_id = {p.id: p for p in problems}
    verifiers = {p.task.verifier for p in problems}
    names = {str(p.task.reference.get("filter_name", "none")) for p in problems}
    exact = verifiers == {EXACT}
    first = EXACT if exact else "pass@1"
    metrics = {first if k == 1 else f"pass@{k}": _mean(result, k) for k in result.overall.pass_at_k}
    if unknown := next((p.id for p in result.problems if p.id not in by_id), None):
        raise EvaluationError(
            f"{where}: result.json has a problem {unknown!r} that eval.json does not: give the pass-at-k command again"
        )
    path = result.settings.dataset.get("path", "")
    return Exported(
        folder=where,
        result=result,
        problems=by_id,
        task=re.sub(r"[^\w.-]+", "_", Path(path).name.removesuffix(".parquet"))[:100] or "problems",
        filter=names.pop() if exact and len(names) == 1 else "none",
        first=first,
        metrics=metrics,
    )


def folder_name(name: str) -> str:
    """Return a model's name as that of one folder, whatever a server called it."""
    found = re.sub(r"[\"<>:/|\\?*\[\]\x00-\x1f]+", "__", name)[:80]
    return found if found.strip(". ") else "model"


def stamp(found: Sequence[Exported]) -> str:
    """Return the date of the newest result as both harnesses write it in names of files."""
    newest = max(f.result.created for f in found)
    return re.sub(r"[^0-9T.\-]", "-", newest.partition("+")[0])[:40]


def as_line(value: object, indent: int | None = None) -> bytes:
    """Return a JSON value and an end of line; half a character of an answer stays what it is, escaped."""
    text = json.dumps(finite(value), indent=indent, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _mean(result: EvalResult, k: int) -> tuple[float, float]:
    """Return mean pass@k over the problems that have it, and its standard error."""
    values = [pass_at_k(p.n, p.c, k) for p in result.problems if p.n >= k]
    if not values:
        return math.nan, math.nan
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, math.nan
    variance = math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))
