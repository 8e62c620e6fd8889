"""Finds near-duplicate texts by bands of MinHash signatures."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from prorl_common import NullProgress, Progress
from prorl_datasets.text.hashing import EMPTY, PERMUTATIONS, Hashes, Signature, mix

RECALL = 0.995
"""Minimum probability that a pair at the threshold becomes a candidate."""

_FACTOR = np.uint64(0xD6E8FEB86659FD93)


def rows_for(threshold: float) -> int:
    """Return the largest band size that finds pairs of similarity ``threshold`` with at least probability RECALL.

    Raises ValueError for a threshold outside (0, 1].
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"a similarity threshold must be in (0, 1], not {threshold}")
    best = 1
    for rows in range(1, PERMUTATIONS + 1):
        if 1 - (1 - threshold**rows) ** (PERMUTATIONS // rows) >= RECALL:
            best = rows
    return best


def band_keys(signatures: NDArray[np.uint32], rows: int, bands: slice = slice(None)) -> Hashes:
    """Hash each of the ``bands``, runs of ``rows`` values, of N signatures: shape (bands, N), uint64."""
    count = PERMUTATIONS // rows
    chosen = np.arange(count)[bands]
    keys = np.repeat(chosen.astype(np.uint64)[:, None], len(signatures), axis=1)
    for row in range(rows):
        keys *= _FACTOR
        keys += signatures[:, chosen * rows + row].T
        keys ^= keys >> np.uint64(29)
    return mix(keys)


SIZE = PERMUTATIONS * 4
"""Size of a signature in bytes (little-endian uint32)."""
_ROWS_AT_A_TIME = 1 << 13


class Signatures:
    """A temporary file of MinHash signatures in order of addition."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, packed: bytes) -> None:
        if self._file is None:
            self._file = self._open()
        self._file.write(packed)
        self._count += 1

    def groups(self) -> tuple[Signature, NDArray[np.int64]]:
        """Return the sorted distinct signatures, and the index of each added signature among them.

        The shapes are (M, 128), mapped from a file, and (N,).
        """
        if self._file is None:
            return np.empty((0, PERMUTATIONS), np.uint32), np.empty(0, np.int64)
        self._file.flush()
        rows = _mapped(self._file, np.dtype((np.void, SIZE)), (self._count,))
        order = np.argsort(rows, kind="stable")
        place = np.empty(self._count, np.int64)
        groups, before = 0, None
        with self._open() as out:  # the mapping stays valid when the file is closed
            for start in range(0, len(order), _ROWS_AT_A_TIME):
                part = order[start : start + _ROWS_AT_A_TIME]
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
        if self._file is not None:
            self._file.close()
            self._file = None


def _mapped(file: IO[bytes], kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.memmap(file, dtype=kind, mode="r", shape=shape)


Indices = NDArray[np.int64]
EDGE = np.dtype([("early", np.int64), ("late", np.int64), ("score", np.float32)])
Edges = NDArray[np.void]
"""Array of dtype EDGE: two rows, the earlier first, and the estimated Jaccard similarity of their texts."""

CENTRES = 8
"""Number of rows of a bucket that are compared with all other rows of the bucket."""

_CHUNK = 1 << 13
_PAIRS = 1 << 12


def near_duplicates(
    signatures: Signature,
    threshold: float,
    progress: Progress | None = None,
) -> Edges:
    """Return the edges between near-duplicate rows of ``signatures`` (N, 128), sorted and unique.

    Rows without words have no edges. Raises ValueError for a threshold outside (0, 1] or another shape.
    """
    if signatures.ndim != 2 or signatures.shape[1] != PERMUTATIONS:
        raise ValueError(f"signatures must be (N, {PERMUTATIONS}), not {signatures.shape}")
    rows = rows_for(threshold)
    worded = np.flatnonzero(signatures[:, 0] != EMPTY)
    leaders, equal = _join_equal(signatures, worded)
    edges, progress = equal[:0], progress or NullProgress()
    progress.start("looking for near-duplicates", PERMUTATIONS // rows)
    for band in range(PERMUTATIONS // rows):
        a, b, score = _band_pairs(signatures, leaders, rows, band, threshold)
        edges = _unique(np.concatenate([edges, _edges(a, b, score)]))
        progress.advance()
    progress.finish()
    return _unique(np.concatenate([equal, edges]))


def _join_equal(signatures: Signature, order: Indices) -> tuple[Indices, Edges]:
    keys = np.zeros(len(signatures), dtype=np.uint64)  # a 64-bit hash of each whole signature
    for column in range(PERMUTATIONS):
        keys *= np.uint64(0x9E3779B97F4A7C15)
        keys += signatures[:, column]
        keys ^= keys >> np.uint64(31)
    keys = mix(keys)[order]
    by_key = np.argsort(keys, kind="stable")
    rows, keys = order[by_key], keys[by_key]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = keys[1:] != keys[:-1]
    first = rows[np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))]
    repeated = np.flatnonzero(~new)
    repeated = repeated[_agreement(signatures, first[repeated], rows[repeated]) == 1]
    is_leader = np.ones(len(signatures), dtype=np.bool_)
    is_leader[rows[repeated]] = False
    ones = np.ones(len(repeated), dtype=np.float32)
    return order[is_leader[order]], _edges(first[repeated], rows[repeated], ones)


def _band_pairs(
    signatures: Signature, leaders: Indices, rows: int, band: int, threshold: float
) -> tuple[Indices, Indices, NDArray[np.float32]]:
    keys = _keys_of(signatures, leaders, rows, band)
    by_key = np.argsort(keys, kind="stable")
    members, keys = leaders[by_key], keys[by_key]
    parts: list[tuple[Indices, Indices, NDArray[np.float32]]] = []
    for _ in range(CENTRES):
        starts = np.ones(len(keys), dtype=np.bool_)
        starts[1:] = keys[1:] != keys[:-1]
        centres = members[np.maximum.accumulate(np.where(starts, np.arange(len(keys)), 0))]
        centres, members, keys = centres[~starts], members[~starts], keys[~starts]
        near, score = _near(signatures, centres, members, threshold)
        parts.append((centres[near], members[near], score))
        members, keys = members[~near], keys[~near]
        if not len(members):
            break
    else:
        following = (band + 1) % (PERMUTATIONS // rows)
        by_both = np.lexsort((_keys_of(signatures, members, rows, following), keys))
        members, keys = members[by_both], keys[by_both]
        adjacent = np.flatnonzero(keys[1:] == keys[:-1])
        left, right = members[adjacent], members[adjacent + 1]
        near, score = _near(signatures, left, right, threshold)
        parts.append((left[near], right[near], score))
    early, late, scores = zip(*parts, strict=True)
    return np.concatenate(early), np.concatenate(late), np.concatenate(scores)


def _keys_of(signatures: Signature, members: Indices, rows: int, band: int) -> Hashes:
    parts = [
        band_keys(signatures[members[start : start + _CHUNK]], rows, slice(band, band + 1))[0]
        for start in range(0, len(members), _CHUNK)
    ]
    return np.concatenate([*parts, np.empty(0, dtype=np.uint64)])


def _near(
    signatures: Signature, left: Indices, right: Indices, threshold: float
) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    agreement = _agreement(signatures, left, right)
    near = agreement >= np.float32(threshold)
    return near, agreement[near]


def _agreement(signatures: Signature, left: Indices, right: Indices) -> NDArray[np.float32]:
    result = np.empty(len(left), dtype=np.float32)
    for start in range(0, len(left), _PAIRS):
        part = slice(start, start + _PAIRS)
        equal = signatures[left[part]] == signatures[right[part]]
        result[part] = np.count_nonzero(equal, axis=1) / PERMUTATIONS
    return result


def _edges(early: Indices, late: Indices, score: NDArray[np.float32]) -> Edges:
    edges = np.empty(len(early), dtype=EDGE)
    edges["early"], edges["late"], edges["score"] = early, late, score
    return edges


def _unique(edges: Edges) -> Edges:
    edges = edges[np.lexsort((edges["early"], edges["late"]))]
    new = np.ones(len(edges), dtype=np.bool_)
    same = (edges["early"][1:] == edges["early"][:-1]) & (edges["late"][1:] == edges["late"][:-1])
    new[1:] = ~same
    return edges[new]
