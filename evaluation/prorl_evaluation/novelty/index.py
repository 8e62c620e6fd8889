"""Which n-grams of some responses occur in a corpus: the responses are indexed, the corpus streams past.

Memory depends on the responses alone, never on the corpus. An n-gram can only occur where its first n - 1
words do, so every length is asked for only where the length below was found. Leaves out: reading
(``corpus``) and what it means (``coverage``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prorl_evaluation.novelty.hashing import Grams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]
    Flags = NDArray[np.bool_]

BYTES_A_WORD = 200
"""Peak memory of an index by word of the responses, with eight lengths (measured, rounded up)."""
_FILTER_BITS = 24
_MOST_FILTER_BITS = 28


class GramIndex:
    """The n-grams of the responses given, for all ``lengths`` (ascending), and which have been seen."""

    def __init__(self, responses: Sequence[Hashes], lengths: Sequence[int]) -> None:
        import numpy as np

        self.lengths = tuple(lengths)
        self._known: dict[int, Hashes] = {}
        self._seen: dict[int, Flags] = {}
        grams = [Grams(words) for words in responses]
        for length in self.lengths:
            hashes = np.concatenate([np.zeros(0, np.uint64), *(g.all(length) for g in grams)])
            hashes.sort()  # numpy's own unique is slower on these
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
        """Mark every n-gram that occurs in ``words`` (one block of the corpus)."""
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
        """Yield, for each response and length, whether the n-gram at each of its words has been seen."""
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
    """Return whether each of ``wanted`` is in ``known`` (ascending), and the places of those that are."""
    import numpy as np

    if not len(known):
        return np.zeros(len(wanted), dtype=np.bool_), np.zeros(0, dtype=np.intp)
    places = np.searchsorted(known, wanted)
    places[places == len(known)] = 0
    hit = known[places] == wanted
    return hit, places[hit]
