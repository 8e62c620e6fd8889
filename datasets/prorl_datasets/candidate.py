"""What a row is on its way into a dataset: what a source yields (Row), the finished candidate, or why it was dropped.

A ``Candidate`` is made once, in a child process, and replaced by each stage that adds to it. ``encode`` and
``decode`` are the one form in which it crosses processes and lies in part files.
"""

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
"""What may agree with a gold, as ``verified_by`` in the metadata says it."""
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
"""Where a candidate can be lost, in order; what is left and not needed is surplus."""
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
"""How the stages read in tables."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item as its source yields it.

    ``index`` is its place in its entry's stream (the same index is the same item for ever).
    ``gold`` is a whole response that should score 1, or None where the source has none. ``answer``
    is the bare right answer where a blind constant could hit it (math, stem, logic), for chance
    levels. ``key`` is set on generated rows: equal keys are the same problem (family and canonical
    parameters). ``core`` is the text that could coincide with a published problem, without
    template, suffix and constraint sentences; None takes ``question``. ``consistent`` says that the
    source's adapter checked what can be checked where there is no gold response (tests decode,
    constraints can hold together). ``independent`` says in a few words what agrees with the gold and was not made
    from it (a program run on tests, another's response), "" where nothing does: only then is an accepted gold
    ``verified``.
    """

    index: int
    question: str
    task: Task
    gold: str | None = None
    answer: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    core: str | None = None
    consistent: bool = False
    independent: str = ""


@dataclass(frozen=True, slots=True)
class BenchmarkMatch:
    """What a text shares with one benchmark item, as ``decontamination.jsonl`` has it (see ``text.index.Match``)."""

    benchmark: str
    item: str
    rule: str
    score: float = 1.0
    view: str = "exact"
    numbers: str = "same"
    shared: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """A candidate that never became a row: ``reason`` is a category, ``detail`` the particular.

    ``stage`` is ``made``, ``where`` for a row that its source's condition leaves out, ``posed`` for an item that
    was made and cannot be asked, or ``decontamination`` for an item of a generated benchmark (``match``).
    """

    index: int
    reason: str
    detail: str = ""
    stage: Literal["where", "made", "posed", "decontamination"] = "made"
    text: str = ""
    match: BenchmarkMatch | None = None
    quarantine: Mapping[str, Any] | None = None
    """Place and columns of a bad row, where its source keeps those."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One finished row: its columns, its keys, and what its gold check needs.

    ``gold`` is the response of the gold check, ``box`` the reference to run it with where that is not the row's own.
    ``checked`` says whether the gold is to be run; ``consistent`` and ``independent`` are the row's. Rows of one
    ``key`` are one problem, rows of one ``prompt_key`` one prompt; ``signature`` finds near-duplicates. ``variant``
    says that it stays for its other numbers although ``matches`` names benchmark items.
    """

    index: int
    domain: Domain
    prompt: str
    verifier: str
    reference: str
    """JSON, as the dataset's column has it."""
    source: str
    licence: str
    metadata: Mapping[str, Any]
    key: str
    prompt_key: str
    signature: str | None = None
    answer: str | None = None
    gold: str | None = None
    box: str | None = None
    checked: bool = False
    consistent: bool = False
    independent: str = ""
    matches: tuple[BenchmarkMatch, ...] = ()
    variant: bool = False
    gold_check: GoldCheck = "none"


_DEFAULTS = {kind: {spec.name: spec.default for spec in fields(kind)} for kind in (Candidate, Drop)}


def encode(candidate: Candidate | Drop) -> dict[str, Any]:
    """Return JSON-ready values that ``decode`` reads; fields at their defaults are left out."""
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
    """Return what ``encode`` was given. Raises TypeError for other values."""
    if "drop" not in values:
        return decode_candidate(values)
    match = values.get("match")
    rest = {name: value for name, value in values.items() if name != "drop"}
    return Drop(**{**rest, "match": None if match is None else BenchmarkMatch(**match)})


def decode_candidate(values: Mapping[str, Any]) -> Candidate:
    """Return the candidate whose encoded values these are. Raises TypeError for others."""
    matches = tuple(BenchmarkMatch(**match) for match in values.get("matches", ()))
    return Candidate(**{**values, "matches": matches})


def match_json(match: BenchmarkMatch) -> dict[str, Any]:
    """Return a match as ``decontamination.jsonl`` and part files have it."""
    return {spec.name: getattr(match, spec.name) for spec in fields(match)}


class BadRow(DatasetError):
    """A raw row that cannot be read, or lacks what it needs: one line that begins with its place.

    ``reason`` is a category; what becomes of the row is the source's ``on_bad_row``.
    """

    def __init__(self, where: str, problem: str, reason: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.reason = reason


def normalised(text: str) -> str:
    """Return a text as exact duplicates are compared: without case and spacing."""
    return " ".join(text.lower().split())


def digest(text: str) -> str:
    """Return a 16-byte BLAKE2b digest in hexadecimal."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def prompt_key(prompt: Iterable[Mapping[str, str]]) -> str:
    """Return what finished prompts are compared by, as duplicates and as rows of recorded pass rates: a digest of
    their messages, case and spacing aside."""
    return digest(normalised("\n".join(message["content"] for message in prompt)))
