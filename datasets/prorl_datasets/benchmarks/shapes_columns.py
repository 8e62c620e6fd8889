"""Rows that need no code of a benchmark: by columns named like the verifier's fields, or as an adapter
reads them for a recipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_datasets.benchmarks.catalogue import BenchmarkSpec
from prorl_datasets.benchmarks.items import (
    BenchmarkItem,
    Converted,
    LeftOut,
    field_of,
    row_id,
    text_of,
)
from prorl_datasets.rows.row import Drop
from prorl_datasets.sources.adapted import adapted
from prorl_datasets.sources.adapters.fields import Unusable, check_columns
from prorl_datasets.sources.columns import map_row
from prorl_datasets.spec import ADAPTERS
from prorl_datasets.types import DatasetError


def convert(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> Converted | None:
    """Return what the benchmark's adapter makes of a row; without an adapter, its columns do.

    Raises DatasetError for a column that should be there.
    """
    if spec.adapter is None:
        fields = {name: field_of(spec, raw, name, where) for name in spec.columns}
        fields["prompt"] = text_of(spec, raw, "question", where)
        try:
            row = map_row(spec.verifier, None, fields, where, 0)
        except DatasetError as error:
            return LeftOut(where, str(error).removeprefix(f"{where}: "))
        return BenchmarkItem(row.question, row.task.reference, row_id(spec, raw, where), row.gold)
    adapter = ADAPTERS.get(spec.adapter)
    if adapter.item is not None:
        try:
            found: BenchmarkItem | None = adapter.item(spec, raw, where)
        except Unusable as unusable:
            return LeftOut(where, unusable.text)
        return found
    check_columns(adapter, raw, where)
    try:
        made = adapted(adapter, spec.verifier, raw, where, 0)
    except DatasetError as error:
        return LeftOut(where, str(error).removeprefix(f"{where}: "))
    if isinstance(made, Drop):
        return LeftOut(where, made.reason)
    key = made.metadata.get("source_id")
    return BenchmarkItem(
        made.question,
        made.task.reference,
        key=None if key is None else str(key).strip(),
        gold=made.gold,
        verifier=made.task.verifier,
        metadata=made.metadata,
    )


def question_of(
    spec: BenchmarkSpec, raw: Mapping[str, Any], where: str
) -> tuple[str | None, str] | None:
    """Return (id or None, question) as ``convert`` has them, None for a row of another benchmark."""
    if spec.adapter is not None:
        adapter = ADAPTERS.get(spec.adapter)
        if adapter.question is not None:
            return adapter.question(spec, raw, where)
        if adapter.item is None:
            item = convert(spec, raw, where)
            return (item.key, item.question) if isinstance(item, BenchmarkItem) else None
    return row_id(spec, raw, where), text_of(spec, raw, "question", where)
