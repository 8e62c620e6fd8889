"""pass@k and G-Pass@k: the chance that one or more of k samples solve a problem, from n >= k samples.

Also when a k is too near n to mean much. Leaves out: intervals (``stats.bounded_mean``), votes
(``majority``) and what counts as solved (``types.FULL_MARKS``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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


class Counted(Protocol):
    """Anything with ``n`` samples judged, ``c`` of them right."""

    @property
    def n(self) -> int:
        """Samples judged."""

    @property
    def c(self) -> int:
        """Samples with full marks."""


def pass_at_k_table(problems: Sequence[Counted], ks: Sequence[int]) -> Floats:
    """Return pass@k of each problem and k, shape [problems, ks]; NaN where n < k.

    Every problem keeps its row; see :func:`pass_at_k` for the estimate and what is raised.
    """
    import numpy as np

    known: dict[tuple[int, int], list[float]] = {}
    rows = []
    for p in problems:
        if (p.n, p.c) not in known:
            known[(p.n, p.c)] = [pass_at_k(p.n, p.c, k) for k in ks]
        rows.append(known[(p.n, p.c)])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ks))


def g_pass_at_k(n: int, c: int, k: int, tau: float) -> float:
    """Return the chance that at least ceil(tau k) of k samples are right, from ``c`` of ``n``.

    sum over j of C(c, j) C(n-c, k-j) / C(n, k) for j from ceil(tau k), at least 1: Liu et al. 2024,
    arXiv 2412.13147, definition of G-Pass@k. Exact integers. ``tau`` near 0 gives pass@k, 1 asks for all
    k. NaN when n < k. Raises ValueError as ``pass_at_k`` does, or for a tau outside [0, 1].
    """
    if not 0.0 <= tau <= 1.0:
        raise ValueError(f"tau must lie between 0 and 1: {tau}")
    if math.isnan(pass_at_k(n, c, k)):
        return math.nan
    least = max(1, math.ceil(tau * k - 1e-9))
    ways = sum(math.comb(c, j) * math.comb(n - c, k - j) for j in range(least, min(c, k) + 1))
    return ways / math.comb(n, k)


def near_n_warning(n: int, k: int) -> str | None:
    """Return a sentence when k > n/2, where pass@k is little more than "did any sample succeed?".

    With c successes the estimate is then at least 1 - 2^-c, whatever the true rate.
    """
    if k <= 1 or 2 * k <= n:
        return None
    return (
        f"pass@{k} from n = {n} samples is little more than whether any of them succeeded (one success "
        f"already gives {k / n:.2f}); sample n = {2 * k} or read a k of at most {max(1, n // 2)}"
    )
