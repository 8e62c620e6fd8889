"""The benchmark index: is a training text a copy, a part or a near copy of a benchmark question?

Three lexical rules, each with its own reason in the report: the whole question (equal, or a short
one inside a longer text), shared 13-grams, and MinHash similarity. Thresholds are chosen in
docs/reference/decontamination.md, which also says what the rules cannot find: paraphrases and
translations. Leaves out reading the benchmarks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prorl_datasets.text.banding import band_keys, rows_for
from prorl_datasets.text.hashing import (
    PERMUTATIONS,
    Hashes,
    Profile,
    profile,
    runs_of,
)
from prorl_datasets.text.index_file import Contents, Rules, read_contents, write_contents

EXCERPT_WORDS = 40
_MOST_PAIRS = 1_000_000
"""Pairs of words that are compared for an excerpt: 5,000 words of a row and 200 of an item."""


@dataclass(frozen=True, slots=True)
class Match:
    """One rule that one benchmark item sets off.

    ``score``: 1 for "question", the larger share for "13-gram", the estimated similarity for
    "minhash". ``shared``: the longest run of words in common, at most 40 of them.
    """

    benchmark: str
    item_id: str
    rule: str
    score: float
    shared: str


class BenchmarkIndex:
    """All benchmark questions, searchable; made by ``build``, or by ``load`` from a file."""

    def __init__(self, rules: Rules, contents: Contents) -> None:
        self.rules = rules
        self.contents = contents
        self._rows = rows_for(rules.minhash)
        self._whole: dict[str, list[int]] = defaultdict(list)
        for item, question in enumerate(contents.questions):
            if question:
                self._whole[question].append(item)
        long_enough = np.flatnonzero(self._long_enough())
        self._leads = _Table.of(contents.leads[long_enough], long_enough)
        keys = band_keys(contents.signatures[long_enough], self._rows)
        self._bands = _Table.of(keys.ravel(), np.tile(long_enough, len(keys)))

    @classmethod
    def build(
        cls, items: Iterable[tuple[str, str, str]], rules: Rules | None = None
    ) -> BenchmarkIndex:
        """Return the index of ``items``: (benchmark, item id, question text).

        An item without words stays in the index and matches nothing.
        """
        rules = rules or Rules()
        names, questions = [], []
        grams, leads, signatures = [], [], []
        for benchmark, item_id, text in items:
            found = profile(text, rules.ngram)
            names.append((benchmark, item_id))
            questions.append(found.question)
            grams.append(np.unique(found.ngrams))
            lead = runs_of(found.hashes[: rules.least_words], rules.least_words)
            leads.append(lead[0] if len(lead) else np.uint64(0))
            signatures.append(found.signature)
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
        table = np.array(signatures, dtype=np.uint32).reshape(-1, PERMUTATIONS)
        contents = Contents(
            names=tuple(names),
            questions=tuple(questions),
            grams=pairs[order],
            gram_items=owners[order],
            totals=totals,
            leads=np.array(leads, dtype=np.uint64),
            signatures=table,
        )
        return cls(rules, contents)

    def save(self, path: Path) -> None:
        """Write the index to one file, atomically; equal indexes give equal bytes."""
        write_contents(path, self.rules, self.contents)

    @classmethod
    def load(cls, path: Path) -> BenchmarkIndex:
        """Return the index in ``path``; raises DatasetError for a missing or damaged file."""
        return cls(*read_contents(path))

    def __len__(self) -> int:
        return len(self.contents.names)

    def matches(self, text: str | Profile, *, ignore: Hashes | None = None) -> list[Match]:
        """Return every rule that ``text`` sets off, a Match for each item; [] is a clean text.

        ``ignore``: sorted n-gram hashes that do not count (``template_ngrams``). The other two
        rules know nothing of it: hand in the text without its template where that matters. Raises
        ValueError for a Profile made with other n-grams than the index's.
        """
        row = profile(text, self.rules.ngram) if isinstance(text, str) else text
        if row.n != self.rules.ngram:
            raise ValueError(f"the profile has {row.n}-grams, the index {self.rules.ngram}-grams")
        if not row.words:
            return []
        return [*self._whole_questions(row), *self._shared_ngrams(row, ignore), *self._near(row)]

    def _whole_questions(self, row: Profile) -> Iterator[Match]:
        for item in self._whole.get(row.question, ()):
            yield self._match(item, "question", 1.0, row.words)
        starts = runs_of(row.hashes, self.rules.least_words)
        padded = f" {row.question} "
        for item in sorted(set(self._leads.owners(starts).tolist())):
            question = self.contents.questions[item]
            if question != row.question and f" {question} " in padded:
                yield self._match(item, "question", 1.0, question.split())

    def _shared_ngrams(self, row: Profile, ignore: Hashes | None) -> Iterator[Match]:
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
                run = _longest_run(row.words, contents.questions[item].split())
                yield self._match(
                    int(item), f"{self.rules.ngram}-gram", float(max(of_item, of_row)), run
                )

    def _near(self, row: Profile) -> Iterator[Match]:
        if len(row.words) < self.rules.least_words:
            return
        keys = band_keys(row.signature[None, :], self._rows).ravel()
        candidates = np.unique(self._bands.owners(keys))
        if not len(candidates):
            return
        agreement = (self.contents.signatures[candidates] == row.signature).mean(axis=1)
        for item, score in zip(candidates.tolist(), agreement.tolist(), strict=True):
            if score >= self.rules.minhash:
                run = _longest_run(row.words, self.contents.questions[item].split())
                yield self._match(item, "minhash", score, run)

    def _match(self, item: int, rule: str, score: float, run: Sequence[str]) -> Match:
        return Match(*self.contents.names[item], rule, score, " ".join(run[:EXCERPT_WORDS]))

    def _long_enough(self) -> NDArray[np.bool_]:
        return np.array(
            [q.count(" ") + 1 >= self.rules.least_words for q in self.contents.questions],
            dtype=np.bool_,
        )


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


def _longest_run(row: Sequence[str], item: Sequence[str]) -> Sequence[str]:
    """Return the longest run of words that both have, looked for in the first words of a huge row."""
    row = row[: max(_MOST_PAIRS // max(len(item), 1), EXCERPT_WORDS)]
    found = SequenceMatcher(None, row, item, autojunk=False).find_longest_match()
    return row[found.a : found.a + found.size]
