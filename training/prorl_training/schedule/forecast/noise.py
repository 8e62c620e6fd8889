"""What the policy's path and the sampler's fixed seeds leave from one validation to the next: how noise hangs together.

Leaves out: how large the noise is (``fitting``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prorl_training.schedule.forecast.shapes import Array


class Correlation(NamedTuple):
    """K of the noise: ``white`` + (1 - ``white``) ``rho``^gap, gaps in median distances between validations."""

    rho: float
    white: float

    def matrix(self, places: Array) -> Array:
        """Return K at these places (in median distances)."""
        gaps = np.abs(places[:, None] - places[None, :])
        kept = np.where(gaps == 0, 1.0, (1 - self.white) * self.rho**gaps)
        return np.asarray(kept, dtype=np.float64)


CORRELATIONS = (
    Correlation(0.0, 0.0),
    Correlation(0.3, 0.0),
    Correlation(0.5, 0.0),
    Correlation(0.7, 0.0),
    Correlation(0.85, 0.0),
    Correlation(0.8, 0.5),
)


class Whitening:
    """W of one correlation, with W K W^T = 1, W lower triangular; ``log_det`` is log|K|.

    Without a ``white`` part each value depends on the one before it alone, and W has two diagonals: u_i becomes
    (u_i - rho^gap u_(i-1)) / sqrt(1 - rho^(2 gap)).
    """

    def __init__(self, correlation: Correlation, places: Array) -> None:
        self._root: Array | None = None
        if correlation.white:
            self._root = np.linalg.inv(np.linalg.cholesky(correlation.matrix(places)))
            diagonal = np.diag(self._root)
        else:
            self._kept = correlation.rho ** np.diff(places)
            self._scale = 1 / np.sqrt(1 - self._kept**2)
            diagonal = self._scale
        self.log_det = float(-2 * np.log(diagonal).sum())

    def __call__(self, rows: Array) -> Array:
        """Return W r of each row r: ... x validations."""
        if self._root is not None:
            return np.asarray(rows @ self._root.T)
        found = rows.copy()
        found[..., 1:] = (rows[..., 1:] - self._kept * rows[..., :-1]) * self._scale
        return found


class Noise:
    """The noise of validations at these ``places`` (in median distances), under each of CORRELATIONS."""

    def __init__(self, places: Array) -> None:
        self.places = places
        self.whiten = [Whitening(k, places) for k in CORRELATIONS]
        self.log_det = np.array([w.log_det for w in self.whiten])
