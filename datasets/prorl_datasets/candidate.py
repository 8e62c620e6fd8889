"""Defines the types of a row during a build: Row, Candidate and Drop."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from prorl_datasets.types import DatasetError, Domain, GoldCheck
from prorl_verifiers import Task

OWN_PROGRAM = "the source's program, run on its tests"
OWN_RESPONSE = "a response that the source ships"
TWO_PROGRAMS = "two programs: one computed the tests, the other passed them"
"""Values of ``verified_by`` in the metadata, which say what agreed with the gold response."""
STAGES = (
    "where",
    "made",
    "posed",
    "gold",
    "decontamination",
    "duplicate",
    "near-duplicate",
    "difficulty",
)
"""The stages that can drop a candidate, in order. Surplus candidates pass all stages but are not needed."""
STAGE_NAMES = {
    "candidates": "candidates",
    "where": "- not asked for (where)",
    "made": "- could not be made",
    "posed": "- ill-posed",
    "gold": "- gold refused",
    "decontamination": "- like a benchmark item",
    "duplicate": "- duplicate",
    "near-duplicate": "- near-duplicate",
    "difficulty": "- outside the pass rates",
    "surplus": "- not needed",
    "kept": "kept",
}
"""Labels of the stages in tables."""


@dataclass(frozen=True, slots=True)
class Row:
    """One problem as a source yields it."""

    index: int
    """Fixed position of the item in its entry."""
    question: str
    task: Task
    gold: str | None = None
    """A full response that should get reward 1."""
    answer: str | None = None
    """The bare correct answer, set if guessing a common answer may be rewarded (math, stem, logic)."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    """Generated rows with equal keys are the same problem."""
    core: str | None = None
    """The text to compare with published problems, without template and suffix. Default: ``question``."""
    consistent: bool = False
    """Whether the adapter checked the tests or constraints, because there is no gold response."""
    independent: str = ""
    """Name of an independent result that agrees with the gold response; without one, the row is never ``verified``."""


@dataclass(frozen=True, slots=True)
class BenchmarkMatch:
    """A match of a row with a benchmark item, written as a line of ``decontamination.jsonl``."""

    benchmark: str
    item: str
    rule: str
    score: float = 1.0
    view: str = "exact"
    numbers: str = "same"
    shared: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """A candidate that did not become a row."""

    index: int
    reason: str
    """Category by which drops are counted; ``detail`` describes this drop."""
    detail: str = ""
    stage: Literal["where", "made", "posed", "decontamination"] = "made"
    """What excluded the candidate: the source's condition (``where``), a flaw in the problem (``posed``), an equal item
    of a generated benchmark (``decontamination``), or any other failure (``made``).
    """
    text: str = ""
    match: BenchmarkMatch | None = None
    quarantine: Mapping[str, Any] | None = None
    """Position and columns of a bad row, if its source quarantines bad rows."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row with its final prompt, keys for finding duplicates, and data for its gold check."""

    index: int
    domain: Domain
    prompt: str
    verifier: str
    reference: str
    """The task's reference as JSON."""
    source: str
    licence: str
    metadata: Mapping[str, Any]
    key: str
    """Rows with equal keys are the same problem."""
    prompt_key: str
    """Rows with equal keys have the same prompt."""
    signature: str | None = None
    """MinHash signature in base64."""
    answer: str | None = None
    gold: str | None = None
    box: str | None = None
    """Reference that runs all tests in one sandbox; the gold check uses it instead of ``reference``."""
    checked: bool = False
    consistent: bool = False
    independent: str = ""
    matches: tuple[BenchmarkMatch, ...] = ()
    variant: bool = False
    """Whether to keep the row although it matches benchmark items, because its numbers differ."""
    gold_check: GoldCheck = "none"


_DEFAULTS = {kind: {spec.name: spec.default for spec in fields(kind)} for kind in (Candidate, Drop)}


def encode(candidate: Candidate | Drop) -> dict[str, Any]:
    """Return the fields that differ from their defaults as JSON values, for ``decode``."""
    kind = type(candidate)
    values: dict[str, Any] = {"drop": True} if kind is Drop else {}
    for name, default in _DEFAULTS[kind].items():
        value = getattr(candidate, name)
        if value != default:
            values[name] = value
    if isinstance(candidate, Candidate) and candidate.matches:
        values["matches"] = [match_json(match) for match in candidate.matches]
    elif isinstance(candidate, Drop) and candidate.match is not None:
        values["match"] = match_json(candidate.match)
    return values


def decode(values: Mapping[str, Any]) -> Candidate | Drop:
    """Rebuild a record from the values that ``encode`` returned. Raises TypeError."""
    if "drop" not in values:
        return decode_candidate(values)
    match = values.get("match")
    remaining = {name: value for name, value in values.items() if name != "drop"}
    return Drop(**{**remaining, "match": None if match is None else BenchmarkMatch(**match)})


def decode_candidate(values: Mapping[str, Any]) -> Candidate:
    matches = tuple(BenchmarkMatch(**match) for match in values.get("matches", ()))
    return Candidate(**{**values, "matches": matches})


def match_json(match: BenchmarkMatch) -> dict[str, Any]:
    return {spec.name: getattr(match, spec.name) for spec in fields(match)}


class BadRow(DatasetError):
    """Raised for a raw row that is unreadable or incomplete; the message begins with the row's position.

    ``reason`` is the category in reports. The source's setting ``on_bad_row`` decides what happens to the row.
    """

    def __init__(self, where: str, problem: str, reason: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.reason = reason


def normalised(text: str) -> str:
    """Return a string in lower case with single spaces."""
    return " ".join(text.lower().split())


def digest(text: str) -> str:
    """Return the 16-byte BLAKE2b digest in hexadecimal."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def prompt_key(prompt: Iterable[Mapping[str, str]]) -> str:
    """Return the digest of a prompt, ignoring case and spacing."""
    return digest(normalised("\n".join(message["content"] for message in prompt)))
