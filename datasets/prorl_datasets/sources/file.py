"""The file source: a local file, mapped by columns or read by the adapter of a published data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from prorl_common import sha256_file
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.sources.files import Files
from prorl_datasets.sources.row_files import RowFileSettings, check_rows, convert_row, read_rows
from prorl_datasets.spec import RawRow, SourceSpec
from prorl_datasets.types import DatasetError

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".csv", ".csv.gz", ".parquet")


class FileSource(RowFileSettings):
    """A local file, of rows with our columns or of a published data set's rows.

    Our columns: ``prompt`` always, what the verifier's spec names (``VerifierSpec.columns``), and
    ``gold_response``.
    """

    kind: Literal["file"]
    path: str
    """``.jsonl``, ``.json`` (one array), ``.csv``, each also ``.gz``; ``.parquet``; relative to the recipe's folder."""


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
        wrong += check_rows(entry)
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
    """Yield the raw rows of a file entry. Raises DatasetError for what is damaged."""
    yield from read_rows(entry, files.paths[entry.name])


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
    convert=convert_row,
    check=check,
    find=find,
    label=label,
)
