"""A corpus as a stream of words: text, JSON lines, JSON, CSV and Parquet files, in bounded memory.

Leaves out: downloading anything, and languages that do not separate words.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from prorl_common import nearest
from prorl_evaluation.novelty.hashing import DOCUMENT_END, last_gap, word_hashes
from prorl_evaluation.types import EvaluationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

BLOCK = 1 << 19
"""Bytes that are hashed at a time."""
TEXTS = (".txt", ".md", ".tex", ".txt.gz")
FIELDS = ("text", "content", "response")
"""Columns that hold the text where none is named, best first."""


@dataclass(slots=True)
class Read:
    """What a corpus held: counted while it streams."""

    documents: int = 0
    bytes: int = 0
    words: int = 0


class Corpus(Protocol):
    """Anything that can be streamed, as often as asked."""

    def blocks(self, read: Read) -> Iterator[bytes]:
        """Yield UTF-8 blocks that end between words; documents end with DOCUMENT_END; counts into
        ``read`` the documents."""
        ...


@dataclass(frozen=True, slots=True)
class FileCorpus:
    """Files and folders of files; ``column`` names the text in JSON, CSV and Parquet rows."""

    paths: Sequence[Path]
    column: str | None = None

    def files(self) -> list[Path]:
        """Return the files in a fixed order. Raises EvaluationError for missing and unreadable ones."""
        from prorl_datasets.sources.readers import READABLE

        endings = (*TEXTS, *READABLE)
        found: list[Path] = []
        for path in self.paths:
            if path.is_dir():
                inside = sorted(p for p in path.rglob("*") if p.is_file())
                kept = [p for p in inside if p.name.endswith(endings)]
                if not kept:
                    raise EvaluationError(
                        f"{path} holds no file that ends in {', '.join(endings)}: name another corpus"
                    )
                found += kept
            elif not path.is_file():
                raise EvaluationError(f"no such corpus: {path}")
            elif not path.name.endswith(endings):
                raise EvaluationError(
                    f"{path}: a corpus file ends in {', '.join(endings)}; rename or convert it"
                )
            else:
                found.append(path)
        if not found:
            raise EvaluationError("no corpus: name files or folders with --corpus")
        return found

    def blocks(self, read: Read) -> Iterator[bytes]:
        """Yield the files' blocks; see ``Corpus``. Raises EvaluationError and DatasetError."""
        for file in self.files():
            if file.name.endswith(TEXTS):
                read.documents += 1
                yield from _text_blocks(file)
            else:
                yield from _joined(self._rows(file), read)

    def _rows(self, file: Path) -> Iterator[str]:
        from prorl_datasets.sources.readers import iter_rows

        for where, row in iter_rows(file):
            name = self.column or next((f for f in FIELDS if f in row), None)
            if name is None or name not in row:
                wanted = self.column or ", ".join(FIELDS)
                hint = nearest(self.column or "text", list(row)[:100])
                columns = ", ".join(list(row)[:12])
                raise EvaluationError(
                    f"{where}: no column {wanted}{hint}; it has {columns}: name one with --column"
                )
            value = row[name]
            if value is None:
                continue
            if not isinstance(value, str):
                raise EvaluationError(f"{where}: column {name} is {type(value).__name__}, not text")
            yield value


@dataclass(frozen=True, slots=True)
class TextCorpus:
    """Texts that are in memory, each a document."""

    texts: Sequence[str]

    def blocks(self, read: Read) -> Iterator[bytes]:
        """Yield the texts' blocks; see ``Corpus``."""
        yield from _joined(self.texts, read)


def encoded(text: str) -> bytes:
    """Return ``text`` in UTF-8 without DOCUMENT_END in it."""
    return text.encode("utf-8", "surrogatepass").replace(DOCUMENT_END, b" ")


def _joined(texts: Iterable[str], read: Read) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for text in texts:
        read.documents += 1
        data = encoded(text) + DOCUMENT_END
        held.append(data)
        size += len(data)
        if size >= BLOCK:
            yield from _cut(b"".join(held))
            held, size = [], 0
    if held:
        yield from _cut(b"".join(held))


def _cut(data: bytes) -> Iterator[bytes]:
    """Yield ``data`` in blocks of about BLOCK bytes that end between words."""
    start = 0
    while len(data) - start > 2 * BLOCK:
        end = start + BLOCK
        size = last_gap(data[start:end]) or BLOCK
        yield data[start : start + size]
        start += size
    yield data[start:]


def _text_blocks(file: Path) -> Iterator[bytes]:
    rest = b""
    try:
        with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as stream:
            while piece := stream.read(BLOCK):
                data = rest + piece.replace(DOCUMENT_END, b" ")
                end = last_gap(data)
                if end == 0 and len(data) > 4 * BLOCK:  # no gap in two megabytes: not words
                    end = len(data)
                yield data[:end]
                rest = data[end:]
    except (OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split())
        raise EvaluationError(
            f"{file} cannot be read ({reason}): replace it, or leave it out of the corpus"
        ) from error
    yield rest + DOCUMENT_END


def word_stream(corpus: Corpus, overlap: int, read: Read) -> Iterator[Hashes]:
    """Yield the corpus as rows of word hashes; each row begins with the last ``overlap`` words of the one
    before, so that no n-gram of ``overlap + 1`` words is missed."""
    import numpy as np

    tail = np.zeros(0, dtype=np.uint64)
    for block in corpus.blocks(read):
        fresh = word_hashes(block)
        read.bytes += len(block)
        read.words += len(fresh) - block.count(DOCUMENT_END)
        row = np.concatenate([tail, fresh])
        yield row
        tail = row[max(0, len(row) - overlap) :]
