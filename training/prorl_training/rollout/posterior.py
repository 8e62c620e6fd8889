"""How likely an item's next group teaches something, from what its earlier responses came to, and who is drawn for it.

Of an item with ``right`` and ``wrong`` remembered responses the pass rate is Beta(1 + right, 1 + wrong). A group of n
teaches unless all are right or all are wrong; under the posterior that has the chance

    1 - B(a + n, b) / B(a, b) - B(a, b + n) / B(a, b),    B(a + n, b) / B(a, b) = prod_{j<n} (a + j) / (a + b + j)

(the beta-binomial's two ends). An item never tried has 1 - 2 / (n + 1): not knowing is worth a look, and what is
forgotten comes back. Sums, products and quotients only, so that the same counts give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def chance_to_teach(right: Floats, wrong: Floats, samples: int) -> Floats:
    """Return for each item the chance that ``samples`` responses are neither all right nor all wrong.

    ``right`` and ``wrong`` are counts of at least 0, not whole where they were discounted.
    """
    a, b = 1 + right, 1 + wrong
    all_right, all_wrong = np.ones_like(a), np.ones_like(a)
    for j in range(samples):
        all_right *= (a + j) / (a + b + j)
        all_wrong *= (b + j) / (a + b + j)
    return np.maximum(1 - all_right - all_wrong, 0.0)


def drawing_weights(
    base: Floats, chance: Floats, floor: float, strata: Sequence[object] | None = None
) -> Floats:
    """Return the weight of each item: ``floor`` of it as ``base`` says, the rest by ``base`` times ``chance``.

    Of every draw an item has at least ``floor`` times the share that ``base`` gives it. A stratum's total
    is that of ``base``, so that a domain keeps its weight; None: all items are one.
    """
    labels = np.zeros(len(base), dtype=np.int64)
    if strata is not None:
        labels = np.unique(np.array([str(s) for s in strata]), return_inverse=True)[1]
    valued = base * chance
    total, worth = np.bincount(labels, base), np.bincount(labels, valued)
    scale = np.divide(total, worth, out=np.zeros_like(total), where=worth > 0)
    by_value = np.where(worth[labels] > 0, valued * scale[labels], base)
    return floor * base + (1 - floor) * by_value
