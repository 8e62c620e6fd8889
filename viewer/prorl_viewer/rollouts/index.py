"""Reads all rollouts of a run in the background, newest step first."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from prorl_common import Closing, UserError
from prorl_evaluation.sampling.stored import OpenFile
from prorl_viewer.rollouts.segment import SCHEMA, TEXTS, FileKey, Segment, read_segment
from prorl_viewer.rollouts.table import Table


def merge(segments: Sequence[Segment]) -> Segment:
    """Merge segments into one whose texts are in a temporary file. Raises OSError."""
    parts, offsets, texts, size = [], [np.zeros(1, np.int64)], 0, 0
    with tempfile.TemporaryFile() as file:
        for one in segments:
            columns = one.columns
            for name in TEXTS:
                numbers = columns[name].to_numpy()
                moved = pa.array(np.where(numbers < 0, numbers, numbers + texts))
                columns = columns.set_column(SCHEMA.get_field_index(name), name, moved)
            parts.append(columns)
            offsets.append(one.offsets[1:] + size)
            texts += len(one.offsets) - 1
            size += one.size
            file.write(one.text(0, one.size))
        file.flush()
        merged = OpenFile(os.dup(file.fileno()))
    table = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    files = tuple(key for one in segments for key in one.files)
    return Segment(files, table, np.concatenate(offsets), merged)


READERS = 2
AT_FIRST, AT_ONCE = 4, 32
"""Number of files to read at once: AT_FIRST at the start, later AT_ONCE."""
MERGED_FILES, MERGED_BYTES = 64, 32 << 20
"""Number of files, or bytes of text, from which segments are merged and their texts are written to a file."""

MOST_LISTED = 1_000_000
"""Number of responses after which older step files are not read, which limits memory to about 1 GB."""

_STEP_FILE = re.compile(r"step_(\d{6}|[1-9]\d{6,})\.parquet")


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the rollouts have been read; ``problems`` has a message for each skipped file."""

    table: Table
    read: int
    files: int
    problems: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return self.read == self.files


class Index(Closing):
    """The rollouts of a run, read in the background."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._changed = threading.Condition()
        self._keys: dict[str, FileKey] = {}
        self._seen: tuple[int, float] = (-1, 0.0)
        self._segments: list[Segment] = []
        self._bad: dict[FileKey, str] = {}
        self._no_room = ""
        self._table = Table(())
        self._asked = self._closed = False
        self._thread: threading.Thread | None = None
        self._failed: Exception | None = None

    def state(self, rows: int = 0, wait: float = 0.0) -> IndexState:
        """Wait until ``rows`` rows are read, at most ``wait`` seconds, and return the current state."""
        self._asked = True
        self._look()
        if self._failed is not None:
            raise self._failed
        until = time.monotonic() + wait
        with self._changed:
            while (
                self._thread is not None and sum(s.columns.num_rows for s in self._segments) < rows
            ):
                if not self._changed.wait(until - time.monotonic()):
                    break
            if self._table.segments != tuple(self._segments):
                self._table = Table(self._segments)
            read = sum(len(s.files) for s in self._segments) + len(self._bad)
            problems = [self._bad[key] for key in sorted(self._bad)]
            if self._no_room:
                problems.append(self._no_room)
            files = read + len(self._unread())
            if older := len(self._keys) - files:
                problems.append(f"{older:,} older step files are not listed; links to them work")
            return IndexState(self._table, read, files, tuple(problems))

    def version(self) -> str:
        if not self._asked:
            return ""
        self._look()
        with self._changed:
            newest = max((key.modified for key in self._keys.values()), default=0)
            read = sum(len(s.files) for s in self._segments) + len(self._bad)
            return f"{len(self._keys)}-{newest}-{read}"

    def close(self) -> None:
        with self._changed:
            self._closed = True
            thread = self._thread
        if thread is not None:
            thread.join()

    def _look(self) -> None:
        folder = self.run / "rollouts"
        try:
            changed = folder.stat().st_mtime_ns
        except OSError:
            changed = 0
        now = time.time()
        with self._changed:
            # a folder's modification time may lag some milliseconds behind new files
            if changed == self._seen[0] and changed / 1e9 < self._seen[1] - 1:
                return
            self._seen = (changed, now)
            self._keys = {key.name: key for key in _keys(folder)}
            present = set(self._keys.values())
            self._segments = [s for s in self._segments if present.issuperset(s.files)]
            self._bad = {key: line for key, line in self._bad.items() if key in present}
            if self._thread is None and not self._closed and self._unread():
                self._thread = threading.Thread(target=self._reader, daemon=True)
                self._thread.start()

    def _unread(self) -> list[FileKey]:
        read = {key for segment in self._segments for key in segment.files}
        todo = [k for k in self._keys.values() if k not in read and k not in self._bad]
        if sum(s.columns.num_rows for s in self._segments) >= MOST_LISTED:
            oldest = min((len(key.name), key.name) for key in read)
            todo = [key for key in todo if (len(key.name), key.name) > oldest]
        return sorted(todo, key=lambda key: (len(key.name), key.name), reverse=True)

    def _reader(self) -> None:
        try:
            self._read_all()
        except Exception as error:  # noqa: BLE001 - raised by the next request
            with self._changed:
                self._failed, self._thread = error, None
                self._changed.notify_all()

    def _read_all(self) -> None:
        with ThreadPoolExecutor(READERS) as readers:
            while True:
                with self._changed:
                    todo = self._unread()[: AT_ONCE if self._segments else AT_FIRST]
                    if self._closed or not todo:
                        self._thread = None
                        self._changed.notify_all()
                        return
                results = dict(zip(todo, readers.map(self._read, todo), strict=True))
                with self._changed:
                    for key, result in results.items():
                        if self._keys.get(key.name) != key:
                            continue
                        if isinstance(result, Segment):
                            self._segments.append(result)
                        else:
                            self._bad[key] = result
                    self._changed.notify_all()
                self._merge()

    def _read(self, key: FileKey) -> Segment | str:
        file = self.run / "rollouts" / key.name
        try:
            return read_segment(file, key)
        except UserError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - files are untrusted: one must not hide the others
            line = (str(error).splitlines() or [""])[0]
            return f"{file}: cannot be read ({type(error).__name__}: {line})"

    def _merge(self) -> None:
        with self._changed:
            small = [s for s in self._segments if isinstance(s.texts, bytes)]
        if len(small) < MERGED_FILES and sum(s.size for s in small) < MERGED_BYTES:
            return
        if self._no_room:
            return
        try:
            whole = merge(small)
        except OSError as error:
            why = error.strerror or type(error).__name__
            self._no_room = f"texts stay in memory, because they cannot be written to {tempfile.gettempdir()}: {why}"
            return
        with self._changed:
            if all(s in self._segments for s in small):
                self._segments = [s for s in self._segments if s not in small] + [whole]


def _keys(folder: Path) -> Iterable[FileKey]:
    try:
        entries = list(os.scandir(folder))
    except FileNotFoundError:
        return
    for entry in entries:
        if _STEP_FILE.fullmatch(entry.name) and entry.is_file():  # opening a pipe would block
            with contextlib.suppress(FileNotFoundError):  # the file was deleted meanwhile
                stat = entry.stat()
                yield FileKey(entry.name, stat.st_size, stat.st_mtime_ns)
