"""Which n-grams of some responses occur in a corpus: the responses are indexed, the corpus streams past.

Memory depends on the responses alone, never on the corpus. An n-gram can only occur where its first n - 1
words do, so every length is asked for only where the length below was found. Leaves out: reading
(``corpus``) and what it means (``measure``).
"""

from __future__ import annotations

from collections.abc import Sequence
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
        for length in self.lengths:
            rows = [Grams(words).all(length) for words in responses]
            joined = np.concatenate(rows) if rows else np.zeros(0, dtype=np.uint64)
            del rows
            self._known[length] = np.unique(joined)
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
            known = self._known[length]
            if not len(starts) or not len(known):
                return
            wanted = grams.at(starts, length)
            places = np.searchsorted(known, wanted)
            places[places == len(known)] = 0
            hit = known[places] == wanted
            self._seen[length][places[hit]] = True
            starts = starts[hit]

    def seen(self, words: Hashes, length: int) -> Flags:
        """Return whether each n-gram of a response that is in the index has been seen."""
        import numpy as np

        places = np.searchsorted(self._known[length], Grams(words).all(length))
        return self._seen[length][places]
