"""Defines the source ``file``: local files, converted by columns or by an adapter."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from prorl_common import sha256_file
from prorl_datasets.hub.candidates import NOT_ROWS, missing_shards
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.sources.readers import READABLE
from prorl_datasets.sources.readers.decode import one_line
from prorl_datasets.sources.row_files import (
    Files,
    RowFileSettings,
    check_rows,
    convert_row,
    read_rows,
)
from prorl_datasets.spec import SourceSpec
from prorl_datasets.types import DatasetError

SAVED, SAVED_SPLITS = "state.json", "dataset_dict.json"
"""Files that ``datasets.save_to_disk`` writes: one for a single dataset, the other for several splits."""


class FileSource(RowFileSettings):
    """Local files. Rows have ``prompt``, ``gold_response`` and the verifier's columns, or an adapter converts them."""

    kind: Literal["file"]
    path: str
    """A file (``.jsonl``, ``.json`` with one array, ``.csv``, ``.tsv``, each also ``.gz`` or ``.zst``; ``.parquet``,
    ``.arrow``), a folder of such files, a pattern (``rows/*.jsonl``) or a folder of ``save_to_disk``; relative to the
    recipe's folder.
    """


def row_files(recipe: Recipe, source: FileSource) -> list[Path]:
    """Return the sorted files of a source. Raises DatasetError."""
    base = Path() if recipe.base is None else recipe.base
    path = base / Path(source.path).expanduser()
    if path.is_dir():
        return _saved_files(path) if (path / SAVED).is_file() else _folder_files(path)
    if path.is_file():
        files = [path]
    elif not glob.has_magic(source.path):
        raise DatasetError(f"no such file: {path}")
    else:
        names = glob.glob(str(Path(source.path).expanduser()), root_dir=base, recursive=True)
        files = sorted(base / name for name in names if (base / name).is_file())
        if not files:
            raise DatasetError(f"no file matches {path}")
    for file in files:
        if not file.name.endswith(READABLE):
            raise DatasetError(f"{file}: unknown file type; expected {', '.join(READABLE)}")
    missing = [] if files == [path] else missing_shards(map(str, files))
    return _whole(path, files, [name for name in missing if fnmatchcase(name, str(path))])


def _folder_files(folder: Path) -> list[Path]:
    if (folder / SAVED_SPLITS).is_file():
        splits = sorted(file.parent.name for file in folder.glob(f"*/{SAVED}"))
        raise DatasetError(
            f"{folder} holds several splits ({', '.join(splits)}); give the folder of one: {folder}/NAME"
        )
    inside = [(file, file.relative_to(folder)) for file in sorted(folder.rglob("*"))]
    files = [
        file
        for file, name in inside
        if name.name.endswith(READABLE)
        and name.name not in NOT_ROWS
        and not any(part.startswith(".") for part in name.parts)
    ]
    kinds = sorted({next(e for e in READABLE if file.name.endswith(e)) for file in files})
    formats = sorted({kind.removesuffix(".gz").removesuffix(".zst") for kind in kinds})
    if len(formats) != 1:
        content = (
            f"files of several formats ({', '.join(formats)})" if formats else "no file of rows"
        )
        raise DatasetError(
            f"{folder} holds {content}; give a pattern as path, such as {folder}/*.jsonl"
        )
    return _whole(folder, files, missing_shards(map(str, files)))


def _saved_files(folder: Path) -> list[Path]:
    try:
        state = json.loads((folder / SAVED).read_text(encoding="utf-8"))
        files = [folder / str(file["filename"]) for file in state["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(
            f"{folder / SAVED} is damaged ({one_line(str(error))}); save the dataset again"
        ) from error
    return _whole(folder, files, [])


def _whole(path: Path, files: list[Path], missing: list[str]) -> list[Path]:
    missing = [*(str(file) for file in files if not file.is_file()), *missing]
    if missing:
        names = ", ".join(Path(name).name for name in missing[:3])
        dots = ", ..." if len(missing) > 3 else ""
        raise DatasetError(
            f"{path} is incomplete: {len(missing)} of its files are missing ({names}{dots}); "
            "download them too"
        )
    return files


def check(recipe: Recipe, entries: Sequence[Entry], children: object) -> list[str]:
    del children
    wrong: list[str] = []
    for entry in entries:
        source = _settings(entry)
        wrong += check_rows(entry)
        try:
            row_files(recipe, source)
        except DatasetError as error:
            wrong.append(f"entry '{entry.name}': {error}")
    return wrong


def find(
    recipe: Recipe, entries: Sequence[Entry], files: Files, lock: Path, mirror: Any, update: bool
) -> None:
    del lock, mirror, update
    for entry in entries:
        try:
            paths = row_files(recipe, _settings(entry))
        except DatasetError:
            continue
        files.paths[entry.name], files.contents[entry.name] = paths, []
        files.progress.start(f"hashing the files of {entry.name}", len(paths))
        if len(paths) > 1:
            names = ", ".join(path.name for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
            files.progress.message(f"{entry.name}: takes {len(paths)} files: {names}")
        folder = paths[0].parent if len(paths) == 1 else Path(os.path.commonpath(paths))
        for path in paths:
            try:
                files.contents[entry.name].append(sha256_file(path))
            except OSError as error:
                raise DatasetError(f"{path}: cannot be read ({error.strerror})") from error
            name = path.relative_to(folder).as_posix()
            files.hashes[f"{entry.name}/{name}"] = files.contents[entry.name][-1]
            files.progress.advance()
        files.progress.finish()


def label(settings: FileSource) -> str:
    return f"file/{Path(settings.path).name}"


def _settings(entry: Entry) -> FileSource:
    assert isinstance(entry.source, FileSource)
    return entry.source


SPEC = SourceSpec(
    name="file",
    settings=FileSource,
    read=read_rows,
    convert=convert_row,
    check=check,
    find=find,
    label=label,
)
