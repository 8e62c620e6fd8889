"""Check the reference of an instruction task when the task is loaded.

Leaves out: the checks themselves (``instruction.registry``) and the cleaning of kwargs (``instruction.kwargs``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_common import MissingExtraError, nearest
from prorl_verifiers.instruction.kwargs import check_patterns, clean_kwargs
from prorl_verifiers.instruction.official_text import missing
from prorl_verifiers.instruction.registry import REGISTRY, modules_of
from prorl_verifiers.instruction.scorer import DEFAULT_MODE, SCORES
from prorl_verifiers.references import known_keys
from prorl_verifiers.types import TaskError


def check_reference(reference: Mapping[str, Any]) -> None:
    """Raise TaskError for an unknown id, kwargs that do not fit it, or a library that it needs.

    Keys: ``instruction_id_list``, ``kwargs`` (a list of objects or nulls, one an id), ``mode``, ``score``.
    """
    known_keys(reference, "instruction_id_list", "kwargs", "mode", "score")
    mode = reference.get("mode", DEFAULT_MODE)
    score = reference.get("score", SCORES[0])
    if score not in SCORES:
        raise TaskError(f"unknown score {score!r}: use {' or '.join(SCORES)}")
    ids = reference.get("instruction_id_list")
    if not isinstance(ids, list) or not ids:
        raise TaskError("the reference needs a list 'instruction_id_list' with at least one id")
    kwargs = reference.get("kwargs") or [{}] * len(ids)
    if not isinstance(kwargs, list) or len(kwargs) != len(ids):
        raise TaskError(f"'kwargs' must be a list of {len(ids)} objects, one an instruction")
    for instruction, values in zip(ids, kwargs, strict=True):
        _check_one(instruction, values, mode)


def _check_one(instruction: Any, values: Any, mode: str) -> None:
    if not isinstance(instruction, str) or instruction not in REGISTRY:
        hint = nearest(str(instruction), REGISTRY)
        raise TaskError(f"unknown instruction id {instruction!r}{hint}")
    if not isinstance(values, Mapping | None):
        raise TaskError(f"{instruction}: its kwargs must be an object")
    entry = REGISTRY[instruction]
    cleaned = clean_kwargs(instruction, values, entry.kwargs, mode)
    if mode == "reference":
        check_patterns(instruction, entry.patterns, cleaned)
    absent = missing(modules_of(instruction, mode))
    if absent is not None:
        raise TaskError(f"{instruction}: {MissingExtraError('ifeval', absent)}")
