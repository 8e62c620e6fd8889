"""How long work reports itself: an interface, a silent form and a plain-line form for logs.

The rich bar for terminals implements the same interface in prorl_cli; rooms only see ``Progress``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Protocol, TextIO


class Progress(Protocol):
    """What a room calls while it works. Totals and counts are in items of the room's choosing."""

    def start(self, label: str, total: int | None) -> None:
        """Begin a stage of ``total`` items (None: not known), ending the previous stage."""

    def advance(self, count: int = 1, **fields: str) -> None:
        """Count finished items; ``fields`` are short facts to show beside them."""

    def message(self, text: str) -> None:
        """Show one line that stays (a decision, a warning)."""

    def finish(self) -> None:
        """End the current stage."""


class NullProgress:
    """Reports nothing."""

    def start(self, label: str, total: int | None) -> None:
        """Ignore."""

    def advance(self, count: int = 1, **fields: str) -> None:
        """Ignore."""

    def message(self, text: str) -> None:
        """Ignore."""

    def finish(self) -> None:
        """Ignore."""


def format_seconds(seconds: float) -> str:
    """Return a duration as ``12s``, ``3m 20s`` or ``5h 07m``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


class PlainProgress:
    """One plain line every few seconds on ``stream`` (stderr by default), for logs and pipes."""

    def __init__(self, every_seconds: float = 5.0, stream: TextIO | None = None) -> None:
        self._every = every_seconds
        self._stream = stream if stream is not None else sys.stderr
        self._label = ""
        self._total: int | None = None
        self._done = 0
        self._started = self._last = 0.0
        self._fields: Mapping[str, str] = {}

    def start(self, label: str, total: int | None) -> None:
        """Begin a stage and say so."""
        self.finish()
        self._label, self._total, self._done = label, total, 0
        self._started = self._last = time.monotonic()
        self._fields = {}

    def advance(self, count: int = 1, **fields: str) -> None:
        """Count, and print a line when the last one is old enough."""
        self._done += count
        self._fields = fields or self._fields
        if time.monotonic() - self._last >= self._every:
            self._print()

    def message(self, text: str) -> None:
        """Print the line at once."""
        print(text, file=self._stream, flush=True)

    def finish(self) -> None:
        """Print the stage's last line, if a stage is open."""
        if self._label:
            self._print()
            self._label = ""

    def _print(self) -> None:
        now = time.monotonic()
        self._last = now
        elapsed = now - self._started
        of = f"/{self._total}" if self._total is not None else ""
        parts = [f"{self._label}: {self._done}{of}", *(f"{k} {v}" for k, v in self._fields.items())]
        if self._total and 0 < self._done < self._total:
            parts.append(f"ETA {format_seconds(elapsed / self._done * (self._total - self._done))}")
        parts.append(f"elapsed {format_seconds(elapsed)}")
        print(" · ".join(parts), file=self._stream, flush=True)
