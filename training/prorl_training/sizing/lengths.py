"""How long responses are: a log-normal with its tail, or what a run has recorded, cut at the response limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Protocol

from prorl_common import UserError
from prorl_common.rollout_files import read_rollouts, rollout_files


class Lengths(Protocol):
    """A distribution of response lengths in tokens."""

    @property
    def source(self) -> str:
        """Where it is from."""
        ...

    def draw(self, count: int, limit: int) -> list[int]:
        """Return ``count`` lengths, shortest first, evenly spread over the distribution and cut at ``limit``."""
        ...


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Lengths of this mean and standard deviation, in tokens, before anything is cut."""

    mean: float
    deviation: float
    source: str

    def __post_init__(self) -> None:
        if not (0 < self.mean < math.inf and 0 < self.deviation < math.inf):
            raise UserError(
                f"response lengths of mean {self.mean:g} and standard deviation {self.deviation:g} do not exist: "
                "both are above 0"
            )

    def draw(self, count: int, limit: int) -> list[int]:
        """Return the quantiles (i + 1/2) / count."""
        variance = math.log1p((self.deviation / self.mean) ** 2)
        log = NormalDist(math.log(self.mean) - variance / 2, math.sqrt(variance))
        quantiles = (math.exp(log.inv_cdf((i + 0.5) / count)) for i in range(count))
        return [min(max(round(length), 1), limit) for length in quantiles]


@dataclass(frozen=True, slots=True)
class Recorded:
    """Lengths that were seen; what the limit cut then stays as long as it was."""

    seen: Sequence[int]
    source: str

    def __post_init__(self) -> None:
        if not self.seen:
            raise UserError(f"{self.source} has no responses to take lengths from")

    def draw(self, count: int, limit: int) -> list[int]:
        """Return the quantiles (i + 1/2) / count of what was seen."""
        ordered = sorted(self.seen)
        last = len(ordered)
        return [min(ordered[int((i + 0.5) / count * last)], limit) for i in range(count)]


DISTILLED = LogNormal(
    5450.0,
    7327.0,
    "DeepSeek-R1-Distill-Qwen-1.5B on MATH-500 (prime-rl, pull request 1026)",
)
"""The base model's lengths on one benchmark of one domain; training moves them (DeepScaleR: 5,500 to 3,500 at 8k)."""


def recorded_in(run: Path) -> Recorded:
    """Return the lengths of all responses in a run's ``rollouts/``. Raises UserError where there are none."""
    files = rollout_files(run).values()
    if not files:
        raise UserError(
            f"--like {run}: no rollouts there; name the folder of a run, like runs/NAME"
        )
    seen = [int(n) for file in files for n in read_rollouts(file, ["tokens"])["tokens"].to_pylist()]
    return Recorded(seen, f"{len(seen):,} recorded in {run}")
