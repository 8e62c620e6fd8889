"""The file source: a local file, mapped by columns or read by the adapter of a published data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from prorl_common import sha256_file
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.row import Drop, Row
from prorl_datasets.sources.adapted import check_adapter, convert_adapted, read_adapted
from prorl_datasets.sources.columns import check_columns_of, map_row, named_once
from prorl_datasets.sources.files import Files
from prorl_datasets.spec import RawRow, SourceSettings, SourceSpec
from prorl_datasets.types import DatasetError

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".csv", ".csv.gz", ".parquet")


class FileSource(SourceSettings):
    """A local file, of rows with our columns or of a published data set's rows.

    Our columns: ``prompt`` always, what the verifier's spec names (``VerifierSpec.columns``), and
    ``gold_response``.
    """

    kind: Literal["file"]
    path: str
    """``.jsonl``, ``.json`` (one array), ``.csv``, each also ``.gz``; ``.parquet``; relative to the recipe's folder."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Our column -> the file's, where its name is another."""
    adapter: str | None = None
    """Reads a published data set's rows; not with ``columns``."""

    @model_validator(mode="after")
    def _one_way(self) -> FileSource:
        if self.adapter is not None and self.columns:
            raise ValueError("an adapter knows its columns; give 'columns' or 'adapter', not both")
        return self


def source_path(recipe: Recipe, source: FileSource) -> Path:
    """Return the file's path; a relative one starts at the recipe's folder."""
    path = Path(source.path).expanduser()
    return path if path.is_absolute() or recipe.base is None else recipe.base / path


def check(recipe: Recipe, entries: Sequence[Entry], children: object) -> list[str]:
    """Return what is wrong with file entries before reading rows: the file, its kind, the fields."""
    del children
    wrong: list[str] = []
    for entry in entries:
        source = _settings(entry)
        wrong += check_adapter(entry, source.adapter)
        wrong += check_columns_of(entry, source.columns)
        path = source_path(recipe, source)
        if not path.name.endswith(SUFFIXES):
            wrong.append(f"entry '{entry.name}': {path}: expected {', '.join(SUFFIXES)}")
        elif not path.is_file():
            wrong.append(f"entry '{entry.name}': no such file: {path}")
    return wrong


def find(
    recipe: Recipe, entries: Sequence[Entry], found: Files, lock: Path, mirror: Any, update: bool
) -> None:
    """Put each entry's file and its hash into ``found``; a missing one is left to ``check``."""
    del lock, mirror, update
    for entry in entries:
        path = source_path(recipe, _settings(entry))
        if path.is_file():
            found.paths[entry.name] = [path]
            try:
                found.contents[entry.name] = [sha256_file(path)]
            except OSError as error:
                raise DatasetError(f"{path}: cannot be read ({error.strerror})") from error
            found.hashes[f"{entry.name}/{path.name}"] = found.contents[entry.name][0]


def read(entry: Entry, files: Files) -> Iterator[RawRow]:
    """Yield (where, row) of a file entry. Raises DatasetError for what is damaged or named twice."""
    source = _settings(entry)
    if source.adapter is not None:
        yield from read_adapted(source.adapter, files.paths[entry.name])
        return
    from prorl_datasets.sources.readers import iter_rows

    rows = (row for path in files.paths[entry.name] for row in iter_rows(path))
    yield from named_once(rows, source.columns)


def convert(entry: Entry, raw: Mapping[str, Any], where: str, index: int) -> Row | Drop:
    """Return the row of one raw row, by the adapter or by columns."""
    source = _settings(entry)
    if source.adapter is not None:
        return convert_adapted(entry, source.adapter, raw, where, index)
    return map_row(entry.scored_by, source.columns, raw, where, index)


def label(settings: FileSource) -> str:
    """Return ``file/NAME``."""
    return f"file/{Path(settings.path).name}"


def _settings(entry: Entry) -> FileSource:
    assert isinstance(entry.source, FileSource)
    return entry.source


SPEC = SourceSpec(
    name="file",
    settings=FileSource,
    read=read,
    convert=convert,
    check=check,
    find=find,
    label=label,
)
