"""Which texts are long work: judged before they are scored, by their size and by what the verifier's long texts
have cost so far.

The cost is processor time a character, and the dearest of late counts: what one instruction makes slow another
may not. Nothing is learnt from short texts, whose cost is not their length's.
"""

from __future__ import annotations

import threading

LEAST_CHARACTERS = 8192
"""Shorter texts are never long work."""
LONG_SECONDS = 0.25
"""Processor seconds from which a text is long work: what quick items must not wait for."""
FIRST_GUESS = LONG_SECONDS / 65_536
"""Seconds a character of a verifier that has scored no long text yet."""
_MOST = LONG_SECONDS / LEAST_CHARACTERS
_FADING = 0.9
"""What is left of the dearest cost with each text that was cheaper."""


class TextCosts:
    """The costs of one pool's verifiers. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rates: dict[str, float] = {}

    def is_long(self, verifier: str, characters: int) -> bool:
        """Whether a text of so many characters is likely to be long work."""
        if characters < LEAST_CHARACTERS:
            return False
        with self._lock:
            return self._rates.get(verifier, FIRST_GUESS) * characters >= LONG_SECONDS

    def observe(self, verifier: str, characters: int, cpu_seconds: float) -> None:
        """Learn from a text that was scored, or ran out of its limit, in ``cpu_seconds``."""
        if characters < LEAST_CHARACTERS:
            return
        with self._lock:
            faded = _FADING * self._rates.get(verifier, FIRST_GUESS)
            self._rates[verifier] = max(faded, min(cpu_seconds / characters, _MOST))
