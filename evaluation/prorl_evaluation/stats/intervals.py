"""An estimate with its interval, and how intervals are made. Leaves out: making them."""

from __future__ import annotations

from dataclasses import dataclass

SAME = 1e-12
"""Values closer than this differ by rounding only."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval.

    ``count`` values entered; ``undefined`` more were NaN and did not. All three numbers are NaN when no
    value was defined.
    """

    value: float
    low: float
    high: float
    count: int
    undefined: int = 0

    @property
    def part(self) -> str:
        """`` (12 of 40)`` where values are undefined, else nothing."""
        return f" ({self.count} of {self.count + self.undefined})" if self.undefined else ""

    @property
    def degenerate(self) -> bool:
        """Whether the interval has no width: for the plain bootstrap, all values of a stratum agree."""
        return self.high - self.low < SAME


@dataclass(frozen=True, slots=True)
class Resampling:
    """Level of the intervals, number of draws, and the seed of the draws."""

    level: float = 0.95
    draws: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for a level outside (0, 1) or no draws."""
        if not 0.0 < self.level < 1.0 or self.draws < 1:
            raise ValueError(
                f"level must lie between 0 and 1 and draws be positive: {self.level}, {self.draws}"
            )
