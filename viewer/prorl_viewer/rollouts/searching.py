"""Text searches that answer in time: what was not searched yet is searched on, and there when it is asked again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from prorl_common import Closing
from prorl_viewer.rollouts.segment import Mask, Segment

THREADS = 2
KEPT = 16
"""Searches whose hits are kept: a byte a row each."""
IN_TIME = 0.15
"""Seconds that an answer waits for its search."""


class Hits(NamedTuple):
    """Which rows of the segments have the text; ``searched`` of ``rows`` have been looked at."""

    mask: Mask
    searched: int


class Searches(Closing):
    """The searches of late, each over whatever segments it is asked for; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(THREADS)
        self._searches: OrderedDict[str, dict[Segment, Future[Mask]]] = OrderedDict()

    def hits(self, needle: str, segments: Sequence[Segment], in_time: float = IN_TIME) -> Hits:
        """Return the rows that have ``needle``, as far as they are known after ``in_time`` seconds."""
        with self._lock:
            found = self._searches.setdefault(needle, {})
            self._searches.move_to_end(needle)
            for gone in found.keys() - set(segments):
                found.pop(gone).cancel()
            new = [segment for segment in segments if segment not in found]
            for segment in sorted(new, key=lambda s: -s.newest):
                found[segment] = self._pool.submit(segment.search, needle)
            while len(self._searches) > KEPT:
                for future in self._searches.popitem(last=False)[1].values():
                    future.cancel()
            futures = [found[segment] for segment in segments]
        wait(futures, in_time)
        masks, searched = [], 0
        for segment, future in zip(segments, futures, strict=True):
            rows = segment.columns.num_rows
            if future.done() and not future.cancelled():
                masks.append(future.result())
                searched += rows
            else:
                masks.append(np.zeros(rows, np.bool_))
        return Hits(np.concatenate(masks) if masks else np.zeros(0, np.bool_), searched)

    def close(self) -> None:
        """Stop searching."""
        self._pool.shutdown(cancel_futures=True)
