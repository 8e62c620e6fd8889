"""Scores a response by the fraction of constraints that it meets.

The reference is {"instruction_id_list", "kwargs", "mode"?, "score"?}, as in IFEval. The reward counts constraints that
the response itself meets (strict). Metrics also count those that one of its eight variants meets (loose).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prorl_verifiers.findings import Finding, count_notes, listening, note, take_notes
from prorl_verifiers.instruction.kwargs import clean_kwargs
from prorl_verifiers.instruction.official_text import require_modules
from prorl_verifiers.instruction.registry import check_of, modules_of, registry
from prorl_verifiers.instruction.text import has_word, visible
from prorl_verifiers.libraries import Loading
from prorl_verifiers.types import Score

DEFAULT_MODE = "fixed"
SCORES = ("fraction", "all")
"""The reward is the fraction of constraints met (default), or 1 if all are met, else 0."""


def drop_nulls(kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (kwargs or {}).items() if value is not None}


def variants(text: str) -> list[str]:
    """Return IFEval's eight variants of a response: without its first or last line or both, and without asterisks."""
    lines = text.split("\n")
    cut = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return cut + [variant.replace("*", "") for variant in cut]


def follows(
    text: str, instruction: str, kwargs: Mapping[str, Any] | None, mode: str = DEFAULT_MODE
) -> bool:
    """Return whether ``text`` strictly meets a constraint. Raises TaskError (kwargs) or KeyError (unknown id)."""
    return _meets([_prepare(text, mode)], instruction, kwargs, mode)


def _prepare(text: str, mode: str) -> str:
    """Remove invisible characters, leading blank lines and trailing white space, unless ``mode`` is "reference"."""
    if mode == "reference":
        return text
    text = visible(text)
    indent = len(text) - len(text.lstrip())
    return text[text.rfind("\n", 0, indent) + 1 :].rstrip()


def _meets(
    texts: Iterable[str], instruction: str, kwargs: Mapping[str, Any] | None, mode: str
) -> bool:
    cleaned = clean_kwargs(instruction, kwargs, registry()[instruction].kwargs, mode)
    check = check_of(instruction, mode)
    return any(_has_content(text, mode) and check(text, cleaned) for text in texts)


def _has_content(text: str, mode: str) -> bool:
    return bool(text.strip()) if mode == "reference" else has_word(text)


def note_constraint(
    instruction: str,
    kwargs: Mapping[str, Any],
    mode: str,
    strict: bool,
    loose: bool,
    counted: Sequence[Finding],
) -> None:
    entry = registry()[instruction]
    meaning = entry.meaning
    if mode == "reference" and entry.deviation != "none":
        meaning = f"{meaning}; {entry.deviation}"
    outcome = {True: "met", False: "not met"}
    arguments = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in kwargs.items()
    }
    fields = {
        "asks for": meaning,
        **arguments,
        "strictly": outcome[strict],
        "loosely": outcome[loose],
    }
    note(instruction, strict, fields, parts=counted)


def score_instruction(text: str, reference: Mapping[str, Any], loading: Loading) -> Score:
    """Return the fraction of constraints met, or 0 or 1 if ``score`` is "all".

    Metrics: 0 or 1 for ``"{index}:{id}"``, ``"loose:{index}:{id}"``, ``strict_all`` and ``loose_all``, the fractions
    ``strict`` and ``loose``, and the number of ``constraints``. Raises MissingExtraError.
    """
    mode = str(reference.get("mode", DEFAULT_MODE))
    ids = list(reference["instruction_id_list"])
    kwargs = list(reference.get("kwargs") or [None] * len(ids))
    for module in dict.fromkeys(name for one in ids for name in modules_of(one, mode)):
        require_modules((module,))
        loading(module)
    prepared = _prepare(text, mode)
    loosened = list(dict.fromkeys(variants(prepared)))[1:]
    strict, loose = [], []
    for one, values in zip(ids, kwargs, strict=True):
        before = count_notes()
        strict.append(_meets([prepared], one, values, mode))
        counted = take_notes(before)
        loose.append(strict[-1] or _meets(loosened, one, values, mode))
        if listening():
            take_notes(before)  # drop the notes on the variants
            note_constraint(one, drop_nulls(values), mode, strict[-1], loose[-1], counted)
    metrics: dict[str, float] = {}
    for at, one in enumerate(ids):
        metrics[f"{at}:{one}"] = float(strict[at])
        metrics[f"loose:{at}:{one}"] = float(loose[at])
    metrics |= {"strict_all": float(all(strict)), "loose_all": float(all(loose))}
    metrics |= {"strict": sum(strict) / len(ids), "loose": sum(loose) / len(ids)}
    metrics["constraints"] = float(len(ids))
    if not _has_content(prepared, mode):
        return Score(0.0, "the response is blank or contains no word", None, "unparsable", metrics)
    failed = [one for one, ok in zip(ids, strict, strict=True) if not ok]
    reason = "all constraints met" if not failed else "not met: " + ", ".join(failed)
    reward = metrics["strict_all" if reference.get("score") == "all" else "strict"]
    return Score(reward, reason, None, metrics=metrics)
