"""Reads all rollouts of a run in the background, newest step first, and caches them outside the run's folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from prorl_common import Closing, DiskFullError, UserError, cache_root
from prorl_common.files import atomic_write_bytes, explain_write_errors
from prorl_viewer.rollouts.segment import SCHEMA, TEXTS, FileKey, Segment, read_segment
from prorl_viewer.rollouts.table import Table

FORM = b"1"
"""Format of the cache files; files of another format are discarded and the rollouts read again."""
OF_RUN = "run"
"""Name of the file that stores the path of a cache folder's run."""


def merge(segments: Sequence[Segment], folder: Path) -> Segment:
    """Merge segments into one in ``folder``. Raises UserError or DiskFullError."""
    parts, offsets, texts, size = [], [np.zeros(1, np.int64)], 0, 0
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
    table = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    places = np.concatenate(offsets)
    files = tuple(key for one in segments for key in one.files)
    data = b"".join(one.texts for one in segments if isinstance(one.texts, bytes))
    stem = hashlib.sha256(json.dumps([FORM.decode(), files]).encode()).hexdigest()[:24]
    path = folder / f"{stem}.text"
    atomic_write_bytes(path, data)
    about = {b"form": FORM, b"files": json.dumps(files), b"offsets": places.tobytes()}
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema.with_metadata(about)) as writer:
        writer.write_table(table)
    atomic_write_bytes(folder / f"{stem}.arrow", sink.getvalue())
    return Segment(files, table, places, path)


def saved_segments(folder: Path) -> Iterator[Segment]:
    """Yield the cached segments, removing damaged or outdated ones."""
    for path in sorted(folder.glob("*.arrow")):
        try:
            yield _saved(path)
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
            remove(path)


def remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.with_suffix(".arrow").unlink(missing_ok=True)
        path.with_suffix(".text").unlink(missing_ok=True)


def open_folder(folder: Path, run: Path) -> None:
    """Create the run's private cache folder, and remove those of deleted runs. Raises UserError or DiskFullError."""
    with explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for note in folder.parent.glob(f"*/{OF_RUN}"):
            if not Path(os.fsdecode(note.read_bytes())).is_dir():
                shutil.rmtree(note.parent, ignore_errors=True)
        atomic_write_bytes(folder / OF_RUN, os.fsencode(run.resolve()))


def _saved(path: Path) -> Segment:
    with ipc.open_file(path) as file:
        table = file.read_all()
    about = table.schema.metadata or {}
    table = table.replace_schema_metadata(None).combine_chunks()
    if about[b"form"] != FORM or not table.schema.equals(SCHEMA):
        raise ValueError("another form")
    table.validate(full=True)
    offsets, texts = np.frombuffer(about[b"offsets"], np.int64), path.with_suffix(".text")
    if texts.stat().st_size != offsets[-1]:
        raise ValueError("texts of a different length")
    files = tuple(FileKey(str(n), int(s), int(m)) for n, s, m in json.loads(about[b"files"]))
    return Segment(files, table, offsets, texts)


READERS = 2
AT_FIRST, AT_ONCE = 4, 32
"""Files to read before waiting callers are notified: AT_FIRST at the start, later AT_ONCE."""
MERGED_FILES, MERGED_BYTES = 64, 32 << 20
"""From this number of files, or bytes of text, segments are merged and their texts move from memory to a file."""

MOST_LISTED = 1_000_000
"""After this many of the newest responses, older step files are not read: the process then takes about 1 GB."""

_STEP_FILE = re.compile(r"step_(\d{6}|[1-9]\d{6,})\.parquet")


@dataclass(frozen=True, slots=True)
class IndexState:
    """The reading state: ``read`` of ``files`` are read, with a message per skipped file."""

    table: Table
    read: int
    files: int
    problems: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every file has been read or skipped."""
        return self.read == self.files


class Index(Closing):
    """The rollouts of a run; ``cache`` defaults to the user's cache folder."""

    def __init__(self, run: Path, cache: Path | None = None) -> None:
        self.run = run
        name = hashlib.sha256(os.fsencode(run.resolve())).hexdigest()[:24]
        self._cache = (cache or cache_root() / "view") / name
        self._changed = threading.Condition()
        self._keys: dict[str, FileKey] = {}
        self._seen: tuple[int, float] = (-1, 0.0)
        self._segments: list[Segment] = []
        self._bad: dict[FileKey, str] = {}
        self._no_cache = ""
        self._table = Table(())
        self._asked = self._opened = self._closed = False
        self._thread: threading.Thread | None = None
        self._failed: Exception | None = None

    def state(self, rows: int = 0, wait: float = 0.0) -> IndexState:
        """Return the current state, after ``wait`` seconds or once ``rows`` are read."""
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
            if self._no_cache:
                problems.append(self._no_cache)
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
            stale = [s for s in self._segments if not present.issuperset(s.files)]
            for segment in stale:
                self._drop(segment)
            self._bad = {key: line for key, line in self._bad.items() if key in present}
            if self._thread is None and not self._closed and self._unread():
                self._thread = threading.Thread(target=self._reader, daemon=True)
                self._thread.start()

    def _drop(self, segment: Segment) -> None:
        self._segments.remove(segment)
        if isinstance(segment.texts, Path):
            remove(segment.texts)

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
        if not self._opened:
            self._open_cache()
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

    def _open_cache(self) -> None:
        self._opened = True
        try:
            open_folder(self._cache, self.run)
        except (UserError, DiskFullError, OSError) as error:
            self._no_cache = f"texts stay in memory, as the cache cannot be used: {error}"
            return
        taken: set[FileKey] = set()
        for segment in saved_segments(self._cache):
            with self._changed:
                fresh = set(self._keys.values()).issuperset(segment.files)
                if fresh and taken.isdisjoint(segment.files):
                    taken.update(segment.files)
                    self._segments.append(segment)
                elif not fresh and isinstance(segment.texts, Path):
                    remove(segment.texts)

    def _merge(self) -> None:
        with self._changed:
            small = [s for s in self._segments if isinstance(s.texts, bytes)]
        if len(small) < MERGED_FILES and sum(s.size for s in small) < MERGED_BYTES:
            return
        if self._no_cache:
            return
        try:
            whole = merge(small, self._cache)
        except (UserError, DiskFullError, OSError) as error:
            self._no_cache = f"texts stay in memory, as the cache cannot be written: {error}"
            return
        with self._changed:
            if all(s in self._segments for s in small):
                self._segments = [s for s in self._segments if s not in small] + [whole]
            elif isinstance(whole.texts, Path):
                remove(whole.texts)


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
