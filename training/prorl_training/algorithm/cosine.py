"""Half a cosine between two values: the shape of the length rewards."""

from __future__ import annotations

import math


def cosine_between(at_zero: float, at_limit: float, tokens: int, limit: int) -> float:
    """Return at_limit + (at_zero - at_limit)/2 * (1 + cos(pi t/T)), with t/T held at 1 beyond the limit.

    ``tokens`` t >= 0 output tokens, ``limit`` T >= 1. The clamp matters: cosine is periodic.
    """
    progress = min(tokens / limit, 1.0)
    return at_limit + 0.5 * (at_zero - at_limit) * (1 + math.cos(math.pi * progress))
