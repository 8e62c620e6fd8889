"""Join two or more datasets: equal rows once, ids unique, no text in both train and an evaluation split."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prorl_datasets.building.plan import FILL_ORDER
from prorl_datasets.deriving.writing import Derived, Parent, write_derived
from prorl_datasets.rows.row import digest, normalised
from prorl_datasets.storage import stream
from prorl_datasets.types import DatasetError, Sample, Split

SAME, OTHER_GOLD, IN_EVALUATION = (
    "the same text, kept once",
    "the same text with another reference, the first kept",
    "the text is in an evaluation split",
)


def merge_datasets(sources: Sequence[Path], out: Path) -> tuple[Derived, int]:
    """Write the rows of dataset folders into the folder ``out``; return what came of it, and how many ids were
    renamed.

    Splits stay apart. Of rows of one text (case and spacing aside) the first stays: those of test, then validation,
    then train, in the order of ``sources``. An id that is taken gets ``~2`` (``~3`` ...), the number of its source.
    Renamed rows of a split are held in memory. Raises DatasetError: fewer than two sources, the same one twice,
    none a dataset folder, ``out`` there already.
    """
    if len(sources) < 2 or len({path.resolve() for path in sources}) < len(sources):
        raise DatasetError("a merge is of two datasets or more, each named once")
    work = _Merge(sources, [Parent.read(path) for path in sources])
    work.choose()
    what = {"verb": "merge", "renamed": work.renamed.total()}
    derived = write_derived(out, what, work.parents, work.rows, work.left_out)
    return derived, work.renamed.total()


@dataclass(slots=True)
class _Merge:
    sources: Sequence[Path]
    parents: list[Parent]
    left_out: dict[str, Counter[str]] = field(default_factory=dict)
    renamed: Counter[str] = field(default_factory=Counter)
    lost: set[tuple[int, Split, str]] = field(default_factory=set)
    names: dict[tuple[int, Split, str], str] = field(default_factory=dict)

    def choose(self) -> None:
        """Decide which rows go and which are renamed; what is held are digests and ids."""
        texts: dict[str, tuple[str, Split]] = {}
        taken: set[str] = set()
        for split in FILL_ORDER:
            for number, sample in self._all(split):
                place = (number, split, sample.id)
                key = digest(normalised("\n".join(m["content"] for m in sample.prompt)))
                task = digest(f"{sample.task.verifier} {sample.task.reference_json()}")
                if key in texts:
                    first, where = texts[key]
                    reason = SAME if first == task else OTHER_GOLD
                    if where != split:
                        reason = IN_EVALUATION
                    self.left_out.setdefault(sample.domain, Counter())[reason] += 1
                    self.lost.add(place)
                    continue
                texts[key] = (task, split)
                if sample.id in taken:
                    name = f"{sample.id}~{number + 1}"
                    while name in taken:
                        name += "~"
                    self.names[place] = name
                    self.renamed[split] += 1
                taken.add(self.names.get(place, sample.id))

    def rows(self, split: Split) -> Iterator[Sample]:
        """Yield the rows of a split that stay, sorted by id."""
        renamed: list[Sample] = []

        def plain(number: int) -> Iterator[Sample]:
            for sample in self._of(number, split):
                place = (number, split, sample.id)
                if place not in self.lost and place not in self.names:
                    yield sample

        for number in range(len(self.sources)):
            if any(at == number and of == split for at, of, _ in self.names):
                renamed += [
                    replace(sample, id=self.names[number, split, sample.id])
                    for sample in self._of(number, split)
                    if (number, split, sample.id) in self.names
                ]
        renamed.sort(key=lambda sample: sample.id)
        streams = [plain(number) for number in range(len(self.sources))]
        yield from heapq.merge(*streams, renamed, key=lambda sample: sample.id)

    def _all(self, split: Split) -> Iterator[tuple[int, Sample]]:
        for number in range(len(self.sources)):
            for sample in self._of(number, split):
                yield number, sample

    def _of(self, number: int, split: Split) -> Iterator[Sample]:
        if f"{split}.parquet" in self.parents[number].manifest["files"]:
            yield from stream(self.sources[number], split)
