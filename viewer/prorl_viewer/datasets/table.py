"""The rows of a dataset as columns in memory: what is filtered, counted and listed by.

A label is a code of four bytes a row. The questions lie in an Arrow file without a name, mapped into memory, so that a
search is one pass over bytes and what does not fit is the system's to page out. References and gold responses stay in
the Parquet files and are read a row group at a time. Leaves out: hashes of the files (``prorl data verify``).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_datasets import SPLITS, DatasetError
from prorl_datasets.storage import COLUMNS
from prorl_viewer.messages import label

LABELS = ("split", "domain", "verifier", "source", "licence", "gold_check")
"""Columns of few values."""
FROM_METADATA = ("entry", "family", "level")
LABEL_NAMES = (*LABELS, *FROM_METADATA)
_BATCH = 4096
FEW_LABELS = 100
"""Values that a label may have in any dataset; more are a label where rows share them, else texts of the rows."""

_OTHER_TYPES = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""What other types than a dataset's lead to."""
Codes = NDArray[np.int32]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]


@dataclass(slots=True)
class Labels:
    """A column of few values: ``codes`` (N,) into ``names``; "" where a row has none."""

    names: list[str]
    codes: Codes

    def of(self, row: int) -> str:
        """Return the value of a row."""
        return self.names[int(self.codes[row])]

    def is_(self, name: str) -> Mask:
        """Return which rows have the value; none for one that there is not."""
        code = self.names.index(name) if name in self.names else -1
        return np.asarray(self.codes == code)


@dataclass(slots=True)
class _LabelMaker:
    """Collects a column batch by batch."""

    known: dict[str, int] = field(default_factory=dict)
    codes: dict[Any, int] = field(default_factory=dict)
    """Of values as JSON has them; most rows of a batch have one of few."""
    parts: list[Codes] = field(default_factory=list)

    def add(self, batch: Any) -> None:
        """Take in a dictionary-encoded Arrow array."""
        lookup = np.array([self._code(name) for name in batch.dictionary.to_pylist()], np.int32)
        self.parts.append(lookup[batch.indices.to_numpy(zero_copy_only=False)])

    def add_values(self, values: list[Any]) -> None:
        """Take in values of a column as they stand in JSON."""
        try:
            found = [self.codes[value] for value in values]
        except (KeyError, TypeError):  # a new one, or one that is no label
            found = [self._code(value) for value in values]
        self.parts.append(np.array(found, np.int32))

    def _code(self, value: Any) -> int:
        code = self.known.setdefault(name := label(value), len(self.known))
        if name or value is None:
            self.codes[value] = code
        return code

    def labels(self) -> Labels:
        """Return the column; nothing where most rows have a value of their own, which is no label."""
        codes = np.concatenate([*self.parts, np.empty(0, np.int32)])
        if len(self.known) > max(FEW_LABELS, len(codes) // 2):
            return Labels([""], np.zeros_like(codes))
        return Labels(list(self.known), codes)


@dataclass(slots=True)
class RowTable:
    """All rows, in the order of the files: splits as ``SPLITS`` has them, ids in order within each."""

    files: list[Path]
    starts: list[int]
    """The first row of each file."""
    ids: Any
    """Arrow array of text (N,)."""
    labels: Mapping[str, Labels]
    prompts: Any
    """Arrow chunked array of text (N,): the messages of a row, joined by blank lines."""
    characters: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.characters)

    @classmethod
    def read(cls, folder: Path) -> RowTable:
        """Read the splits of a dataset folder. Raises DatasetError for files that are damaged or of other columns."""
        import pyarrow

        files = [path for split in SPLITS if (path := folder / f"{split}.parquet").is_file()]
        if not files:
            raise DatasetError(f"{folder} holds no rows: build the dataset again")
        with ThreadPoolExecutor(1) as aside:  # the questions are read while the metadata are parsed
            texts = aside.submit(_read_prompts, files)
            starts, ids, labels = _read_labels(files)
            prompts, characters = texts.result()
        pyarrow.default_memory_pool().release_unused()
        return cls(files, starts, ids, labels, prompts, characters)

    def place(self, identity: str) -> int | None:
        """Return the place of the row with that id, None where there is none."""
        import pyarrow.compute as pc

        found = pc.index(self.ids, identity).as_py()
        return None if found < 0 else int(found)

    def prompt(self, row: int) -> str:
        """Return a row's question, its messages joined."""
        return str(self.prompts[row].as_py())

    def holding(self, text: str) -> Mask:
        """Return which rows have ``text`` in their id or question, case aside."""
        import pyarrow.compute as pc

        columns = (self.prompts, self.ids)
        found = pc.or_(*(pc.match_substring(c, text, ignore_case=True) for c in columns))
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)

    def row(self, row: int) -> dict[str, Any]:
        """Return every column of a row as the file has it."""
        from pyarrow import parquet

        at = int(np.searchsorted(self.starts, row, side="right")) - 1
        with explained(self.files[at]), parquet.ParquetFile(self.files[at]) as file:
            left = row - self.starts[at]
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if left < rows:
                    table = file.read_row_group(group, columns=list(COLUMNS))
                    found: dict[str, Any] = table.slice(left, 1).to_pylist()[0]
                    return found
                left -= rows
        raise DatasetError(f"{self.files[at]} has changed while it was looked at: open it again")


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Say of which file it is that what it holds cannot be read, or is of other types than a dataset's."""
    import pyarrow

    try:
        yield
    except DatasetError:
        raise
    except (pyarrow.ArrowException, OSError, *_OTHER_TYPES) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DatasetError(f"{file} is not a readable dataset file ({first})") from error


def _read_labels(files: list[Path]) -> tuple[list[int], Any, dict[str, Labels]]:
    """Return the first row of each file, all ids and the labels."""
    import pyarrow as pa
    from pyarrow import parquet

    makers = {name: _LabelMaker() for name in LABEL_NAMES}
    starts, ids, rows = [], [], 0
    for path in files:
        starts.append(rows)
        with explained(path), parquet.ParquetFile(path, read_dictionary=list(LABELS)) as file:
            wanted = ["id", *LABELS, "metadata"]
            if missing := [name for name in wanted if name not in file.schema_arrow.names]:
                raise DatasetError(f"{path} is no file of a dataset: it lacks {', '.join(missing)}")
            for batch in file.iter_batches(_BATCH, columns=wanted, use_threads=False):
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
    """Return the metadata of rows; what is no JSON object is none. Most of the time of opening goes in here."""
    parse = json.JSONDecoder().raw_decode  # ``json.loads`` without its search for blanks
    found = []
    for text in texts:
        try:
            about = parse(text or "{}")[0]
        except (ValueError, RecursionError):
            about = {}
        found.append(about if isinstance(about, dict) else {})
    return found


def _read_prompts(files: list[Path]) -> tuple[Any, NDArray[np.int32]]:
    """Return the questions of all rows, mapped, and their lengths in characters."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import parquet

    schema = pa.schema([("text", pa.string())])
    lengths = [np.empty(0, np.int32)]
    with tempfile.NamedTemporaryFile(
        prefix="prorl-view-"
    ) as scratch:  # what is mapped stays when it goes
        with pa.ipc.new_file(scratch.name, schema) as out:
            for path in files:
                with explained(path), parquet.ParquetFile(path) as file:
                    for batch in file.iter_batches(_BATCH, columns=["prompt"], use_threads=False):
                        messages = batch.column("prompt")
                        contents = pc.struct_field(messages.flatten(), "content").fill_null("")
                        offsets = pc.subtract(messages.offsets, messages.offsets[0])
                        joined = pc.binary_join(
                            pa.ListArray.from_arrays(offsets, contents), "\n\n"
                        ).fill_null("")
                        lengths.append(pc.utf8_length(joined).to_numpy(zero_copy_only=False))
                        out.write_batch(pa.record_batch([joined], schema=schema))
        mapped = pa.memory_map(scratch.name)
        texts = pa.ipc.open_file(mapped).read_all()["text"]
    return texts, np.concatenate(lengths).astype(np.int32)
