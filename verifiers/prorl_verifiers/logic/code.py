"""codeio: the JSON object that a program returns (or takes), compared value by value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prorl_verifiers.logic.text import PARTIAL, Entry, Upstream, beyond, loads, plain


def code_output(answer: str, entry: Entry, upstream: Upstream) -> float:
    """codeio: the gold JSON object and nothing around it; else the share of its telling values, from one half on.

    Values that anyone would try (0, 1, empty, true, false, null) or that the question shows are not
    counted. Upstream compared by an
    edit distance that pays for the keys, which the question shows, and is slow on long text.
    """
    gold = loads(str(entry["answer"]))
    if plain(answer) == plain(str(entry["answer"])):
        return 1.0
    value = loads(answer)
    if not isinstance(gold, Mapping) or not isinstance(value, Mapping):
        return 0.0
    if _same_json(value, gold):
        return 1.0
    question = str(entry["question"])
    telling = [
        key
        for key, right in gold.items()
        if right not in (0, 1, "", None, [], {}) and json.dumps(right) not in question
    ]
    if set(value) != set(gold) or len(telling) < 2:
        return 0.0
    right = sum(_same_json(value[key], gold[key]) for key in telling)
    return min(PARTIAL, beyond(right / len(telling), 0.5))


def _same_json(one: Any, other: Any) -> bool:
    """JSON equality with booleans apart from numbers, floats within 1e-12 of their size."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or abs(one - other) <= 1e-12 * abs(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_json, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return set(one) == set(other) and all(_same_json(one[k], other[k]) for k in other)
    return bool(one == other)
