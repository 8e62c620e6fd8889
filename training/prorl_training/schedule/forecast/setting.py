"""The grid laid around one run's validations, and what the likelihood says of anything linear in R0 and A."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prorl_training.schedule.forecast.fitting import Design, Fits, fit, largest_sse, surprise
from prorl_training.schedule.forecast.noise import CORRELATIONS, Noise
from prorl_training.schedule.forecast.shapes import Array, Shapes, closer, grid

NEAR, KEPT = 10.0, 24.0
"""H above the least: where the grid is laid closer, and what of it is kept."""


class Functional(NamedTuple):
    """Something linear in R0 and A, whose weights depend on the shape: start R0 + ceiling A."""

    start: Array
    ceiling: Array


class Setting(NamedTuple):
    """A grid laid around what fits one series, and its fits: arrays correlation x shape."""

    design: Design
    compute: Array
    floor: float
    fits: Fits
    """Of the one series (the first axis has length 1)."""
    height: Array
    """H with A held within [0, 1]."""

    @property
    def shapes(self) -> Shapes:
        """The grid."""
        return self.design.shapes

    @property
    def noise(self) -> Noise:
        """The noise at the validations' places."""
        return self.design.noise

    @property
    def n(self) -> int:
        """How many validations there are."""
        return self.design.n

    def surprise(self, sse: Array) -> Array:
        """Return H of sums of squares: ... x correlation x shape."""
        return surprise(sse, self.n, self.design.log_det, self.floor)

    def least(self, sse: Array) -> Array:
        """Return each series' least H, of sums of squares series x correlation x shape."""
        best = sse.min(axis=2, keepdims=True)  # H rises with the sum of squares
        return np.asarray(self.surprise(best).min(axis=(1, 2)))

    def allowed(self, what: Functional, threshold: float) -> tuple[float, float]:
        """Return the range of what H allows."""
        limit = largest_sse(
            float(self.height.min()) + threshold, self.n, self.design.log_det, self.floor
        )
        slack = limit[:, None] - self.fits.sse[0]
        radius = np.sqrt(self.design.variance(*what) * np.maximum(slack, 0))
        middle = what.start * self.fits.start[0] + what.ceiling * self.fits.ceiling[0]
        fits = slack >= 0
        return float((middle - radius)[fits].min()), float((middle + radius)[fits].max())

    def least_of(self, family: int) -> float:
        """Return the least H of a family that is on the grid."""
        return float(self.height[:, self.shapes.family == family].min())

    def curve(self, family: int) -> tuple[int, float, float] | None:
        """Return the likeliest (shape, R0, A) of a family, A within [0, 1]; None where nothing of it is on the grid."""
        own = np.flatnonzero(self.shapes.family == family)
        if not own.size:
            return None
        k, place = np.unravel_index(self.height[:, own].argmin(), (len(CORRELATIONS), own.size))
        g = own[place]
        free = self.fits.ceiling[0, k, g]
        ceiling = float(np.clip(free, 0, 1))
        start = self.fits.start[0, k, g] - self.design.b[k, g] / self.design.a[k, g] * (
            ceiling - free
        )
        return int(g), float(start), ceiling


def settle(compute: Array, places: Array, values: Array, floor: float) -> Setting:
    """Lay the grid: first wide, then closer around what fits."""
    noise = Noise(places)
    wide = _setting(grid(float(compute[-1])), compute, noise, values, floor)
    near = (wide.height - wide.height.min() < NEAR).any(axis=0)
    fine = _setting(closer(wide.shapes, near), compute, noise, values, floor)
    kept = (fine.height - fine.height.min() < KEPT).any(axis=0)
    return _setting(Shapes(*(x[kept] for x in fine.shapes)), compute, noise, values, floor)


def _setting(shapes: Shapes, compute: Array, noise: Noise, values: Array, floor: float) -> Setting:
    design = Design(shapes, compute, noise)
    fits = fit(design, values[None])
    height = surprise(held(fits, design), design.n, design.log_det, floor)[0]
    return Setting(design, compute, floor, fits, height)


def held(fits: Fits, design: Design) -> Array:
    """Return the sums of squares with A held within [0, 1]."""
    beyond = fits.ceiling - np.clip(fits.ceiling, 0, 1)
    return np.asarray(fits.sse + beyond**2 / design.variance(0.0, 1.0))
