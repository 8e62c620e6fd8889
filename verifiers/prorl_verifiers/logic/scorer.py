"""The logic verifier: the answer found in a response, scored by the rules for its reasoning-gym dataset.

Reference: {"dataset", "entry", "mode"?, "extraction"?}. ``mode`` is ``fixed`` (default: ``logic.rules``) or
``reference`` (upstream's number as it is, clipped to [0, 1], NaN to 0). ``extraction`` is ``answer``
(default, ProRL's: the last closed ``<answer>``) or ``lenient`` (then the last box, then a last line
"Answer: X"). Model text is never evaluated in either mode.

A scorer that raises on odd text means a wrong answer; one that raises on the entry's own gold answer means
a broken entry, and the error goes up (``infra_error``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from prorl_verifiers.extract import answer_line, last_boxed, last_tag, last_tag_span, note_answer
from prorl_verifiers.findings import listening, note
from prorl_verifiers.libraries import Loading
from prorl_verifiers.logic.presentation import readings
from prorl_verifiers.logic.rules import RULES
from prorl_verifiers.logic.text import nesting
from prorl_verifiers.logic.upstream import restore_entry, upstream_score
from prorl_verifiers.types import MAX_ANSWER, Score, unparsable

MODES = ("fixed", "reference")
EXTRACTIONS = ("answer", "lenient")
MAX_NESTING = 60
"""Brackets; deeper text is wrong in both modes (parsers of JSON and Python would give up on it)."""


def score_logic(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    """Score the answer in ``text``; the reward may be partial."""
    dataset, mode = str(reference["dataset"]), str(reference.get("mode", MODES[0]))
    entry = restore_entry(dataset, reference["entry"])
    blank_gold = entry.get("answer") is not None and not str(entry["answer"]).strip("\"' \n")
    answer = find_answer(text, str(reference.get("extraction", EXTRACTIONS[0])), entry)
    if answer is None:
        return unparsable("no closed <answer></answer>")
    if len(answer) > MAX_ANSWER or not (answer or blank_gold):
        return unparsable("the answer is empty or too long", answer)
    if nesting(answer) > MAX_NESTING:
        return Score(0.0, "brackets are nested too deep", answer)
    _note_answer(text, answer)
    reward, reason = _reward(dataset, answer, entry, mode, loading)
    if listening():
        _note_rule(dataset, entry, reward, reason, answer)
    return Score(reward, reason, answer)


def _note_answer(text: str, answer: str) -> None:
    span = last_tag_span(text)
    if span is None:
        note_answer(text, answer)
    else:
        note("answer", None, {"found in": "the last <answer>", "answer": answer}, span=span)


def _note_rule(
    dataset: str, entry: Mapping[str, Any], reward: float, reason: str, answer: str
) -> None:
    """Note by which rule the answer was scored, beside what the entry says."""
    rule = RULES[dataset]
    fields = {
        "scored by": reason,
        "reward": f"{reward:g}",
        "answer": answer,
        "gold": entry.get("answer"),
        "partial credit": rule.partial or None,
        "what differs from reasoning-gym": rule.change or None,
        "question": entry.get("question"),
        "metadata": json.dumps(entry["metadata"], ensure_ascii=False),
    }
    note(f"rules of {dataset}", reward == 1.0, fields)


def find_answer(text: str, extraction: str, entry: Mapping[str, Any]) -> str | None:
    """Return the answer in a response, or None.

    ``lenient`` takes, where no ``<answer>`` is closed, the last ``\\boxed{}`` and then, if the gold answer
    is one line, the last line "Answer: X".
    """
    answer = last_tag(text)
    if answer is not None or extraction == "answer":
        return answer
    boxed = last_boxed(text)
    if boxed is not None:
        inner = re.fullmatch(r"\\text(?:bf|it|rm|tt)?\{([^{}]*)\}", boxed)
        return inner.group(1).strip() if inner else boxed
    return None if "\n" in str(entry.get("answer") or "").strip() else answer_line(text)


def _reward(
    dataset: str, answer: str, entry: dict[str, Any], mode: str, loading: Loading
) -> tuple[float, str]:
    if mode == "reference":
        return _upstream(dataset, answer, entry, loading), "reasoning-gym's own number"
    if dataset.endswith("integration"):
        loading("mpmath")
    best = 0.0
    for reading in readings(answer.replace("\u2212", "-")):
        upstream = partial(_upstream, dataset, reading, entry, loading)
        earned = clipped(RULES[dataset].check(reading, entry, upstream))
        best = max(best, earned)
        if listening() and (reading != answer or earned < 1.0):
            note("the answer as it is read", None, {"read as": reading, "earns": f"{earned:g}"})
        if best == 1.0:
            break
    return best, "corrected scorer"


def _upstream(dataset: str, answer: str, entry: dict[str, Any], loading: Loading) -> float:
    loading("reasoning_gym")
    return clipped(upstream_score(dataset, answer, entry))


def clipped(reward: float) -> float:
    """Return ``reward`` in [0, 1]; NaN is 0."""
    return 0.0 if math.isnan(reward) else min(1.0, max(0.0, float(reward)))
