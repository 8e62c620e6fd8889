"""Holds dataset rows as columns in memory, with pass rates and filters."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_common import UserError, read_jsonl
from prorl_datasets import PASS_RATES, SPLITS, DatasetError, prompt_key
from prorl_datasets.storage import COLUMNS
from prorl_viewer.answering import label
from prorl_viewer.subject import Query, choice, first_line, integer, number

Values = NDArray[np.float32]


def ratings_file(folder: Path) -> Path | None:
    places = (folder / PASS_RATES, folder.with_name(f"{folder.name}.ratings") / PASS_RATES)
    return next((place for place in places if place.is_file()), None)


@dataclass(slots=True)
class Rates:
    """Pass rates of N rows: ``value``, ``low``, ``high`` (NaN if unrated) and sample counts ``n``, all of shape (N,)."""

    value: Values
    low: Values
    high: Values
    n: NDArray[np.int32]
    keys: dict[int, str] = field(default_factory=dict)
    """Maps a row to the key of the prompt that was rated."""

    @classmethod
    def read(cls, file: Path | None, ids: Any) -> Rates:
        """Read the rates of the rows ``ids`` (an Arrow array). Raises UserError."""
        none = np.full(len(ids), np.nan, np.float32)
        rates = cls(none, none.copy(), none.copy(), np.zeros(len(ids), np.int32))
        if file is None:
            return rates
        places = {identity: at for at, identity in enumerate(ids.to_pylist())}
        for _, line in read_jsonl(file):
            at, n = places.get(str(line.get("id"))), line.get("n", 0)
            rate, low, high = (_share(line.get(key)) for key in ("pass_rate", "low", "high"))
            if at is None or math.isnan(rate):
                continue  # not a row of the dataset, or no rate
            rates.value[at], rates.low[at], rates.high[at] = rate, low, high
            rates.n[at] = n if isinstance(n, int) and 0 <= n < 1 << 31 else 0
            if isinstance(key := line.get("prompt_key"), str):
                rates.keys[at] = key
        return rates

    @property
    def rated(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.value)))

    def of(self, row: int, prompt: Sequence[Mapping[str, str]]) -> dict[str, Any] | None:
        """Return a row's rate as JSON, or None if unrated."""
        if np.isnan(self.value[row]):
            return None
        key = self.keys.get(row)
        numbers = {"rate": self.value[row], "low": self.low[row], "high": self.high[row]}
        return {
            **{name: round(float(value), 4) for name, value in numbers.items()},
            "n": int(self.n[row]),
            "asks_the_same": key is None or key == prompt_key(prompt),
        }


def _share(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return math.nan


LABELS = ("split", "domain", "verifier", "source", "licence", "gold_check")
"""Label columns: each has few distinct values."""
FROM_METADATA = ("entry", "family", "level")
LABEL_NAMES = (*LABELS, *FROM_METADATA)
_BATCH = 4096
FEW_LABELS = 100
"""A column with more distinct values is a label only if each value occurs twice on average."""

_OTHER_TYPES = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""Errors raised for values of unexpected types."""
Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]


@dataclass(slots=True)
class Labels:
    """A column of N labels: row i has the label ``names[codes[i]]``; "" means no label."""

    names: list[str]
    codes: Codes

    def of(self, row: int) -> str:
        return self.names[int(self.codes[row])]

    def equal_to(self, name: str) -> Mask:
        code = self.names.index(name) if name in self.names else -1
        return np.asarray(self.codes == code)


@dataclass(slots=True)
class _LabelMaker:
    name_codes: dict[str, int] = field(default_factory=dict)
    parts: list[Codes] = field(default_factory=list)

    def add(self, batch: Any) -> None:
        lookup = np.array([self._code(name) for name in batch.dictionary.to_pylist()], np.int32)
        self.parts.append(lookup[batch.indices.to_numpy(zero_copy_only=False)])

    def add_values(self, values: list[Any]) -> None:
        self.parts.append(np.array([self._code(value) for value in values], np.int32))

    def _code(self, value: Any) -> int:
        return self.name_codes.setdefault(label(value), len(self.name_codes))

    def labels(self) -> Labels:
        """Return the labels; if too many are distinct, every row gets ""."""
        codes = np.concatenate([*self.parts, np.empty(0, np.int32)])
        if len(self.name_codes) > max(FEW_LABELS, len(codes) // 2):
            return Labels([""], np.zeros_like(codes))
        return Labels(list(self.name_codes), codes)


@dataclass(slots=True)
class RowTable:
    """All rows in file order: sorted by split, then by id."""

    files: list[Path]
    starts: list[int]
    """Index of the first row of each file."""
    ids: Any
    """Arrow array of strings, shape (N,)."""
    labels: Mapping[str, Labels]
    prompts: Any
    """Arrow chunked array of strings, shape (N,): a row's messages, joined by blank lines."""
    characters: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.characters)

    @classmethod
    def read(cls, folder: Path) -> RowTable:
        """Read a dataset folder. Raises DatasetError for damaged files or missing columns."""
        import pyarrow

        files = [path for split in SPLITS if (path := folder / f"{split}.parquet").is_file()]
        if not files:
            raise DatasetError(f"{folder} has no file of rows: build the dataset again")
        starts, ids, labels = _read_labels(files)
        prompts, characters = _read_prompts(files)
        pyarrow.default_memory_pool().release_unused()
        return cls(files, starts, ids, labels, prompts, characters)

    def place(self, identity: str) -> int | None:
        import pyarrow.compute as pc

        position = pc.index(self.ids, identity).as_py()
        return None if position < 0 else int(position)

    def prompt(self, row: int) -> str:
        return str(self.prompts[row].as_py())

    def rows_containing(self, text: str) -> Mask:
        """Return a mask of the rows with ``text`` in their id or prompt."""
        import pyarrow.compute as pc

        columns = (self.prompts, self.ids)
        mask = pc.or_(*(pc.match_substring(c, text, ignore_case=True) for c in columns))
        return np.asarray(mask.to_numpy(zero_copy_only=False), dtype=np.bool_)

    def row(self, row: int) -> dict[str, Any]:
        from pyarrow import parquet

        at = int(np.searchsorted(self.starts, row, side="right")) - 1
        with explained(self.files[at]), parquet.ParquetFile(self.files[at]) as file:
            left = row - self.starts[at]
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if left < rows:
                    table = file.read_row_group(group, columns=list(COLUMNS))
                    values: dict[str, Any] = table.slice(left, 1).to_pylist()[0]
                    return values
                left -= rows
        raise DatasetError(f"{self.files[at]} changed while it was open: reload the page")


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Convert errors about a file's content to a DatasetError that names the file."""
    import pyarrow

    try:
        yield
    except DatasetError:
        raise
    except (pyarrow.ArrowException, OSError, *_OTHER_TYPES) as error:
        raise DatasetError(
            f"{file} is not a readable dataset file ({first_line(error)})"
        ) from error


def _read_labels(files: list[Path]) -> tuple[list[int], Any, dict[str, Labels]]:
    import pyarrow as pa
    from pyarrow import parquet

    makers = {name: _LabelMaker() for name in LABEL_NAMES}
    starts, ids, rows = [], [], 0
    for path in files:
        starts.append(rows)
        with explained(path), parquet.ParquetFile(path, read_dictionary=list(LABELS)) as file:
            columns = ["id", *LABELS, "metadata"]
            if missing := [name for name in columns if name not in file.schema_arrow.names]:
                raise DatasetError(f"{path} is not a dataset file: it lacks {', '.join(missing)}")
            for batch in file.iter_batches(_BATCH, columns=columns, use_threads=False):
                ids.append(batch.column("id").cast(pa.string()))
                rows += len(batch)
                for name in LABELS:
                    makers[name].add(batch.column(name))
                metadata = _metadata(batch.column("metadata").to_pylist())
                for name in FROM_METADATA:
                    makers[name].add_values([about.get(name) for about in metadata])
    joined = pa.concat_arrays(ids) if ids else pa.array([], pa.string())
    return starts, joined, {name: maker.labels() for name, maker in makers.items()}


def _metadata(texts: list[str | None]) -> list[dict[str, Any]]:
    parse = json.JSONDecoder().raw_decode  # ``json.loads`` without its search for whitespace
    rows = []
    for text in texts:
        try:
            about = parse(text or "{}")[0]
        except (ValueError, RecursionError):
            about = {}
        rows.append(about if isinstance(about, dict) else {})
    return rows


def _read_prompts(files: list[Path]) -> tuple[Any, NDArray[np.int32]]:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    texts, lengths = [], [np.empty(0, np.int32)]
    for path in files:
        with explained(path), parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH, columns=["prompt"], use_threads=False):
                messages = batch.column("prompt")
                contents = pc.struct_field(messages.flatten(), "content").fill_null("")
                offsets = pc.subtract(messages.offsets, messages.offsets[0])
                listed = pa.ListArray.from_arrays(offsets, contents)
                joined = pc.binary_join(listed, "\n\n").fill_null("")
                lengths.append(pc.utf8_length(joined).to_numpy(zero_copy_only=False))
                texts.append(joined)
    return pa.chunked_array(texts, pa.string()), np.concatenate(lengths).astype(np.int32)


SORTS = ("", "rate", "n", "characters", *LABEL_NAMES)
COUNTED = tuple(name for name in LABEL_NAMES if name != "entry")
"""Labels whose values are listed with counts."""
LONGEST_TEXT = 500
MOST_LISTED = 500
NONE = "(none)"
"""Value in a query that selects rows without the label."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Indices of the selected rows in order, and {label name: {value: number of rows}}."""

    places: Places
    counts: dict[str, dict[str, int]]


def choose(table: RowTable, rates: Rates, query: Query) -> Chosen:
    """Select and sort the rows that match a query.

    The query's keys are label names, ``q`` (text in prompt or id), ``rate_from``, ``rate_to``, ``rated`` (yes or no),
    ``sort`` (a column) and ``down`` (1: descending). Raises UserError for invalid values.
    """
    by_label = {
        name: table.labels[name].equal_to("" if value == NONE else value)
        for name in LABEL_NAMES
        if (value := query.get(name))
    }
    other_filters = np.ones(len(table), np.bool_)
    if (rated := choice(query, "rated", ("yes", "no"))) != "":
        other_filters &= np.isnan(rates.value) == (rated == "no")
    for key, passes in (("rate_from", np.greater_equal), ("rate_to", np.less_equal)):
        if query.get(key):
            bound = np.float32(number(query, key, 0.0))
            other_filters &= passes(rates.value, bound)  # NaN fails both comparisons
    if text := query.get("q", ""):
        if len(text) > LONGEST_TEXT:
            raise UserError(f"a search text must have at most {LONGEST_TEXT} characters")
        other_filters &= table.rows_containing(text)
    counts = {}
    for name in COUNTED:
        mask = _all(other_filters, *(m for key, m in by_label.items() if key != name))
        labels = table.labels[name]
        counted = np.bincount(labels.codes[mask], minlength=len(labels.names))
        counts[name] = {labels.names[c] or NONE: int(counted[c]) for c in np.flatnonzero(counted)}
    places = np.flatnonzero(_all(other_filters, *by_label.values()))
    return Chosen(_sorted(places, table, rates, query), counts)


def window(query: Query, total: int) -> tuple[int, int]:
    """Return the index of the first row that the query requests, and the end (exclusive). Raises UserError."""
    offset, limit = integer(query, "offset", 0), integer(query, "limit", 100)
    if offset < 0 or not 1 <= limit <= MOST_LISTED:
        raise UserError(f"offset must be at least 0, limit from 1 to {MOST_LISTED}")
    return offset, min(total, offset + limit)


def _all(first: Mask, *more: Mask) -> Mask:
    result = first.copy()
    for mask in more:
        result &= mask
    return result


def _sorted(places: Places, table: RowTable, rates: Rates, query: Query) -> Places:
    key, down = choice(query, "sort", SORTS), choice(query, "down", ("0", "1")) == "1"
    if key == "":
        return places[::-1] if down else places
    values: Any
    if key == "rate":
        values = rates.value[places].astype(np.float64)
    elif key == "n":
        values = rates.n[places].astype(np.float64)
    elif key == "characters":
        values = table.characters[places].astype(np.float64)
    else:
        names = table.labels[key].names
        ranks = np.full(len(names), np.nan)
        in_order = sorted((name for name in names if name), key=label_order)
        ranks[[names.index(name) for name in in_order]] = np.arange(len(in_order))
        values = ranks[table.labels[key].codes[places]]
    order = np.argsort(-values if down else values, kind="stable")  # NaN is sorted last
    return np.asarray(places[order])


def label_order(name: str) -> tuple[bool, float, str]:
    """Return a sort key for labels: numbers by size, then words."""
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name
