"""Reads a corpus as a stream of word hashes in bounded memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from prorl_common import nearest
from prorl_evaluation.types import EvaluationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]


DOCUMENT_END = b"\0"
SIGNS = b"+-*/=<>^"
_GAP, _LETTER, _SIGN = 0, 1, 2
_BYTE_BASE = 0x9E3779B97F4A7C15
_WORD_BASE = 0xD1342543DE82EF95
_SEED = 20241005


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.uint8], Hashes]:
    """Return each byte's kind (letter, sign, or gap between words) and hash value, the same for ``a`` and ``A``."""
    import numpy as np

    kind = np.zeros(256, dtype=np.uint8)
    for first, last in ((48, 57), (65, 90), (97, 122), (128, 255)):
        kind[first : last + 1] = _LETTER
    for sign in (*SIGNS, *DOCUMENT_END):
        kind[sign] = _SIGN
    rng = np.random.Generator(np.random.PCG64(_SEED))
    value = rng.integers(0, 2**64, size=256, dtype=np.uint64)
    value[65:91] = value[97:123]
    return kind, value


def word_hashes(data: bytes) -> Hashes:
    """Return the hash of each word in ``data``, shape [words]."""
    import numpy as np

    kind_of, value_of = _tables()
    raw = np.frombuffer(data, dtype=np.uint8)
    kind = kind_of[raw]
    begins = kind != _GAP
    begins[1:] &= (kind[1:] == _SIGN) | (kind[:-1] != _LETTER)
    first = np.flatnonzero(begins)
    if not len(first):
        return np.zeros(0, dtype=np.uint64)
    places = np.arange(len(raw))
    position = places - np.maximum.accumulate(np.where(begins, places, 0))  # offset in its word
    powers = np.cumprod(np.full(position.max() + 1, _BYTE_BASE, dtype=np.uint64))
    letters = np.where(kind == _GAP, np.uint64(0), value_of[raw])
    values = np.add.reduceat(letters * powers[position], first)
    # the finaliser of SplitMix64 (Steele, Lea and Flood 2014)
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def gram_hashes(words: Hashes, length: int, starts: NDArray[np.intp] | None = None) -> Hashes:
    """Return the hashes of the n-grams of ``length`` words that start at ``starts`` (None: at every word)."""
    import numpy as np

    count = max(0, len(words) - length + 1)
    hashes = np.zeros(count if starts is None else len(starts), dtype=np.uint64)
    for offset in range(length):
        chosen = words[offset : offset + count] if starts is None else words[starts + offset]
        hashes += chosen * np.uint64(pow(_WORD_BASE, offset, 2**64))
    return hashes


BLOCK = 1 << 19
"""Number of bytes hashed at once."""
TEXTS = (".txt", ".md", ".tex", ".txt.gz")
FIELDS = ("text", "content", "response")
"""Default names of the text column, in order of preference."""


@dataclass(slots=True)
class Read:
    documents: int = 0
    bytes: int = 0
    words: int = 0


@dataclass(frozen=True, slots=True)
class FileCorpus:
    """A corpus of files and folders; ``column`` is the text column of JSON-lines and Parquet files."""

    paths: Sequence[Path]
    column: str | None = None

    def files(self) -> list[Path]:
        """Return the files, sorted within folders. Raises EvaluationError for a missing or unreadable path."""
        from prorl_datasets.sources.readers import READABLE

        endings = (*TEXTS, *READABLE)
        files: list[Path] = []
        for path in self.paths:
            if path.is_dir():
                inside = sorted(p for p in path.rglob("*") if p.is_file())
                readable = [p for p in inside if p.name.endswith(endings)]
                if not readable:
                    raise EvaluationError(
                        f"{path} has no file whose name ends in {', '.join(endings)}: name another corpus"
                    )
                files += readable
            elif not path.is_file():
                raise EvaluationError(f"no such corpus: {path}")
            elif not path.name.endswith(endings):
                raise EvaluationError(
                    f"{path}: the name of a corpus file must end in {', '.join(endings)}: rename or convert it"
                )
            else:
                files.append(path)
        if not files:
            raise EvaluationError("no corpus: name files or folders with --corpus")
        return files

    def blocks(self, read: Read) -> Iterator[bytes]:
        """Yield blocks of UTF-8 text, split between words, with DOCUMENT_END after each document.

        Updates ``read.documents``. Raises EvaluationError or DatasetError for an invalid file.
        """
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
                names = self.column or ", ".join(FIELDS)
                hint = nearest(self.column or "text", list(row)[:100])
                columns = ", ".join(list(row)[:12])
                raise EvaluationError(
                    f"{where}: no column {names}{hint}; the columns are {columns}: choose one with --set novelty.column=NAME"
                )
            value = row[name]
            if value is None:
                continue
            if not isinstance(value, str):
                raise EvaluationError(f"{where}: column {name} is {type(value).__name__}, not text")
            yield value


@dataclass(frozen=True, slots=True)
class TextCorpus:
    """A corpus of strings in memory; each string is a document."""

    texts: Sequence[str]

    def blocks(self, read: Read) -> Iterator[bytes]:
        yield from _joined(self.texts, read)


Corpus = FileCorpus | TextCorpus


def encoded(text: str) -> bytes:
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
    """Split ``data`` into pieces of at most two blocks, between words where possible."""
    start = 0
    while len(data) - start > 2 * BLOCK:
        end = data.rfind(b" ", start, start + BLOCK) + 1 or start + BLOCK
        yield data[start:end]
        start = end
    yield data[start:]


def _text_blocks(file: Path) -> Iterator[bytes]:
    tail = b""
    try:
        with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as stream:
            while piece := stream.read(BLOCK):
                data = tail + piece.replace(DOCUMENT_END, b" ")
                end = max(data.rfind(b" "), data.rfind(b"\n")) + 1
                if end == 0 and len(data) > 4 * BLOCK:  # 2 MB without a gap: not text
                    end = len(data)
                yield data[:end]
                tail = data[end:]
    except (OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split())
        raise EvaluationError(
            f"{file} cannot be read ({reason}): replace it, or leave it out of the corpus"
        ) from error
    yield tail + DOCUMENT_END


def word_stream(corpus: Corpus, overlap: int, read: Read) -> Iterator[Hashes]:
    """Yield arrays of word hashes; each starts with the last ``overlap`` words of the previous one."""
    import numpy as np

    tail = np.zeros(0, dtype=np.uint64)
    for block in corpus.blocks(read):
        fresh = word_hashes(block)
        read.bytes += len(block)
        read.words += len(fresh) - block.count(DOCUMENT_END)
        row = np.concatenate([tail, fresh])
        yield row
        tail = row[max(0, len(row) - overlap) :]
