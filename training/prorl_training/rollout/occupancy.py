"""How full a sampler is while it works: the share of its places that stand empty."""

from __future__ import annotations

from collections.abc import Callable


class Occupancy:
    """Adds up how many samples run, and for how long.

    ``idle_share`` is 1 - (samples running, integrated over the time) / (the most that ran at once x the time): what
    waiting for the last ones costs. Samples beyond ``places`` only wait.
    """

    def __init__(self, places: int, clock: Callable[[], float]) -> None:
        self._places, self._clock = places, clock
        self._running = self._most = 0
        self._area = 0.0
        self._began = self._at = clock()

    def note(self, running: int) -> None:
        """Hear that ``running`` samples are under way from now on."""
        now = self._clock()
        self._area += self._running * (now - self._at)
        self._at = now
        self._running = min(running, self._places)
        self._most = max(self._most, self._running)

    @property
    def idle_share(self) -> float:
        """The share up to the last ``note``."""
        whole = self._most * (self._at - self._began)
        return max(0.0, 1.0 - self._area / whole) if whole > 0 else 0.0
