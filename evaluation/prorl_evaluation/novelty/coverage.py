"""Novelty of a response: the share of its words that no n-gram found in a corpus covers.

L-uniqueness of a text is the share of its words that lie in no n-gram of L words or more that occurs in the
corpus; the creativity index is the sum of it over L (Lu et al. 2024, arXiv 2410.04265, their "AI as
Humanity's Salieri"). A longer n-gram that occurs holds shorter ones that do, so n-grams of exactly L words
decide. We sum over L = 5 to 12: ProRL prints an index of 7.6 (its figure 3), which needs at least eight
lengths. Leaves out near-verbatim matches (they also count n-grams of similar embedding): our index is of
verbatim matches alone, so higher than theirs on the same corpus.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prorl_common import NullProgress, Progress
from prorl_evaluation.novelty.corpus import Corpus, Read, encoded, word_stream
from prorl_evaluation.novelty.hashing import word_hashes
from prorl_evaluation.novelty.index import BYTES_A_WORD, GramIndex
from prorl_evaluation.novelty.responses import Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

LENGTHS = (5, 6, 7, 8, 9, 10, 11, 12)
MEMORY_MB = 1024


@dataclass(frozen=True, slots=True)
class Novelty:
    """One response. ``uniqueness`` and ``found`` (share of its n-grams that occur) by n-gram length.

    All are NaN where the response has fewer words than the longest n-gram: it could not be found.
    """

    problem: str
    group: str
    index: int
    words: int
    uniqueness: tuple[float, ...]
    found: tuple[float, ...]

    @property
    def creativity(self) -> float:
        """The creativity index: the sum of ``uniqueness``, from 0 to the number of lengths."""
        return math.fsum(self.uniqueness)


@dataclass(frozen=True, slots=True)
class Measured:
    """The responses' novelty in their order, what the corpus held, and how often it was read."""

    rows: tuple[Novelty, ...]
    read: Read
    passes: int


def measure(
    responses: Sequence[Response],
    corpus: Corpus,
    lengths: Sequence[int] = LENGTHS,
    memory_mb: int = MEMORY_MB,
    progress: Progress | None = None,
) -> Measured:
    """Return the novelty of each response with respect to ``corpus``.

    The responses' n-grams are held in about ``memory_mb``; where they need more, the corpus is read once
    more for each further part. ``lengths`` ascend. Raises what reading the corpus raises.
    """
    progress = progress or NullProgress()
    rows: list[Novelty] = []
    read, passes = Read(), 0
    for part in _parts(responses, max(1, memory_mb * 1_000_000 // BYTES_A_WORD)):
        words = [word_hashes(encoded(r.text)) for r in part]
        index = GramIndex(words, lengths)
        read, passes = Read(), passes + 1
        progress.start(f"corpus, pass {passes} (MB)", None)
        shown = 0
        for block in word_stream(corpus, lengths[-1] - 1, read):
            index.see(block)
            if (megabytes := read.bytes // 1_000_000) > shown:
                progress.advance(megabytes - shown, documents=f"{read.documents:,}")
                shown = megabytes
        progress.finish()
        seen = index.seen(words)
        rows += [_novelty(r, len(w), s) for r, w, s in zip(part, words, seen, strict=True)]
    return Measured(tuple(rows), read, passes)


def _parts(responses: Sequence[Response], most_words: int) -> Iterator[list[Response]]:
    """Yield runs of responses of at most ``most_words`` words (one alone may have more)."""
    part: list[Response] = []
    size = 0
    for response in responses:
        words = len(word_hashes(encoded(response.text)))
        if part and size + words > most_words:
            yield part
            part, size = [], 0
        part.append(response)
        size += words
    if part:
        yield part


def _novelty(response: Response, count: int, seen: Mapping[int, NDArray[np.bool_]]) -> Novelty:
    """Return the novelty of a response of ``count`` words; ``seen`` is by length and first word."""
    import numpy as np

    if count < max(seen):
        nothing = (math.nan,) * len(seen)
        return Novelty(response.problem, response.group, response.index, count, nothing, nothing)
    found = tuple(float(flags.mean()) for flags in seen.values())
    uniqueness = []
    for length, flags in seen.items():
        # a word is covered where more seen n-grams have begun than ended
        depth = np.zeros(count + 1, dtype=np.int64)
        places = np.flatnonzero(flags)
        depth[places] += 1
        depth[places + length] -= 1
        covered = int(np.count_nonzero(np.cumsum(depth)[:count]))
        uniqueness.append(1.0 - covered / count)
    own = (response.problem, response.group, response.index, count)
    return Novelty(*own, tuple(uniqueness), found)
