"""Read the rows of a published file, whatever its format, in bounded memory.

``iter_rows`` knows .jsonl, .json (one array), .parquet and .csv, the texts also as .gz. Leaves out:
what the columns mean (``adapters``) and where the file comes from (``hub``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from prorl_datasets.sources.readers.array import json_rows
from prorl_datasets.sources.readers.decode import DEFAULT_MAX_ROW_BYTES, OnBroken, long_integers
from prorl_datasets.sources.readers.lines import jsonl_rows
from prorl_datasets.sources.readers.tables import csv_rows, parquet_rows
from prorl_datasets.types import DatasetError

_Reader = Callable[[Path, int, OnBroken | None], Iterator[tuple[str, dict[str, Any]]]]
_READERS: dict[str, _Reader] = {
    ".jsonl": jsonl_rows, ".jsonl.gz": jsonl_rows, ".json": json_rows, ".json.gz": json_rows,
    ".parquet": parquet_rows, ".csv": csv_rows, ".csv.gz": csv_rows,
}  # fmt: skip
READABLE = tuple(_READERS)
"""Endings of file names that ``iter_rows`` reads."""


def iter_rows(
    path: Path,
    *,
    max_row_bytes: int = DEFAULT_MAX_ROW_BYTES,
    on_broken: OnBroken | None = None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("<path>:<line or row>", row) in file order; lines and rows count from 1.

    Line for .jsonl and .csv, row for .json and .parquet. Memory stays near ``max_row_bytes`` whatever
    the file's size. Raises DatasetError, one line naming file and place, for an unknown ending, a
    missing, cut off or damaged file, a row that is no object, too large or not UTF-8, and columns of
    the same name. ``on_broken`` is told of single rows that are no objects, no JSON, not UTF-8 or of another width;
    reading then goes on behind them, as far as the format lets one see where the next row begins.
    """
    reader = next((read for end, read in _READERS.items() if path.name.endswith(end)), None)
    if reader is None:
        hint = "; unpack it first (zstd -d)" if path.suffix == ".zst" else ""
        raise DatasetError(f"{path}: expected a file that ends in {', '.join(READABLE)}{hint}")
    return reader(path, max_row_bytes, on_broken)


__all__ = ["DEFAULT_MAX_ROW_BYTES", "READABLE", "OnBroken", "iter_rows", "long_integers"]
