"""Novelty of a response: the share of its words that no n-gram of a corpus covers.

The creativity index sums it over n-gram lengths (Lu et al. 2024, arXiv 2410.04265), here 5 to 12, since ProRL's index
of 7.6 (figure 3) takes at least eight. Unlike theirs, only verbatim matches count, which makes the index higher.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_common import NullProgress, Progress
from prorl_evaluation.novelty.corpus import Corpus, Grams, Read, encoded, word_hashes, word_stream
from prorl_evaluation.novelty.responses import Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Flags = NDArray[np.bool_]


_FILTER_BITS = 24
_MOST_FILTER_BITS = 28


class GramIndex:
    """The n-grams of responses, and whether the corpus has them."""

    def __init__(self, responses: Sequence[Hashes], lengths: Sequence[int]) -> None:
        import numpy as np

        self.lengths = tuple(lengths)
        self._known: dict[int, Hashes] = {}
        self._seen: dict[int, Flags] = {}
        grams = [Grams(words) for words in responses]
        for length in self.lengths:
            hashes = np.concatenate([np.zeros(0, np.uint64), *(g.all(length) for g in grams)])
            hashes.sort()  # np.unique is slower here
            fresh = np.ones(len(hashes), dtype=np.bool_)
            fresh[1:] = hashes[1:] != hashes[:-1]
            self._known[length] = hashes[fresh]
            self._seen[length] = np.zeros(len(self._known[length]), dtype=np.bool_)
        first = self._known[self.lengths[0]]
        bits = min(_MOST_FILTER_BITS, max(_FILTER_BITS, len(first).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        self._filter = np.zeros(1 << bits, dtype=np.bool_)
        self._filter[first >> self._shift] = True

    def see(self, words: Hashes) -> None:
        """Mark every n-gram of a corpus block."""
        import numpy as np

        grams = Grams(words)
        first = grams.all(self.lengths[0])
        starts = np.flatnonzero(self._filter[first >> self._shift])
        for length in self.lengths:
            starts = starts[starts + length <= grams.words]
            if not len(starts):
                return
            hit, places = _places(self._known[length], grams.at(starts, length))
            self._seen[length][places] = True
            starts = starts[hit]

    def seen(self, responses: Sequence[Hashes]) -> Iterator[dict[int, Flags]]:
        """Yield, per response and length, whether each n-gram was seen."""
        import numpy as np

        found = {n: self._known[n][self._seen[n]] for n in self.lengths}
        for words in responses:
            grams = Grams(words)
            starts = np.arange(max(0, grams.words - self.lengths[0] + 1))
            flags: dict[int, Flags] = {}
            for length in self.lengths:
                starts = starts[starts + length <= grams.words]
                hit, _ = _places(found[length], grams.at(starts, length))
                starts = starts[hit]
                flags[length] = np.zeros(max(0, grams.words - length + 1), dtype=np.bool_)
                flags[length][starts] = True
            yield flags


def _places(known: Hashes, wanted: Hashes) -> tuple[Flags, NDArray[np.intp]]:
    """Return which of ``wanted`` are in ``known`` (ascending), and their positions."""
    import numpy as np

    if not len(known):
        return np.zeros(len(wanted), dtype=np.bool_), np.zeros(0, dtype=np.intp)
    places = np.searchsorted(known, wanted)
    places[places == len(known)] = 0
    hit = known[places] == wanted
    return hit, places[hit]


LENGTHS = (5, 6, 7, 8, 9, 10, 11, 12)


@dataclass(frozen=True, slots=True)
class Novelty:
    """One response's ``uniqueness`` by length; NaN if too short."""

    problem: str
    group: str
    words: int
    uniqueness: tuple[float, ...]

    @property
    def creativity(self) -> float:
        """The sum of ``uniqueness``, from 0 to the number of lengths."""
        return math.fsum(self.uniqueness)


def measure(
    responses: Sequence[Response],
    corpus: Corpus,
    lengths: Sequence[int] = LENGTHS,
    progress: Progress | None = None,
) -> tuple[list[Novelty], Read]:
    """Return each response's novelty with respect to ``corpus``, and its counts; ``lengths`` must ascend.

    It takes up to 200 bytes of memory per word of the responses.
    """
    progress = progress or NullProgress()
    words = [word_hashes(encoded(r.text)) for r in responses]
    index = GramIndex(words, lengths)
    read, shown = Read(), 0
    progress.start("corpus (MB)", None)
    for block in word_stream(corpus, lengths[-1] - 1, read):
        index.see(block)
        if (megabytes := read.bytes // 1_000_000) > shown:
            progress.advance(megabytes - shown, documents=f"{read.documents:,}")
            shown = megabytes
    progress.finish()
    rows = zip(responses, words, index.seen(words), strict=True)
    return [_novelty(r, len(own), seen) for r, own, seen in rows], read


def _novelty(response: Response, count: int, seen: Mapping[int, Flags]) -> Novelty:
    import numpy as np

    if count < max(seen):
        return Novelty(response.problem, response.group, count, (math.nan,) * len(seen))
    uniqueness = []
    for length, flags in seen.items():
        # a word is covered if more seen n-grams have begun than ended
        depth = np.zeros(count + 1, dtype=np.int64)
        places = np.flatnonzero(flags)
        depth[places] += 1
        depth[places + length] -= 1
        covered = int(np.count_nonzero(np.cumsum(depth)[:count]))
        uniqueness.append(1.0 - covered / count)
    return Novelty(response.problem, response.group, count, tuple(uniqueness))
