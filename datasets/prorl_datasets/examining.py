"""Checks the published sources of a recipe without downloading their files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from prorl_common import Progress, nearest
from prorl_common.hub import broken_library
from prorl_datasets.benchmarks import BenchmarkSpec, benchmark_names, load_spec
from prorl_datasets.hub.access import ADVICE, Access, Selection
from prorl_datasets.hub.hub import Unreachable
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.sources.adapters.fields import check_columns
from prorl_datasets.sources.columns import columns_needed
from prorl_datasets.sources.hub import HubSource
from prorl_datasets.sources.readers.decode import some_names
from prorl_datasets.spec import ADAPTERS
from prorl_datasets.types import DatasetError

MAX_FILES = 4
"""Maximum number of files of each source whose columns are read."""
FIRST_BYTES, MAX_BYTES = 256 * 1024, 64 * 1024 * 1024
"""Number of bytes of a text file that are read first, and at most, to find its columns."""


@dataclass(frozen=True, slots=True)
class Examined:
    """Findings about one source; ``problem`` is empty if a build would accept the source."""

    name: str
    repo: str
    problem: str = ""
    revision: str | None = None
    candidates: Sequence[str] = ()
    files: Sequence[str] = ()
    size: int = 0
    columns: Sequence[str] = field(default_factory=list)


def examine_sources(
    recipe: Recipe,
    only: Sequence[str],
    skip: Sequence[str],
    mirror: Path | None,
    progress: Progress,
) -> Iterator[Examined]:
    """Yield the findings for each hub source and each published benchmark. Raises DatasetError."""
    access = Access(mirror, progress=progress)
    for entry in recipe.select(only, skip):
        source = entry.source
        if isinstance(source, HubSource):
            yield _examine(access, entry, source)
    selection = recipe.decontamination.benchmarks
    for name in benchmark_names() if selection == "all" else selection:
        spec = load_spec(name)
        if spec.hub is not None:
            yield _examine_benchmark(access, spec)


def _examine(access: Access, entry: Entry, source: HubSource) -> Examined:
    result = _examine_files(access, entry.name, (source.repo, source.revision, source.files))
    if not result.problem:
        try:
            if source.adapter is not None:
                check_columns(ADAPTERS.get(source.adapter), result.columns, result.files[0])
                return result
            for column in columns_needed(entry.scored_by, source):
                if not {column, column.partition(".")[0]} & {*result.columns}:
                    raise DatasetError(
                        f"{result.files[0]}: no column '{column}'{nearest(column, result.columns)}; "
                        f"columns found: {some_names([*result.columns])}"
                    )
        except DatasetError as error:
            problem = str(error)
            return replace(result, repo=source.repo, problem=problem, size=0, columns=[])
    return result


def _examine_benchmark(access: Access, spec: BenchmarkSpec) -> Examined:
    assert spec.hub is not None
    first: Examined | None = None
    for source in (spec.hub, *spec.alternates):
        result = _examine_files(access, spec.name, (source.repo, source.revision, source.files))
        if not result.problem:
            needed = {
                field: names for field, names in spec.columns.items() if field not in spec.optional
            }
            lacking = [n[0] for n in needed.values() if not any(c in result.columns for c in n)]
            if not lacking:
                return result
            columns = ", ".join(result.columns)
            problem = f"{result.files[0]}: no column {', '.join(lacking)}; columns found: {columns}"
            result = Examined(spec.name, source.repo, problem, result.revision)
        first = first or result
    assert first is not None
    return first


def _examine_files(access: Access, name: str, source: tuple[str, str, Sequence[str]]) -> Examined:
    repo, revision, files = source
    try:
        chosen = access.select(repo, revision, files)
        columns = _read_columns(access, chosen)
    except Unreachable as problem:
        return Examined(name, repo, f"{problem}; {ADVICE}")
    except DatasetError as error:
        return Examined(name, repo, str(error))
    odd = [file for file, of in columns if set(of) != set(columns[0][1])]
    branch = chosen.names[0][0]
    return Examined(
        name,
        chosen.repo,
        f"{odd[0]} has other columns than {columns[0][0]}" if odd else "",
        chosen.commits().get(branch),
        chosen.candidates,
        [file for _, file in chosen.names],
        chosen.size(),
        columns[0][1],
    )


def _read_columns(access: Access, chosen: Selection) -> list[tuple[str, list[str]]]:
    columns = []
    broken = broken_library()
    for branch, name in chosen.names[:MAX_FILES]:
        try:
            with access.open(chosen, branch, name) as file:
                read = _parquet_columns if name.endswith(".parquet") else _text_columns
                columns.append((name, read(name, file)))
        except broken as error:
            words = " ".join(str(error).split())[:200]
            raise DatasetError(f"{name}: cannot be read ({words})") from error
    return columns


def _text_columns(name: str, file: BinaryIO) -> list[str]:
    from prorl_datasets.sources.readers import iter_rows

    start = b""
    with tempfile.TemporaryDirectory(prefix="prorl-peek-") as folder:
        path = Path(folder) / Path(name).name
        while True:
            more = file.read(max(FIRST_BYTES, 7 * len(start)))
            start += more
            path.write_bytes(start)
            try:
                for _, row in iter_rows(path):
                    return list(row)
                raise DatasetError(f"{path}: the file has no rows")
            except DatasetError as error:  # the row may continue after the bytes read so far
                if not more or len(start) >= MAX_BYTES:
                    raise DatasetError(str(error).replace(str(path), name)) from error


def _parquet_columns(name: str, file: BinaryIO) -> list[str]:
    import pyarrow
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(file)
    except pyarrow.ArrowException as error:
        first = str(error).splitlines()[0][:200]
        raise DatasetError(f"{name}: not a readable Parquet file ({first})") from error
    return [str(column) for column in schema.names]
