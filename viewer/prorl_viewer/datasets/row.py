"""Shows one row with similar rows, and checks its gold response again."""

from __future__ import annotations

import json
import math
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_common import UserError
from prorl_datasets.building.gold import FULL_MARKS
from prorl_datasets.text.hashing import SHINGLE, runs_of, word_hashes
from prorl_datasets.text.words import question_words
from prorl_verifiers import VERIFIERS, load_task
from prorl_viewer.answering import label, message
from prorl_viewer.checking import Checker
from prorl_viewer.datasets.counts import Drops, dropped_line, pair_line
from prorl_viewer.datasets.table import Places, Rates, RowTable
from prorl_viewer.subject import Json, NotFoundError, Private, Query, private


def local_templates() -> list[str]:
    """Return the downloaded models, [] without Transformers."""
    if find_spec("transformers") is None:
        return []
    from prorl_inference.models.store import list_models

    return [model.name for model in list_models() if model.path is not None]


def rendered(messages: Sequence[Mapping[str, str]], model: str) -> Json:
    """Return ``messages`` rendered for ``model``, with its tokens. Raises UserError for an unknown model.

    A child process renders them, since Transformers takes hundreds of megabytes.
    """
    models = local_templates()
    if model not in models:
        listed = ", ".join(models) or "none; get one with prorl model fetch"
        raise UserError(f"no template of '{model}' is on this machine ({listed})")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as child:
        text, tokens = child.submit(_render, list(messages), model).result()
    return {"model": model, "text": Private(text), "tokens": tokens}


def _render(messages: list[Mapping[str, str]], model: str) -> tuple[str, int]:
    from transformers import AutoTokenizer

    from prorl_inference.models.store import resolve_model
    from prorl_inference.tokens import encode_prompt, render_prompt

    tokenizer = AutoTokenizer.from_pretrained(resolve_model(model), local_files_only=True)
    return render_prompt(tokenizer, messages), len(encode_prompt(tokenizer, messages))


SHOWN = 8
LEAST = 0.1
"""Minimum similarity of neighbours."""
RARE_WORDS = 6
"""Number of words to search for; each takes a pass over all questions."""
CANDIDATES = 400
PROBED = 2048
"""Number of rows from which word frequencies are estimated."""
_LONGEST_COMPARED = 20_000


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row and its similarity, from 0 to 1."""

    row: int
    similarity: float


def neighbours(table: RowTable, row: int) -> list[Neighbour]:
    shingles = _shingles(table.prompt(row))
    if not len(shingles):
        return []
    result = []
    for candidate in _candidates(table, row).tolist():
        candidate_shingles = _shingles(table.prompt(candidate))
        shared = len(np.intersect1d(shingles, candidate_shingles, assume_unique=True))
        similarity = shared / (len(shingles) + len(candidate_shingles) - shared)
        if similarity >= LEAST:
            result.append(Neighbour(candidate, round(similarity, 4)))
    return sorted(result, key=lambda n: (-n.similarity, n.row))[:SHOWN]


def _candidates(table: RowTable, row: int) -> Places:
    scores = np.zeros(len(table), np.float32)
    for word in _rarest(table, row):
        holding = table.rows_containing(word)
        scores[holding] += math.log((len(table) + 1) / (np.count_nonzero(holding) + 0.5))
    family = table.labels["family"]
    kin = (
        np.flatnonzero(family.codes == family.codes[row])
        if family.of(row)
        else np.empty(0, np.int64)
    )
    if len(kin) > CANDIDATES:  # the rows that share the rarest words, then the nearest in the file
        nearest = np.lexsort((np.abs(kin - row), -scores[kin]))
        kin = kin[nearest[:CANDIDATES]]
    best = np.argsort(-scores, kind="stable")[: CANDIDATES + 1]
    best = best[scores[best] > 0]
    both = np.union1d(best, kin)
    return np.asarray(both[both != row])


def _rarest(table: RowTable, row: int) -> list[str]:
    import pyarrow.compute as pc

    text = table.prompt(row)
    plain = text.lower()
    words = {w for w in question_words(text[:_LONGEST_COMPARED]) if len(w) > 3 and w in plain}
    longest = sorted(words, key=lambda w: (-len(w), w))[:60]
    step = max(1, len(table) // PROBED)
    sample = table.prompts.take(np.arange(0, len(table), step))
    counts = {
        w: pc.sum(pc.match_substring(sample, w, ignore_case=True)).as_py() or 0 for w in longest
    }
    return sorted(counts, key=lambda w: (counts[w], -len(w), w))[:RARE_WORDS]


def _shingles(text: str) -> NDArray[np.uint64]:
    hashes = word_hashes(question_words(text[:_LONGEST_COMPARED]))
    return np.unique(runs_of(hashes, min(SHINGLE, max(1, len(hashes)))))


_SHOWN_APART = ("gold_response", "verified_by", "entry", "family", "level")


def row_page(table: RowTable, rates: Rates, drops: Drops, query: Query) -> Json:
    """Return all data of the query's row. Raises NotFoundError."""
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
        "templates": local_templates(),
    }


def place(table: RowTable, query: Query) -> int:
    """Return the position of the query's row. Raises UserError or NotFoundError."""
    if not (name := query.get("id", "")):
        raise UserError("no row is named: give its id")
    at = table.place(name)
    if at is None:
        raise NotFoundError(f"this dataset has no row '{name}'; it may be among the dropped ones")
    return at


def gold_response(
    verifier: str, reference: Mapping[str, Any], metadata: Mapping[str, Any]
) -> str | None:
    """Return a response with reward 1, from the row or made by its verifier; None if there is neither."""
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
    """Return the verdict on a row's gold response. Raises UserError."""
    gold = gold_response(row["verifier"], reference, metadata)
    if gold is None:
        raise UserError(
            f"{row['id']} has no gold response, and its verifier cannot make one from the reference"
        )
    verdict = checker.explained(gold, load_task(row["verifier"], reference))
    reward = verdict["reward"]
    return {**verdict, "accepted": None if reward is None else reward >= FULL_MARKS}
