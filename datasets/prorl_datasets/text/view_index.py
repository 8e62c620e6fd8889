"""Searches one view (exact or canonical words) of the benchmark index, and reads and writes the index file."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_common import atomic_write_bytes
from prorl_datasets.text.canonical import PLACEHOLDER
from prorl_datasets.text.duplicates import band_keys, rows_for
from prorl_datasets.text.hashing import (
    NGRAM,
    PERMUTATIONS,
    Hashes,
    Signature,
    View,
    runs_of,
    word_hashes,
)
from prorl_datasets.text.words import Sentences

Indices = NDArray[np.int32]
_ARRAYS = ("grams", "gram_items", "totals", "leads", "signatures")
"""The arrays of ``ViewContents``."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Thresholds above which a row counts as contaminated.

    A row is dropped if it has at least the fraction ``ngram_share`` of an item's n-grams, or if at least ``row_ngrams``
    of its own n-grams occur in one item and are at least the fraction ``row_share`` of all its n-grams.
    """

    ngram: int = NGRAM
    ngram_share: float = 0.3
    row_share: float = 0.6
    row_ngrams: int = 3
    common: int = 5
    """N-grams that occur in at least this number of questions are ignored."""
    minhash: float = 0.5
    """Minimum similarity of the exact signatures."""
    canonical_minhash: float = 0.6
    """Minimum similarity of the canonical signatures."""
    least_words: int = 8
    """Shorter questions match only if they are the whole text, complete sentences of it, or distinctive."""
    paraphrases: bool = False
    embedding: str = ""
    """Name of an ``EmbedderSpec``, or ""."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewContents:
    """The exact or canonical words of M items, with G pairs of an n-gram and an item that contains it."""

    questions: tuple[str, ...]
    grams: Hashes
    """Sorted n-grams of the pairs, shape (G,), without the ignored ones."""
    gram_items: Indices
    """Items of the pairs, shape (G,)."""
    totals: Indices
    """Number of n-grams of each item, shape (M,)."""
    leads: Hashes
    """Hash of the first ``least_words`` words, shape (M,); 0 for shorter questions."""
    signatures: Signature
    """MinHash signatures of the questions, shape (M, 128)."""


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    names: tuple[tuple[str, str], ...]
    """(benchmark, id) of each item."""
    exact: ViewContents
    canonical: ViewContents
    vectors: NDArray[np.float32]
    """Embeddings as unit vectors, shape (M, D), or (0, 0) without an embedding."""


def write_contents(path: Path, rules: Rules, contents: Contents) -> None:
    views = {"exact": contents.exact, "canonical": contents.canonical}
    meta = {
        "rules": asdict(rules),
        "names": contents.names,
        "questions": {view: contents_of.questions for view, contents_of in views.items()},
    }
    text = json.dumps(meta)
    arrays = {
        f"{view}.{name}": getattr(contents_of, name)
        for view, contents_of in views.items()
        for name in _ARRAYS
    }
    arrays["vectors"] = contents.vectors
    buffer = io.BytesIO()
    np.savez(buffer, meta=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    atomic_write_bytes(path, buffer.getvalue())


def read_contents(path: Path) -> tuple[Rules, Contents]:
    with np.load(path, allow_pickle=False) as file:
        data = {name: file[name] for name in file.files}
    meta = json.loads(data["meta"].tobytes())
    names = tuple((benchmark, item) for benchmark, item in meta["names"])
    exact, canonical = (
        ViewContents(tuple(questions), **{name: data[f"{view}.{name}"] for name in _ARRAYS})
        for view, questions in meta["questions"].items()
    )
    return Rules(**meta["rules"]), Contents(names, exact, canonical, data["vectors"])


Words = Callable[[str], Sequence[str]]
_ANYWHERE = 5
"""Minimum number of words of a short question that may match inside a sentence of the row."""


class Hit(NamedTuple):
    """The index of a matching item, and the rule; ``score`` is defined in ``index.Match``."""

    item: int
    rule: str
    score: float


class ViewIndex:
    """An index of all questions by the words into which ``words`` splits them."""

    def __init__(self, rules: Rules, contents: ViewContents, words: Words, minhash: float) -> None:
        self.rules, self.contents, self._words, self._minhash = rules, contents, words, minhash
        self._rows = rows_for(minhash)
        self._whole: dict[str, list[int]] = defaultdict(list)
        for item, question in enumerate(contents.questions):
            if question:
                self._whole[question].append(item)
        split = [question.split() for question in self._whole]
        counts = Counter(word for words in split for word in set(words))
        rare = {word for word, count in counts.items() if count < rules.common and len(word) > 2}
        rare.discard(PLACEHOLDER)
        self._short: dict[int, set[str]] = defaultdict(set)
        for words_of in split:
            has_number = any(word[0].isdigit() for word in words_of)
            is_distinctive = has_number or len(rare.intersection(words_of)) > 1
            if is_distinctive and 1 < len(words_of) < rules.least_words:
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
        questions = tuple(view.question for view in views)
        grams = [np.unique(view.ngrams) for view in views]
        # drop n-grams that occur in at least ``common`` different questions
        first = {question: item for item, question in reversed(list(enumerate(questions)))}
        distinct = np.concatenate(
            [*(grams[i] for i in first.values()), np.empty(0, dtype=np.uint64)]
        )
        values, counts = np.unique(distinct, return_counts=True)
        boilerplate = values[counts >= rules.common]
        counted = [g[~_is_member(g, boilerplate)] for g in grams]
        pairs = np.concatenate([*counted, np.empty(0, dtype=np.uint64)])
        totals = np.array([len(k) for k in counted], dtype=np.int32)
        owners = np.repeat(np.arange(len(counted), dtype=np.int32), totals)
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
        """Return the matches of ``text``. ``row`` has its words; for ``ignore`` see ``BenchmarkIndex.matches``."""
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
        candidates = {
            run
            for start in starts
            for size, questions in self._short.items()
            if size < len(row.words)
            and (run := " ".join(row.words[start : start + size])) in questions
        }
        if not candidates:
            return
        sentences = Sentences(text, self._words)
        for question in sorted(candidates):
            words = question.split()
            letters = {word for word in words if len(word) > 1 and word.isalpha()} - {PLACEHOLDER}
            has_number = any(word[0].isdigit() for word in words)
            may_be_inside = len(words) >= _ANYWHERE and has_number and len(letters) > 1
            if may_be_inside or sentences.contains(words):
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


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    keys: Hashes
    items: NDArray[np.intp]

    @classmethod
    def of(cls, keys: Hashes, items: NDArray[np.intp]) -> _Table:
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], items[order])

    def owners(self, keys: Hashes) -> NDArray[np.intp]:
        low = np.searchsorted(self.keys, keys, "left")
        places = np.flatnonzero(low < len(self.keys))
        places = places[self.keys[low[places]] == keys[places]]
        low = low[places]
        counts = np.searchsorted(self.keys, keys[places], "right") - low
        starts = np.repeat(low - (np.cumsum(counts) - counts), counts)
        return self.items[starts + np.arange(len(starts))]


def _is_member(values: Hashes, members: Hashes) -> NDArray[np.bool_]:
    if not len(members):
        return np.zeros(len(values), dtype=np.bool_)
    places = np.minimum(np.searchsorted(members, values), len(members) - 1)
    return np.asarray(members[places] == values, dtype=np.bool_)
