"""Reads rows of Parquet, Arrow and CSV files in bounded memory.

A page of a Parquet file is decompressed before too large values are refused.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prorl_datasets.sources.readers.decode import (
    BROKEN_SHOWN,
    NotUtf8,
    OnBroken,
    short,
    too_large,
    utf8,
)
from prorl_datasets.sources.readers.lines import iter_lines
from prorl_datasets.types import DatasetError

_BATCH_BYTES, _BATCH_ROWS = 16 * 1024 * 1024, 1024
_ARROW_FILE, _ARROW_END = b"ARROW1", b"\xff\xff\xff\xff\0\0\0\0"
"""Start of an Arrow file, and end of an Arrow stream, which ``save_to_disk`` writes."""
_BUFFER = 1024 * 1024
"""Size in bytes of the read buffer of a column."""


def parquet_rows(
    path: Path, max_row_bytes: int, on_broken: OnBroken | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("path:row", columns) of a Parquet file. Raises DatasetError; ``on_broken`` is unused."""
    del on_broken
    import pyarrow
    from pyarrow import parquet

    if not path.is_file():
        raise DatasetError(f"no such file: {path}")
    number = 1
    try:
        # both options are needed to read page by page; otherwise a whole row group is held in memory
        with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
            _distinct(file.schema_arrow.names, str(path))
            about = file.metadata
            groups = [about.row_group(i) for i in range(about.num_row_groups)]
            average = max((g.total_byte_size // max(g.num_rows, 1) for g in groups), default=0)
            rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(average, 1)))
            for batch in file.iter_batches(rows, use_threads=False):
                for row in _rows_of(batch, path, number, max_row_bytes):
                    yield f"{path}:{number}", row
                    number += 1
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DatasetError(
            f"{path}:{number}: not a readable Parquet file, or cut off ({short(error)}); download it again"
        ) from error


def arrow_rows(
    path: Path, max_row_bytes: int, on_broken: OnBroken | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("path:row", columns) of an Arrow IPC file or stream. Raises DatasetError; ``on_broken`` is unused."""
    del on_broken
    import pyarrow

    if not path.is_file():
        raise DatasetError(f"no such file: {path}")
    number = 1
    try:
        with pyarrow.memory_map(str(path)) as source:
            is_file = source.read(len(_ARROW_FILE)) == _ARROW_FILE
            source.seek(max(source.size() - len(_ARROW_END), 0))
            if not is_file and source.read() != _ARROW_END:  # pyarrow accepts a truncated stream
                raise ValueError("no end marker")
            source.seek(0)
            reader = pyarrow.ipc.open_file(source) if is_file else pyarrow.ipc.open_stream(source)
            _distinct(reader.schema.names, str(path))
            batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
            for batch in batches:
                for start in range(0, batch.num_rows, _BATCH_ROWS):
                    for row in _rows_of(
                        batch.slice(start, _BATCH_ROWS), path, number, max_row_bytes
                    ):
                        yield f"{path}:{number}", row
                        number += 1
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DatasetError(
            f"{path}:{number}: not a readable Arrow file, or cut off ({short(error)}); download it again"
        ) from error


def _rows_of(batch: Any, path: Path, number: int, max_row_bytes: int) -> list[dict[str, Any]]:
    for place in range(batch.num_rows if batch.nbytes > max_row_bytes else 0):
        if batch.slice(place, 1).nbytes > max_row_bytes:
            raise too_large(f"{path}:{number + place}", max_row_bytes)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def csv_rows(
    path: Path, max_row_bytes: int, on_broken: OnBroken | None = None, delimiter: str = ","
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("path:line", columns) of a CSV or TSV file with a header; all values are strings.

    ``line`` is the first line of the record. Raises DatasetError for a record with too few or too many fields.
    """
    feed, kind = _Feed(path, max_row_bytes), "CSV" if delimiter == "," else "TSV"
    before = csv.field_size_limit(max_row_bytes)
    try:
        reader = csv.reader(feed, strict=True, delimiter=delimiter)
        header: list[str] | None = None
        while True:
            feed.new_record()
            where = f"{path}:{feed.begin}"
            try:
                record = next(reader, None)
            except csv.Error as error:  # the start of the next record is unknown
                raise DatasetError(f"{where}: not valid {kind} ({short(error)})") from error
            except NotUtf8 as error:
                if on_broken is None or header is None:
                    raise
                on_broken(where, error, "")
                continue
            if record is None:
                return
            if not record:
                continue
            if header is None:
                header = [name.strip() for name in record]
                _distinct(header, where)
                continue
            if len(record) != len(header):
                wrong = DatasetError(
                    f"{where}: {len(record)} values, but the header names {len(header)} columns"
                )
                if on_broken is None:
                    raise wrong
                on_broken(where, wrong, delimiter.join(record)[:BROKEN_SHOWN])
                continue
            yield where, dict(zip(header, record, strict=True))
    finally:
        csv.field_size_limit(before)


class _Feed:
    """Passes lines of a file to the csv module, and limits the size of a record."""

    def __init__(self, path: Path, limit: int) -> None:
        self._lines = iter_lines(path, limit)
        self._path, self._limit = path, limit
        self._read, self.begin, self._held = 0, 1, 0

    def new_record(self) -> None:
        self.begin, self._held = self._read + 1, 0

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        self._read, line = next(self._lines)
        self._held += len(line)
        if self._held > self._limit:
            raise too_large(f"{self._path}:{self.begin}", self._limit)
        return utf8(line, f"{self._path}:{self._read}") + "\n"


def _distinct(names: list[str], where: str) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DatasetError(f"{where}: column names must differ; used twice: {', '.join(twice)}")
