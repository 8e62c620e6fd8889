"""pass@k: the chance that at least one of k samples solves a problem, estimated from n >= k samples.

Leaves out: intervals (``bootstrap``) and what counts as solved (``types.FULL_MARKS``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return 1 - C(n-c, k) / C(n, k): the unbiased estimate from ``c`` successes in ``n`` samples.

    Source: Chen et al. 2021, arXiv 2107.03374, equation 1, evaluated as a product of ratios so that no
    large integer or factorial appears. NaN when ``n < k``: fewer samples than k cannot say anything.

    Raises ValueError when a count is negative, ``c > n`` or ``k < 1``.
    """
    if n < 0 or c < 0 or k < 1:
        raise ValueError(f"counts must not be negative and k at least 1: c={c}, k={k}, n={n}")
    if c > n:
        raise ValueError(f"more successes than samples: c={c}, n={n}")
    if n < k:
        return math.nan
    if n - c < k:
        return 1.0
    all_fail = 1.0
    for i in range(n - c + 1, n + 1):
        all_fail *= 1.0 - k / i
    return 1.0 - all_fail


def ks_up_to(n: int, wanted: Iterable[int] = ()) -> tuple[int, ...]:
    """Return every power of two up to ``n`` and the ``wanted`` values up to ``n``, ascending."""
    powers = {1 << i for i in range(n.bit_length()) if 1 << i <= n}
    return tuple(sorted(powers | {k for k in wanted if 1 <= k <= n}))
