"""Near-duplicate search among many signatures, and which row of each group stays.

Banded locality-sensitive hashing by sorting, one band at a time: about 100 bytes a row on top of the
signatures, no dictionary of rows. Equal signatures are joined to one row before any search, and a
bucket of a band is compared with a few centres and between neighbours, never all with all, so rows
repeated thousands of times cost no more than others. A pair can be missed where similarity is not
transitive; a pair returned is always at the threshold or above. Leaves out hashing text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_datasets.text.banding import band_keys, rows_for
from prorl_datasets.text.hashing import EMPTY, PERMUTATIONS, Hashes, Signature, mix

Indices = NDArray[np.int64]
EDGE = np.dtype([("early", np.int64), ("late", np.int64), ("score", np.float32)])
Edges = NDArray[np.void]
"""Array of dtype EDGE: two rows, the one that comes first in the order before the other, and the
estimated Jaccard similarity of their texts.
"""

CENTRES = 8
"""Rows of a bucket that all others in it are compared with."""

_CHUNK = 1 << 13
_PAIRS = 1 << 12


class Kept(NamedTuple):
    """What ``greedy_keep`` decides. ``mask`` (N,): the row stays; ``by`` (N,): the kept row it
    duplicates, its own index where it stays.
    """

    mask: NDArray[np.bool_]
    by: Indices


def near_duplicates(signatures: Signature, threshold: float, order: Indices | None = None) -> Edges:
    """Return the edges between near-duplicate rows of ``signatures`` (N, 128), sorted, no repeats.

    ``order`` lists the rows by priority, best first (default: as they stand); give the same one to
    ``greedy_keep``. Rows without words (signature all EMPTY) have no edges. Raises ValueError for
    a threshold outside (0, 1] or another shape.
    """
    if signatures.ndim != 2 or signatures.shape[1] != PERMUTATIONS:
        raise ValueError(f"signatures must be (N, {PERMUTATIONS}), not {signatures.shape}")
    rows = rows_for(threshold)
    order = np.arange(len(signatures)) if order is None else np.asarray(order, dtype=np.int64)
    place = np.empty(len(signatures), dtype=np.int64)
    place[order] = np.arange(len(order))
    worded = order[signatures[order, 0] != EMPTY]
    leaders, equal = _join_equal(signatures, worded)
    found = equal[:0]
    for band in range(PERMUTATIONS // rows):
        a, b, score = _band_pairs(signatures, leaders, rows, band, threshold)
        found = _unique(np.concatenate([found, _edges(a, b, score)]), place)
    return _unique(np.concatenate([equal, found]), place)


def greedy_keep(order: Indices, edges: Edges) -> Kept:
    """Return which rows stay when, in ``order``, a row goes iff it has an edge to a kept row
    before it. ``order`` is a permutation of all N rows.
    """
    order = np.asarray(order, dtype=np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    first, second = place[edges["early"]], place[edges["late"]]
    early, late = np.minimum(first, second), np.maximum(first, second)
    by = np.arange(len(order))
    sequence = np.lexsort((early, late))
    for start in range(0, len(sequence), _CHUNK):
        chunk = sequence[start : start + _CHUNK]
        for a, b in zip(early[chunk].tolist(), late[chunk].tolist(), strict=True):
            if by[b] == b and by[a] == a:
                by[b] = a
    kept_by = np.empty(len(order), dtype=np.int64)
    kept_by[order] = order[by]
    return Kept(kept_by == np.arange(len(order)), kept_by)


def _join_equal(signatures: Signature, order: Indices) -> tuple[Indices, Edges]:
    """Return the first row of each group of equal signatures, and a star of edges for the rest."""
    keys = np.zeros(len(signatures), dtype=np.uint64)  # 64 bits of each whole signature
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
    star = np.flatnonzero(~new)
    star = star[_agreement(signatures, first[star], rows[star]) == 1]
    alone = np.ones(len(signatures), dtype=np.bool_)
    alone[rows[star]] = False
    ones = np.ones(len(star), dtype=np.float32)
    return order[alone[order]], _edges(first[star], rows[star], ones)


def _band_pairs(
    signatures: Signature, leaders: Indices, rows: int, band: int, threshold: float
) -> tuple[Indices, Indices, NDArray[np.float32]]:
    """Return the pairs at the threshold that one band finds; ``leaders`` are in order."""
    keys = _keys_of(signatures, leaders, rows, band)
    by_key = np.argsort(keys, kind="stable")
    members, keys = leaders[by_key], keys[by_key]
    found: list[tuple[Indices, Indices, NDArray[np.float32]]] = []
    for _ in range(CENTRES):
        starts = np.ones(len(keys), dtype=np.bool_)
        starts[1:] = keys[1:] != keys[:-1]
        centres = members[np.maximum.accumulate(np.where(starts, np.arange(len(keys)), 0))]
        centres, members, keys = centres[~starts], members[~starts], keys[~starts]
        near, score = _near(signatures, centres, members, threshold)
        found.append((centres[near], members[near], score))
        members, keys = members[~near], keys[~near]
        if not len(members):
            break
    else:
        following = (band + 1) % (PERMUTATIONS // rows)
        by_both = np.lexsort((_keys_of(signatures, members, rows, following), keys))
        members, keys = members[by_both], keys[by_both]
        beside = np.flatnonzero(keys[1:] == keys[:-1])
        left, right = members[beside], members[beside + 1]
        near, score = _near(signatures, left, right, threshold)
        found.append((left[near], right[near], score))
    early, late, scores = zip(*found, strict=True)
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
    """Return which pairs agree in at least ``threshold`` of their places, and how much those do."""
    agreement = _agreement(signatures, left, right)
    near = agreement >= np.float32(threshold)
    return near, agreement[near]


def _agreement(signatures: Signature, left: Indices, right: Indices) -> NDArray[np.float32]:
    """Return the share of equal places of each pair of rows."""
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


def _unique(edges: Edges, place: Indices) -> Edges:
    """Return ``edges`` without repeats, sorted by the place of the later row, then the earlier."""
    edges = edges[np.lexsort((place[edges["early"]], place[edges["late"]]))]
    new = np.ones(len(edges), dtype=np.bool_)
    same = (edges["early"][1:] == edges["early"][:-1]) & (edges["late"][1:] == edges["late"][:-1])
    new[1:] = ~same
    return edges[new]
