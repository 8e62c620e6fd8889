"""What an evaluation writes down as it goes: samples in one journal, verdicts in another.

    <out>/samples.jsonl    a line a sample, keyed by model, prompt, sampling parameters, index and seed
    <out>/verdicts.jsonl   a line a verdict, keyed by sample key and task

Append-only and synced, so that a kill loses at most what was not yet written. A folder holds one model:
lines of another model or backend are an error; lines of other sampling parameters are left alone, their keys
differ. Leaves out: sampling, scoring, reading lines (``repair``), and locking (one writer a folder).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import Closing, Journal, derive_seed
from prorl_evaluation.sampling.repair import SAMPLE_FIELDS, VERDICT_FIELDS, read_checked
from prorl_evaluation.types import EvalSettings, EvaluationError, Label
from prorl_verifiers import Task, Verdict

SAMPLES_FILE = "samples.jsonl"
VERDICTS_FILE = "verdicts.jsonl"
REFUSED = "refused"
ONE_MODEL = "each model needs a folder of its own, choose another with --out; nothing was changed"


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
    """One sampled answer. ``tokens`` counts generated tokens, ``logprob`` is their sum (natural log; NaN
    where the backend gives none, null in the file), ``seconds`` the sample's share of its batch's time.
    Where ``finish_reason`` is ``refused`` a server gave no answer and ``note`` says why."""

    key: str
    sample_id: str
    index: int
    seed: int
    text: str
    tokens: int
    logprob: float
    finish_reason: str
    seconds: float
    note: str = ""

    @property
    def refused(self) -> bool:
        """Whether there is no answer, because a server would not give one."""
        return self.finish_reason == REFUSED


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
    metrics: Mapping[str, float | str]
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
        self.backend = settings.backend
        self.extra = dict(settings.extra)
        self._known: dict[tuple[str, str, int], str] = {}
        self.shared: dict[str, Any] = {
            "model": model_digest,
            "temperature": float(settings.temperature),
            "top_p": float(settings.top_p),
            "max_tokens": settings.max_tokens,
            **({"extra": self.extra} if self.extra else {}),
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
        """Return the journal key: 32 hex digits over :meth:`fields`; worked out once."""
        place = (sample_id, prompt, index)
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = digest(self.fields(*place))[:32]
        return found


class EvalJournal(Closing):
    """Both journals of one evaluation folder. Opening it drops torn last lines and nothing else."""

    def __init__(self, folder: Path, keys: Keys, verdicts_file: str = VERDICTS_FILE) -> None:
        self.folder = folder
        self.keys = keys
        with contextlib.ExitStack() as opened:
            self._samples = opened.enter_context(Journal(folder / SAMPLES_FILE))
            self._verdicts = opened.enter_context(Journal(folder / verdicts_file))
            self.samples, self.foreign = _read_samples(folder / SAMPLES_FILE, keys)
            self.verdicts = _read_verdicts(folder / verdicts_file)
            self._opened = opened.pop_all()

    def add_samples(
        self, records: Sequence[SampleRecord], fields: Sequence[dict[str, Any]]
    ) -> None:
        """Write records (and what each depends on) with one sync."""
        origin = {"backend": self.keys.backend}
        rows = [{**asdict(r), **f, **origin} for r, f in zip(records, fields, strict=True)]
        for row in rows:
            row["logprob"] = None if math.isnan(row["logprob"]) else row["logprob"]
        self._samples.extend(rows)
        self.samples.update({r.key: r for r in records})

    def add_verdicts(self, records: Sequence[VerdictRecord]) -> None:
        """Write verdicts with one sync; a later line for the same sample and task replaces the earlier."""
        self._verdicts.extend([asdict(r) for r in records])
        self.verdicts.update({(r.key, r.task): r for r in records})

    def forget_refused(self) -> int:
        """Take refused samples for missing, so that they are asked for again; return how many."""
        refused = [key for key, record in self.samples.items() if record.refused]
        for key in refused:
            del self.samples[key]
        return len(refused)

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


def sample_of(row: Mapping[str, Any]) -> SampleRecord:
    """Return the record in a line of SAMPLES_FILE that has SAMPLE_FIELDS."""
    values = {name: row[name] for name in SampleRecord.__dataclass_fields__ if name in row}
    values["logprob"] = math.nan if row["logprob"] is None else float(row["logprob"])
    return SampleRecord(**values)


def replaces(row: Mapping[str, Any], old: SampleRecord | None) -> bool:
    """Whether a line counts for its key after ``old``: the first wins, but any answer wins over a refusal."""
    return old is None or (old.refused and row["finish_reason"] != REFUSED)


def verdict_of(row: Mapping[str, Any]) -> VerdictRecord:
    """Return the record in a line of VERDICTS_FILE that has VERDICT_FIELDS."""
    return VerdictRecord(**{name: row[name] for name in VerdictRecord.__dataclass_fields__})


def _read_samples(path: Path, keys: Keys) -> tuple[dict[str, SampleRecord], int]:
    """Return (this model's records by key, how many lines have other sampling parameters).

    Which line of a key counts: ``replaces``. Raises EvaluationError for damage, and for samples of another
    model or backend.
    """
    found: dict[str, SampleRecord] = {}
    foreign = 0
    for number, row in read_checked(path, SAMPLE_FIELDS):
        if row["model"] != keys.shared["model"]:
            raise EvaluationError(
                f"{path}:{number} is a sample of another model (digest {row['model'][:12]}, here "
                f"{keys.shared['model'][:12]}): {ONE_MODEL}"
            )
        if row.get("extra", {}) != keys.extra or any(
            row[name] != value for name, value in keys.shared.items()
        ):
            foreign += 1
            continue
        made_by = row.get("backend", "transformers")
        if made_by != keys.backend:
            raise EvaluationError(
                f"{path}:{number} was sampled with backend {made_by}, not {keys.backend}: go on with "
                "that one, or choose another folder with --out"
            )
        if replaces(row, found.get(row["key"])):
            found[row["key"]] = sample_of(row)
    return found, foreign


def _read_verdicts(path: Path) -> dict[tuple[str, str], VerdictRecord]:
    """Return the last verdict on each (sample, task). Infra errors are left out: they are tried again."""
    found: dict[tuple[str, str], VerdictRecord] = {}
    for _, row in read_checked(path, VERDICT_FIELDS):
        record = verdict_of(row)
        if record.status != "infra_error":
            found[(record.key, record.task)] = record
    return found
