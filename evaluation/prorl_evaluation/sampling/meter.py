"""What the bar shows beside count and time left: tokens a second, and cost where a server has a price.

It also says once how long the rest will take. Leaves out: the bar itself (``Progress``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from prorl_common import Progress, format_seconds

SETTLED_SECONDS = 5.0
"""After the first samples are written, until the time left is said: model and verifiers warm up."""


class Usage(Protocol):
    """What a priced generator says of itself."""

    @property
    def cost(self) -> float | None:
        """What was spent so far, None where no price is known."""


class Meter:
    """Counts finished samples of one model and tells the bar; ``total`` are the samples still to make, ``label``
    is the model's, ``usage`` returns what a server was asked for, if one was."""

    def __init__(
        self,
        progress: Progress,
        total: int,
        label: str = "",
        usage: Callable[[], Usage | None] = lambda: None,
    ) -> None:
        self._progress, self._total, self._label, self._usage = progress, total, label, usage
        self._started = time.perf_counter()
        spent = usage()
        self._spent_before = (spent.cost or 0.0) if spent is not None else 0.0
        self._settling: tuple[float, int] | None = None
        self._said = False
        self.samples = self.tokens = 0

    def count(self, samples: int, tokens: int = 0) -> None:
        """Add finished samples and the tokens of written ones, and show both."""
        self.samples += samples
        self.tokens += tokens
        self._progress.advance(samples, **self.facts())
        now, left = time.perf_counter(), self._total - self.samples
        if self._settling is None and tokens:
            self._settling = now, self.samples
        elif self._settling is not None and not self._said and left > 0:
            since, before = self._settling
            if now - since >= SETTLED_SECONDS and self.samples > before:
                self._said = True
                rest = format_seconds((now - since) / (self.samples - before) * left)
                self._progress.message(
                    f"{self._label}: {left} samples left, about {rest} at this speed"
                )

    def facts(self) -> dict[str, str]:
        """Return the short facts: ``tokens/s`` since the start, ``cost`` so far and about how much in all."""
        found: dict[str, str] = {}
        seconds = time.perf_counter() - self._started
        if self.tokens and seconds > 0:
            found["tokens/s"] = f"{self.tokens / seconds:,.0f}"
        usage = self._usage()
        spent = usage.cost if usage is not None else None
        if spent is not None and self.samples:
            spent -= self._spent_before
            whole = spent / self.samples * self._total
            found["cost"] = f"{spent:.4g} of about {whole:.4g}"
        return found
