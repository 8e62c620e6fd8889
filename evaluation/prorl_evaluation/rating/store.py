"""Stores, for each policy, which samples of each dataset row passed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import Closing, Journal, read_jsonl
from prorl_datasets import Sample
from prorl_evaluation.sampling.journal import digest, prompt_digest
from prorl_evaluation.types import EvalSettings, EvaluationError
from prorl_verifiers import Task, part_records

STORE_FILE = "ratings.jsonl"
MODES = ("mode", "modes")
"""Keys of a task's reference that only set how strictly it is scored."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A model with its sampling parameters; samples of policies with the same ``key`` are counted together.

    ``model`` is a digest of the weights (of the base model, for rollouts).
    """

    model: str
    label: str
    temperature: float
    top_p: float
    max_tokens: int
    run: str = ""
    step: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A hash of all fields except ``label``, as 16 hex digits."""
        return digest(
            [
                *(self.model, float(self.temperature), float(self.top_p), self.max_tokens),
                *(self.run, self.step, dict(self.extra)),
            ]
        )[:16]

    def as_json(self) -> dict[str, Any]:
        return {name: v for name, v in asdict(self).items() if v not in ("", None, {})}

    def words(self) -> str:
        how = f"temperature {self.temperature:g}, top-p {self.top_p:g}, {self.max_tokens} tokens"
        return f"{self.label}, {how}"


def policy_of(label: str, model: str, settings: EvalSettings) -> Policy:
    s = settings
    extra = {**s.turn_limit, **s.extra}
    return Policy(model, label, s.temperature, s.top_p, s.max_tokens, extra=extra)


@dataclass(slots=True)
class RowSamples:
    """The keys of one row's passed and failed samples."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)

    @property
    def n(self) -> int:
        return len(self.passed) + len(self.failed)

    def add(self, passed: Iterable[str], failed: Iterable[str]) -> None:
        """Add the keys of samples; their verdicts replace earlier ones."""
        passed, failed = set(passed), set(failed)
        self.passed = (self.passed - failed) | passed
        self.failed = (self.failed - passed) | failed


def content_of(prompt: Sequence[Mapping[str, str]], task: Task) -> str:
    """Return a hash of a row's prompt and task, without the verifier's mode."""
    reference = {k: v for k, v in task.reference.items() if k not in MODES}
    return digest([prompt_digest(prompt), task.verifier, reference, part_records([task])])[:16]


class RatingStore(Closing):
    """The file with all ratings; only one process at a time may open it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / STORE_FILE
        self._newest: dict[tuple[str, str], str] = {}
        """Maps (policy, row) to the digest of its last line, so that an equal line is not written again."""
        with contextlib.ExitStack() as opened:
            self._journal = opened.enter_context(Journal(self.path))
            for _, row in self._lines():
                self._newest[row["policy"], row["id"]] = _line_digest(row)
            opened.pop_all()

    def close(self) -> None:
        self._journal.close()

    def policies(self) -> list[Policy]:
        policies: dict[str, Policy] = {}
        for number, row in self._lines():
            if row["policy"] not in policies:
                policies[row["policy"]] = self._policy(number, row)
        return list(policies.values())

    def rows(self, samples: Iterable[Sample], policies: Iterable[Policy]) -> dict[str, RowSamples]:
        """Return {row id: samples}, each from the last of ``policies`` that rated the row's present prompt and task."""
        rank = {policy.key: place for place, policy in enumerate(policies)}
        content = {s.id: content_of(s.prompt, s.task) for s in samples}
        rated: dict[str, tuple[int, RowSamples]] = {}
        for _, row in self._lines():
            place, identity = rank.get(row["policy"]), row["id"]
            if place is None or content.get(identity) != row["content"]:
                continue
            if identity not in rated or place > rated[identity][0]:
                rated[identity] = place, RowSamples()
            if place == rated[identity][0]:
                rated[identity][1].add(row["passed"], row["failed"])
        return {identity: row_samples for identity, (_, row_samples) in rated.items()}

    def add(self, policy: Policy, rows: Iterable[tuple[Sample, RowSamples]]) -> int:
        """Write the rows' samples to disk, and return the number of samples."""
        about, key, count = policy.as_json(), policy.key, 0
        lines: list[dict[str, Any]] = []
        for sample, row_samples in rows:
            if not row_samples.n:
                continue
            count += row_samples.n
            line = {
                "id": sample.id,
                "content": content_of(sample.prompt, sample.task),
                "policy": key,
                **about,
                "passed": sorted(row_samples.passed),
                "failed": sorted(row_samples.failed),
            }
            if self._newest.get((key, sample.id)) != _line_digest(line):
                self._newest[key, sample.id] = _line_digest(line)
                lines.append(line)
        if lines:
            self._journal.extend(lines)
        return count

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in read_jsonl(self.path):
            if missing := {"id", "content", "policy", "passed", "failed"} - row.keys():
                raise self._damaged(number, f"it lacks {', '.join(sorted(missing))}")
            if not all(isinstance(row[name], list) for name in ("passed", "failed")):
                raise self._damaged(number, "passed and failed must be lists")
            yield number, row

    def _policy(self, number: int, row: Mapping[str, Any]) -> Policy:
        try:
            return Policy(
                **{name: row[name] for name in Policy.__dataclass_fields__ if name in row}
            )
        except TypeError as error:
            raise self._damaged(number, "it does not say which model was sampled") from error

    def _damaged(self, number: int, why: str) -> EvaluationError:
        return EvaluationError(
            f"{self.path}:{number} is not a rating ({why}): remove the line, and its row is rated again"
        )


def _line_digest(row: Mapping[str, Any]) -> str:
    return digest([row["content"], row["passed"], row["failed"]])[:16]
