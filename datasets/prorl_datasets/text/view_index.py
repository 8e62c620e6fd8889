"""The rules on one view of the benchmark questions: which items does a text repeat?

The whole question (equal, or inside a longer text), shared n-grams, and MinHash similarity. A
question of fewer than ``least_words`` words counts inside a longer text only if it says something:
it has a number, or two words that few questions have. Then its words must be whole sentences of the
text, or there must be at least five, two of them words of letters and one a number. Leaves out
joining the views and words for a report (``index``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_datasets.text.banding import band_keys, rows_for
from prorl_datasets.text.canonical import PLACEHOLDER
from prorl_datasets.text.hashing import PERMUTATIONS, Hashes, View, runs_of, word_hashes
from prorl_datasets.text.index_file import Rules, ViewContents
from prorl_datasets.text.sentences import Sentences

Words = Callable[[str], Sequence[str]]
_ANYWHERE = 5
"""Words of a short question that may stand inside a sentence of the row."""


class Hit(NamedTuple):
    """A rule that an item sets off; ``score`` as in ``index.Match``."""

    item: int
    rule: str
    score: float


class ViewIndex:
    """One view of all questions, searchable.

    ``words`` reads a text in this view; ``minhash`` is the view's least similarity.
    """

    def __init__(self, rules: Rules, contents: ViewContents, words: Words, minhash: float) -> None:
        self.rules, self.contents, self._words, self._minhash = rules, contents, words, minhash
        self._rows = rows_for(minhash)
        self._whole: dict[str, list[int]] = defaultdict(list)
        for item, question in enumerate(contents.questions):
            if question:
                self._whole[question].append(item)
        split = [question.split() for question in self._whole]
        seen = Counter(word for words in split for word in set(words))
        rare = {word for word, count in seen.items() if count < rules.common and len(word) > 2}
        rare.discard(PLACEHOLDER)
        self._short: dict[int, set[str]] = defaultdict(set)
        for words_of in split:
            if 1 < len(words_of) < rules.least_words and _says_something(words_of, rare):
                self._short[len(words_of)].add(" ".join(words_of))
        starts = [runs_of(word_hashes(q.split()[:2]), 2) for qs in self._short.values() for q in qs]
        self._short_starts = np.unique(np.concatenate([*starts, np.empty(0, dtype=np.uint64)]))
        long_enough = np.flatnonzero(
            [q.count(" ") + 1 >= rules.least_words for q in contents.questions]
        )
        self._leads = _Table.of(contents.leads[long_enough], long_enough)
        keys = band_keys(contents.signatures[long_enough], self._rows)
        self._bands = _Table.of(keys.ravel(), np.tile(long_enough, len(keys)))

    @staticmethod
    def contents_of(views: Sequence[View], rules: Rules) -> ViewContents:
        """Return what the index holds of ``views``, one of each item."""
        questions = tuple(view.question for view in views)
        grams = [np.unique(view.ngrams) for view in views]
        # n-grams that at least ``common`` different questions have do not count
        first = {question: item for item, question in reversed(list(enumerate(questions)))}
        seen = np.concatenate([*(grams[i] for i in first.values()), np.empty(0, dtype=np.uint64)])
        values, counts = np.unique(seen, return_counts=True)
        boilerplate = values[counts >= rules.common]
        kept = [g[~_is_member(g, boilerplate)] for g in grams]
        pairs = np.concatenate([*kept, np.empty(0, dtype=np.uint64)])
        totals = np.array([len(k) for k in kept], dtype=np.int32)
        owners = np.repeat(np.arange(len(kept), dtype=np.int32), totals)
        order = np.argsort(pairs, kind="stable")
        leads = [runs_of(view.hashes[: rules.least_words], rules.least_words) for view in views]
        signatures = [view.signature for view in views]
        return ViewContents(
            questions=questions,
            grams=pairs[order],
            gram_items=owners[order],
            totals=totals,
            leads=np.array([lead[0] if len(lead) else 0 for lead in leads], dtype=np.uint64),
            signatures=np.array(signatures, dtype=np.uint32).reshape(-1, PERMUTATIONS),
        )

    def hits(self, text: str, row: View, ignore: Hashes | None) -> list[Hit]:
        """Return what ``row``, the view of ``text``, sets off; ``ignore`` as in ``index``."""
        if not row.words:
            return []
        ngrams = self._shared_ngrams(row, ignore)
        return [
            *self._whole_questions(row),
            *self._short_ones(text, row),
            *ngrams,
            *self._near(row),
        ]

    def _whole_questions(self, row: View) -> Iterator[Hit]:
        for item in self._whole.get(row.question, ()):
            yield Hit(item, "question", 1.0)
        starts = runs_of(row.hashes, self.rules.least_words)
        padded = f" {row.question} "
        for item in sorted(set(self._leads.owners(starts).tolist())):
            question = self.contents.questions[item]
            if question != row.question and f" {question} " in padded:
                yield Hit(item, "question", 1.0)

    def _short_ones(self, text: str, row: View) -> Iterator[Hit]:
        starts = np.flatnonzero(_is_member(runs_of(row.hashes, 2), self._short_starts)).tolist()
        found = {
            run
            for start in starts
            for size, questions in self._short.items()
            if size < len(row.words)
            and (run := " ".join(row.words[start : start + size])) in questions
        }
        if not found:
            return
        sentences = Sentences(text, self._words)
        for question in sorted(found):
            words = question.split()
            if _stands_alone(words) or sentences.ask(words):
                for item in self._whole[question]:
                    yield Hit(item, "question", 1.0)

    def _shared_ngrams(self, row: View, ignore: Hashes | None) -> Iterator[Hit]:
        contents = self.contents
        places = np.flatnonzero(_is_member(row.ngrams, contents.grams))
        if ignore is not None and len(places):
            places = places[~_is_member(row.ngrams[places], ignore)]
        if not len(places):
            return
        everything = np.unique(row.ngrams)
        if ignore is not None:
            everything = everything[~_is_member(everything, ignore)]
        shared = np.unique(row.ngrams[places])
        low, high = (np.searchsorted(contents.grams, shared, side) for side in ("left", "right"))
        owners = np.concatenate([contents.gram_items[a:b] for a, b in zip(low, high, strict=True)])
        for item, count in zip(*np.unique(owners, return_counts=True), strict=True):
            of_item, of_row = count / contents.totals[item], count / len(everything)
            enough = of_row >= self.rules.row_share and count >= self.rules.row_ngrams
            if of_item >= self.rules.ngram_share or enough:
                yield Hit(int(item), f"{self.rules.ngram}-gram", float(max(of_item, of_row)))

    def _near(self, row: View) -> Iterator[Hit]:
        if len(row.words) < self.rules.least_words:
            return
        keys = band_keys(row.signature[None, :], self._rows).ravel()
        candidates = np.unique(self._bands.owners(keys))
        if not len(candidates):
            return
        agreement = (self.contents.signatures[candidates] == row.signature).mean(axis=1)
        for item, score in zip(candidates.tolist(), agreement.tolist(), strict=True):
            if score >= self._minhash:
                yield Hit(item, "minhash", score)


def _says_something(question: Sequence[str], rare: set[str]) -> bool:
    return any(word[0].isdigit() for word in question) or len(rare.intersection(question)) > 1


def _stands_alone(question: Sequence[str]) -> bool:
    """Return whether a short question is telling enough to be found inside a sentence."""
    letters = {word for word in question if len(word) > 1 and word.isalpha()} - {PLACEHOLDER}
    has_number = any(word[0].isdigit() for word in question)
    return len(question) >= _ANYWHERE and has_number and len(letters) > 1


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A multimap from hash to item: ``keys`` sorted, ``items`` beside them."""

    keys: Hashes
    items: NDArray[np.intp]

    @classmethod
    def of(cls, keys: Hashes, items: NDArray[np.intp]) -> _Table:
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], items[order])

    def owners(self, wanted: Hashes) -> NDArray[np.intp]:
        """Return the items of all ``wanted`` keys, with repeats."""
        low = np.searchsorted(self.keys, wanted, "left")
        found = np.flatnonzero(low < len(self.keys))
        found = found[self.keys[low[found]] == wanted[found]]
        low = low[found]
        counts = np.searchsorted(self.keys, wanted[found], "right") - low
        starts = np.repeat(low - (np.cumsum(counts) - counts), counts)
        return self.items[starts + np.arange(len(starts))]


def _is_member(wanted: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Return which values of ``wanted`` are in the sorted ``known``."""
    if not len(known):
        return np.zeros(len(wanted), dtype=np.bool_)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.asarray(known[places] == wanted, dtype=np.bool_)
