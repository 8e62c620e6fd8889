"""Our results in the JSON of lm-evaluation-harness: ``results_*.json`` and ``samples_<task>_*.jsonl``.

Shapes: result_schema.py and loggers/evaluation_tracker.py of EleutherAI/lm-evaluation-harness (0.4.13). Only what we
know is written: no versions and shots of a task that is not theirs, no rendered prompt (its messages as JSON stand
there), no times. What is ours alone stands under ``prorl``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prorl_evaluation.exchange.exported import Exported, as_line, folder_name, stamp
from prorl_evaluation.metrics.passk import pass_at_k
from prorl_evaluation.sampling.journal import (
    SAMPLES_FILE,
    VERDICTS_FILE,
    Keys,
    Problem,
    SampleRecord,
    replaces,
    sample_of,
    verdict_of,
)
from prorl_evaluation.sampling.repair import SAMPLE_FIELDS, VERDICT_FIELDS, read_checked
from prorl_evaluation.types import EvaluationError


def harness_files(found: Sequence[Exported], out: Path) -> dict[Path, bytes]:
    """Return the files of ``<out>/<model>/`` for the results of one model, the results first.

    Raises EvaluationError for a journal that is damaged or lacks answers of its result.
    """
    folder, date = out / folder_name(found[0].result.model_id), stamp(found)
    files = {folder / f"results_{date}.json": as_line(harness_results(found), indent=2)}
    for one in found:
        lines = b"".join(map(as_line, harness_samples(one)))
        files[folder / f"samples_{one.task}_{date}.jsonl"] = lines
    return files


def harness_results(found: Sequence[Exported]) -> dict[str, Any]:
    """Return the object of ``results_*.json`` for results of one model."""
    result = found[0].result
    return {
        "results": {f.task: _metrics(f) for f in found},
        "group_subtasks": {f.task: [] for f in found},
        "configs": {
            f.task: {
                "task": f.task,
                "output_type": "generate_until",
                "repeats": f.result.settings.n,
                "generation_kwargs": f.generation,
            }
            for f in found
        },
        "versions": {},
        "n-shot": {},
        "higher_is_better": {f.task: dict.fromkeys(f.metrics, True) for f in found},
        "n-samples": {f.task: _counts(f) for f in found},
        "config": {"model": result.settings.backend, "gen_kwargs": found[0].generation},
        "model_name": result.model_id,
        "model_name_sanitized": folder_name(result.model_id),
        "prorl": {f.task: f.about for f in found},
    }


def _metrics(found: Exported) -> dict[str, Any]:
    row: dict[str, Any] = {"alias": found.task, "sample_len": len(found.result.problems)}
    for name, (value, error) in found.metrics.items():
        if math.isnan(value):
            continue
        row[f"{name},{found.filter}"] = value
        row[f"{name}_stderr,{found.filter}"] = "N/A" if math.isnan(error) else error
    return row


def _counts(found: Exported) -> dict[str, int]:
    count = len(found.result.problems)
    whole = {} if found.result.settings.dataset.get("limit") else {"original": count}
    return {**whole, "effective": count}


def harness_samples(found: Exported) -> Iterator[dict[str, Any]]:
    """Yield the lines of ``samples_<task>_*.jsonl``: a problem each, with all its answers. Journals are only read.

    Raises EvaluationError for a journal that is damaged or lacks answers of the result.
    """
    r = found.result
    keys = Keys(r.model_digest, r.settings)
    texts, extracted = _answers(found.folder)
    for place, count in enumerate(r.problems):
        problem = found.problems[count.id]
        own = [keys.key(count.id, count.prompt_sha256, i) for i in range(count.sampled)]
        if any(key not in texts for key in own):
            raise EvaluationError(
                f"{found.folder} lacks answers to {count.id}: give its pass-at-k command again"
            )
        doc = {"id": count.id, "domain": problem.domain, **dict(problem.labels)}
        prompt = json.dumps([dict(m) for m in problem.prompt], ensure_ascii=False)
        target = _target(problem)
        value = {k: pass_at_k(count.n, count.c, k) for k in r.overall.pass_at_k}
        yield {
            "doc_id": place,
            "doc": doc,
            "target": target,
            "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": found.generation}},
            "resps": [[texts[key] for key in own]],
            "filtered_resps": [extracted.get((key, count.task_sha256)) for key in own],
            "filter": found.filter,
            "metrics": list(found.metrics),
            "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False)),
            "prompt_hash": _hash(prompt),
            "target_hash": _hash(target),
            **{found.first if k == 1 else f"pass@{k}": v for k, v in value.items()},
        }


def _answers(folder: Path) -> tuple[dict[str, str], dict[tuple[str, str], str | None]]:
    """Return the text of each sample by its key, and what was extracted from it by key and task."""
    if missing := [name for name in (SAMPLES_FILE, VERDICTS_FILE) if not (folder / name).is_file()]:
        raise EvaluationError(
            f"{folder} lacks {' and '.join(missing)}: give its pass-at-k command again"
        )
    kept: dict[str, SampleRecord] = {}
    for _, _, row in read_checked(folder / SAMPLES_FILE, SAMPLE_FIELDS):
        known = kept.get(row["key"])
        if replaces(row, None if known is None else known.refused):
            kept[row["key"]] = sample_of(row)
    verdicts = (
        verdict_of(row) for _, _, row in read_checked(folder / VERDICTS_FILE, VERDICT_FIELDS)
    )
    extracted = {(v.key, v.task): v.extracted for v in verdicts}
    return {key: sample.text for key, sample in kept.items()}, extracted


def _target(problem: Problem) -> str:
    """Return the gold answer as text; the whole reference where it has none."""
    gold = problem.task.reference.get("answer")
    return gold if isinstance(gold, str) else problem.task.reference_json()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
