"""Reads file rows on demand, with 16 bytes of memory per row."""

from __future__ import annotations

import json
import os
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Generic, TypeVar, overload

from prorl_common import DiskFullError
from prorl_common.files import says_disk_full
from prorl_datasets import Sample
from prorl_verifiers import Task

T = TypeVar("T")
CHUNK = 1 << 20
"""Size in bytes of the write buffer, and of the read-ahead for consecutive rows."""


class OpenFile:
    """A file that several threads can read."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    @classmethod
    def of(cls, path: Path) -> OpenFile:
        return cls(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def read(self, place: int, size: int) -> bytes:
        """Return ``size`` bytes at offset ``place``, or fewer at the end of the file."""
        return os.pread(self.handle, size, place)

    def line(self, place: int) -> bytes:
        size = 1 << 12
        while True:
            data = self.read(place, size)
            end = data.find(b"\n")
            if end >= 0 or len(data) < size:
                return data[:end] if end >= 0 else data
            size *= 4

    def __del__(self) -> None:
        os.close(self.handle)


class Stored(Sequence[T], Generic[T]):
    """The rows at the byte offsets ``places`` of ``file``, decoded when accessed."""

    def __init__(
        self, file: OpenFile, places: array[int], sizes: array[int], decode: Callable[[Any], T]
    ) -> None:
        self._file, self._places, self._sizes, self._decode = file, places, sizes, decode

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Stored[T]: ...
    def __getitem__(self, index: int | slice) -> T | Stored[T]:
        if isinstance(index, slice):
            return Stored(self._file, self._places[index], self._sizes[index], self._decode)
        return self._row(self._file.read(self._places[index], self._sizes[index]))

    def __iter__(self) -> Iterator[T]:
        ahead, first, following = b"", 0, 0
        for place, size in zip(self._places, self._sizes, strict=True):
            if not first <= place <= place + size <= first + len(ahead):
                more = CHUNK if place == following else 0  # rows are read in file order
                ahead, first = self._file.read(place, max(size, more)), place
            following = place + size + 1
            yield self._row(ahead[place - first : place - first + size])

    def chosen(self, numbers: Iterable[int]) -> Stored[T]:
        numbers = array("Q", numbers)
        places = array("Q", (self._places[n] for n in numbers))
        return Stored(
            self._file, places, array("Q", (self._sizes[n] for n in numbers)), self._decode
        )

    def _row(self, data: bytes) -> T:
        return self._decode(json.loads(data))


class RowWriter:
    """Writes rows to an open file; ``stored`` returns them as a sequence."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._place = 0
        self._places, self._sizes = array("Q"), array("Q")

    def add(self, row: Any) -> None:
        data = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        self._file.write(data)
        self._places.append(self._place)
        self._sizes.append(len(data) - 1)
        self._place += len(data)

    def stored(self, decode: Callable[[Any], T]) -> Stored[T]:
        self._file.flush()
        return Stored(OpenFile(os.dup(self._file.fileno())), self._places, self._sizes, decode)


def stored_rows(path: Path, decode: Callable[[Any], T]) -> Stored[T]:
    """Return the rows of a JSON-lines file as a sequence. Raises OSError."""
    places, sizes, place = array("Q"), array("Q"), 0
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                places.append(place)
                sizes.append(len(line.rstrip(b"\n")))
            place += len(line)
    return Stored(OpenFile.of(path), places, sizes, decode)


def chosen(rows: Sequence[T], numbers: Iterable[int]) -> Sequence[T]:
    return rows.chosen(numbers) if isinstance(rows, Stored) else [rows[n] for n in numbers]


def spooled(samples: Iterable[Sample]) -> Stored[Sample]:
    """Move samples to a temporary file, and return them as a sequence. Raises DiskFullError."""
    try:
        with tempfile.TemporaryFile(buffering=CHUNK) as file:
            writer = RowWriter(file)
            for s in samples:
                writer.add(
                    {
                        "id": s.id,
                        "domain": s.domain,
                        "prompt": [dict(m) for m in s.prompt],
                        "task": [s.task.verifier, s.task.reference],
                        "source": s.source,
                        "licence": s.licence,
                        "split": s.split,
                        "gold_check": s.gold_check,
                        "metadata": dict(s.metadata),
                    }
                )
            return writer.stored(
                lambda row: Sample(
                    **{**row, "prompt": tuple(row["prompt"]), "task": Task(*row["task"])}
                )
            )
    except OSError as error:
        if not says_disk_full(error):
            raise
        raise DiskFullError(
            f"the folder for temporary files, {tempfile.gettempdir()}, is full: set TMPDIR "
            "to a folder with more room"
        ) from error
