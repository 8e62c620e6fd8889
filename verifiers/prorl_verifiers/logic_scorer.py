"""The logic verifier: the last ``<answer>`` tag, scored by reasoning-gym's own scorers, guarded and mended.

Reference: {"dataset", "entry", "mode"?}. ``mode`` is ``fixed`` (default: the mends of ``logic_fixes``) or
``reference`` (the upstream scorer's number as it is). In both modes nine scorers that would evaluate the
answer as Python see only text that passed an alphabet guard, and the reward is clipped to [0, 1], NaN to 0.

An upstream scorer that raises on odd text (ValueError and its like) means a wrong answer: many parse
without a guard of their own. If it raises on the entry's own gold answer too, the entry is broken and the
error goes up (``infra_error``). Leaves out: generating entries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from prorl_verifiers.extract import last_tag
from prorl_verifiers.logic_fixes import FIXED, safe_to_evaluate
from prorl_verifiers.score import MAX_ANSWER, Loading, Score, unparsable

MODES = ("fixed", "reference")
FLOOR = 0.05
"""Upstream scorers give this or less to any text they can read; in ``fixed`` mode it counts as 0."""

_ODD_TEXT = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    SyntaxError,
    AssertionError,
    NameError,
)
_TUPLE_KEYS = {"arc_agi": ("input", "output"), "rearc": ("input", "output")}
"""Metadata that a scorer compares as tuples; JSON made lists of them."""


def score_logic(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    """Score the last ``<answer>`` of ``text``; the reward may be partial."""
    answer = last_tag(text)
    if answer is None:
        return unparsable("no closed <answer></answer>")
    if not answer or len(answer) > MAX_ANSWER:
        return unparsable("the answer is empty or too long", answer)
    dataset, mode = str(reference["dataset"]), str(reference.get("mode", "fixed"))
    entry = restore_entry(dataset, reference["entry"])
    if not safe_to_evaluate(dataset, answer, entry):
        return Score(0.0, "the answer has characters or names that no right answer has", answer)
    reward, reason = _reward(dataset, answer, entry, mode, loading)
    return Score(reward, reason, answer)


def restore_entry(dataset: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry as its generator made it, where JSON changed a type that the scorer needs."""
    restored = dict(entry)
    metadata = dict(entry.get("metadata") or {})
    for key in _TUPLE_KEYS.get(dataset, ()):
        if isinstance(metadata.get(key), list):
            metadata[key] = tuple(tuple(row) for row in metadata[key])
    restored["metadata"] = metadata
    return restored


def _reward(
    dataset: str, answer: str, entry: dict[str, Any], mode: str, loading: Loading
) -> tuple[float, str]:
    fixed = FIXED.get(dataset) if mode == "fixed" else None
    if fixed is not None and not fixed.needs_upstream:
        return _clip(fixed.score(answer, entry, 0.0)), "fixed scorer"
    loading("reasoning_gym")
    upstream, default = _upstream(dataset, answer, entry)
    if mode == "reference":
        return _clip(upstream), "reasoning-gym scorer"
    if default:
        same = answer == str(entry["answer"]).strip()
        return float(same), "exact text"
    if fixed is not None:
        return _clip(fixed.score(answer, entry, upstream)), "fixed scorer"
    reward = _clip(upstream)
    return (reward if reward > FLOOR else 0.0), "reasoning-gym scorer"


def _upstream(dataset: str, answer: str, entry: dict[str, Any]) -> tuple[float, bool]:
    """Return (the upstream score, whether the dataset uses the default scorer)."""
    from reasoning_gym.dataset import ProceduralDataset
    from reasoning_gym.factory import get_score_answer_fn

    score = get_score_answer_fn(dataset)
    default = getattr(score, "__func__", None) is ProceduralDataset.score_answer
    try:
        return float(score(answer, entry)), default
    except _ODD_TEXT:
        if entry.get("answer") is not None:
            score(str(entry["answer"]), entry)  # raises again when the entry itself is broken
        return 0.0, default


def _clip(reward: float) -> float:
    return 0.0 if math.isnan(reward) else min(1.0, max(0.0, reward))
