"""What a hub does wrong in one answer; the fake hub takes them from a plan or draws them from a seed."""

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
    """The connection ends after so many bytes of the body, though all were promised."""

    after: int = 0


@dataclass(frozen=True)
class WrongLength:
    """The body is shorter by so many bytes, and the headers agree with it, not with the listing."""

    less: int = 1


@dataclass(frozen=True)
class Spoilt:
    """A body of the right length and other bytes."""


@dataclass(frozen=True)
class Whole:
    """A Range header is not heard: the whole body comes."""


@dataclass(frozen=True)
class Slow:
    """The answer comes after a while."""

    seconds: float = 0.2


@dataclass(frozen=True)
class Body:
    """Another body, with status 200."""

    data: bytes


Fault = Status | Cut | WrongLength | Spoilt | Whole | Slow | Body


@dataclass
class Plan:
    """Faults by a part of the path, first come first served; and by chance, ``rate`` of all requests."""

    by_path: dict[str, list[Fault]] = field(default_factory=dict)
    rate: float = 0.0
    chance: random.Random = field(default_factory=lambda: random.Random(0))

    def next(self, path: str) -> Fault | None:
        """Return what goes wrong in the answer to a request for ``path``."""
        for part, faults in self.by_path.items():
            if part in path and faults:
                return faults.pop(0)
        if self.chance.random() >= self.rate:
            return None
        cut = Cut(self.chance.randrange(4000))
        kinds: list[Fault] = [Status(503), Status(429, "0"), Status(500), cut, cut, Slow(0.05)]
        return self.chance.choice(kinds)
