"""The rows that ask nearly the same as one: found when asked for, by the words that few questions have.

Candidates share the row's rarest words or its family; their similarity is the Jaccard similarity of three-word
shingles that the build's near-duplicate search estimates, here exact. Leaves out what the build dropped (``drops``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prorl_datasets.text.hashing import SHINGLE, runs_of, word_hashes
from prorl_datasets.text.words import question_words
from prorl_viewer.datasets.table import Places, RowTable

SHOWN = 8
LEAST = 0.1
"""Similarity below which a row is no neighbour."""
RARE_WORDS = 6
"""Words that are searched for; each is a pass over all questions."""
CANDIDATES = 400
PROBED = 2048
"""Rows from which it is estimated how rare a word is."""
_LONGEST_COMPARED = 20_000


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row and how like the other it is, 0 to 1."""

    row: int
    similarity: float


def neighbours(table: RowTable, row: int) -> list[Neighbour]:
    """Return the rows most like ``row``, best first."""
    own = _shingles(table.prompt(row))
    if not len(own):
        return []
    found = []
    for other in _candidates(table, row).tolist():
        theirs = _shingles(table.prompt(other))
        shared = len(np.intersect1d(own, theirs, assume_unique=True))
        similarity = shared / (len(own) + len(theirs) - shared)
        if similarity >= LEAST:
            found.append(Neighbour(other, round(similarity, 4)))
    return sorted(found, key=lambda n: (-n.similarity, n.row))[:SHOWN]


def _candidates(table: RowTable, row: int) -> Places:
    scores = np.zeros(len(table), np.float32)
    for word in _rarest(table, row):
        holding = table.holding(word)
        scores[holding] += math.log((len(table) + 1) / (np.count_nonzero(holding) + 0.5))
    family = table.labels["family"]
    kin = (
        np.flatnonzero(family.codes == family.codes[row])
        if family.of(row)
        else np.empty(0, np.int64)
    )
    if len(kin) > CANDIDATES:  # those with the rarest words in common, then those near in the file
        nearest = np.lexsort((np.abs(kin - row), -scores[kin]))
        kin = kin[nearest[:CANDIDATES]]
    best = np.argsort(-scores, kind="stable")[: CANDIDATES + 1]
    best = best[scores[best] > 0]
    both = np.union1d(best, kin)
    return np.asarray(both[both != row])


def _rarest(table: RowTable, row: int) -> list[str]:
    """Return the words of a question that fewest rows of a sample have."""
    import pyarrow.compute as pc

    text = table.prompt(row)
    plain = text.lower()
    words = {w for w in question_words(text[:_LONGEST_COMPARED]) if len(w) > 3 and w in plain}
    longest = sorted(words, key=lambda w: (-len(w), w))[:60]
    step = max(1, len(table) // PROBED)
    sample = table.prompts.take(np.arange(0, len(table), step))
    counts = {
        w: pc.sum(pc.match_substring(sample, w, ignore_case=True)).as_py() or 0 for w in longest
    }
    return sorted(counts, key=lambda w: (counts[w], -len(w), w))[:RARE_WORDS]


def _shingles(text: str) -> NDArray[np.uint64]:
    hashes = word_hashes(question_words(text[:_LONGEST_COMPARED]))
    return np.unique(runs_of(hashes, min(SHINGLE, max(1, len(hashes)))))
