"""What the study with and without the plateau loop leaves in docs/evidence/data: JSON files, one a run and one a model.

A model's file is a ``result.json`` of prorl's evaluation without the texts of answers, so that ``prorl eval
compare`` reads it. Leaves out: making them (``smollm_run``) and reading them (``smollm_loop_report``).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from small_record import code_digest, curves
from smollm_luck import luck_by_task
from smollm_study import Results, Study, question_key

from prorl_common import atomic_write_text, sha256_file
from prorl_datasets import Sample

BEGIN, END = "<!-- results -->", "<!-- end results -->"


def record(
    study: Study,
    work: Path,
    evidence: Path,
    samples: Sequence[Sample],
    items: Sequence[Sample],
    results: Results,
) -> None:
    """Write what is there: finished runs, evaluated models, what is known of the items."""
    evidence.mkdir(parents=True, exist_ok=True)
    for evaluated in study.evaluated:
        result = results.get(f"{evaluated.name}/sampled")
        if result is not None:
            problems = tuple(dataclasses.replace(p, answers=None) for p in result.problems)
            kept = dataclasses.replace(result, problems=problems, examples=())
            _write(evidence / f"{evaluated.name}.json", kept.to_json())
            _write(evidence / f"{evaluated.arm}-run.json", run_of(study, work / evaluated.arm))
    _write(evidence / "items.json", _items(study, samples, items))


def run_of(study: Study, run: Path) -> dict[str, Any]:
    """Return a finished run's record: curves, decisions, tokens, and which protocol, code and start it is of."""
    from prorl_training.run.folder import RunFolder

    folder = RunFolder(run)
    rows, decisions = folder.metrics(), folder.decisions()
    start = run / "checkpoints" / "step_000000" / "policy" / "model.safetensors"
    return {
        "arm": run.name,
        "protocol": protocol_digest(study),
        "code": code_digest(),
        "start": sha256_file(start),
        "steps": rows[-1]["step"],
        "tokens": sum(row["tokens"] for row in rows),
        "step_seconds": round(sum(row["seconds"] for row in rows), 1),
        "curves": curves(rows),
        "validation": [
            [r["step"], r["validation_reward"]]
            for r in rows
            if r.get("validation_reward") is not None
        ],
        "items_solved": rows[-1].get("items_solved"),
        "decisions": [d for d in decisions if d["kind"] != "refill_gave_up"],
    }


def protocol_digest(study: Study) -> str:
    """Return the SHA-256 of the protocol: the document up to its results."""
    head = study.document.read_text(encoding="utf-8").split(BEGIN)[0]
    return hashlib.sha256(head.encode()).hexdigest()


def _items(study: Study, samples: Sequence[Sample], items: Sequence[Sample]) -> dict[str, Any]:
    keys = {question_key(s) for s in samples if s.split != "test"}
    return {
        "train": sum(s.split == "train" for s in samples),
        "held_out": len(items),
        "shared_keys": sum(question_key(s) in keys for s in items),
        "commonest": study.chance(samples, items),
        "luck": {str(k): luck_by_task(study, items, k) for k in (1, study.shown_k)},
    }


def _write(path: Path, value: dict[str, Any]) -> None:
    atomic_write_text(path, json.dumps(value, separators=(",", ":")) + "\n")
