"""Checks a recipe's sources, finds their files, and reads and converts their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import Progress
from prorl_datasets.candidate import Drop, Row
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.sources.columns import check_columns_of, is_wanted, map_row, named_once
from prorl_datasets.sources.row_files import FILTERED, Files
from prorl_datasets.spec import SOURCES, OpenSettings, RawRow, SourceSpec
from prorl_datasets.types import DatasetError


def check_sources(recipe: Recipe, selected: Sequence[Entry], children: Any) -> None:
    """Raise DatasetError with every mistake in the sources of the entries ``selected``."""
    wrong: list[str] = []
    for spec, entries in _by_kind(selected):
        if spec.check is not None:
            wrong += spec.check(recipe, entries, children)
        for entry in entries:
            if isinstance(entry.source, OpenSettings):
                wrong += check_columns_of(entry, entry.source)
    if wrong:
        raise DatasetError(f"recipe {recipe.name}: {'; '.join(wrong)}")


def find_files(
    recipe: Recipe,
    selected: Sequence[Entry],
    lock: Path,
    mirror: Path | None,
    update_pins: bool,
    progress: Progress,
) -> Files:
    """Return the files of the entries ``selected``; hub files are pinned in ``lock``.

    Unavailable sources are recorded in ``failed``. Raises DatasetError if files differ from ``lock``.
    """
    files = Files(progress=progress)
    for spec, entries in _by_kind(selected):
        if spec.find is not None:
            spec.find(recipe, entries, files, lock, mirror, update_pins)
        elif not spec.generated:
            origin = SOURCES.origin(spec.name)
            for entry in entries:
                files.contents[entry.name] = [origin.version, entry.source.model_dump_json()]
    return files


def raw_rows(entry: Entry, files: Files) -> Iterator[RawRow]:
    """Yield (where, row) of an entry that is not generated. Raises DatasetError."""
    spec = entry.spec
    if spec.read is not None:
        yield from spec.read(entry, files)
        return
    assert spec.rows is not None and isinstance(entry.source, OpenSettings)
    rows = spec.rows({**spec.options, **entry.source.options})
    if not isinstance(rows, Iterable):
        raise DatasetError(
            f"source {spec.name!r}: rows(options) must yield dictionaries of columns, but it returned {rows!r:.80}"
        )

    def with_positions() -> Iterator[RawRow]:
        for number, row in enumerate(rows, start=1):
            where = f"{spec.name}:{number}"
            if not isinstance(row, Mapping):
                kind = type(row).__name__
                raise DatasetError(
                    f"{where}: a source must yield dictionaries of columns, not {kind}"
                )
            yield where, dict(row)

    yield from named_once(with_positions(), entry.source)


def row_of(entry: Entry, raw: Mapping[str, Any], where: str, index: int) -> Row | Drop:
    """Convert a raw row. Raises DatasetError."""
    if entry.spec.convert is not None:
        made: Row | Drop = entry.spec.convert(entry, raw, where, index)
        return made
    assert isinstance(entry.source, OpenSettings)
    if not is_wanted(entry.source, raw, where):
        return Drop(index, FILTERED, stage=FILTERED)
    return map_row(entry.scored_by, entry.source, raw, where, index)


def _by_kind(selected: Sequence[Entry]) -> Iterator[tuple[SourceSpec, list[Entry]]]:
    for kind in dict.fromkeys(entry.source.kind for entry in selected):
        yield SOURCES.get(kind), [e for e in selected if e.source.kind == kind]
