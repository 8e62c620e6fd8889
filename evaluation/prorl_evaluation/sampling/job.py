"""Describes an evaluation folder: model, settings and problems."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import atomic_write_text, prorl_command
from prorl_common.files import explain_write_errors
from prorl_datasets import Sample
from prorl_evaluation.sampling.journal import ONE_MODEL, Problem, prompt_digest, task_digest
from prorl_evaluation.sampling.stored import RowWriter, stored_rows
from prorl_evaluation.types import EvalSettings, EvaluationError, labels_of
from prorl_inference import BACKENDS
from prorl_verifiers import Task, modes_for, part_records, with_mode

EVAL_FILE = "eval.json"
PROBLEMS_FILE = "problems.jsonl"
Part = Mapping[str, str]
"""A plug-in that was used: its group, name, source and version (see ``Door.records``)."""


@dataclass(frozen=True, slots=True)
class EvalJob:
    model_id: str
    model_digest: str
    settings: EvalSettings

    @property
    def label(self) -> str:
        return self.settings.label or self.model_id


def problems_of(
    samples: Iterable[Sample], modes: Mapping[str, str] | None = None
) -> Iterator[Problem]:
    """Yield the samples as problems to evaluate.

    ``modes`` maps verifiers to their mode (None: the modes for evaluation). Raises EvaluationError for a repeated id or
    no samples.
    """
    ids: set[str] = set()
    modes = modes_for("evaluation") if modes is None else modes
    for s in samples:
        if s.id in ids:
            raise EvaluationError(f"the problem id '{s.id}' occurs twice: ids must be unique")
        ids.add(s.id)
        chance = s.metadata.get("chance")
        task = with_mode(s.task, modes)
        yield Problem(
            id=s.id,
            domain=s.domain,
            prompt=s.prompt,
            task=task,
            prompt_sha256=prompt_digest(s.prompt),
            task_sha256=task_digest(task),
            chance=None if chance is None else float(chance),
            labels=labels_of(s.metadata),
        )
    if not ids:
        raise EvaluationError(
            "no problems to evaluate: the dataset or the chosen split is empty, choose another --split"
        )


@contextlib.contextmanager
def written_problems(out: Path, problems: Iterable[Problem]) -> Iterator[WrittenProblems]:
    """Write the problems to a temporary file, which ``write_job`` moves into place."""
    with explain_write_errors(out / PROBLEMS_FILE):
        out.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{PROBLEMS_FILE}.", dir=out)
    try:
        with explain_write_errors(out / PROBLEMS_FILE), os.fdopen(handle, "wb+") as file:
            writer = RowWriter(file)
            for problem in problems:
                writer.add(
                    {
                        "id": problem.id,
                        "domain": problem.domain,
                        "prompt": [dict(m) for m in problem.prompt],
                        "verifier": problem.task.verifier,
                        "reference": problem.task.reference,
                        "chance": problem.chance,
                        "labels": dict(problem.labels),
                    }
                )
            stored = writer.stored(problem_of)
            os.fsync(file.fileno())
        yield WrittenProblems(stored, Path(name))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


@dataclass(frozen=True, slots=True)
class WrittenProblems:
    """Problems that are read from ``file`` on demand."""

    problems: Sequence[Problem]
    file: Path


def check_same_model(out: Path, job: EvalJob) -> None:
    """Raise EvaluationError if the folder belongs to another model."""
    try:
        row = json.loads((out / EVAL_FILE).read_text(encoding="utf-8"))
        name, recorded = str(row["model_id"]), str(row["model_digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    if recorded != job.model_digest:
        owner = f"other weights of {name}" if name == job.model_id else f"model {name}"
        raise EvaluationError(
            f"{out} is an evaluation of {owner} (weights digest {recorded[:12]}, "
            f"this model's is {job.model_digest[:12]}): {ONE_MODEL}"
        )


def parts_of(problems: Iterable[Problem], backend: str) -> list[dict[str, str]]:
    of_backend = BACKENDS.records([backend.partition(":")[0]])
    return [*part_records(p.task for p in problems), *of_backend]


def recorded_parts(out: Path) -> list[Part]:
    """Return the plug-ins recorded in the folder, or [] if none can be read."""
    try:
        parts = json.loads((out / EVAL_FILE).read_text(encoding="utf-8"))["parts"]
        return [p for p in parts if {"group", "name", "source", "version"} <= p.keys()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def check_same_parts(out: Path, parts: Sequence[Part]) -> list[Part]:
    """Return the plug-ins recorded in the folder, plus ``parts``. Raises EvaluationError if one has changed."""
    parts_by_name = {(p["group"], p["name"]): p for p in recorded_parts(out)}
    for part in parts:
        old = parts_by_name.setdefault((part["group"], part["name"]), part)
        if old != part:
            was, now = (f"{p['source']} {p['version'][:19]}" for p in (old, part))
            raise EvaluationError(
                f"{out} was made with {part['name']} from {was}, which is now {now}: restore "
                "that version, choose another folder with --out, or score a finished "
                f"evaluation again: {prorl_command('eval', 'regrade', out)}"
            )
    return list(parts_by_name.values())


def write_job(
    out: Path, job: EvalJob, written: WrittenProblems | None, parts: Sequence[Part] = ()
) -> None:
    """Write the job and, unless ``written`` is None, its problems; each file is written atomically."""
    if written is not None:
        with explain_write_errors(out / PROBLEMS_FILE):
            os.chmod(written.file, 0o644)
            os.replace(written.file, out / PROBLEMS_FILE)
    value = {**dataclasses.asdict(job), **({"parts": list(parts)} if parts else {})}
    atomic_write_text(out / EVAL_FILE, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def read_job(out: Path) -> tuple[EvalJob, Sequence[Problem]]:
    """Return the job and its problems. Raises EvaluationError for missing or damaged files."""
    file = out / EVAL_FILE
    if file.is_file() and not (out / PROBLEMS_FILE).is_file():
        raise EvaluationError(
            f"{out} lacks {PROBLEMS_FILE}: run its pass-at-k command again, which writes the file "
            "and keeps the samples"
        )
    if not file.is_file():
        raise EvaluationError(
            f"{out} is not an evaluation folder (no {EVAL_FILE}): name a result folder of prorl eval"
        )
    try:
        job = job_of(json.loads(file.read_text(encoding="utf-8")))
        problems = stored_rows(out / PROBLEMS_FILE, problem_of)
        for _ in problems:  # parse every problem now, to report damage early
            pass
    except (ValueError, KeyError, TypeError) as error:
        raise EvaluationError(
            f"{out}: {EVAL_FILE} or {PROBLEMS_FILE} is damaged ({error}): "
            "run its pass-at-k command again, which rewrites both files"
        ) from error
    return job, problems


def job_of(row: Mapping[str, Any]) -> EvalJob:
    return EvalJob(row["model_id"], row["model_digest"], EvalSettings(**row["settings"]))


def problem_of(row: Mapping[str, Any]) -> Problem:
    task, prompt = Task(row["verifier"], row["reference"]), tuple(row["prompt"])
    hashes = (prompt_digest(prompt), task_digest(task))
    return Problem(
        row["id"], row["domain"], prompt, task, *hashes, row["chance"], row.get("labels", {})
    )
