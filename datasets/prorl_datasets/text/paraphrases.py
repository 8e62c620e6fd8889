"""Finds paraphrases and close embeddings, the optional stages of decontamination."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_common import PluginError, what_failed
from prorl_datasets.spec import EmbedderSpec
from prorl_datasets.text.canonical import PLACEHOLDER, canonical_words

NUMBERS = 0.75
"""Minimum weighted agreement (Ruzicka similarity) of the numbers of row and item."""
WEIGHT = 2.4
"""Minimum weight of the shared words, in units of a word that occurs in only one question."""
DISTINCT = 2
SHARE = 0.15
"""Minimum weight of the shared words as a share of the weight of all words of the two texts."""

_COMMON = (
    "a and the of to in is it he his if how what for on at as be are was were has have had do does "
    "did by with from that this then than many much will would can there each per all who which i "
    "you we or so but not let find its into + < > -"
)
_ENDINGS = ("ingly", "edly", "ing", "ed", "ies", "es", "ly", "s")


class Bag(NamedTuple):
    """Distinctive words of a text, and counts of its numbers."""

    words: frozenset[str]
    numbers: Counter[str]

    @classmethod
    def of(cls, text: str) -> Bag:
        """Return the distinctive words of ``text``, including names, and its numbers in digits."""
        words = canonical_words(text, rename=False)
        numbers = Counter(word for word in words if word[0].isdigit())
        return cls(frozenset(map(_stem, words)) - numbers.keys() - _COMMON_STEMS, numbers)


class ParaphraseIndex:
    """An index of the distinctive words and numbers of all benchmark items."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._bags = [Bag.of(text) for text in texts]
        self._count = len(self._bags)
        items: dict[str, list[int]] = defaultdict(list)
        numbers = Counter[str]()
        for item, bag in enumerate(self._bags):
            numbers.update(bag.numbers.keys())
            for word in bag.words:
                items[word].append(item)
        self._items: dict[str, NDArray[np.int64]] = {w: np.array(i) for w, i in items.items()}
        self._numbers = numbers
        self._totals = np.array([self._words_weight(bag.words) for bag in self._bags])

    def matches(self, text: str) -> Iterator[tuple[int, float]]:
        """Yield (item, agreement of the numbers) for each item that ``text`` paraphrases."""
        bag = Bag.of(text)
        if len(bag.numbers) < DISTINCT:
            return
        weights = np.zeros(self._count)
        for word in bag.words:
            owners = self._items.get(word)
            if owners is not None:
                weights[owners] += self._weight(len(owners))
        union = self._totals + self._words_weight(bag.words) - weights
        is_similar = (weights >= WEIGHT * self._weight(1)) & (weights >= SHARE * union)
        for item in np.flatnonzero(is_similar).tolist():
            agreement = self._agreement(bag.numbers, self._bags[item].numbers)
            if agreement >= NUMBERS:
                yield item, agreement

    def _weight(self, documents: int) -> float:
        return float(np.log((self._count + 1) / (documents + 0.5)))

    def _words_weight(self, words: Iterable[str]) -> float:
        return sum(self._weight(len(self._items.get(word, ()))) for word in words)

    def _agreement(self, ours: Counter[str], theirs: Counter[str]) -> float:
        if len(theirs) < DISTINCT:
            return 0.0
        shared, union = ours & theirs, ours | theirs
        return self._sum(shared) / self._sum(union)

    def _sum(self, numbers: Counter[str]) -> float:
        return sum(self._weight(self._numbers[n]) * count for n, count in numbers.items())


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    """Remove an English ending: ``carries``, ``carried`` and ``carry`` agree."""
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("i" if ending == "ies" else "")
            break
    word = word.removesuffix("e")
    return word[:-1] + "i" if word.endswith("y") else word


_COMMON_STEMS = frozenset([*map(_stem, _COMMON.split()), PLACEHOLDER])
Vectors = NDArray[np.float32]
_BATCH = 256


class EmbeddingIndex:
    """An index of the embeddings of all benchmark items, as unit vectors of shape (M, D)."""

    def __init__(self, spec: EmbedderSpec, vectors: Vectors) -> None:
        self._spec, self._vectors = spec, vectors

    def matches(self, text: str) -> Iterator[tuple[int, float]]:
        """Yield (item, cosine) of items whose cosine reaches the spec's similarity. Raises PluginError."""
        (vector,) = unit_vectors(self._spec, [text])
        if len(vector) != self._vectors.shape[1]:
            raise PluginError(
                f"embedder {self._spec.name!r} returned {len(vector)} numbers for a row and "
                f"{self._vectors.shape[1]} for the benchmark's items"
            )
        cosines = self._vectors @ vector
        for item in np.flatnonzero(cosines >= self._spec.similarity).tolist():
            yield item, float(cosines[item])


def unit_vectors(spec: EmbedderSpec, texts: Sequence[str]) -> Vectors:
    """Return the embeddings of ``texts`` scaled to length 1, shape (len(texts), D).

    Raises PluginError if the function fails or returns a wrong shape or non-finite values.
    """
    parts: list[Vectors] = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        try:
            part = np.asarray(spec.embed(batch), dtype=np.float32)
        except Exception as error:
            raise PluginError(f"embedder {spec.name!r} failed: {what_failed(error)}") from error
        if part.ndim != 2 or len(part) != len(batch) or not np.isfinite(part).all():
            raise PluginError(
                f"embedder {spec.name!r} must give a finite vector for each of {len(batch)} texts, not "
                f"an array of shape {part.shape}"
            )
        parts.append(part)
    if len({part.shape[1] for part in parts}) > 1:
        raise PluginError(f"embedder {spec.name!r} returned vectors of different lengths")
    vectors = np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
