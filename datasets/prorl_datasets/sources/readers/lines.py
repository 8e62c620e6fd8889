"""Lines of a text file, plain or gzip, in bounded memory; JSON lines on top of them.

A line longer than the limit is refused before it is held whole. Leaves out: .zst (it would need a
further dependency) and tables (``readers.tables``).
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from prorl_datasets.sources.readers.decode import (
    BROKEN_SHOWN,
    OnBroken,
    json_object,
    short,
    too_large,
    utf8,
)
from prorl_datasets.types import DatasetError

BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"


def open_bytes(path: Path) -> BinaryIO:
    """Open a file, unpacking it when its name ends in .gz. Raises DatasetError when it cannot."""
    try:
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        return path.open("rb")
    except FileNotFoundError as error:
        raise DatasetError(f"no such file: {path}") from error
    except OSError as error:
        raise DatasetError(f"{path}: cannot be opened ({error.strerror})") from error


def read_block(file: BinaryIO, path: Path, progress: str) -> bytes:
    """Return the next bytes, at most BLOCK, b"" at the end.

    Raises DatasetError for a truncated or damaged gzip file; ``progress`` says how far it was good
    ("line 12 is the last whole one").
    """
    try:
        return cast(io.BufferedReader, file).read1(BLOCK)
    except EOFError as error:
        raise DatasetError(
            f"{path}: the gzip file is cut off; {progress}; fetch it again"
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DatasetError(
            f"{path}: the gzip file is damaged ({short(error)}); {progress}; fetch it again"
        ) from error
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({short(error)}); {progress}") from error


def iter_lines(path: Path, max_row_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line without its line break) of a plain or gzip file.

    Raises DatasetError for a missing, cut off or damaged file and for a line over ``max_row_bytes``.
    """
    number, pending, held = 1, [], 0
    with open_bytes(path) as file:
        whole = "not one line is whole"
        while block := read_block(file, path, whole):
            if number == 1 and not held and block.startswith(_BOM):
                block = block[len(_BOM) :]
            first, *rest = block.split(b"\n")
            pending.append(first)
            held += len(first)
            if held > max_row_bytes:
                raise too_large(f"{path}:{number}", max_row_bytes)
            for following in rest:
                yield number, b"".join(pending)
                number, pending, held = number + 1, [following], len(following)
            if rest:
                whole = f"line {number - 1} is the last whole one"
    if held:
        yield number, b"".join(pending)


def jsonl_rows(
    path: Path, max_row_bytes: int, on_broken: OnBroken | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ("path:line", object) for each line that is not blank. Raises DatasetError."""
    for number, line in iter_lines(path, max_row_bytes):
        if line.strip():
            where = f"{path}:{number}"
            try:
                row = json_object(utf8(line, where), where)
            except DatasetError as error:
                if on_broken is None:
                    raise
                on_broken(where, error, line[:BROKEN_SHOWN].decode("utf-8", "replace"))
                continue
            yield where, row
