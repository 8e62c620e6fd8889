"""The MinHash signatures of a build's text rows, on the disk: they are most of what a row would hold in memory.

512 bytes a row, in files without a name that end with the process. Leaves out: the search for near-duplicates
(``text.duplicates``).
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from prorl_datasets.text.hashing import PERMUTATIONS, Signature

SIZE = PERMUTATIONS * 4
"""Bytes of a signature: little-endian uint32."""
_CHUNK = 1 << 13


class Signatures:
    """Signatures in the order in which they were added, from 0."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, packed: bytes) -> None:
        """Append a signature, SIZE bytes."""
        if self._file is None:
            self._file = self._open()
        self._file.write(packed)
        self._count += 1

    def groups(self) -> tuple[Signature, NDArray[np.int64]]:
        """Return the distinct signatures sorted by content, (M, 128) on the disk, and the place among
        them of each that was added, (N,): the order of adding does not show in the former.
        """
        if self._file is None:
            return np.empty((0, PERMUTATIONS), np.uint32), np.empty(0, np.int64)
        self._file.flush()
        rows = _mapped(self._file, np.dtype((np.void, SIZE)), (self._count,))
        order = np.argsort(rows, kind="stable")
        place = np.empty(self._count, np.int64)
        groups, before = 0, None
        with self._open() as out:  # what is mapped stays when it is closed
            for start in range(0, len(order), _CHUNK):
                part = order[start : start + _CHUNK]
                for row, data in zip(part.tolist(), rows[part].tolist(), strict=True):
                    if data != before:
                        out.write(data)
                        groups, before = groups + 1, data
                    place[row] = groups - 1
            out.flush()
            return _mapped(out, np.dtype("<u4"), (groups, PERMUTATIONS)), place

    def _open(self) -> IO[bytes]:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=self._folder)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _mapped(file: IO[bytes], kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.memmap(file, dtype=kind, mode="r", shape=shape)
