"""Faults of a hub's answers, which the fake hub takes from a plan or draws from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Status:
    """Another status; ``wait`` is sent as Retry-After."""

    code: int = 503
    wait: str | None = None


@dataclass(frozen=True)
class Cut:
    """The connection ends in the middle of the body."""

    after: int = 0


@dataclass(frozen=True)
class WrongLength:
    """The body is too short for the listing, but agrees with its own headers."""

    less: int = 1


@dataclass(frozen=True)
class Spoilt:
    """A body of the right length with wrong bytes."""


@dataclass(frozen=True)
class Whole:
    """The Range header is ignored and the whole body is sent."""


@dataclass(frozen=True)
class Slow:
    """The answer is delayed."""

    seconds: float = 0.2


@dataclass(frozen=True)
class Body:
    """Another body with status 200."""

    data: bytes


Fault = Status | Cut | WrongLength | Spoilt | Whole | Slow | Body


@dataclass
class Plan:
    """Faults by part of the path, first in first out, or random ones for ``rate`` of all requests."""

    by_path: dict[str, list[Fault]] = field(default_factory=dict)
    rate: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(0))

    def next(self, path: str) -> Fault | None:
        """Return the fault for a request of ``path``, or None."""
        for part, faults in self.by_path.items():
            if part in path and faults:
                return faults.pop(0)
        if self.chance.random() >= self.rate:
            return None
        cut = Cut(self.chance.randrange(4000))
        kinds: list[Fault] = [Status(503), Status(429, "0"), Status(500), cut, cut, Slow(0.05)]
        return self.chance.choice(kinds)
