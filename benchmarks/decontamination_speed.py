"""How fast the text engine is, on one core, and what MinHash costs elsewhere.

CPU time, which other work on the machine disturbs less than wall time. Nothing is asserted. Leaves out accuracy.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from prorl_datasets.text.duplicates import greedy_keep, near_duplicates
from prorl_datasets.text.hashing import PERMUTATIONS, Profile, signature_of, word_hashes
from prorl_datasets.text.index import BenchmarkIndex
from prorl_datasets.text.paraphrases import ParaphraseIndex
from prorl_datasets.text.words import question_words

Table = list[list[Any]]


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the least CPU time of ``work`` in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def of_rows(items: Sequence[tuple[str, str, str]], filler: Sequence[str]) -> Table:
    """Return rows matched a second against an index of about 10,000 items, and what the index takes."""
    stream = " ".join(filler).split()
    rows = [" ".join(stream[i : i + 200]) for i in range(0, 100_000, 200)]
    times_three = [(b, f"{i}.{k}", f"{text} {k}") for k in range(3) for b, i, text in items][
        :10_000
    ]
    index = BenchmarkIndex.build(times_three)
    told = ParaphraseIndex(index.contents.exact.questions)
    short = list(filler[:2000])
    ways: list[tuple[str, Callable[[Profile], object]]] = [
        ("exact view", lambda row: index._exact.hits(row.text, row.exact, None)),
        ("canonical view", lambda row: index._canonical.hits(row.text, row.canonical, None)),
        ("paraphrases", lambda row: list(told.matches(row.text))),
    ]
    table: Table = []
    for name, way in ways:
        long = best(lambda w=way: [w(Profile(row)) for row in rows]) / len(rows)  # type: ignore[misc]
        usual = best(lambda w=way: [w(Profile(row)) for row in short], 3) / len(short)  # type: ignore[misc]
        build = f"{usual * 146_000:.0f} s for 146,000 of GSM8K's rows"
        table.append([name, f"{long * 1e6:.0f} µs a row of 200 words; {build}"])
    arrays = [
        array
        for view in (index.contents.exact, index.contents.canonical)
        for array in (view.grams, view.gram_items, view.signatures, view.leads)
    ]
    size = sum(a.nbytes for a in arrays) + sum(map(sys.getsizeof, index.contents.exact.questions))
    table.append([f"memory of the index ({len(index)} items)", f"{size / 1e6:.1f} MB"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.npz"
        index.save(path)
        table.append(["its file", f"{path.stat().st_size / 1e6:.1f} MB"])
        table.append(["time to load it", f"{best(lambda: BenchmarkIndex.load(path)) * 1e3:.0f} ms"])
    return table


def of_minhash(filler: Sequence[str]) -> Table:
    """Return the time of one 128-place signature of 200 words, here and in two libraries."""
    stream = question_words(" ".join(filler[:1000]))
    rows = [stream[i : i + 200] for i in range(0, 20_000, 200)]
    ways: list[tuple[str, Callable[[], object]]] = [
        ("here (numpy)", lambda: [signature_of(word_hashes(row)) for row in rows])
    ]
    for name in ("datasketch", "rensa"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        ways.append((name, lambda m=module, n=name: [_library(m, n, row) for row in rows]))  # type: ignore[misc]
    return [[name, f"{best(work) / len(rows) * 1e6:.0f} µs"] for name, work in ways]


def _library(module: Any, name: str, row: Sequence[str]) -> object:
    shingles = [" ".join(row[i : i + 3]) for i in range(len(row) - 2)]
    if name == "datasketch":
        sketch = module.MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([s.encode() for s in shingles])
        return sketch.hashvalues
    sketch = module.RMinHash(num_perm=PERMUTATIONS, seed=1)
    sketch.update(shingles)
    return sketch.digest()


def of_duplicates() -> Table:
    """Return the time of near-duplicate search and greedy choice on made-up signatures."""
    rng = np.random.default_rng(0)

    def random(rows: int) -> Any:
        return rng.integers(0, 2**32, (rows, PERMUTATIONS), dtype=np.uint32)

    def noisy(rows: int, share: float) -> Any:
        table = np.repeat(random(1), rows, axis=0)
        change = rng.random(table.shape) < share
        table[change] = rng.integers(0, 2**32, int(change.sum()), dtype=np.uint32)
        return table

    sets = [
        ("136,000 unlike rows", random(136_000)),
        ("136,000 rows, each twice", np.tile(random(68_000), (2, 1))),
        ("20,000 equal rows", noisy(20_000, 0.0)),
        ("20,000 rows of one template (similarity about 0.6)", noisy(20_000, 0.23)),
        ("20,000 near copies of one row (about 0.85)", noisy(20_000, 0.08)),
    ]
    table: Table = []
    for name, signatures in sets:
        start = time.process_time()
        edges = near_duplicates(signatures, 0.8)
        kept = greedy_keep(np.arange(len(signatures)), edges)
        seconds = time.process_time() - start
        table.append([name, len(edges), int(kept.mask.sum()), f"{seconds:.1f} s"])
    return table
