"""Shows one dataset row, and checks its gold response again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prorl_common import UserError
from prorl_datasets.building.gold import FULL_MARKS
from prorl_verifiers import VERIFIERS, load_task
from prorl_viewer.answering import label, message
from prorl_viewer.checking import Checker
from prorl_viewer.datasets.counts import Drops, dropped_line, pair_line
from prorl_viewer.datasets.table import Rates, RowTable
from prorl_viewer.subject import Json, NotFoundError, Private, Query, private

_SHOWN_APART = ("gold_response", "verified_by", "entry", "family", "level")


def row_page(table: RowTable, rates: Rates, drops: Drops, query: Query) -> Json:
    """Return everything about the query's row. Raises UserError or NotFoundError."""
    at = place(table, query)
    row = table.row(at)
    metadata, reference = _parsed(row["metadata"]), _parsed(row["reference"])
    prompt = list(row["prompt"])
    spec = VERIFIERS.get(row["verifier"]) if row["verifier"] in VERIFIERS.names() else None
    gold = gold_response(row["verifier"], reference, metadata)
    further = {key: value for key, value in metadata.items() if key not in _SHOWN_APART}
    name = row["id"]
    return {
        "id": name,
        "place": at,
        **{
            key: row[key]
            for key in ("domain", "split", "source", "licence", "verifier", "gold_check")
        },
        **{key: table.labels[key].of(at) or None for key in ("entry", "family", "level")},
        "prompt": [message(m["role"], m["content"] or "") for m in prompt if m is not None],
        "characters": int(table.characters[at]),
        "shown": None if spec is None else private(spec.data.topic_line(reference)),
        "answer": None if spec is None else private(spec.data.answer(reference)),
        "gold": private(gold),
        "gold_is_of": "the dataset"
        if "gold_response" in metadata
        else "its verifier"
        if gold
        else None,
        "verified_by": label(metadata.get("verified_by")) or None,
        "verifier_is_here": spec is not None,
        "reference": Private(json.dumps(reference, indent=2, ensure_ascii=False)),
        "metadata": Private(json.dumps(further, indent=2, ensure_ascii=False)),
        "rating": rates.of(at, prompt),
        "like_benchmarks": [pair_line(line) for line in drops.kept_like.get(name, ())],
        "repeated_by": [dropped_line(line) for line in drops.repeated.get(name, ())],
    }


def place(table: RowTable, query: Query) -> int:
    """Return the index of the row whose id is in the query. Raises UserError or NotFoundError."""
    if not (name := query.get("id", "")):
        raise UserError("the query has no id: add the id of a row")
    at = table.place(name)
    if at is None:
        raise NotFoundError(f"this dataset has no row '{name}': the build may have dropped it")
    return at


def gold_response(
    verifier: str, reference: Mapping[str, Any], metadata: Mapping[str, Any]
) -> str | None:
    """Return a response that should get reward 1, from the row or else from the verifier, or None."""
    response = metadata.get("gold_response")
    if isinstance(response, str):
        return response
    return VERIFIERS.get(verifier).data.gold(reference) if verifier in VERIFIERS.names() else None


def _parsed(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):  # show the text unparsed
        return {"not JSON": text}
    return value if isinstance(value, dict) else {"value": value}


def checked_gold(
    checker: Checker,
    row: Mapping[str, Any],
    reference: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Json:
    """Score a row's gold response. Raises UserError if there is none."""
    gold = gold_response(row["verifier"], reference, metadata)
    if gold is None:
        raise UserError(
            f"{row['id']} has no gold response, and its verifier cannot make one from the reference"
        )
    verdict = checker.explained([gold], load_task(row["verifier"], reference))
    reward = verdict["reward"]
    return {**verdict, "accepted": None if reward is None else reward >= FULL_MARKS}
