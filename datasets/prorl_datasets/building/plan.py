"""Which jobs a build has: chunks of generated streams, chunks of raw rows, and more where short.

Plans depend on the recipe and on what was kept so far, never on time or workers. Leaves out:
running them (``collect``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from prorl_datasets.building.collect import Job
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.sources.files import Files
from prorl_datasets.sources.sources import raw_rows
from prorl_datasets.types import SPLITS, Split

CHUNK = 64
"""Generated candidates a part file covers: what a kill can cost, and how often progress moves."""
RAW_CHUNK, RAW_BYTES = 256, 8 * 2**20
"""Raw rows of a file that a part covers, and about how many bytes of them at most."""
FILL_ORDER: tuple[Split, ...] = ("test", "validation", "train")
"""Evaluation splits are filled first, so that a problem they share with train stays with them."""
BARREN = 384
"""A generator that gives no new item in this many candidates is taken to be used up."""
LARGEST_ROUND = 4096


@dataclass(slots=True)
class Stream:
    """How far a generated (entry, split) was drawn, and what that gave."""

    entry: Entry
    split: Split
    target: int
    drawn: int = 0
    kept: int = 0
    barren: int = 0
    used_up: bool = field(default=False)

    @property
    def short(self) -> bool:
        """Whether it needs more candidates and may have some."""
        return self.kept < self.target and not self.used_up

    def result(self, kept: int, drawn: int) -> None:
        """Take note of a round: ``kept`` in all of ``drawn`` candidates in all."""
        self.barren = 0 if kept > self.kept else self.barren + drawn - self.drawn
        self.kept, self.drawn = kept, drawn
        self.used_up = self.barren >= BARREN

    def wanted(self) -> int:
        """Return how many more candidates the next round should draw."""
        missing = self.target - self.kept
        if self.drawn == 0:
            return missing
        rate = max(self.kept / self.drawn, 0.05)
        return min(LARGEST_ROUND, max(16, int(missing / rate * 1.1) + 1))


def streams_of(entries: list[Entry]) -> list[Stream]:
    """Return the streams of the generated entries with a target, in the order of filling."""
    return [
        Stream(entry, split, target)
        for split in FILL_ORDER
        for entry in entries
        if entry.generated and (target := entry.count.of(split) or 0) > 0
    ]


def draw(streams: list[Stream]) -> Iterator[Job]:
    """Yield the jobs of one round: the next candidates of every stream that is short."""
    for stream in streams:
        if stream.short:
            end = stream.drawn + stream.wanted()
            for start in range(stream.drawn, end, CHUNK):
                stop = min(end, start + CHUNK)
                yield Job(stream.entry, stream.split, start, stop)


def read(entries: list[Entry], files: Files) -> Iterator[Job]:
    """Yield the jobs of the file and hub entries, reading as it goes.

    Raises DatasetError naming file and line where the data is damaged; the jobs before stand.
    """
    for entry in entries:
        if entry.generated or not any(entry.count.of(split) != 0 for split in SPLITS):
            continue
        held, start, size, version = [], 0, 0, files.version(entry.name)
        for row in raw_rows(entry, files):
            held.append(row)
            size += _size(row[1])
            if len(held) == RAW_CHUNK or size >= RAW_BYTES:
                yield Job(entry, "", start, start + len(held), tuple(held), version)
                held, start, size = [], start + len(held), 0
        if held:
            yield Job(entry, "", start, start + len(held), tuple(held), version)


def _size(value: Any) -> int:
    """Return about how many bytes a raw value takes."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()), 64)
    if isinstance(value, list):
        return sum(map(_size, value), 64)
    return 8
