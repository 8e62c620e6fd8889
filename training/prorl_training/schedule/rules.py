"""The controller's test of the KL, and what a test that says something returns.

KL starts at 0 after every reset and climbs for hundreds of steps, by orders of magnitude. The rule for a
spike therefore looks at x = log(max(KL, 0) + FLOOR), fits Theil and Sen's line through the last ``window``
values (the median of all pairwise slopes, the median intercept), and measures how far the newest x lies
above the line's continuation, in robust standard deviations of the residuals (1.4826 x their median
absolute value). A steady climb, linear or exponential, lies on its line; so does a flat stretch. The
spread is taken as at least MIN_SPREAD, or a nearly constant history would make a spike of anything.
What validation says is ``validation_history``'s.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

FLOOR = 1e-6
"""Nats a token; differences between KLs far below this are not seen."""
MIN_SPREAD = 0.1
"""In log-KL: about 10%. With 8 deviations a spike is at least exp(0.8) = 2.2 times what was due."""


class Spike(NamedTuple):
    """How the newest KL compares with its history."""

    z: float
    """Robust standard deviations above the line."""
    expected: float
    """KL in nats where the line's continuation is."""
    median: float
    """Median KL of the history in nats."""
    spread: float
    """Robust standard deviation of the log residuals, MIN_SPREAD or more."""


class Finding(NamedTuple):
    """A test that says something: which rule, in words, and what it saw."""

    rule: str
    reason: str
    evidence: dict[str, Any]


def measure_spike(history: Sequence[float], kl: float) -> Spike:
    """Compare ``kl`` with the finite KLs of the steps before it, oldest first (at least 3)."""
    *logs, newest = [math.log(max(value, 0.0) + FLOOR) for value in (*history, kl)]
    slope = theil_sen_slope(logs)
    intercept = statistics.median(x - slope * i for i, x in enumerate(logs))
    residuals = [abs(x - intercept - slope * i) for i, x in enumerate(logs)]
    spread = max(1.4826 * statistics.median(residuals), MIN_SPREAD)
    due = intercept + slope * len(logs)
    expected = max(math.exp(min(due, 700.0)) - FLOOR, 0.0)
    return Spike((newest - due) / spread, expected, statistics.median(history), spread)


def theil_sen_slope(values: Sequence[float]) -> float:
    """Return the median of the slopes between all pairs, a step apart each (Sen 1968, JASA 63)."""
    return statistics.median(
        (values[j] - values[i]) / (j - i) for j in range(1, len(values)) for i in range(j)
    )
