"""What the bar shows beside count and time left: tokens a second, and cost where a server has a price.

Leaves out: the bar itself (``Progress``), which works out the time left from counts.
"""

from __future__ import annotations

import time
from typing import Protocol

from prorl_common import Progress


class Usage(Protocol):
    """What a priced generator says of itself."""

    @property
    def cost(self) -> float | None:
        """What was spent so far, None where no price is known."""


class Meter:
    """Counts finished samples of one model and tells the bar; ``total`` are the samples still to make."""

    def __init__(self, progress: Progress, total: int, usage: Usage | None = None) -> None:
        self._progress, self._total, self._usage = progress, total, usage
        self._started = time.perf_counter()
        self._spent_before = (usage.cost or 0.0) if usage is not None else 0.0
        self.samples = self.tokens = 0

    def count(self, samples: int, tokens: int = 0) -> None:
        """Add finished samples and the tokens of written ones, and show both."""
        self.samples += samples
        self.tokens += tokens
        self._progress.advance(samples, **self.facts())

    def facts(self) -> dict[str, str]:
        """Return the short facts: ``tokens/s`` since the start, ``cost`` so far and about how much in all."""
        found: dict[str, str] = {}
        seconds = time.perf_counter() - self._started
        if self.tokens and seconds > 0:
            found["tokens/s"] = f"{self.tokens / seconds:,.0f}"
        spent = self._usage.cost if self._usage is not None else None
        if spent is not None and self.samples:
            spent -= self._spent_before
            whole = spent / self.samples * self._total
            found["cost"] = f"{spent:.4g} of about {whole:.4g}"
        return found
