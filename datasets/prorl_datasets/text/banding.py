"""Banding of MinHash signatures (locality-sensitive hashing): which pairs are worth comparing.

A signature is cut into bands of ``rows`` places; two texts of similarity s agree in a whole band
with probability s**rows, and in one of ``bands`` bands with 1 - (1 - s**rows)**bands (Leskovec,
Rajaraman and Ullman, Mining of Massive Datasets, 3.4). Leaves out the comparison itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prorl_datasets.text.hashing import PERMUTATIONS, Hashes, mix

FOUND = 0.995
"""Least probability with which a pair at the threshold becomes a candidate."""

_FACTOR = np.uint64(0xD6E8FEB86659FD93)


def rows_for(threshold: float) -> int:
    """Return the most rows a band (hence the fewest candidates) that still find a pair.

    Raises ValueError for a threshold outside (0, 1].
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"a similarity threshold lies in (0, 1], not {threshold}")
    best = 1
    for rows in range(1, PERMUTATIONS + 1):
        if 1 - (1 - threshold**rows) ** (PERMUTATIONS // rows) >= FOUND:
            best = rows
    return best


def band_keys(signatures: NDArray[np.uint32], rows: int, bands: slice = slice(None)) -> Hashes:
    """Return the keys of the chosen ``bands`` of each signature: shape (bands, N), uint64."""
    count = PERMUTATIONS // rows
    chosen = np.arange(count)[bands]
    keys = np.repeat(chosen.astype(np.uint64)[:, None], len(signatures), axis=1)
    for row in range(rows):
        keys *= _FACTOR
        keys += signatures[:, chosen * rows + row].T
        keys ^= keys >> np.uint64(29)
    return mix(keys)
