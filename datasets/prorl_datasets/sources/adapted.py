"""Rows of published data sets, by the adapter that a recipe names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from prorl_common import nearest
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.row import Adapter, Drop, Row
from prorl_datasets.spec import RawRow


@cache
def _adapters() -> Mapping[str, Adapter]:
    from prorl_datasets.sources.adapters import source_adapters

    return source_adapters()


def check_adapter(entry: Entry, name: str | None) -> list[str]:
    """Return a line when no adapter has that name, or it gives another domain."""
    if name is None:
        return []
    known = _adapters()
    if (adapter := known.get(name)) is None:
        hint = nearest(name, known) or f"; known: {', '.join(known)}"
        return [f"entry '{entry.name}': unknown adapter '{name}'{hint}"]
    if adapter.domain != entry.domain:
        return [
            f"entry '{entry.name}': adapter '{name}' gives {adapter.domain}, not {entry.domain}"
        ]
    return []


def read_adapted(adapter: str, paths: Sequence[Path]) -> Iterator[RawRow]:
    """Yield (where, row) of files, the columns of each file's first row checked."""
    from prorl_datasets.sources.adapters import check_columns
    from prorl_datasets.sources.readers import iter_rows

    for path in paths:
        for number, (where, row) in enumerate(iter_rows(path)):
            if number == 0:
                check_columns(_adapters()[adapter], row, where)
            yield where, row


def convert_adapted(adapter: str, raw: Mapping[str, Any], where: str, index: int) -> Row | Drop:
    """Return what an adapter makes of a raw row. Raises DatasetError for a malformed one."""
    made = _adapters()[adapter].convert(raw, where, index)
    if isinstance(made, Drop):  # its detail is published: the file's name, not its folder
        return replace(made, detail=made.detail.replace(where, where.rpartition("/")[2]))
    return made
