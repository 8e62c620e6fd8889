"""How full a sampler is while it works: the share of its places that stand empty."""

from __future__ import annotations

from collections.abc import Callable


class Occupancy:
    """Adds up how many samples ran, and for how long.

    ``places``: how many run at once at most. ``idle_share`` is 1 - (samples running, integrated over the time) /
    (the most that ran at once x the time): the share that waiting for the last ones costs.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.places = 0
        self.idle_share = 0.0
        self._running = self._peak = 0
        self._area = 0.0
        self._began = self._at = clock()

    def change(self, count: int) -> None:
        """Hear that ``count`` samples more (or, below 0, less) are there."""
        now = self._clock()
        self._area += min(self._running, self.places) * (now - self._at)
        self._at = now
        self._running += count
        self._peak = max(self._peak, min(self._running, self.places))

    def close(self) -> None:
        """End the time that is looked at."""
        self.change(-self._running)
        whole = self._peak * (self._at - self._began)
        self.idle_share = max(0.0, 1.0 - self._area / whole) if whole > 0 else 0.0
