"""The store of ratings: which samples of a row passed, for each policy that was sampled.

    <folder>/ratings.jsonl    a line for what one feeding brought of one row: id, content, policy, passed, failed

A line names each sample, so samples of other seeds add up and no sample counts twice, however often and by
whatever way it is brought; of one judged anew the newest verdict counts. Append-only. Leaves out: where samples come from.
"""

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
"""Keys that training and evaluation write into a reference: how strictly it is judged, not what it asks."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Who was sampled and how: samples of equal policies add up.

    ``model`` is the digest of the weights, ``label`` what people call them (no part of the identity). Of rollouts
    ``model`` is the base model that the run began with, ``run`` the run's own digest and ``step`` the step that
    sampled: its policy is another one at every step.
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
        """16 hex digits over all but the label."""
        return digest(
            [
                *(self.model, float(self.temperature), float(self.top_p), self.max_tokens),
                *(self.run, self.step, dict(self.extra)),
            ]
        )[:16]

    def as_json(self) -> dict[str, Any]:
        """Return the fields, without those that say nothing."""
        return {name: v for name, v in asdict(self).items() if v not in ("", None, {})}

    def words(self) -> str:
        """Return it in a line for people."""
        how = f"temperature {self.temperature:g}, top-p {self.top_p:g}, {self.max_tokens} tokens"
        return f"{self.label}, {how}"


def policy_of(label: str, model: str, settings: EvalSettings) -> Policy:
    """Return the policy that an evaluation of ``model`` (a digest) under ``settings`` samples."""
    s = settings
    return Policy(model, label, s.temperature, s.top_p, s.max_tokens, extra=dict(s.extra))


@dataclass(slots=True)
class RowSamples:
    """One row's samples by their names."""

    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)

    @property
    def n(self) -> int:
        """Samples with a verdict."""
        return len(self.passed) + len(self.failed)

    def add(self, passed: Iterable[str], failed: Iterable[str]) -> None:
        """Take in samples; a name that is there already gets its new verdict."""
        passed, failed = set(passed), set(failed)
        self.passed = (self.passed - failed) | passed
        self.failed = (self.failed - passed) | failed


def content_of(prompt: Sequence[Mapping[str, str]], task: Task) -> str:
    """Return 16 hex digits over what a row asks: prompt, verifier and reference without modes, and the versions
    of what judges it that is not prorl's own."""
    reference = {k: v for k, v in task.reference.items() if k not in MODES}
    return digest([prompt_digest(prompt), task.verifier, reference, part_records([task])])[:16]


class RatingStore(Closing):
    """The ratings of one folder; one process at a time has it open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / STORE_FILE
        self._newest: dict[tuple[str, str], str] = {}
        """(policy, row) -> what its last line says: the same is not written again."""
        with contextlib.ExitStack() as opened:
            self._journal = opened.enter_context(Journal(self.path))
            for _, row in self._lines():
                self._newest[row["policy"], row["id"]] = _said(row)
            opened.pop_all()

    def close(self) -> None:
        """Close the file."""
        self._journal.close()

    def policies(self) -> list[Policy]:
        """Return every policy that was rated, in order of first appearance."""
        found: dict[str, Policy] = {}
        for number, row in self._lines():
            if row["policy"] not in found:
                found[row["policy"]] = self._policy(number, row)
        return list(found.values())

    def rows(self, samples: Iterable[Sample], policies: Iterable[Policy]) -> dict[str, RowSamples]:
        """Return id -> samples of the rows of ``samples``, of the last of ``policies`` that was sampled on each.

        A row that asks something else than when it was rated has none.
        """
        rank = {policy.key: place for place, policy in enumerate(policies)}
        content = {s.id: content_of(s.prompt, s.task) for s in samples}
        found: dict[str, tuple[int, RowSamples]] = {}
        for _, row in self._lines():
            place, identity = rank.get(row["policy"]), row["id"]
            if place is None or content.get(identity) != row["content"]:
                continue
            if identity not in found or place > found[identity][0]:
                found[identity] = place, RowSamples()
            if place == found[identity][0]:
                found[identity][1].add(row["passed"], row["failed"])
        return {identity: own for identity, (_, own) in found.items()}

    def add(self, policy: Policy, rows: Iterable[tuple[Sample, RowSamples]]) -> int:
        """Write what was sampled of rows with one sync; return the number of samples."""
        about, key, count = policy.as_json(), policy.key, 0
        lines: list[dict[str, Any]] = []
        for sample, found in rows:
            if not found.n:
                continue
            count += found.n
            line = {
                "id": sample.id,
                "content": content_of(sample.prompt, sample.task),
                "policy": key,
                **about,
                "passed": sorted(found.passed),
                "failed": sorted(found.failed),
            }
            if self._newest.get((key, sample.id)) != _said(line):
                self._newest[key, sample.id] = _said(line)
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
            raise self._damaged(number, "it does not say who was sampled") from error

    def _damaged(self, number: int, why: str) -> EvaluationError:
        return EvaluationError(
            f"{self.path}:{number} is no rating ({why}): take the line out, its row is rated again"
        )


def _said(row: Mapping[str, Any]) -> str:
    return digest([row["content"], row["passed"], row["failed"]])[:16]
