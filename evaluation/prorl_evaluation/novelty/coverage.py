"""Measures the novelty of a response: the share of its words that are in no n-gram found in a corpus.

The creativity index is the sum of this share over n-gram lengths (Lu et al. 2024, arXiv 2410.04265). Here the lengths
are 5 to 12, and only verbatim matches count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_common import NullProgress, Progress
from prorl_evaluation.novelty.corpus import (
    Corpus,
    Read,
    encoded,
    gram_hashes,
    word_hashes,
    word_stream,
)
from prorl_evaluation.novelty.responses import Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Flags = NDArray[np.bool_]


_FILTER_BITS = 24
_MOST_FILTER_BITS = 28


class GramIndex:
    """The n-grams of all responses, with a flag for each: whether the corpus contains it."""

    def __init__(self, responses: Sequence[Hashes], lengths: Sequence[int]) -> None:
        import numpy as np

        self.lengths = tuple(lengths)
        self._grams: dict[int, Hashes] = {}
        self._in_corpus: dict[int, Flags] = {}
        for length in self.lengths:
            parts = [gram_hashes(words, length) for words in responses]
            hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
            hashes.sort()  # np.unique is slower here
            fresh = np.ones(len(hashes), dtype=np.bool_)
            fresh[1:] = hashes[1:] != hashes[:-1]
            self._grams[length] = hashes[fresh]
            self._in_corpus[length] = np.zeros(len(self._grams[length]), dtype=np.bool_)
        first = self._grams[self.lengths[0]]
        bits = min(_MOST_FILTER_BITS, max(_FILTER_BITS, len(first).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        self._filter = np.zeros(1 << bits, dtype=np.bool_)
        self._filter[first >> self._shift] = True

    def mark(self, words: Hashes) -> None:
        """Flag the n-grams that occur in ``words``, a part of the corpus."""
        import numpy as np

        first = gram_hashes(words, self.lengths[0])
        starts = np.flatnonzero(self._filter[first >> self._shift])
        for length in self.lengths:
            starts = starts[starts + length <= len(words)]
            if not len(starts):
                return
            hit, places = _places(self._grams[length], gram_hashes(words, length, starts))
            self._in_corpus[length][places] = True
            starts = starts[hit]

    def matches(self, responses: Sequence[Hashes]) -> Iterator[dict[int, Flags]]:
        """Yield, for each response, {n-gram length: whether each of its n-grams is in the corpus}."""
        import numpy as np

        seen_grams = {n: self._grams[n][self._in_corpus[n]] for n in self.lengths}
        for words in responses:
            starts = np.arange(max(0, len(words) - self.lengths[0] + 1))
            flags: dict[int, Flags] = {}
            for length in self.lengths:
                starts = starts[starts + length <= len(words)]
                hit, _ = _places(seen_grams[length], gram_hashes(words, length, starts))
                starts = starts[hit]
                flags[length] = np.zeros(max(0, len(words) - length + 1), dtype=np.bool_)
                flags[length][starts] = True
            yield flags


def _places(grams: Hashes, queries: Hashes) -> tuple[Flags, NDArray[np.intp]]:
    """Return whether each query is in the sorted ``grams``, and the indices of those that are."""
    import numpy as np

    if not len(grams):
        return np.zeros(len(queries), dtype=np.bool_), np.zeros(0, dtype=np.intp)
    places = np.searchsorted(grams, queries)
    places[places == len(grams)] = 0
    hit = grams[places] == queries
    return hit, places[hit]


LENGTHS = (5, 6, 7, 8, 9, 10, 11, 12)


@dataclass(frozen=True, slots=True)
class Novelty:
    """One response's ``uniqueness`` (share of new words) for each n-gram length.

    All are NaN if the response has fewer words than the greatest length.
    """

    problem: str
    group: str
    words: int
    uniqueness: tuple[float, ...]

    @property
    def creativity(self) -> float:
        """The creativity index: the sum of ``uniqueness`` over the n-gram lengths."""
        return math.fsum(self.uniqueness)


def measure(
    responses: Sequence[Response],
    corpus: Corpus,
    lengths: Sequence[int] = LENGTHS,
    progress: Progress | None = None,
) -> tuple[list[Novelty], Read]:
    """Return each response's novelty with respect to ``corpus``, and how much of the corpus was read.

    ``lengths`` must be ascending.
    """
    progress = progress or NullProgress()
    words = [word_hashes(encoded(r.text)) for r in responses]
    index = GramIndex(words, lengths)
    read, reported = Read(), 0
    progress.start("corpus (MB)", None)
    for block in word_stream(corpus, lengths[-1] - 1, read):
        index.mark(block)
        if (megabytes := read.bytes // 1_000_000) > reported:
            progress.advance(megabytes - reported, documents=f"{read.documents:,}")
            reported = megabytes
    progress.finish()
    rows = zip(responses, words, index.matches(words), strict=True)
    return [_novelty(r, len(hashes), flags) for r, hashes, flags in rows], read


def _novelty(response: Response, count: int, flags_by_length: Mapping[int, Flags]) -> Novelty:
    import numpy as np

    if count < max(flags_by_length):
        return Novelty(response.problem, response.group, count, (math.nan,) * len(flags_by_length))
    uniqueness = []
    for length, flags in flags_by_length.items():
        # a word is covered if more matching n-grams have begun than ended before it
        depth = np.zeros(count + 1, dtype=np.int64)
        places = np.flatnonzero(flags)
        depth[places] += 1
        depth[places + length] -= 1
        covered = int(np.count_nonzero(np.cumsum(depth)[:count]))
        uniqueness.append(1.0 - covered / count)
    return Novelty(response.problem, response.group, count, tuple(uniqueness))
