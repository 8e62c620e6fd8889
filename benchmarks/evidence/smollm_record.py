"""What the 120-step study leaves in docs/evidence/data/smollm2: the run's files, one CSV of all items, facts, examples.

Leaves out: making it (``smollm_run``) and reading it (``smollm_statistics``, ``smollm_report``).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smollm_study import Results, Study, question_key, task_of

from prorl_common import atomic_write_text
from prorl_datasets import Sample
from prorl_evaluation import EvalResult


def record(
    study: Study,
    work: Path,
    evidence: Path,
    samples: Sequence[Sample],
    items: Sequence[Sample],
    results: Results,
) -> None:
    """Write the files that the document is made of, once every model is sampled."""
    if len(results) < len(study.evaluated) * len(study.samplings):
        return
    (arm,) = study.arms
    facts = facts_of(study, samples, items, results["trained/sampled"])
    write_evidence(work / arm, evidence, results, facts)
    atomic_write_text(evidence / "evaluation.csv", evaluation_csv(results, items))


def evaluation_csv(results: Results, items: Sequence[Sample]) -> str:
    """Return one line for each model, way of sampling and held-out item."""
    tasks = {s.id: task_of(s) for s in items}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["model", "sampling", "task", "item", "n", "c", "reward_mean", "tokens", "unparsable"]
    )
    for label, result in results.items():
        name, sampling = label.split("/")
        for p in result.problems:
            mean = round(p.reward_mean, 6)
            writer.writerow(
                [name, sampling, tasks[p.id], p.id, p.n, p.c, mean, p.tokens, p.unparsable]
            )
    return out.getvalue()


def write_evidence(run: Path, evidence: Path, results: Results, facts: dict[str, Any]) -> None:
    """Write the files that the document is made of."""
    evidence.mkdir(parents=True, exist_ok=True)
    work = run.parent
    for name in ("metrics.jsonl", "decisions.jsonl", "config.yaml"):
        text = (run / name).read_text("utf-8").replace(str(work.resolve()), "WORK")
        atomic_write_text(evidence / name, text)
    atomic_write_text(evidence / "facts.json", json.dumps(facts, indent=1) + "\n")
    examples = [
        {"model": label, "prompt": e.prompt, "response": e.response, "reward": e.reward}
        for label, result in results.items()
        for e in result.examples
    ]
    lines = "".join(json.dumps(e, ensure_ascii=False) + "\n" for e in examples)
    atomic_write_text(evidence / "examples.jsonl", lines)


def facts_of(
    study: Study, samples: Sequence[Sample], items: Sequence[Sample], result: EvalResult
) -> dict[str, Any]:
    """Return what the document says of data and software."""
    keys = {question_key(s) for s in samples if s.split != "test"}
    return {
        "train_items": sum(s.split == "train" for s in samples),
        "held_out_items": len(items),
        "shared_keys": sum(question_key(s) in keys for s in items),
        "chance": study.chance(samples, items),
        "isolation": list(result.isolation),
        "versions": dict(result.versions),
    }
