"""What a benchmark index holds, its rules, and both as one file.

The file is an uncompressed npz whose member ``meta`` is JSON text as bytes. Equal contents give
equal bytes; nothing is unpickled on the way back. Leaves out building and searching (``index``).
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prorl_common import atomic_write_bytes
from prorl_datasets.text.hashing import NGRAM, PERMUTATIONS, Hashes, Signature
from prorl_datasets.types import DatasetError

FORMAT = 2
Indices = NDArray[np.int32]
_ARRAYS: dict[str, tuple[str, int]] = {
    "grams": ("uint64", 1),
    "gram_items": ("int32", 1),
    "totals": ("int32", 1),
    "leads": ("uint64", 1),
    "signatures": ("uint32", 2),
}
"""Name -> dtype and dimensions of the arrays of ``ViewContents``."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When a text counts as contaminated.

    ``ngram``: words in an n-gram. ``ngram_share``: share of the item's distinct n-grams found in
    the row at which the row is dropped. ``row_share``: the same of the row's n-grams (a row that is
    a piece of the item), with at least ``row_ngrams`` of them. ``common``: n-grams of this many
    different questions or more are boilerplate and do not count. ``minhash``: least share of equal
    places of two signatures, ``canonical_minhash`` the same of the canonical view. ``least_words``: shorter questions are matched when equal, or when whole
    sentences of the row say nothing else (``view_index``). ``paraphrases``: whether the paraphrase stage runs;
    ``embedding``: name of the ``EmbedderSpec`` of the embedding stage, "" for none.
    Raises DatasetError for a value out of its range.
    """

    ngram: int = NGRAM
    ngram_share: float = 0.3
    row_share: float = 0.6
    row_ngrams: int = 3
    common: int = 5
    minhash: float = 0.5
    canonical_minhash: float = 0.6
    least_words: int = 8
    paraphrases: bool = False
    embedding: str = ""

    def __post_init__(self) -> None:
        for name in ("ngram_share", "row_share", "minhash", "canonical_minhash"):
            if not 0 < getattr(self, name) <= 1:
                raise DatasetError(f"rule {name} lies in (0, 1], not {getattr(self, name)}")
        for name in ("ngram", "row_ngrams", "common", "least_words"):
            if getattr(self, name) < 1:
                raise DatasetError(f"rule {name} is at least 1, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True, eq=False)
class ViewContents:
    """One view of M items, and G pairs of a counting n-gram and an item that has it.

    ``questions``: words joined by blanks; ``grams`` (G,) sorted, with ``gram_items`` (G,);
    ``totals`` (M,): counting n-grams of each item; ``leads`` (M,): hash of the first
    ``least_words`` words, 0 for shorter questions; ``signatures`` (M, 128).
    """

    questions: tuple[str, ...]
    grams: Hashes
    gram_items: Indices
    totals: Indices
    leads: Hashes
    signatures: Signature


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """What an index holds: benchmark and id of each item, the two views (``hashing.Profile``), and the
    items' unit vectors (M, D) of the embedding stage, (0, 0) without one.
    """

    names: tuple[tuple[str, str], ...]
    exact: ViewContents
    canonical: ViewContents
    vectors: NDArray[np.float32]


def write_contents(path: Path, rules: Rules, contents: Contents) -> None:
    """Write an index atomically; the file is complete or not there."""
    views = {"exact": contents.exact, "canonical": contents.canonical}
    meta = {
        "format": FORMAT,
        "rules": asdict(rules),
        "names": contents.names,
        "questions": {view: held.questions for view, held in views.items()},
    }
    text = json.dumps(meta, sort_keys=True)
    arrays = {
        f"{view}.{name}": getattr(held, name) for view, held in views.items() for name in _ARRAYS
    }
    arrays["vectors"] = contents.vectors
    buffer = io.BytesIO()
    np.savez(buffer, meta=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    atomic_write_bytes(path, buffer.getvalue())


def read_contents(path: Path) -> tuple[Rules, Contents]:
    """Return what ``write_contents`` wrote.

    Raises DatasetError for a file that is missing, damaged or of another format.
    """
    try:
        with path.open("rb") as source, np.load(source, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        meta = json.loads(data.pop("meta").tobytes())
        if meta["format"] != FORMAT:
            raise DatasetError(
                f"{path}: benchmark index of format {meta['format']}, this version reads {FORMAT};"
                " delete the file to build it again"
            )
        names = tuple((str(benchmark), str(item)) for benchmark, item in meta["names"])
        exact, canonical = (
            _view(data, view, tuple(meta["questions"][view]), len(names))
            for view in ("exact", "canonical")
        )
        rules, vectors = Rules(**meta["rules"]), data["vectors"]
        if vectors.dtype != np.float32 or vectors.ndim != 2:
            raise ValueError("its vectors are no table of numbers")
        if len(vectors) != (len(names) if rules.embedding else 0):
            raise ValueError("its arrays do not fit together")
        return rules, Contents(names, exact, canonical, vectors)
    except FileNotFoundError as error:
        raise DatasetError(f"no such benchmark index: {path}") from error
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise DatasetError(
            f"{path}: not a readable benchmark index ({error}); delete it to build it again"
        ) from error


def _view(
    data: dict[str, NDArray[Any]], view: str, questions: tuple[str, ...], items: int
) -> ViewContents:
    """Return one view of a file's arrays; raises ValueError for arrays of another kind or size."""
    arrays = {name: data[f"{view}.{name}"] for name in _ARRAYS}
    for name, (dtype, dimensions) in _ARRAYS.items():
        if arrays[name].dtype != dtype or arrays[name].ndim != dimensions:
            raise ValueError(
                f"array {name} is {arrays[name].dtype} of {arrays[name].ndim} dimensions"
            )
    owners = arrays["gram_items"]
    fits = (
        arrays["signatures"].shape == (items, PERMUTATIONS)
        and len(questions) == len(arrays["totals"]) == len(arrays["leads"]) == items
        and len(arrays["grams"]) == len(owners)
        and bool(np.all((owners >= 0) & (owners < items)))
    )
    if not fits:
        raise ValueError("its arrays do not fit together")
    return ViewContents(questions, **arrays)
