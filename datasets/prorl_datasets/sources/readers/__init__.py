"""Reads rows from files of any supported format in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from prorl_common.files import lfs_problem
from prorl_datasets.sources.readers.decode import DEFAULT_MAX_ROW_BYTES, OnBroken, long_integers
from prorl_datasets.sources.readers.lines import json_rows, jsonl_rows
from prorl_datasets.sources.readers.tables import arrow_rows, csv_rows, parquet_rows
from prorl_datasets.types import DatasetError

_Reader = Callable[[Path, int, OnBroken | None], Iterator[tuple[str, dict[str, Any]]]]
_TEXTS: dict[str, _Reader] = {
    ".jsonl": jsonl_rows,
    ".json": json_rows,
    ".csv": csv_rows,
    ".tsv": partial(csv_rows, delimiter="\t"),
}
_READERS: dict[str, _Reader] = {
    **{f"{end}{packed}": read for end, read in _TEXTS.items() for packed in ("", ".gz", ".zst")},
    ".parquet": parquet_rows,
    ".arrow": arrow_rows,
}
READABLE = tuple(_READERS)
"""Suffixes of file names that ``iter_rows`` reads."""


def iter_rows(
    path: Path,
    *,
    max_row_bytes: int = DEFAULT_MAX_ROW_BYTES,
    on_broken: OnBroken | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("<path>:<line or row>", row) in file order, counted from 1.

    Memory stays near ``max_row_bytes``. Raises DatasetError with file and position for an unknown suffix, a missing or
    damaged file, duplicate column names, or a bad or too large row. ``on_broken`` gets bad rows instead if the next row
    can be found.
    """
    reader = next((read for end, read in _READERS.items() if path.name.endswith(end)), None)
    if reader is None:
        raise DatasetError(f"{path}: expected a file that ends in {', '.join(READABLE)}")
    if (problem := lfs_problem(path)) is not None:
        raise DatasetError(problem)
    return reader(path, max_row_bytes, on_broken)


__all__ = ["DEFAULT_MAX_ROW_BYTES", "READABLE", "OnBroken", "iter_rows", "long_integers"]
