"""Reads local or hub files, filters rows by ``where``, and converts them by adapter or columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from prorl_common import NullProgress, Progress, UserError
from prorl_datasets.candidate import Drop, Row
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.sources.adapters.fields import (
    Unusable,
    check_columns,
    missing_column,
    require_plain,
)
from prorl_datasets.sources.columns import (
    check_columns_of,
    is_wanted,
    map_row,
    named_once,
    rule_against,
)
from prorl_datasets.sources.readers.decode import one_line
from prorl_datasets.spec import ADAPTERS, AdapterSpec, RawRow, RowSettings
from prorl_datasets.types import DatasetError


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a build's entries; dictionaries are keyed by entry unless stated otherwise."""

    paths: dict[str, list[Path]] = field(default_factory=dict)
    """Files in reading order."""
    hashes: dict[str, str] = field(default_factory=dict)
    """SHA-256 hash of each file, by its name in the manifest."""
    contents: dict[str, list[str]] = field(default_factory=dict)
    """SHA-256 hashes of each entry's files."""
    taken: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Repository, revision and files that a hub source chose."""
    failed: dict[str, str] = field(default_factory=dict)
    """Why the entry has no files."""
    progress: Progress = field(default_factory=NullProgress)

    def version(self, entry: str) -> str:
        """Return a short digest of an entry's files."""
        return hashlib.sha256(" ".join(self.contents[entry]).encode()).hexdigest()[:12]


def adapted(
    adapter: AdapterSpec, verifier: str, raw: Mapping[str, Any], where: str, index: int
) -> Row | Drop:
    """Convert a raw row with an adapter; return a Drop if the row is unusable.

    Raises DatasetError; its message begins with ``where``.
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
            f"{where}: adapter '{adapter.name}' returned {type(made).__name__}, not a "
            "dictionary, Row or Drop"
        )
    return made


FILTERED: Literal["where"] = "where"
"""Drop reason of a row that the source's condition excludes."""


class RowFileSettings(RowSettings):
    """Settings of a source of files, whose rows are converted by an adapter or by their columns."""

    adapter: str | None = None
    """Name of the adapter that converts the rows; can be combined only with ``where`` and ``on_bad_row``."""

    @model_validator(mode="after")
    def _one_way(self) -> RowFileSettings:
        if self.adapter is not None:
            for name in ("columns", "keep"):
                if getattr(self, name):
                    raise ValueError(
                        f"an adapter knows its columns; give '{name}' or 'adapter', not both"
                    )
        return self


def check_rows(entry: Entry) -> list[str]:
    """Return a line for each mistake in an entry's row settings."""
    settings = _settings(entry)
    problems = check_columns_of(entry, settings)
    name = settings.adapter
    if name is None:
        return problems
    try:
        adapter = ADAPTERS.get(name)
    except UserError as error:
        return [f"entry '{entry.name}': {error}", *problems]
    if adapter.convert is None:
        problem = f"adapter '{name}' reads only benchmarks, not sources"
        return [f"entry '{entry.name}': {problem}", *problems]
    if adapter.domain not in (None, entry.domain):
        problem = f"adapter '{name}' makes {adapter.domain} items, not {entry.domain}"
        return [f"entry '{entry.name}': {problem}", *problems]
    return problems


def read_rows(entry: Entry, files: Files) -> Iterator[RawRow]:
    """Yield the raw rows of an entry's files. Raises DatasetError.

    Unless ``on_bad_row`` is ``stop``, a broken row is yielded with an error message (see ``RawRow``).
    """
    settings = _settings(entry)
    rows = (row for path in files.paths[entry.name] for row in _file_rows(settings, path))
    yield from rows if settings.adapter is not None else named_once(rows, settings)


def convert_row(entry: Entry, raw: Mapping[str, Any], where: str, index: int) -> Row | Drop:
    """Convert a raw row; return a Drop if it is excluded or unusable. Raises BadRow."""
    settings = _settings(entry)
    if not is_wanted(settings, raw, where):
        return Drop(index, FILTERED, stage=FILTERED)
    if settings.adapter is None:
        return map_row(entry.scored_by, settings, raw, where, index)
    made = adapted(ADAPTERS.get(settings.adapter), entry.scored_by, raw, where, index)
    if isinstance(made, Row) and (rule := rule_against(made.task.verifier, made.answer)):
        made = Drop(index, f"gold: {rule}", f"{where}: '{one_line(made.answer or '', 80)}'")
    if isinstance(made, Drop):  # the detail is published: name the file without its folder
        return replace(made, detail=made.detail.replace(where, where.rpartition("/")[2]))
    return made


def _file_rows(settings: RowFileSettings, path: Path) -> Iterator[RawRow]:
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
