"""Rows of published data sets, by the adapter that a recipe or a benchmark names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prorl_common import UserError
from prorl_datasets.golds import rules
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.row import Drop, Row
from prorl_datasets.sources.adapters.fields import (
    Unusable,
    missing_column,
    require_plain,
)
from prorl_datasets.sources.columns import map_row
from prorl_datasets.sources.readers.plain import one_line
from prorl_datasets.spec import ADAPTERS, AdapterSpec
from prorl_datasets.types import DatasetError


def check_adapter(entry: Entry, name: str | None) -> list[str]:
    """Return a line when no adapter has that name, or it gives another domain."""
    if name is None:
        return []
    try:
        adapter = ADAPTERS.get(name)
    except UserError as error:
        return [f"entry '{entry.name}': {error}"]
    if adapter.convert is None:
        return [f"entry '{entry.name}': adapter '{name}' reads benchmarks alone, no source"]
    if adapter.domain not in (None, entry.domain):
        return [
            f"entry '{entry.name}': adapter '{name}' gives {adapter.domain}, not {entry.domain}"
        ]
    return []


def convert_adapted(
    entry: Entry, adapter: str, raw: Mapping[str, Any], where: str, index: int
) -> Row | Drop:
    """Return what an adapter makes of a raw row. Raises DatasetError for a malformed one."""
    made = adapted(ADAPTERS.get(adapter), entry.scored_by, raw, where, index)
    if isinstance(made, Row) and (rule := rules.clear_of(made.task.verifier, made.answer)):
        made = Drop(index, f"gold: {rule}", f"{where}: '{one_line(made.answer or '', 80)}'")
    if isinstance(made, Drop):  # its detail is published: the file's name, not its folder
        return replace(made, detail=made.detail.replace(where, where.rpartition("/")[2]))
    return made


def adapted(
    adapter: AdapterSpec, verifier: str, raw: Mapping[str, Any], where: str, index: int
) -> Row | Drop:
    """Return the row of a raw row, or the Drop of one that cannot be used.

    What the adapter gives as a dictionary is a row of ``verifier``. Raises DatasetError, beginning with
    ``where``, for a column that should be there, or where the adapter gives something else.
    """
    assert adapter.convert is not None
    try:
        require_plain(raw)
        made = adapter.convert(raw, where, index)
    except Unusable as unusable:
        detail = f"{where}: {unusable.detail}" if unusable.detail else where
        return Drop(index, unusable.reason, detail)
    except KeyError as error:
        (name,) = error.args or (None,)
        if not isinstance(name, str) or name in raw:
            raise
        raise missing_column(adapter.name, [name], list(raw), where) from error
    if isinstance(made, Mapping):
        return map_row(verifier, None, made, where, index)
    if not isinstance(made, Row | Drop):
        raise DatasetError(
            f"{where}: adapter '{adapter.name}' gives {type(made).__name__}, not a dictionary, Row or Drop"
        )
    return made
