"""What an adapter makes of one row, an item with its question and reference, and the look-up of columns.

Holds no input or output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prorl_common import nearest
from prorl_datasets.benchmarks.catalogue import BenchmarkSpec
from prorl_datasets.sources.readers.plain import one_line, some_names
from prorl_datasets.types import DatasetError


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """One usable row. ``key`` is the row's own id, None takes a digest of the question.

    ``verifier`` stands in for the benchmark's where a row needs another one (a tolerance). ``gold``
    is a whole response that should score 1, where the row has one. ``shown`` is what the prompt
    shows where that is more than the question.
    """

    question: str
    reference: Mapping[str, Any]
    key: str | None = None
    gold: str | None = None
    verifier: str | None = None
    shown: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The record of an unusable row: where it stands and why."""

    where: str
    reason: str


Converted = BenchmarkItem | LeftOut


def field_of(spec: BenchmarkSpec, raw: Mapping[str, Any], name: str, where: str) -> Any:
    """Return the value of the first of the field's columns that the row has.

    None where the field is optional and absent. Raises DatasetError naming the columns looked for
    and those found.
    """
    candidates = spec.columns[name]
    for column in candidates:
        if column in raw:
            return raw[column]
    if name in spec.optional:
        return None
    looked = ", ".join(candidates)
    raise DatasetError(
        f"{where}: benchmark {spec.name} finds no column for '{name}' (looked for {looked})"
        f"{nearest(candidates[0], list(raw)[:100])}; columns here: {some_names(list(raw))}"
    )


def text_of(spec: BenchmarkSpec, raw: Mapping[str, Any], name: str, where: str) -> str:
    """Return a text field, stripped. Raises DatasetError where it is no text or empty."""
    value = field_of(spec, raw, name, where)
    if not isinstance(value, str) or not value.strip():
        raise DatasetError(
            f"{where}: column for '{name}' must be text, got {type(value).__name__} "
            f"{one_line(repr(value), 40)}"
        )
    return value.strip()


def row_id(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> str | None:
    """Return the row's own id, None where the benchmark has none."""
    value = field_of(spec, raw, "id", where) if "id" in spec.columns else None
    return None if value is None else str(value).strip()
