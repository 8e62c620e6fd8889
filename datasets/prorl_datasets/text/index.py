"""Searches a benchmark index for questions that a training text copies (also in part), contains or resembles.

docs/reference/decontamination.md explains rules and thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from prorl_datasets.spec import EMBEDDERS
from prorl_datasets.text.canonical import canonical_words, numbers_in
from prorl_datasets.text.hashing import Hashes, Profile, View
from prorl_datasets.text.paraphrases import EmbeddingIndex, ParaphraseIndex, unit_vectors
from prorl_datasets.text.view_index import (
    Contents,
    Hit,
    Rules,
    ViewIndex,
    read_contents,
    write_contents,
)
from prorl_datasets.text.words import question_words

EXCERPT_WORDS = 40
_MOST_PAIRS = 1_000_000
"""Maximum number of word pairs compared for an excerpt: 5,000 words of a row and 200 of an item."""


@dataclass(frozen=True, slots=True)
class Match:
    """A rule by which a text matches a benchmark item."""

    benchmark: str
    item_id: str
    rule: str
    score: float
    """1 for "question", the larger of the two texts' shares of common n-grams for "13-gram", the similarity for
    "minhash", the agreement of the numbers for "paraphrase", and the cosine for "embedding".
    """
    shared: str
    """The longest common run of words, at most 40."""
    view: str = "exact"
    """"canonical" if only the canonical words match."""
    numbers: str = "same"
    """"same" if one text has all numbers of the other text, else "other" (a variant)."""


class BenchmarkIndex:
    """A searchable index of all benchmark questions."""

    def __init__(self, rules: Rules, contents: Contents) -> None:
        self.rules = rules
        self.contents = contents
        self._exact = ViewIndex(rules, contents.exact, question_words, rules.minhash)
        self._canonical = ViewIndex(
            rules, contents.canonical, canonical_words, rules.canonical_minhash
        )
        self._embedding = (
            EmbeddingIndex(EMBEDDERS.get(rules.embedding), contents.vectors)
            if rules.embedding
            else None
        )
        self._paraphrases = ParaphraseIndex(contents.exact.questions) if rules.paraphrases else None

    @classmethod
    def build(
        cls, items: Iterable[tuple[str, str, str]], rules: Rules | None = None
    ) -> BenchmarkIndex:
        """Build the index of ``items``: (benchmark, item id, question text).

        Raises UnknownNameError or PluginError if the embedder is missing or fails.
        """
        rules = rules or Rules()
        listed = list(items)
        profiles = [Profile(text, rules.ngram) for _, _, text in listed]
        names = tuple((benchmark, item_id) for benchmark, item_id, _ in listed)
        exact = ViewIndex.contents_of([p.exact for p in profiles], rules)
        canonical = ViewIndex.contents_of([p.canonical for p in profiles], rules)
        vectors = np.zeros((0, 0), dtype=np.float32)
        if rules.embedding:
            vectors = unit_vectors(EMBEDDERS.get(rules.embedding), [text for *_, text in listed])
        return cls(rules, Contents(names, exact, canonical, vectors))

    def save(self, path: Path) -> None:
        """Write the index for ``load``, atomically; equal indexes give equal bytes."""
        write_contents(path, self.rules, self.contents)

    @classmethod
    def load(cls, path: Path) -> BenchmarkIndex:
        return cls(*read_contents(path))

    def __len__(self) -> int:
        return len(self.contents.names)

    def matches(self, text: str | Profile, *, ignore: Hashes | None = None) -> list[Match]:
        """Return a Match for each item and rule that ``text`` matches.

        ``ignore`` contains sorted hashes of n-grams to disregard (see ``template_ngrams``). Raises
        ValueError for a Profile with another n-gram length.
        """
        row = Profile(text, self.rules.ngram) if isinstance(text, str) else text
        if row.n != self.rules.ngram:
            raise ValueError(
                f"the profile has {row.n}-grams, but the index has {self.rules.ngram}-grams"
            )
        exact = self._exact.hits(row.text, row.exact, ignore)
        items = {hit.item for hit in exact}
        canonical = [
            hit
            for hit in self._canonical.hits(row.text, row.canonical, ignore)
            if hit.item not in items
        ]
        if self._paraphrases is not None:
            items |= {hit.item for hit in canonical}
            paraphrased = self._paraphrases.matches(row.text)
            canonical += [Hit(i, "paraphrase", score) for i, score in paraphrased if i not in items]
        if self._embedding is not None:
            items |= {hit.item for hit in canonical}
            close = self._embedding.matches(row.text)
            canonical += [Hit(i, "embedding", cosine) for i, cosine in close if i not in items]
        return [
            *(self._match(hit, row, row.exact, self._exact, "exact") for hit in exact),
            *(self._match(h, row, row.canonical, self._canonical, "canonical") for h in canonical),
        ]

    def _match(self, hit: Hit, row: Profile, view: View, index: ViewIndex, name: str) -> Match:
        item = index.contents.questions[hit.item].split()
        run: Sequence[str] = item
        if hit.rule != "question":
            words = view.words[: max(_MOST_PAIRS // max(len(item), 1), EXCERPT_WORDS)]
            block = SequenceMatcher(None, words, item, autojunk=False).find_longest_match()
            run = words[block.a : block.a + block.size]
        canonical = self.contents.canonical.questions[hit.item].split()
        ours, theirs = numbers_in(row.canonical.words), numbers_in(canonical)
        return Match(
            *self.contents.names[hit.item],
            rule=hit.rule,
            score=hit.score,
            shared=" ".join(run[:EXCERPT_WORDS]),
            view=name,
            numbers="same" if ours <= theirs or theirs <= ours else "other",
        )
