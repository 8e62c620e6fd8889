"""Holds rollouts as searchable columns; their texts are in memory or in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute, parquet

from prorl_common import UserError
from prorl_common.rollout_files import COLUMNS, read_rollouts, schema, step_of
from prorl_evaluation.sampling.stored import OpenFile
from prorl_viewer.rollouts.prompts import plain
from prorl_viewer.subject import NotFoundError, first_line

BATCH = 64
"""Number of rows to read at once when looking for one."""
COLUMNS_OF_TOKENS = tuple(name for name, column in COLUMNS.items() if column.kind.endswith("[]"))


def read_row(
    file: Path, row: int, columns: Sequence[str] | None = None, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Return one row of a step's file; columns that the file lacks are null.

    ``columns`` None means all columns. Raises UserError for an invalid file, NotFoundError if the row does not exist.
    """
    columns_schema = schema([name for name in columns or COLUMNS if name not in without])
    try:
        with parquet.ParquetFile(file) as source:
            present = [name for name in columns_schema.names if name in source.schema_arrow.names]
            first = 0
            for group in range(source.num_row_groups):
                rows = source.metadata.row_group(group).num_rows
                if first <= row < first + rows:
                    for batch in source.iter_batches(BATCH, [group], present):
                        if row < first + batch.num_rows:
                            one = pa.Table.from_batches([batch]).slice(row - first, 1)
                            cast = {
                                n: one[n].cast(columns_schema.field(n).type)[0].as_py()
                                for n in present
                            }
                            return dict.fromkeys(columns_schema.names) | cast
                        first += batch.num_rows
                first += rows
    except FileNotFoundError:
        pass
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{file} is not a valid rollouts file ({first_line(error)})") from error
    raise NotFoundError(f"{file.name} has no row {row}")


def read_group(file: Path, sample_id: str) -> list[dict[str, Any]]:
    """Return the responses to one prompt in a step's file, with their row number as "row" and without tokens.

    Raises UserError for an invalid file, NotFoundError if there are none.
    """
    if not file.is_file():
        raise NotFoundError(f"the run has no rollouts of that step: {file.name} does not exist")
    names = [name for name in COLUMNS if name not in COLUMNS_OF_TOKENS]
    table = read_rollouts(file, names, carried=True)
    table = table.append_column("row", pa.array(range(table.num_rows), pa.int64()))
    try:
        rows = table.filter(compute.equal(table["sample_id"], sample_id)).to_pylist()
    except UnicodeDecodeError as error:
        raise UserError(f"{file} has a text that is not UTF-8") from error
    if not rows:
        raise NotFoundError(f"{file.name} has no responses to '{sample_id}'")
    return [dict(row) for row in rows]


Mask = npt.NDArray[np.bool_]
BLOCK = 8 << 20
"""Maximum number of bytes searched at once, unless a single text is longer."""
WORDS = ("sample_id", "domain", "task", "verifier", "finish_reason", "status")
LONGEST_WORD = 200
"""Maximum number of characters kept of a value of WORDS."""
NUMBERS = {
    "sample_index": pa.int64(),
    "tokens": pa.int64(),
    "reward": pa.float64(),
    "shaped_reward": pa.float64(),
    "advantage": pa.float64(),
    "policy_last": pa.int64(),
}
FLAGS = ("kept", "carried")
TEXTS = ("response", "prompt")
"""Columns with the index of the row's response and prompt in the segment's texts; -1 if missing."""
READ = ("prompt", "response", *WORDS, *NUMBERS, *FLAGS)
SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("row", pa.int64()),
        *((name, pa.dictionary(pa.int32(), pa.string())) for name in WORDS),
        *NUMBERS.items(),
        *((name, pa.bool_()) for name in FLAGS),
        *((name, pa.int64()) for name in TEXTS),
    ]
)


class FileKey(NamedTuple):
    """Identifies one version of a step's file."""

    name: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Rollouts of one or more steps: ``columns`` (see SCHEMA) and texts.

    Text i is UTF-8, from ``offsets[i]`` to ``offsets[i + 1]`` of ``texts``.
    """

    files: tuple[FileKey, ...]
    columns: pa.Table
    offsets: npt.NDArray[np.int64]
    texts: bytes | OpenFile

    @property
    def newest(self) -> int:
        return max(step_of(Path(key.name)) for key in self.files)

    @property
    def size(self) -> int:
        return int(self.offsets[-1])

    def read(self, number: int, longest: int) -> str:
        start, end = int(self.offsets[number]), int(self.offsets[number + 1])
        cut = self.text(start, min(end, start + longest))
        return bytes(cut).decode(errors="ignore")  # the cut may split a character

    def search(self, needle: str) -> Mask:
        """Return a mask of the rows that contain ``needle``, ignoring case."""
        ids = self.columns["sample_id"].combine_chunks()
        hits: Mask = _has(ids.dictionary, needle)[ids.indices.to_numpy()]
        texts = np.zeros(len(self.offsets), np.bool_)  # the last entry stands for no text
        for first, last in self._blocks():
            low, high = int(self.offsets[first]), int(self.offsets[last])
            places = pa.py_buffer(self.offsets[first : last + 1] - low)
            data = pa.py_buffer(self.text(low, high))
            block = pa.LargeStringArray.from_buffers(last - first, places, data)
            texts[first:last] = _has(block, needle)
        for name in TEXTS:
            hits |= texts[self.columns[name].to_numpy()]
        return hits

    def _blocks(self) -> Iterator[tuple[int, int]]:
        first, ends = 0, self.offsets[1:]
        while first < len(ends):
            after = int(np.searchsorted(ends, self.offsets[first] + BLOCK, side="right"))
            last = max(first + 1, after)
            yield first, last
            first = last

    def text(self, start: int, end: int) -> bytes | memoryview:
        if isinstance(self.texts, bytes):
            return memoryview(self.texts)[start:end]
        return self.texts.read(start, end - start)


def read_segment(file: Path, key: FileKey) -> Segment:
    """Read a step's rollouts. Raises UserError for an invalid file."""
    table = read_rollouts(file, READ, carried=True)
    try:
        table.validate(full=True)
    except pa.ArrowException as error:
        first = str(error).splitlines()[0]
        raise UserError(f"{file} has a text that is not UTF-8 ({first})") from error
    rows, step = table.num_rows, step_of(file)
    responses = table["response"].combine_chunks().cast(pa.binary())
    prompts = table["prompt"].combine_chunks().cast(pa.binary()).dictionary_encode()
    words = [
        plain(text.decode()).encode(errors="replace") for text in prompts.dictionary.to_pylist()
    ]
    texts = [*responses.to_pylist(), *words]
    which = prompts.indices.fill_null(-1 - rows).to_numpy(zero_copy_only=False)
    data = [text or b"" for text in texts]
    offsets = np.cumsum([0, *map(len, data)], dtype=np.int64)
    columns = {
        "step": np.full(rows, step),
        "row": np.arange(rows),
        "response": np.arange(rows),
        "prompt": which + rows,
    }
    for name in (*WORDS, *NUMBERS, *FLAGS):
        column = table[name].combine_chunks()
        if name in WORDS:  # "" means a missing word
            cut = compute.utf8_slice_codeunits(column.fill_null(""), 0, LONGEST_WORD)
            columns[name] = cut.dictionary_encode()
        else:
            columns[name] = column.cast(SCHEMA.field(name).type)
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return Segment((key,), pa.Table.from_arrays(arrays, schema=SCHEMA), offsets, b"".join(data))


def _has(texts: Any, needle: str) -> Mask:
    first = max(re.findall("[\0-\x7f]+", needle), key=len, default=needle)
    matches = compute.match_substring(texts, first, ignore_case=True)
    result: Mask = matches.fill_null(False).to_numpy(zero_copy_only=False)
    if first != needle:
        result = result.copy()
        rechecked = compute.match_substring(
            texts.filter(pa.array(result)), needle, ignore_case=True
        )
        result[result] = rechecked.to_numpy(zero_copy_only=False)
    return result
