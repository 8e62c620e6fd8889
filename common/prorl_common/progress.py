"""Report the progress of long work."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Protocol, TextIO


class Progress(Protocol):
    """Interface of progress reports. Counts are in items of the caller's choice."""

    def start(self, label: str, total: int | None, done: int = 0) -> None:
        """Begin a stage of ``total`` items (None: unknown), of which ``done`` are already finished."""

    def advance(self, count: int = 1, **fields: str) -> None:
        """Report finished items. ``fields`` are short facts to show."""

    def message(self, text: str) -> None:
        """Show a line that stays on the screen."""

    def finish(self) -> None: ...


class NullProgress:
    """A progress report that shows nothing."""

    def start(self, label: str, total: int | None, done: int = 0) -> None: ...

    def advance(self, count: int = 1, **fields: str) -> None: ...

    def message(self, text: str) -> None: ...

    def finish(self) -> None: ...


def format_seconds(seconds: float) -> str:
    """Return a duration as ``12s``, ``3m 20s`` or ``5h 07m``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def without_repeats(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that calls ``tell`` only the first time it gets a line. Thread-safe."""
    lines, lock = set[str](), threading.Lock()

    def tell_once(line: str) -> None:
        with lock:
            if line in lines:
                return
            lines.add(line)
        tell(line)

    return tell_once


class Stage:
    """Progress of one stage of work, with an estimate of the time left.

    There is no estimate if the speed varies more than twofold.
    """

    GAP = 0.2
    """Minimum seconds between two recorded counts."""
    MOST_MARKS = 256

    def __init__(
        self,
        label: str,
        total: int | None,
        done: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.label, self.total, self.done = label, total, done
        self.fields: Mapping[str, str] = {}
        self._clock = clock
        self.started = clock()
        self._marks = [(self.started, done)]

    def advance(self, count: int, fields: Mapping[str, str]) -> None:
        self.fields = fields or self.fields
        if count <= 0:
            return
        self.done += count
        if self.total is not None and self.done > self.total:
            self.total = None
        marks, now = self._marks, self._clock()
        if len(marks) > 1 and now - marks[-2][0] < self.GAP:
            marks.pop()
        marks.append((now, self.done))
        if len(marks) > self.MOST_MARKS:
            del marks[1:-1:2]

    def count(self) -> str:
        """Return the count, with the total if known: ``3/10``."""
        return str(self.done) if self.total is None else f"{self.done}/{self.total}"

    def seconds_left(self) -> float | None:
        newer = self._marks[max(0, min(len(self._marks) // 2, len(self._marks) - 5)) :]
        if self.total is None or len(newer) < 5:
            return None
        last = len(newer) - 1
        ends = [newer[round(part * last / 4)] for part in range(5)]
        rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(ends)]
        usual, since = (ends[4][1] - ends[0][1]) / last, self._clock() - ends[4][0]
        # upper bound of the last quarter's rate, as if its next items finished now
        rates[3] = min(
            rates[3], (ends[4][1] - ends[3][1] + usual) / (since + ends[4][0] - ends[3][0])
        )
        if max(rates) > 2 * min(rates):
            return None
        rate = (ends[4][1] - ends[0][1]) / (ends[4][0] - ends[0][0])
        return max(0.0, (self.total - self.done) / rate - since)

    def eta(self) -> str:
        """Return ``ETA 3m 20s``, or "" if unknown."""
        left = self.seconds_left() if self.done != self.total else None
        return "" if left is None else f"ETA {format_seconds(left)}"


class PlainProgress:
    """Prints a plain line every few seconds to ``stream`` (default: stderr)."""

    def __init__(self, every_seconds: float = 5.0, stream: TextIO | None = None) -> None:
        self._every = every_seconds
        self._stream = stream if stream is not None else sys.stderr
        self._stage: Stage | None = None
        self._last = 0.0

    def start(self, label: str, total: int | None, done: int = 0) -> None:
        self.finish()
        self._stage = Stage(label, total, done)
        self._last = self._stage.started

    def advance(self, count: int = 1, **fields: str) -> None:
        if self._stage is None:
            return
        self._stage.advance(count, fields)
        if time.monotonic() - self._last >= self._every:
            self._print(self._stage)

    def message(self, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def finish(self) -> None:
        if self._stage is not None:
            self._print(self._stage)
            self._stage = None

    def _print(self, stage: Stage) -> None:
        self._last = time.monotonic()
        parts = [f"{stage.label}: {stage.count()}", *(f"{k} {v}" for k, v in stage.fields.items())]
        parts += [eta] if (eta := stage.eta()) else []
        parts.append(f"elapsed {format_seconds(self._last - stage.started)}")
        print(" · ".join(parts), file=self._stream, flush=True)
