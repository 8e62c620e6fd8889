"""The viewer's cache: of each run the columns of its rollouts, and their texts uncompressed, one behind the other.

Outside the run, in a folder that its user alone can read, as it holds what models wrote: about as large as the texts. It
may be removed at any time. Nothing in it is unpickled: columns are an Arrow file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from prorl_common.files import atomic_write_bytes, explain_write_errors
from prorl_viewer.rollouts.segment import SCHEMA, TEXTS, FileKey, Segment

FORM = b"1"
"""Of the cache's files; another one is read anew from the run."""
OF_RUN = "run"
"""The file that names the run of a cache folder."""


def merge(segments: Sequence[Segment], folder: Path) -> Segment:
    """Return one segment of several; its columns and texts are written into ``folder``.

    Raises UserError or DiskFullError where the folder cannot be written.
    """
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
    """Yield the segments of a cache folder; what is torn or of another form is taken away, to be read anew."""
    for path in sorted(folder.glob("*.arrow")):
        try:
            yield _saved(path)
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
            remove(path)


def remove(path: Path) -> None:
    """Take a segment's files out of the cache."""
    with contextlib.suppress(OSError):
        path.with_suffix(".arrow").unlink(missing_ok=True)
        path.with_suffix(".text").unlink(missing_ok=True)


def open_folder(folder: Path, run: Path) -> None:
    """Make the run's folder in the cache, for this user alone; those of runs that are gone are taken away.

    Raises UserError or DiskFullError where it cannot be written.
    """
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
        raise ValueError("texts of another length")
    files = tuple(FileKey(str(n), int(s), int(m)) for n, s, m in json.loads(about[b"files"]))
    return Segment(files, table, offsets, texts)
