"""Words and n-grams of UTF-8 bytes as 64-bit hashes, in numpy.

A word is a run of ASCII letters, digits and bytes above 127 (so of any other script), ASCII case aside; each
of ``+ - * / = < > ^`` is a word by itself, since ``x + 2`` and ``x - 2`` say different things. All else only
separates. A NUL byte ends a document: n-grams across it match nothing. Text without spaces (Chinese) is one
word a run. Leaves out: stemming, Unicode case, and any normalisation.

Both hashes are polynomials modulo 2**64 with odd bases, read off prefix sums: a word's over random byte values,
mixed; an n-gram's over its words. Two different n-grams agree with a chance of about 2**-64 each pair.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

DOCUMENT_END = b"\0"
SIGNS = b"+-*/=<>^"
_GAP, _LETTER, _SIGN = 0, 1, 2
_BYTE_BASE = 0x9E3779B97F4A7C15
_WORD_BASE = 0xD1342543DE82EF95
_SEED = 20241005


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.uint8], Hashes]:
    """Return (kind of each byte, value of each byte); a capital letter has its small one's value."""
    import numpy as np

    kind = np.zeros(256, dtype=np.uint8)
    for first, last in ((48, 57), (65, 90), (97, 122), (128, 255)):
        kind[first : last + 1] = _LETTER
    for sign in (*SIGNS, *DOCUMENT_END):
        kind[sign] = _SIGN
    rng = np.random.Generator(np.random.PCG64(_SEED))
    value = rng.integers(0, 2**64, size=256, dtype=np.uint64)
    value[65:91] = value[97:123]
    return kind, value


@lru_cache(maxsize=64)
def _powers(base: int, length: int) -> tuple[Hashes, Hashes]:
    """Return base**i and base**-i modulo 2**64 for i below ``length``."""
    import numpy as np

    found = []
    for factor in (base, pow(base, -1, 2**64)):
        row = np.full(length, factor, dtype=np.uint64)
        row[:1] = 1
        found.append(np.cumprod(row, dtype=np.uint64))
    return found[0], found[1]


def _prefix(values: Hashes, base: int) -> tuple[Hashes, Hashes]:
    """Return (prefix sums of values * base**i, from 0; base**-i)."""
    import numpy as np

    # a table of powers is made once for each power of two, so all of them take twice the largest
    # (64 MB for both bases at blocks of two megabytes)
    power, inverse = _powers(base, 1 << max(10, len(values).bit_length()))
    sums = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(values * power[: len(values)], out=sums[1:])
    return sums, inverse


def word_hashes(data: bytes) -> Hashes:
    """Return the hash of each word in ``data``, in order, shape [words]."""
    import numpy as np

    kind_of, value_of = _tables()
    raw = np.frombuffer(data, dtype=np.uint8)
    if not len(raw):
        return np.zeros(0, dtype=np.uint64)
    kind = kind_of[raw]
    letter, sign = kind == _LETTER, kind == _SIGN
    begins, ends = letter.copy(), letter.copy()
    begins[1:] &= ~letter[:-1]
    ends[:-1] &= ~letter[1:]
    first, last = np.flatnonzero(begins | sign), np.flatnonzero(ends | sign)
    sums, inverse = _prefix(value_of[raw], _BYTE_BASE)
    values = (sums[last + 1] - sums[first]) * inverse[first]
    # the finaliser of SplitMix64 (Steele, Lea and Flood 2014)
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


class Grams:
    """The n-grams of one row of word hashes, any length, without storing any."""

    def __init__(self, words: Hashes) -> None:
        self.words = len(words)
        self._sums, self._inverse = _prefix(words, _WORD_BASE)

    def all(self, length: int) -> Hashes:
        """Return the hash of every n-gram of ``length`` words, shape [max(0, words - length + 1)]."""
        count = max(0, self.words - length + 1)
        return (self._sums[length : length + count] - self._sums[:count]) * self._inverse[:count]

    def at(self, starts: NDArray[np.intp], length: int) -> Hashes:
        """Return the hashes of the n-grams that begin at ``starts``; each must fit."""
        return (self._sums[starts + length] - self._sums[starts]) * self._inverse[starts]


def last_gap(data: bytes) -> int:
    """Return the place behind the last byte of ``data`` that belongs to no run of letters, 0 for none."""
    import numpy as np

    kind = _tables()[0][np.frombuffer(data, dtype=np.uint8)]
    others = np.flatnonzero(kind != _LETTER)
    return int(others[-1]) + 1 if len(others) else 0
