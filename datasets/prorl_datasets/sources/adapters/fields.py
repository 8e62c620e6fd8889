"""Reads columns of published rows, whose names differ between copies.

A missing column raises DatasetError, a missing value Unusable.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prorl_common import nearest
from prorl_datasets.candidate import Row
from prorl_datasets.sources.readers.decode import long_integers, odd_value, one_line, some_names
from prorl_datasets.spec import AdapterSpec
from prorl_datasets.types import DatasetError
from prorl_verifiers import TaskError, load_task

Raw = Mapping[str, Any]
SENTINELS = ("no answer detected", "no solution detected", "no choices available")
"""Lower-case strings that mean a missing value in SCP and related sets."""


class Unusable(Exception):
    """Raised if a row cannot become an item; ``reason`` is a category, and ``detail`` describes this row."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, one_line(detail)

    @property
    def text(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


def require_plain(value: Any) -> None:
    """Raise Unusable for values that cannot be stored (``readers.decode.odd_value``)."""
    problem = odd_value(value)
    if problem is not None:
        raise Unusable("the row has a value that cannot be stored", problem)


def check_columns(adapter: AdapterSpec, columns: Iterable[str], where: str) -> None:
    """Raise DatasetError if ``columns`` lacks a column that ``adapter`` needs."""
    available = list(columns)
    for names in adapter.columns:
        if names[0] and not any(name in available for name in names):
            raise missing_column(adapter.name, names, available, where)


def missing_column(
    source: str, names: Sequence[str], columns: Sequence[str], where: str
) -> DatasetError:
    """Return the error for a row without any of the columns ``names``."""
    alternatives = f" (nor {', '.join(names[1:])})" if len(names) > 1 else ""
    return DatasetError(
        f"{where}: no column '{names[0]}'{alternatives}{nearest(names[0], columns[:100])}; columns found: "
        f"{some_names(list(columns))}; the schema is not the one that adapter '{source}' knows"
    )


def column(raw: Raw, names: Sequence[str], where: str, source: str) -> Any:
    """Return the value of the first column in ``names`` that the row has. Raises DatasetError."""
    for name in names:
        if name in raw:
            return raw[name]
    raise missing_column(source, names, list(raw), where)


def is_missing(value: Any) -> bool:
    """Return True for null, NaN, blank or sentinel strings, and lists of these."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    if isinstance(value, list | tuple):
        return all(is_missing(member) for member in value)
    return isinstance(value, str) and value.strip().lower() in ("", *SENTINELS)


def text_of(value: Any, label: str) -> str:
    """Return a value as a stripped string. Raises Unusable."""
    if is_missing(value):
        raise Unusable(f"no {label}")
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unusable(f"the {label} is not text", type(value).__name__)
    with long_integers():
        return str(value).strip()


def decoded(value: Any, kinds: type | tuple[type, ...], label: str) -> Any:
    """Return a value of one of ``kinds``, parsed first if it is stored as JSON text. Raises Unusable."""
    if isinstance(value, str):
        try:
            with long_integers():
                value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise Unusable(f"the {label} is not valid JSON", str(error)) from error
        require_plain(value)
    if not isinstance(value, kinds):
        raise Unusable(f"the {label} has an unknown shape", type(value).__name__)
    return value


def user_text(value: Any, label: str = "prompt") -> str:
    """Return the last user turn of a prompt, which may be a string, messages, or messages as JSON.

    Raises Unusable for a conversation with an assistant turn.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            parsed = None
        require_plain(parsed)
        if isinstance(parsed, dict) and "content" in parsed:
            parsed = [parsed]
        if isinstance(parsed, list) and parsed and all(_is_message(m) for m in parsed):
            value = parsed
    if isinstance(value, str):
        return text_of(value, label)
    if is_missing(value):
        raise Unusable(f"no {label}")
    if isinstance(value, list) and all(_is_message(m) for m in value):
        if len(value) == 1 and isinstance(value[0]["content"], list):
            return user_text(value[0]["content"], label)
        if any(m.get("role") == "assistant" for m in value):
            raise Unusable(f"the {label} is a conversation of several turns")
        users = [m["content"] for m in value if m.get("role") == "user"]
        if users:
            return text_of(users[-1], label)
    raise Unusable(f"the {label} has an unknown shape", type(value).__name__)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "content" in value


def without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(member) for member in value]
    return value


def finished(
    index: int, question: str, verifier: str, reference: Mapping[str, Any], **more: Any
) -> Row:
    """Return the Row of a problem; ``more`` contains further fields of Row.

    Raises Unusable for an empty question, invalid Unicode, a value that JSON cannot represent, or a rejected reference.
    """
    question = text_of(question, "question")
    try:
        task = load_task(verifier, reference)
    except (TaskError, RecursionError, MemoryError) as error:
        raise Unusable("the verifier rejects the reference", str(error)) from error
    try:
        json.dumps([question, reference, more], ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise Unusable("the text is not valid Unicode", str(error)) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise Unusable("the row has a value that JSON cannot represent", str(error)) from error
    return Row(index, question, task, **more)


def boxed(answer: str) -> str:
    return f"\\boxed{{{answer}}}"
