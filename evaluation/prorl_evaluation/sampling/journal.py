"""Journals an evaluation's samples and verdicts in JSON-lines files."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from prorl_common import Closing, Journal, derive_seed
from prorl_evaluation.sampling.stored import OpenFile
from prorl_evaluation.types import EvalSettings, EvaluationError, Label
from prorl_verifiers import Task, Verdict

SAMPLES_FILE = "samples.jsonl"
VERDICTS_FILE = "verdicts.jsonl"
REFUSED = "refused"
R = TypeVar("R")
KEYS_KEPT = 1 << 15
ONE_MODEL = "choose another folder with --out; nothing was changed"


@dataclass(frozen=True, slots=True)
class Problem:
    """A dataset sample with hashes of its prompt and task."""

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
    """One sampled answer.

    ``logprob`` is the sum of the tokens' log-probabilities in nats (NaN if unknown). ``seconds`` is the sample's share
    of the batch's time. ``note`` says why a sample was refused. ``turns`` are the messages of a conversation with an
    environment, after the prompt.
    """

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
    turns: Sequence[Mapping[str, str]] = ()

    @property
    def refused(self) -> bool:
        return self.finish_reason == REFUSED


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One sample's verdict; see ``prorl_verifiers.Verdict``."""

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
    """Return the hex SHA-256 of canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def prompt_digest(prompt: Sequence[Mapping[str, str]]) -> str:
    return digest([[m["role"], m["content"]] for m in prompt])


def task_digest(task: Task) -> str:
    return digest([task.verifier, task.reference])


SHARED = ("model", "temperature", "top_p", "max_tokens", "turn_limit", "extra")
"""What decides a sample besides its problem and seed; the last two are left out if they are the default."""


class Keys:
    """Computes the seeds and keys of samples for one model and its sampling parameters."""

    def __init__(self, model_digest: str, settings: EvalSettings) -> None:
        self._seed = settings.seed
        self.backend = settings.backend
        self.key = functools.lru_cache(KEYS_KEPT)(self._key)
        """Return the key of (id, prompt hash, index): 32 hex digits of a hash over :meth:`fields`."""
        self.shared: dict[str, Any] = {
            "model": model_digest,
            "temperature": float(settings.temperature),
            "top_p": float(settings.top_p),
            "max_tokens": settings.max_tokens,
            **settings.turn_limit,
            **({"extra": dict(settings.extra)} if settings.extra else {}),
        }

    def seed(self, sample_id: str, index: int) -> int:
        """Return a sample's seed, the same for every model."""
        return derive_seed(self._seed, "eval", sample_id, index)

    def fields(self, sample_id: str, prompt: str, index: int) -> dict[str, Any]:
        """Return all values that a sample depends on; ``prompt`` is the prompt's hash."""
        return {
            **self.shared,
            "prompt": prompt,
            "sample_id": sample_id,
            "index": index,
            "seed": self.seed(sample_id, index),
        }

    def _key(self, sample_id: str, prompt: str, index: int) -> str:
        return digest(self.fields(sample_id, prompt, index))[:32]


class Records(Generic[R]):
    """The records of a journal file by key, read on demand."""

    def __init__(self, path: Path, make: Callable[[Mapping[str, Any]], R]) -> None:
        self._file, self._make = OpenFile.of(path), make
        self._places: dict[bytes, int] = {}

    def put(self, key: object, place: int) -> None:
        self._places[_short(key)] = place

    def drop(self, key: object) -> None:
        """Treat the key as missing; its line stays in the file."""
        del self._places[_short(key)]

    def __contains__(self, key: object) -> bool:
        return _short(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, key: object) -> R:
        return self._read(self._places[_short(key)])

    def get(self, key: object) -> R | None:
        place = self._places.get(_short(key))
        return None if place is None else self._read(place)

    def values(self) -> Iterator[R]:
        for place in sorted(self._places.values()):
            yield self._read(place)

    def _read(self, place: int) -> R:
        return self._make(json.loads(self._file.line(place)))


def _short(key: object) -> bytes:
    return hashlib.blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class EvalJournal(Closing):
    """The sample and verdict files of an evaluation folder; opening removes incomplete last lines."""

    def __init__(self, folder: Path, keys: Keys, verdicts_file: str = VERDICTS_FILE) -> None:
        self.folder = folder
        self.keys = keys
        with contextlib.ExitStack() as opened:
            self._samples = opened.enter_context(Journal(folder / SAMPLES_FILE))
            self._verdicts = opened.enter_context(Journal(folder / verdicts_file))
            self._refused: set[str] = set()
            self.samples = Records(folder / SAMPLES_FILE, sample_of)
            self.verdicts = Records(folder / verdicts_file, verdict_of)
            self.foreign = self._index_samples(folder / SAMPLES_FILE)
            self._index_verdicts(folder / verdicts_file)
            self._opened = opened.pop_all()

    def add_samples(
        self, records: Sequence[SampleRecord], fields: Sequence[dict[str, Any]]
    ) -> None:
        """Write the records to disk, each with its ``fields`` (see ``Keys.fields``)."""
        origin = {"backend": self.keys.backend}
        rows = [{**asdict(r), **f, **origin} for r, f in zip(records, fields, strict=True)]
        for row in rows:
            row["logprob"] = None if math.isnan(row["logprob"]) else row["logprob"]
        for record, place in zip(records, self._samples.extend(rows), strict=True):
            self._put(record.key, record.refused, place)

    def add_verdicts(self, records: Sequence[VerdictRecord]) -> None:
        """Write verdicts to disk; later verdicts replace earlier ones."""
        places = self._verdicts.extend([asdict(r) for r in records])
        for record, place in zip(records, places, strict=True):
            self.verdicts.put((record.key, record.task), place)

    def forget_refused(self) -> int:
        """Treat refused samples as missing, and return their number."""
        for key in self._refused:
            self.samples.drop(key)
        count = len(self._refused)
        self._refused.clear()
        return count

    def close(self) -> None:
        self._opened.close()

    def _put(self, key: str, refused: bool, place: int) -> None:
        self.samples.put(key, place)
        if refused:
            self._refused.add(key)
        else:
            self._refused.discard(key)

    def _index_samples(self, path: Path) -> int:
        """Index this model's samples; return how many have other sampling parameters."""
        keys, foreign = self.keys, 0
        for number, place, row in read_checked(path, SAMPLE_FIELDS):
            if row["model"] != keys.shared["model"]:
                raise EvaluationError(
                    f"{path}:{number} is a sample of another model (weights digest {row['model'][:12]}, "
                    f"this model's is {keys.shared['model'][:12]}): {ONE_MODEL}"
                )
            if {name: row[name] for name in SHARED if name in row} != keys.shared:
                foreign += 1
                continue
            made_by = row.get("backend", "transformers")
            if made_by != keys.backend:
                raise EvaluationError(
                    f"{path}:{number} was sampled with backend {made_by}, not {keys.backend}: "
                    "use that backend, or choose another folder with --out"
                )
            key = row["key"]
            if replaces(row, key in self._refused if key in self.samples else None):
                self._put(key, row["finish_reason"] == REFUSED, place)
        return foreign

    def _index_verdicts(self, path: Path) -> None:
        """Index the verdicts, except infra errors: those samples are scored again."""
        for _, place, row in read_checked(path, VERDICT_FIELDS):
            if row["status"] != "infra_error":
                self.verdicts.put((row["key"], row["task"]), place)


def verdict_record(key: str, task: str, verdict: Verdict) -> VerdictRecord:
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
    values = {name: row[name] for name in SampleRecord.__dataclass_fields__ if name in row}
    values["logprob"] = math.nan if row["logprob"] is None else float(row["logprob"])
    return SampleRecord(**values)


def replaces(row: Mapping[str, Any], refused: bool | None) -> bool:
    """Return whether a line counts: the first with its key does, and so does an answer after a refused sample.

    ``refused`` says whether the earlier line is a refusal; None if there is no earlier line.
    """
    return refused is None or (refused and row["finish_reason"] != REFUSED)


def verdict_of(row: Mapping[str, Any]) -> VerdictRecord:
    return VerdictRecord(**{name: row[name] for name in VerdictRecord.__dataclass_fields__})


Types = tuple[type, ...]
NUMBER: Types = (int, float)
SAMPLE_FIELDS: Mapping[str, Types] = {
    "key": (str,),
    "sample_id": (str,),
    "index": (int,),
    "seed": (int,),
    "text": (str,),
    "tokens": (int,),
    "logprob": (*NUMBER, type(None)),
    "finish_reason": (str,),
    "seconds": NUMBER,
    "model": (str,),
    "temperature": NUMBER,
    "top_p": NUMBER,
    "max_tokens": (int,),
    "prompt": (str,),
}
VERDICT_FIELDS: Mapping[str, Types] = {
    "key": (str,),
    "task": (str,),
    "reward": (*NUMBER, type(None)),
    "status": (str,),
    "reason": (str,),
    "extracted": (str, type(None)),
    "isolation": (str,),
    "metrics": (dict,),
    "seconds": NUMBER,
}
CURE = "remove the line, and run the same command again to replace it"


def fault(row: object, fields: Mapping[str, Types]) -> str | None:
    """Return what is wrong with a line's JSON value, or None."""
    if not isinstance(row, dict):
        return "the line is not a JSON object"
    for name, types in fields.items():
        if name not in row:
            return f"the line has no '{name}'"
        value = row[name]
        if not isinstance(value, types) or isinstance(value, bool):
            return f"'{name}' is a {type(value).__name__}"
    return None


def read_checked(
    path: Path, fields: Mapping[str, Types]
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield (line number, byte offset, JSON object) of non-blank lines. Raises EvaluationError if one is invalid."""
    place = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    row = json.loads(line)
                    wrong = fault(row, fields)
                except (ValueError, RecursionError) as error:
                    wrong = f"not valid JSON ({' '.join(str(error).split())[:80]})"
                if wrong is not None:
                    raise EvaluationError(f"{path}:{number}: {wrong}: {CURE}")
                yield number, place, row
            place += len(line)
