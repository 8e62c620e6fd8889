"""Numbers of a recorded step: a line of ``metrics.jsonl``, which somebody may have written or changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_common import UserError


def number(row: Mapping[str, Any], key: str) -> float | None:
    """Return the number under ``key``, which may be NaN; None where there is none. Raises UserError for another value."""
    value = row.get(key)
    return None if value is None else _number(row, key, value)


def numbers(row: Mapping[str, Any], key: str) -> tuple[float | None, ...]:
    """Return the list of numbers under ``key``, None in it for null; empty where there is none. Raises UserError."""
    values = row.get(key)
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise UserError(f"{_where(row)} has {key} = {values!r}, which is no list: mend its line")
    return tuple(None if value is None else _number(row, key, value) for value in values)


def _number(row: Mapping[str, Any], key: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UserError(
            f"{_where(row)} has {key} = {value!r}, which is no number: mend its line"
        ) from None


def _where(row: Mapping[str, Any]) -> str:
    return f"the recorded step {row.get('step', '?')}"
