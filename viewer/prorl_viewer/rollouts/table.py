"""The columns of all rollouts as arrays: which rows a filter lets through, in which order, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prorl_viewer.rollouts.segment import FLAGS, NUMBERS, SCHEMA, WORDS, Mask, Segment

MOST_WORDS = 300
"""Words of a column that a filter offers."""
Numbers: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]
"""Numbers of rows of a table."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What a row must be: numbers in ranges (both ends included), words among some, flags so."""

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)


class Table:
    """The rollouts of some segments. Rows are in no order of meaning; ``select`` gives one, newest step first.

    ``numbers`` are float64 with NaN for none; ``codes`` point into ``words``.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        parts = [s.columns for s in segments] or [SCHEMA.empty_table()]
        whole = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
        self.rows = whole.num_rows
        self.numbers: dict[str, Numbers] = {
            name: whole[name].to_numpy().astype(np.float64)
            for name in ("step", "row", *NUMBERS, "response", "prompt")
        }
        self.flags: dict[str, Mask] = {
            name: whole[name].combine_chunks().fill_null(False).to_numpy(zero_copy_only=False)
            for name in FLAGS
        }
        self.codes: dict[str, npt.NDArray[np.int32]] = {}
        self.words: dict[str, list[str]] = {}
        for name in WORDS:
            column = whole[name].combine_chunks()
            if isinstance(column, pa.ChunkedArray):
                column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
            self.codes[name] = column.indices.to_numpy()
            self.words[name] = column.dictionary.to_pylist()
        counts = [s.columns.num_rows for s in segments]
        self._first = np.cumsum([0, *counts])
        self._newest = np.lexsort((self.numbers["row"], -self.numbers["step"]))

    def select(self, wanted: Filter, hits: Mask | None = None) -> Rows:
        """Return the rows that pass, the newest step first and within it as in its file."""
        mask = np.ones(self.rows, np.bool_) if hits is None else hits.copy()
        for name, (low, high) in wanted.ranges.items():
            values = self.numbers[name]
            mask &= (values >= low) & (values <= high)
        for name, words in wanted.words.items():
            good = np.array([word in words for word in self.words[name]], np.bool_)
            mask &= good[self.codes[name]] if good.size else False
        for name, flag in wanted.flags.items():
            mask &= self.flags[name] == flag
        return self._newest[mask[self._newest]]

    def sorted(self, rows: Rows, key: str, down: bool) -> Rows:
        """Return ``rows`` by a column, those without a value last; equal ones keep their order."""
        if key in self.codes:
            words = self.words[key]
            ranks = np.empty(len(words))
            ranks[np.argsort(np.array(words, object), kind="stable")] = np.arange(len(words))
            ranks[[at for at, word in enumerate(words) if not word]] = np.nan
            values = ranks[self.codes[key][rows]]
        elif key in self.flags:
            values = self.flags[key][rows].astype(np.float64)
        else:
            values = self.numbers[key][rows]
        # NaN stands last in either direction
        return rows[np.argsort(-values if down else values, kind="stable")]

    def word(self, name: str, row: int) -> str:
        """Return the word that a row has in a column of words, empty where it has none."""
        return self.words[name][int(self.codes[name][row])]

    def number(self, name: str, row: int) -> float | None:
        """Return the number that a row has, as an int where it is whole by its type."""
        value = self.numbers[name][row]
        if np.isnan(value):
            return None
        whole = name not in NUMBERS or pa.types.is_integer(NUMBERS[name])
        return int(value) if whole else float(value)

    def text(self, name: str, row: int, longest: int) -> str | None:
        """Return the first ``longest`` bytes of a row's response or prompt; None where the file has none."""
        number = int(self.numbers[name][row])
        if number < 0:
            return None
        segment = self.segments[int(np.searchsorted(self._first, row, side="right")) - 1]
        return segment.read(number, longest)

    def counts(self, name: str) -> dict[str, int]:
        """Return how many rows have each of the ``MOST_WORDS`` most frequent words, the most frequent first."""
        found = np.bincount(self.codes[name], minlength=len(self.words[name])).tolist()
        pairs = sorted(zip(self.words[name], found, strict=True), key=lambda pair: -pair[1])
        return {word: count for word, count in pairs[:MOST_WORDS] if word}

    def facts(self, row: int) -> dict[str, Any]:
        """Return all that the columns say of a row, but its texts."""
        return {
            **{name: self.number(name, row) for name in ("step", "row", *NUMBERS)},
            **{name: self.word(name, row) or None for name in WORDS},
            **{name: bool(self.flags[name][row]) for name in FLAGS},
        }
