"""Holds all rollouts as arrays, with filters and sorting."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prorl_common import Closing, UserError
from prorl_viewer.rollouts.segment import FLAGS, NUMBERS, SCHEMA, WORDS, Mask, Segment
from prorl_viewer.subject import Query, choice, integer

MOST_WORDS = 300
"""Maximum number of values that a column's filter offers."""
Numbers: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]
"""Indices of rows in a table."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions by column: inclusive ranges of numbers, allowed words, and flags."""

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)


class Table:
    """A run's rollouts in columns, unordered.

    ``numbers`` are float64 columns, NaN if missing. ``codes`` are columns of indices into ``words``.
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

    def select(self, criteria: Filter, hits: Mask | None = None) -> Rows:
        """Return the rows that meet ``criteria`` and are in the mask ``hits``, newest step first."""
        mask = np.ones(self.rows, np.bool_) if hits is None else hits.copy()
        for name, (low, high) in criteria.ranges.items():
            values = self.numbers[name]
            mask &= (values >= low) & (values <= high)
        for name, words in criteria.words.items():
            good = np.array([word in words for word in self.words[name]], np.bool_)
            mask &= good[self.codes[name]] if good.size else False
        for name, flag in criteria.flags.items():
            mask &= self.flags[name] == flag
        return self._newest[mask[self._newest]]

    def sorted(self, rows: Rows, key: str, down: bool) -> Rows:
        """Sort ``rows`` stably by a column, with missing values last."""
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
        # NaN sorts last in both directions
        return rows[np.argsort(-values if down else values, kind="stable")]

    def first_of_groups(self, rows: Rows) -> Rows:
        """Return the first row of each prompt and step; ``rows`` must have the order of ``select``."""
        steps, prompts = self.numbers["step"][rows], self.codes["sample_id"][rows]
        new = np.ones(len(rows), np.bool_)
        new[1:] = (steps[1:] != steps[:-1]) | (prompts[1:] != prompts[:-1])
        return rows[new]

    def group_of(self, row: int) -> range:
        """Return the rows around ``row`` with its step and prompt, up to MOST_ROWS on either side."""
        first, last = row, row
        while first > max(0, row - MOST_ROWS) and self._same(first - 1, row):
            first -= 1
        while last + 1 < min(self.rows, row + MOST_ROWS) and self._same(last + 1, row):
            last += 1
        return range(first, last + 1)

    def _same(self, one: int, other: int) -> bool:
        same_step = self.numbers["step"][one] == self.numbers["step"][other]
        carried = self.flags["carried"][one] == self.flags["carried"][other]
        prompts = self.codes["sample_id"]
        return bool(same_step and carried and prompts[one] == prompts[other])

    def word(self, name: str, row: int) -> str:
        return self.words[name][int(self.codes[name][row])]

    def number(self, name: str, row: int) -> float | None:
        """Return a row's value of a numeric column, as an int for integer columns."""
        value = self.numbers[name][row]
        if np.isnan(value):
            return None
        whole = name not in NUMBERS or pa.types.is_integer(NUMBERS[name])
        return int(value) if whole else float(value)

    def text(self, name: str, row: int, longest: int) -> str | None:
        """Return up to ``longest`` bytes of a row's text, or None."""
        number = int(self.numbers[name][row])
        if number < 0:
            return None
        segment = self.segments[int(np.searchsorted(self._first, row, side="right")) - 1]
        return segment.read(number, longest)

    def counts(self, name: str) -> dict[str, int]:
        counted = np.bincount(self.codes[name], minlength=len(self.words[name])).tolist()
        pairs = sorted(zip(self.words[name], counted, strict=True), key=lambda pair: -pair[1])
        return {word: count for word, count in pairs[:MOST_WORDS] if word}

    def facts(self, row: int) -> dict[str, Any]:
        """Return a row's columns without texts."""
        return {
            **{name: self.number(name, row) for name in ("step", "row", *NUMBERS)},
            **{name: self.word(name, row) or None for name in WORDS},
            **{name: bool(self.flags[name][row]) for name in FLAGS},
        }


RANGES = ("step", *NUMBERS)
SORTED_BY = ("step", "row", *NUMBERS, *WORDS, *FLAGS)
MOST_ROWS = 500
LONGEST_TEXT = 1000


@dataclass(frozen=True, slots=True)
class RowQuery:
    filter: Filter
    text: str
    sort: str
    down: bool
    offset: int
    limit: int


def read_query(query: Query) -> RowQuery:
    """Parse a query. Raises UserError for invalid values."""
    # a name may itself contain a comma
    words = {n: [query[n], *query[n].split(",")] for n in WORDS if query.get(n)}
    ranges = {name: read_range(name, query[name]) for name in RANGES if query.get(name)}
    flags = {n: choice(query, n, ("yes", "no")) == "yes" for n in FLAGS if query.get(n)}
    text = query.get("q", "")
    if len(text) > LONGEST_TEXT:
        raise UserError(f"q is longer than {LONGEST_TEXT} characters: search for a part of it")
    offset, limit = integer(query, "offset", 0), integer(query, "limit", 100)
    if offset < 0 or not 0 <= limit <= MOST_ROWS:
        raise UserError(f"offset must be at least 0 and limit from 0 to {MOST_ROWS}")
    sort = choice(query, "sort", SORTED_BY, "step")
    down = choice(query, "order", ("asc", "desc"), "desc" if sort == "step" else "asc") == "desc"
    flags.setdefault("carried", False)  # only the step that sampled a response lists it
    return RowQuery(Filter(ranges, words, flags), text, sort, down, offset, limit)


def read_range(name: str, text: str) -> tuple[float, float]:
    """Parse ``3``, ``1..3``, ``1..`` or ``..3``. Raises UserError."""
    low, dots, high = text.partition("..")
    try:
        ends = (float(low) if low else -math.inf, float(high) if high else math.inf)
        if not dots:
            ends = (float(low), float(low))
    except ValueError:
        ends = (math.nan, math.nan)
    if math.isnan(ends[0]) or math.isnan(ends[1]):
        raise UserError(f"{name} must be a number or a range like 1..3, not '{text}'")
    return ends


THREADS = 2
MOST_SEARCHES = 16
"""Maximum number of cached searches, with one byte per row each."""
IN_TIME = 0.15
"""Time in seconds that a request waits for its search."""


class Hits(NamedTuple):
    """A mask of the rows that contain a text, and the number of rows searched so far."""

    mask: Mask
    searched: int


class Searches(Closing):
    """Runs and caches searches; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(THREADS)
        self._searches: OrderedDict[str, dict[Segment, Future[Mask]]] = OrderedDict()

    def hits(self, needle: str, segments: Sequence[Segment], in_time: float = IN_TIME) -> Hits:
        """Return which rows contain ``needle``, as far as they could be searched within ``in_time`` seconds."""
        with self._lock:
            running = self._searches.setdefault(needle, {})
            self._searches.move_to_end(needle)
            for dropped in running.keys() - set(segments):
                running.pop(dropped).cancel()
            new = [segment for segment in segments if segment not in running]
            for segment in sorted(new, key=lambda s: -s.newest):
                running[segment] = self._pool.submit(segment.search, needle)
            while len(self._searches) > MOST_SEARCHES:
                for future in self._searches.popitem(last=False)[1].values():
                    future.cancel()
            futures = [running[segment] for segment in segments]
        wait(futures, in_time)
        masks, searched = [], 0
        for segment, future in zip(segments, futures, strict=True):
            rows = segment.columns.num_rows
            if future.done() and not future.cancelled():
                masks.append(future.result())
                searched += rows
            else:
                masks.append(np.zeros(rows, np.bool_))
        return Hits(np.concatenate(masks) if masks else np.zeros(0, np.bool_), searched)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
