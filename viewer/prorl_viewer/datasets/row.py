"""One row in full: the question as the model gets it, the gold, its check, the reference, its rate, what is like it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prorl_common import UserError
from prorl_verifiers import VERIFIERS
from prorl_viewer.datasets.drops import Drops, dropped_line, pair_line
from prorl_viewer.datasets.rates import Rates
from prorl_viewer.datasets.table import RowTable
from prorl_viewer.datasets.template import templates_at_hand
from prorl_viewer.messages import label, message
from prorl_viewer.subject import Json, NotFoundError, Private, Query, private

_SAID_ELSEWHERE = ("gold_response", "verified_by", "entry", "family", "level")


def row_page(table: RowTable, rates: Rates, drops: Drops, query: Query) -> Json:
    """Return everything that the dataset says of the row ``id`` of the query, texts marked as such.

    Raises NotFoundError for an id that there is not.
    """
    at = place(table, query)
    row = table.row(at)
    metadata, reference = _parsed(row["metadata"]), _parsed(row["reference"])
    prompt = list(row["prompt"])
    spec = VERIFIERS.get(row["verifier"]) if row["verifier"] in VERIFIERS.names() else None
    gold = gold_response(row["verifier"], reference, metadata)
    rest = {key: value for key, value in metadata.items() if key not in _SAID_ELSEWHERE}
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
        "shown": None if spec is None else private(spec.shown(reference)),
        "answer": None if spec is None else private(spec.answer(reference)),
        "gold": private(gold),
        "gold_is_of": "the dataset"
        if "gold_response" in metadata
        else "its verifier"
        if gold
        else None,
        "verified_by": label(metadata.get("verified_by")) or None,
        "verifier_is_here": spec is not None,
        "reference": Private(json.dumps(reference, indent=2, ensure_ascii=False)),
        "metadata": Private(json.dumps(rest, indent=2, ensure_ascii=False)),
        "rating": rates.of(at, prompt),
        "like_benchmarks": [pair_line(line) for line in drops.kept_like.get(name, ())],
        "repeated_by": [dropped_line(line) for line in drops.repeated.get(name, ())],
        "templates": templates_at_hand(),
    }


def place(table: RowTable, query: Query) -> int:
    """Return the place of the row that a query names. Raises UserError, NotFoundError."""
    if not (name := query.get("id", "")):
        raise UserError("which row? give its id")
    at = table.place(name)
    if at is None:
        raise NotFoundError(f"this dataset has no row '{name}'; it may be among the dropped ones")
    return at


def gold_response(
    verifier: str, reference: Mapping[str, Any], metadata: Mapping[str, Any]
) -> str | None:
    """Return the response that should get full marks: the row's own, else one that its verifier makes of the answer."""
    own = metadata.get("gold_response")
    if isinstance(own, str):
        return own
    return VERIFIERS.get(verifier).gold(reference) if verifier in VERIFIERS.names() else None


def _parsed(text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):  # such a row is shown as it stands
        return {"not JSON": text}
    return found if isinstance(found, dict) else {"value": found}
