"""What is kept of a finished run of a small policy: curves, and the right answers to every held-out problem."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from small_policy_base import ROOT
from small_policy_study import Study

from prorl_evaluation import EvalResult
from prorl_training.run.folder import RunFolder

EVERY = 12
"""Number of steps over which curves are averaged."""
CURVES = (
    "pass_rate",
    "response_length_mean",
    "truncated_rate",
    "rollout_entropy",
    "groups",
    "groups_all_right",
    "groups_all_wrong",
    "groups_saturated",
    "groups_kept",
    "kl",
    "grad_norm",
    "clipped_fraction",
    "length_penalty_active",
)


def as_record(run: RunFolder, results: Sequence[EvalResult]) -> dict[str, Any]:
    """Return a run's record with the evaluations of its checkpoints. Raises ValueError for answers without a verdict."""
    rows = run.metrics()
    return {
        "steps": rows[-1]["step"],
        "tokens": rows[-1]["tokens_total"],
        "seconds": round(sum(row["seconds"] for row in rows)),
        "versions": dict(results[-1].versions),
        "decisions": Counter(d["kind"] for d in run.decisions()),
        "validation": validation_curve(rows),
        "curves": {"step": [row["step"] for row in rows[EVERY - 1 :: EVERY]]}
        | {key: list(_means(rows, key)) for key in CURVES},
        "evaluations": [_evaluation(result) for result in results],
        "with_call": {
            file.parent.name: _with_call(file)
            for file in run.path.glob("evaluation*/verdicts.jsonl")
        },
    }


def _with_call(verdicts: Path) -> float:
    """Return the share of conversations in which a tool answered a call without an error."""
    rows = [json.loads(line)["metrics"] for line in verdicts.read_text("utf-8").splitlines()]
    answered = [bool(row.get("calls", 0) > row.get("failed_calls", 0)) for row in rows]
    return sum(answered) / len(rows)


def _evaluation(result: EvalResult) -> dict[str, Any]:
    n = result.settings.n
    if any(problem.n != n for problem in result.problems):
        raise ValueError(f"{result.label} has answers without a verdict: evaluate it again")
    return {
        "checkpoint": result.label,
        "samples": n,
        "correct": {problem.id: problem.c for problem in result.problems},
    }


def validation_curve(rows: Sequence[Mapping[str, Any]]) -> list[tuple[int, int, float]]:
    """Return (step, sampled tokens so far, pass rate) of each validation in the rows of ``metrics.jsonl``."""
    return [
        (row["step"], row["tokens_total"], round(row["validation_pass_rate"], 4))
        for row in rows
        if row.get("validation_pass_rate") is not None
    ]


def _means(rows: Sequence[Mapping[str, Any]], key: str) -> Iterator[float | None]:
    for i in range(0, len(rows) - EVERY + 1, EVERY):
        values = [row[key] for row in rows[i : i + EVERY] if row.get(key) is not None]
        yield float(f"{sum(values) / len(values):.4g}") if values else None


def record_file(study: Study, arm: str, seed: int) -> Path | None:
    """Return where the study keeps the record of a finished run, if it keeps records."""
    return ROOT / study.records / f"{arm}-seed{seed}.json" if study.records else None


def read_records(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Return the records of each arm's finished runs, in the order of their seeds."""
    records: dict[str, list[dict[str, Any]]] = {arm: [] for arm in study.arms}
    for arm, seed in study.runs:
        path = record_file(study, arm, seed)
        if path and path.is_file():
            records[arm].append(json.loads(path.read_text(encoding="utf-8")))
    return records


def evaluation(record: Mapping[str, Any], number: int) -> tuple[Mapping[str, int], int]:
    """Return the right answers of one of a run's evaluations, and the samples per problem."""
    chosen = record["evaluations"][number]
    return chosen["correct"], chosen["samples"]
