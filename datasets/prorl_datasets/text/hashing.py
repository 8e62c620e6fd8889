"""Computes hashes of a text: n-grams, MinHash signatures and profiles."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from prorl_datasets.text.canonical import canonical_words
from prorl_datasets.text.words import question_words

Hashes = NDArray[np.uint64]
Signature = NDArray[np.uint32]

NGRAM = 13
PERMUTATIONS = 128
SHINGLE = 3
"""Number of words in a shingle of a signature; docs/reference/decontamination.md explains the choice."""

EMPTY = np.uint32(0xFFFFFFFF)
"""Value of every position in the signature of a text without words."""

_BASE = 0x9E3779B97F4A7C15
_BLOCK = 2048


def word_hashes(words: Sequence[str]) -> Hashes:
    """Return the blake2b-64 hash of each word, shape (len(words),)."""
    return np.fromiter(map(_word_hash, words), dtype=np.uint64, count=len(words))


def runs_of(hashes: Hashes, n: int) -> Hashes:
    """Return the mixed polynomial hash of each run of ``n`` word hashes, shape (max(len - n + 1, 0),)."""
    # A run's hash is a difference of prefix sums, divided by a power of the base (odd, so invertible modulo 2**64).
    count = len(hashes) - n + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64)
    powers, inverses = _powers(1 << (len(hashes) - 1).bit_length())
    sums = np.zeros(len(hashes) + 1, dtype=np.uint64)
    np.cumsum(hashes * powers[: len(hashes)], out=sums[1:])
    return mix((sums[n:] - sums[:count]) * inverses[:count] + np.uint64(n))


def mix(values: Hashes) -> Hashes:
    """Apply the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    mixed = values ^ (values >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


@dataclass(frozen=True, slots=True)
class View:
    """The words of a text, exact or canonical, and their hashes."""

    words: tuple[str, ...]
    question: str
    """The words joined by spaces."""
    hashes: Hashes
    """Hash of each word, shape (W,)."""
    ngrams: Hashes
    """Hash of each n-gram, in order and with repeats."""
    signature: Signature

    @classmethod
    def of(cls, words: Sequence[str], n: int) -> View:
        hashes = word_hashes(words)
        ngrams = runs_of(hashes, n)
        return cls(tuple(words), " ".join(words), hashes, ngrams, signature_of(hashes))


@dataclass(frozen=True)
class Profile:
    """A text and its exact and canonical words, each computed on first use."""

    text: str
    n: int = NGRAM

    @cached_property
    def exact(self) -> View:
        return View.of(question_words(self.text), self.n)

    @cached_property
    def canonical(self) -> View:
        return View.of(canonical_words(self.text), self.n)


def signature_of(hashes: Hashes) -> Signature:
    """Return the MinHash signature of a text from its word hashes: shape (128,), uint32.

    The share of equal positions estimates the Jaccard similarity of the sets of 3-word shingles, with a standard error
    of at most 0.045.
    """
    if len(hashes) == 0:
        return np.full(PERMUTATIONS, EMPTY)
    shingles = runs_of(hashes, min(SHINGLE, len(hashes)))
    least = np.full(PERMUTATIONS, np.uint64(0xFFFFFFFFFFFFFFFF))
    for start in range(0, len(shingles), _BLOCK):
        block = _FACTORS[:, None] * shingles[None, start : start + _BLOCK]
        block += _OFFSETS[:, None]
        np.minimum(least, block.min(axis=1), out=least)
    return (least >> np.uint64(32)).astype(np.uint32)


@lru_cache(maxsize=1 << 16)
def _word_hash(word: str) -> int:
    data = word.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


@lru_cache(maxsize=16)
def _powers(length: int) -> tuple[Hashes, Hashes]:
    bases = np.full((2, length), [[_BASE], [pow(_BASE, -1, 1 << 64)]], dtype=np.uint64)
    bases[:, 0] = 1
    powers: Hashes = np.cumprod(bases, axis=1)
    return powers[0], powers[1]


_DRAWS = word_hashes([f"prorl minhash {i}" for i in range(2 * PERMUTATIONS)])
_FACTORS, _OFFSETS = _DRAWS[:PERMUTATIONS] | np.uint64(1), _DRAWS[PERMUTATIONS:]
"""Odd factors and offsets of the 128 hash functions a * x + b mod 2**64."""


def template_ngrams(texts: Iterable[str]) -> Hashes:
    """Return the sorted hashes of all n-grams of exact or canonical words that occur in two or more ``texts``."""
    profiles = [Profile(text) for text in texts]
    probes = [np.unique(np.concatenate([p.exact.ngrams, p.canonical.ngrams])) for p in profiles]
    values, counts = np.unique(
        np.concatenate([*probes, np.empty(0, dtype=np.uint64)]), return_counts=True
    )
    return values[counts >= 2]
