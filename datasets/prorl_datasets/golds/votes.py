"""What a model's answers say of golds: where most of them agree with each other and none with the gold.

Sampled responses are scored by the row's own verifier; the answers it extracts are put to the vote as the
verifier's ``vote`` writes them (all that the gold accepts count as one). A majority against the gold is a reason
to look at the row, not a proof: models share mistakes. Leaves out: sampling (``prorl eval pass-at-k``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from prorl_datasets.building.gold import FULL_MARKS, Scorer
from prorl_datasets.golds.audit import AGAINST, Finding, GoldAudit, GoldItem
from prorl_datasets.rows.row import digest, normalised
from prorl_datasets.sources.readers import iter_rows
from prorl_datasets.types import DatasetError
from prorl_verifiers import VERIFIERS, Task

LEAST_VOTES = 3
"""Votes that a majority needs, and more than half of all."""
CHUNK = 256
IDS, TEXTS = ("id", "sample_id"), ("response", "text", "responses")


@dataclass(slots=True)
class _Ballot:
    place: str
    task: Task
    gold: str
    votes: Counter[str] = field(default_factory=Counter)
    right: int = 0
    asked: int = 0


def add_votes(
    audit: GoldAudit,
    items: Iterable[GoldItem],
    files: Iterable[Path],
    scorer: Scorer,
    examples: int,
) -> None:
    """Add to ``audit`` the golds that a majority of the responses in ``files`` speaks against, and its ``votes``.

    A line holds ``id`` (or ``sample_id``, or the whole ``prompt``) and ``response`` (or ``text``, or a list
    ``responses``): rollouts and the samples of evaluations do. Raises DatasetError (file, columns, no row of these
    golds).
    """
    ballots: dict[str, _Ballot] = {}
    for item in items:
        if (
            item.task is None
            or item.answer is None
            or VERIFIERS.get(item.task.verifier).vote is None
        ):
            continue
        ballot = _Ballot(item.place, item.task, item.answer)
        ballots[item.place] = ballots[digest(normalised(item.question))] = ballot
    responses = (pair for file in files for pair in _responses(file, ballots))
    while chunk := list(islice(responses, CHUNK)):
        asked = [(text, ballot.task) for ballot, text in chunk]
        for (ballot, _), verdict in zip(chunk, scorer.score(asked), strict=True):
            ballot.asked += 1
            if verdict.reward is not None and verdict.reward >= FULL_MARKS:
                ballot.right += 1
            elif (said := _vote(ballot.task.verifier, verdict.extracted)) is not None:
                ballot.votes[normalised(said)] += 1
    asked_of = [ballot for key, ballot in ballots.items() if ballot.asked and key == ballot.place]
    if not asked_of:
        raise DatasetError(
            "no response is of a row of this target; a line holds its id (or whole prompt) and response"
        )
    counts = dict.fromkeys(("rows", "agree", "against", "undecided"), 0)
    for ballot in asked_of:
        answer, most = max(ballot.votes.items(), key=lambda pair: pair[1], default=("", 0))
        total = ballot.votes.total() + ballot.right
        counts["rows"] += 1
        if ballot.right >= LEAST_VOTES and 2 * ballot.right > total:
            counts["agree"] += 1
        elif most >= LEAST_VOTES and 2 * most > total and not ballot.right:
            counts["against"] += 1
            detail = f"{most} of {ballot.asked} responses say '{answer[:60]}', none the gold"
            audit.add(Finding(AGAINST, ballot.place, ballot.gold[:80], detail), examples)
        else:
            counts["undecided"] += 1
    audit.votes = counts


def _vote(verifier: str, extracted: str | None) -> str | None:
    vote = VERIFIERS.get(verifier).vote
    return None if extracted is None or vote is None else vote(extracted)


def _responses(file: Path, ballots: Mapping[str, _Ballot]) -> Iterator[tuple[_Ballot, str]]:
    for where, row in iter_rows(file):
        key = next((row[name] for name in IDS if row.get(name) is not None), None)
        if key is None and row.get("prompt") is not None:
            key = digest(normalised(_prompt(row["prompt"])))
        said = next((row[name] for name in TEXTS if row.get(name) is not None), None)
        texts = [t for t in (said if isinstance(said, list) else [said]) if isinstance(t, str)]
        if key is None or not texts:
            raise DatasetError(
                f"{where}: expected 'id' (or 'prompt') and 'response' (or a list 'responses'); columns here: "
                f"{', '.join(map(str, row))}"
            )
        if (ballot := ballots.get(str(key))) is not None:
            yield from ((ballot, text) for text in texts)


def _prompt(value: Any) -> str:
    """Return the text of a prompt: text, or chat messages (also as JSON) as the golds' questions are joined."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return str(value)
    if isinstance(value, list):
        return "\n".join(
            str(m.get("content", "")) if isinstance(m, dict) else str(m) for m in value
        )
    return str(value)
