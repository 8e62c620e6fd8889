"""Rows of files, a user's own or the hub's: read, filtered by ``where``, then by adapter or by columns.

Leaves out: where the files come from (``file``, ``hub``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import model_validator

from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.row import Drop, Row
from prorl_datasets.sources.adapted import check_adapter, convert_adapted
from prorl_datasets.sources.adapters.fields import check_columns
from prorl_datasets.sources.columns import check_columns_of, is_wanted, map_row, named_once
from prorl_datasets.spec import ADAPTERS, RawRow, RowSettings
from prorl_datasets.types import DatasetError

FILTERED = "where"
"""The reason of a row that its source's condition leaves out."""


class RowFileSettings(RowSettings):
    """What files of rows take: an adapter, or columns and expressions."""

    adapter: str | None = None
    """Reads a published data set's rows; with ``where`` and ``on_bad_row``, not with the others."""

    @model_validator(mode="after")
    def _one_way(self) -> RowFileSettings:
        if self.adapter is not None:
            for name in ("columns", "map", "keep"):
                if getattr(self, name):
                    raise ValueError(
                        f"an adapter knows its columns; give '{name}' or 'adapter', not both"
                    )
        return self


def check_rows(entry: Entry) -> list[str]:
    """Return a line for each mistake in what an entry says of its rows: adapter, fields."""
    settings = _settings(entry)
    return [*check_adapter(entry, settings.adapter), *check_columns_of(entry, settings)]


def read_rows(entry: Entry, paths: Sequence[Path]) -> Iterator[RawRow]:
    """Yield the raw rows of files, those that are broken with what is wrong unless the source stops at them.

    Raises DatasetError naming file and line for what is damaged, and for an adapter's files of another schema.
    """
    settings = _settings(entry)
    rows = (row for path in paths for row in _of_file(settings, path))
    yield from rows if settings.adapter is not None else named_once(rows, settings)


def convert_row(entry: Entry, raw: Mapping[str, Any], where: str, index: int) -> Row | Drop:
    """Return the row of one raw row, or the Drop of one that is not wanted or usable. Raises BadRow."""
    settings = _settings(entry)
    if not is_wanted(settings, raw, where):
        return Drop(index, FILTERED, stage=FILTERED)
    if settings.adapter is not None:
        return convert_adapted(entry, settings.adapter, raw, where, index)
    return map_row(entry.scored_by, settings, raw, where, index)


def _of_file(settings: RowFileSettings, path: Path) -> Iterator[RawRow]:
    from prorl_datasets.sources.readers import iter_rows

    broken: list[RawRow] = []

    def note(where: str, error: DatasetError, text: str) -> None:
        broken.append((where, {"text": text}, str(error).removeprefix(f"{where}: ")))

    first = settings.adapter is not None
    for where, row in iter_rows(path, on_broken=None if settings.on_bad_row == "stop" else note):
        if first:
            check_columns(ADAPTERS.get(str(settings.adapter)), row, where)
            first = False
        yield from broken
        broken.clear()
        yield where, row
    yield from broken


def _settings(entry: Entry) -> RowFileSettings:
    assert isinstance(entry.source, RowFileSettings)
    return entry.source
