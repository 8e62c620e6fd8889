"""What an evaluation writes down as it goes: samples in one journal, verdicts in another.

    <out>/samples.jsonl    a line a sample, keyed by model, prompt, sampling parameters, index and seed
    <out>/verdicts.jsonl   a line a verdict, keyed by sample key and task

Append-only and synced, so that a kill loses at most the batch in progress. Samples of another model or
other parameters in the same file are never mistaken for these: their keys differ. Leaves out: sampling,
scoring, and locking (one writer a folder).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import Closing, Journal, derive_seed, read_jsonl
from prorl_evaluation.types import EvalSettings, EvaluationError, Label
from prorl_verifiers import Task, Verdict

SAMPLES_FILE = "samples.jsonl"
VERDICTS_FILE = "verdicts.jsonl"


@dataclass(frozen=True, slots=True)
class Problem:
    """A sample with the hashes that its keys need.

    ``chance`` is what one constant answer to all problems would earn on it, where the dataset says so;
    ``labels`` what its metadata says of benchmark, task and difficulty (``types.LABELS``).
    """

    id: str
    domain: str
    prompt: tuple[Mapping[str, str], ...]
    task: Task
    prompt_sha256: str
    task_sha256: str
    chance: float | None = None
    labels: Mapping[str, Label] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One sampled answer. ``tokens`` counts generated tokens, ``logprob`` is their sum (natural log),
    ``seconds`` the sample's share of its batch's time."""

    key: str
    sample_id: str
    index: int
    seed: int
    text: str
    tokens: int
    logprob: float
    finish_reason: str
    seconds: float


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One verdict on one sample; see ``prorl_verifiers.Verdict`` for the fields."""

    key: str
    task: str
    reward: float | None
    status: str
    reason: str
    extracted: str | None
    isolation: str
    metrics: Mapping[str, float]
    seconds: float


def digest(value: object) -> str:
    """Return the hex SHA-256 of a JSON value in canonical form."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def prompt_digest(prompt: Sequence[Mapping[str, str]]) -> str:
    """Return the hash of a prompt's messages (roles and contents, in order)."""
    return digest([[m["role"], m["content"]] for m in prompt])


def task_digest(task: Task) -> str:
    """Return the hash of a task: verifier and reference. Another reference is another task."""
    return digest([task.verifier, task.reference])


class Keys:
    """Makes the seeds and keys of one model under one set of sampling parameters."""

    def __init__(self, model_digest: str, settings: EvalSettings) -> None:
        self._seed = settings.seed
        self.shared: dict[str, Any] = {
            "model": model_digest,
            "temperature": float(settings.temperature),
            "top_p": float(settings.top_p),
            "max_tokens": settings.max_tokens,
        }

    def seed(self, sample_id: str, index: int) -> int:
        """Return the seed of a problem's sample ``index``; the same for every model."""
        return derive_seed(self._seed, "eval", sample_id, index)

    def fields(self, sample_id: str, prompt: str, index: int) -> dict[str, Any]:
        """Return everything a sample's text depends on; ``prompt`` is its hash."""
        return {
            **self.shared,
            "prompt": prompt,
            "sample_id": sample_id,
            "index": index,
            "seed": self.seed(sample_id, index),
        }

    def key(self, sample_id: str, prompt: str, index: int) -> str:
        """Return the journal key: 32 hex digits over :meth:`fields`."""
        return digest(self.fields(sample_id, prompt, index))[:32]


class EvalJournal(Closing):
    """Both journals of one evaluation folder. Opening it drops torn last lines and nothing else."""

    def __init__(self, folder: Path, keys: Keys, verdicts_file: str = VERDICTS_FILE) -> None:
        self.folder = folder
        self.keys = keys
        with contextlib.ExitStack() as opened:
            self._samples = opened.enter_context(Journal(folder / SAMPLES_FILE))
            self._verdicts = opened.enter_context(Journal(folder / verdicts_file))
            self.samples, self.foreign = _read_samples(folder / SAMPLES_FILE, keys.shared)
            self.verdicts = _read_verdicts(folder / verdicts_file)
            self._opened = opened.pop_all()

    def add_samples(
        self, records: Sequence[SampleRecord], fields: Sequence[dict[str, Any]]
    ) -> None:
        """Write records (and what each depends on) with one sync."""
        rows = [{**asdict(r), **f} for r, f in zip(records, fields, strict=True)]
        self._samples.extend(rows)
        self.samples.update({r.key: r for r in records})

    def add_verdicts(self, records: Sequence[VerdictRecord]) -> None:
        """Write verdicts with one sync; a later line for the same sample and task replaces the earlier."""
        self._verdicts.extend([asdict(r) for r in records])
        self.verdicts.update({(r.key, r.task): r for r in records})

    def close(self) -> None:
        """Close both files."""
        self._opened.close()


def verdict_record(key: str, task: str, verdict: Verdict) -> VerdictRecord:
    """Return the line that keeps ``verdict``; seconds are rounded to microseconds."""
    return VerdictRecord(
        key=key,
        task=task,
        reward=verdict.reward,
        status=verdict.status,
        reason=verdict.reason,
        extracted=verdict.extracted,
        isolation=verdict.isolation,
        metrics=dict(verdict.metrics),
        seconds=round(verdict.seconds, 6),
    )


def _read_samples(path: Path, shared: Mapping[str, Any]) -> tuple[dict[str, SampleRecord], int]:
    """Return (this model's records by key, how many lines belong to others). The first line wins."""
    names = SampleRecord.__dataclass_fields__
    found: dict[str, SampleRecord] = {}
    foreign = 0
    for number, row in read_jsonl(path):
        try:
            if any(row[name] != value for name, value in shared.items()):
                foreign += 1
                continue
            found.setdefault(row["key"], SampleRecord(**{name: row[name] for name in names}))
        except KeyError as error:
            raise _damaged(path, number, error) from error
    return found, foreign


def _read_verdicts(path: Path) -> dict[tuple[str, str], VerdictRecord]:
    """Return the last verdict on each (sample, task). Infra errors are left out: they are tried again."""
    names = VerdictRecord.__dataclass_fields__
    found: dict[tuple[str, str], VerdictRecord] = {}
    for number, row in read_jsonl(path):
        try:
            record = VerdictRecord(**{name: row[name] for name in names})
        except KeyError as error:
            raise _damaged(path, number, error) from error
        if record.status != "infra_error":
            found[(record.key, record.task)] = record
    return found


def _damaged(path: Path, number: int, error: KeyError) -> EvaluationError:
    return EvaluationError(
        f"{path}:{number}: the line has no {error}: delete that line and give the command again"
    )
