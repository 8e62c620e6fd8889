"""Finds the answer in a response and scores it by the rule of its reasoning-gym dataset.

The reference is {"dataset", "entry", "mode"?, "extraction"?}. Mode ``fixed`` (default) applies ``rules.py``, and mode
``reference`` returns reasoning-gym's score, clipped to [0, 1]. The answer is the last closed ``<answer>`` or, with
``extraction`` "lenient", also the last box or a last line "Answer: X".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from prorl_verifiers.extract import (
    answer_line,
    closing_bracket,
    last_boxed,
    last_tag,
    last_tag_span,
    note_answer,
)
from prorl_verifiers.findings import listening, note
from prorl_verifiers.libraries import Loading
from prorl_verifiers.logic.rules import RULES
from prorl_verifiers.logic.text import nesting
from prorl_verifiers.logic.upstream import restore_entry, upstream_score
from prorl_verifiers.types import MAX_ANSWER, Score, unparsable

MODES = ("fixed", "reference")
EXTRACTIONS = ("answer", "lenient")
MAX_NESTING = 60
"""Answers with deeper brackets are wrong, because parsers would fail on them."""


def score_logic(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
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
    span = last_tag_span(text)
    if span is None:
        note_answer(text, answer)
    else:
        note("answer", None, {"found in": "the last <answer>", "answer": answer}, span=span)
    reward, reason = _reward(dataset, answer, entry, mode, loading)
    if listening():
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
    return Score(reward, reason, answer)


def find_answer(text: str, extraction: str, entry: Mapping[str, Any]) -> str | None:
    """Return the answer in a response, or None. A line "Answer: X" counts only if the gold is a single line."""
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
    for reading in readings(answer.replace("\u2212", "-"), str(entry.get("question") or "")):
        upstream = partial(_upstream, dataset, reading, entry, loading)
        earned = clipped(RULES[dataset].check(reading, entry, upstream))
        best = max(best, earned)
        if listening() and (reading != answer or earned < 1.0):
            note("the answer as parsed", None, {"read as": reading, "earns": f"{earned:g}"})
        if best == 1.0:
            break
    return best, "corrected scorer"


def _upstream(dataset: str, answer: str, entry: dict[str, Any], loading: Loading) -> float:
    loading("reasoning_gym")
    return clipped(upstream_score(dataset, answer, entry))


def clipped(reward: float) -> float:
    return 0.0 if math.isnan(reward) else min(1.0, max(0.0, float(reward)))


MOST_LAYERS = 6
_PAIRS = (
    *(("**", "**"), ("*", "*"), ("`", "`"), ("$$", "$$"), ("$", "$")),
    *(("\\(", "\\)"), ("\\[", "\\]"), ('"', '"'), ("'", "'"), ("\u201c", "\u201d")),
)
_COMMAND = re.compile(r"\\(?:boxed|fbox|text(?:bf|it|rm|tt)?|math(?:bf|it|rm|tt))\{")
_WORDS = r"(?:the\s{1,3})?(?:(?:final|correct)\s{1,3})?answer"
_LABEL = re.compile(
    rf"(?:\*\*{_WORDS}\s?(?:is)?\s?:?\*\*\s?:?|{_WORDS}\s{{0,3}}(?:is\s{{0,3}}:?|:|=))\s*",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:(?:the|so|hence|thus|value|of) ){0,3}([A-Za-z]{1,30})\s?(?:\(([\d,\s-]{1,80})\))?\s{0,3}(?:=(?!=)|:|is\b)\s*(?=[-+$(\[\\.\d])",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?<![A-Za-z'\u2019])(?!(?:[Aa]|I) [A-Za-z])[A-Za-z](?![A-Za-z'\u2019])")
_ASKED_FOR = re.compile(
    r"\bhow many (\w+)|\b(?:find|give|compute|calculate|determine|return|what (?:is|are))\b"
    r"((?:(?!\b(?:of|in|for|from|between|as|to|that)\b)[^.?!:]){0,60})",
    re.IGNORECASE,
)
_FENCE_MARK = re.compile(r"[\w+-]{0,20}[^\S\n]*\n")


def readings(answer: str, question: str = "") -> Iterator[str]:
    """Yield ``answer``, and then what remains after removing each layer of formatting, such as ``**`` or a label."""
    yield answer
    for _ in range(MOST_LAYERS):
        inner = _without_layer(answer, question)
        if not inner:
            return
        answer = inner
        yield answer


def _without_layer(text: str, question: str) -> str | None:
    if len(text) >= 7 and text.startswith("```") and text.endswith("```"):
        inner = text[3:-3]
        mark = _FENCE_MARK.match(inner)
        if "```" not in inner:
            return inner[mark.end() if mark else 0 :].strip()
    for opening, closing in _PAIRS:
        if text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : len(text) - len(closing)]
            power = opening == "**"  # no formula starts with **, so it is bold
            if inner.strip() and (power or (opening not in inner and closing not in inner)):
                return inner.strip()
    command = _COMMAND.match(text)
    if command is not None and closing_bracket(text, command.end()) == len(text) - 1:
        return text[command.end() : -1].strip()
    label = _LABEL.match(text)
    if label is not None:
        return text[label.end() :].strip()
    named = _NAMED.match(text)
    if named is not None and text.count("=") < 2 and _asks_for(named, question):
        return text[named.end() :].strip()
    if text.endswith(".") and not text.endswith(".."):
        return text[:-1].strip()
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    return "\n".join(filled) if len(filled) < len(lines) else None


def _asks_for(named: re.Match[str], question: str) -> bool:
    name, arguments = named.groups()
    if not set(re.findall(r"\d+", arguments or "")) <= set(re.findall(r"\d+", question)):
        return False
    if len(name) == 1:
        letters = {letter.casefold() for letter in _LETTER.findall(question)}
        return not letters or name.casefold() in letters
    asked = " ".join(part for parts in _ASKED_FOR.findall(question) for part in parts)
    return re.search(rf"\b{name}\b", asked, re.IGNORECASE) is not None
