"""How far the likelihood may fall before a value is refused: measured by bootstrap, not taken from a table.

With few validations, a correlation that is estimated too and several families of curves, the profile likelihood's usual
threshold (3.84 for 95 %) is too low. So curves are drawn from all that the data allow, in proportion to their restricted
likelihood (flat in log C_mid, log B and A within [0, 1], the families weighing alike; sigma^2 as ``likely`` says); from each
a series is simulated, fitted, and asked how far its own true value lies below its best fit. The threshold is the 95 % point of
that, and never less than 3.84.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_training.schedule.forecast.fitting import FINEST, fit
from prorl_training.schedule.forecast.noise import CORRELATIONS
from prorl_training.schedule.forecast.setting import Functional, Setting, held
from prorl_training.schedule.forecast.shapes import FAMILIES, Array, Shapes, grid

Places = NDArray[np.int64]
LEVEL = 0.95
USUAL = 3.84
"""The 95 % point of chi^2 with one degree of freedom: no threshold is below it."""
DRAWS = 400
"""Simulated series."""
RATIO, LEVELS = 1.4, 12
"""Variances that the noise may have: each so many times the one before, so many of them."""
BLOCK = 40
"""Series that are fitted at a time: so many stay in the processor's cache."""


class Draws(NamedTuple):
    """Curves that the data allow, one a place: ``start`` and ``ceiling`` of shape ``shape``, and their noise."""

    shape: Places
    start: Array
    ceiling: Array
    correlation: Places
    variance: Array


class Likely(NamedTuple):
    """How likely each (variance of the noise, correlation, shape) is, sum 1, and those variances."""

    variances: Array
    weights: Array

    def average(self, of_variance: Array) -> float:
        """Return the mean of something that depends on the variance."""
        return float((self.weights.sum(axis=(1, 2)) * of_variance).sum())


def likely(setting: Setting) -> Likely:
    """Weigh all that may be: half on noise of the answers alone where it is known, the rest even in log variance."""
    design, fits, n = setting.design, setting.fits, setting.n
    if setting.floor > 0:
        variances = setting.floor * RATIO ** np.arange(LEVELS)
        prior = np.array([0.5, *np.full(LEVELS - 1, 0.5 / (LEVELS - 1))])
    else:
        variances = max(fits.sse.min() / (n - 2), FINEST) * RATIO ** np.arange(-2, LEVELS - 2)
        prior = np.full(LEVELS, 1 / LEVELS)
    log = -0.5 * (design.log_det[:, None] + np.log(design.det)) + np.log(_volumes(setting.shapes))
    log = log - 0.5 * fits.sse[0] / variances[:, None, None]
    log += (np.log(prior) - 0.5 * (n - 2) * np.log(variances))[:, None, None]
    spread = np.sqrt(variances[:, None, None] * design.variance(0.0, 1.0))
    inside = _normal((1 - fits.ceiling[0]) / spread) - _normal(-fits.ceiling[0] / spread)
    log += np.log(np.maximum(inside, 1e-12))
    found = np.exp(log - log.max())
    return Likely(np.asarray(variances), found / found.sum())


def _normal(z: Array) -> Array:
    """Return the standard normal distribution function (logistic approximation by Bowling et al. 2009, to 0.0002)."""
    return np.asarray(1 / (1 + np.exp(-np.clip(1.5976 * z + 0.07056 * z**3, -700, 700))))


def _volumes(shapes: Shapes) -> Array:
    """Return each shape's share of its family's grid, in log middle x log exponent."""
    volumes = np.empty(shapes.family.size)
    for number in range(len(FAMILIES)):
        own = shapes.family == number
        if own.any():
            steps = [_step(x[own]) for x in (shapes.middle, shapes.exponent)]
            whole = grid(1.0).of(number)
            spans = [max(math.log(x.max() / x.min()), 1.0) for x in (whole.middle, whole.exponent)]
            volumes[own] = math.prod(steps) / math.prod(spans)
    return volumes


def _step(values: Array) -> float:
    levels = np.unique(values)
    return float(np.log(levels[1] / levels[0])) if levels.size > 1 else 1.0


def draw(setting: Setting, likely: Likely, random: np.random.Generator) -> Draws:
    """Draw DRAWS curves; fewer where most of what the data allow has A outside [0, 1]."""
    design, fits = setting.design, setting.fits
    weights = likely.weights
    found = random.choice(weights.size, size=8 * DRAWS, p=weights.ravel())
    v, k, g = np.unravel_index(found, weights.shape)
    variance = likely.variances[v]
    middle = fits.ceiling[0, k, g]
    spread = np.sqrt(variance * design.variance(0.0, 1.0)[k, g])
    ceiling = middle + spread * random.standard_normal(k.size)
    given = fits.start[0, k, g] - design.b[k, g] / design.a[k, g] * (ceiling - middle)
    start = given + np.sqrt(variance / design.a[k, g]) * random.standard_normal(k.size)
    inside = np.flatnonzero((ceiling >= 0) & (ceiling <= 1))[:DRAWS]
    kept = inside if inside.size >= DRAWS // 8 else np.arange(DRAWS)
    return Draws(g[kept], start[kept], np.clip(ceiling, 0, 1)[kept], k[kept], variance[kept])


def thresholds(
    setting: Setting, drawn: Draws, asked: Sequence[Functional], random: np.random.Generator
) -> list[float]:
    """Return the threshold of H for each of what is asked."""
    share = setting.shapes.share(setting.compute)[drawn.shape]
    curve = drawn.start[:, None] + (drawn.ceiling - drawn.start)[:, None] * share
    noise = random.standard_normal(curve.shape)
    for number, k in enumerate(CORRELATIONS):
        own = drawn.correlation == number
        noise[own] = noise[own] @ np.linalg.cholesky(k.matrix(setting.noise.places)).T
    series = curve + np.sqrt(drawn.variance)[:, None] * noise
    blocks = np.array_split(np.arange(len(series)), math.ceil(len(series) / BLOCK))
    falls = np.concatenate([_falls(setting, drawn, asked, series, b) for b in blocks], axis=1)
    return [max(USUAL, float(np.quantile(own, LEVEL))) for own in falls]


def _falls(
    setting: Setting, drawn: Draws, asked: Sequence[Functional], series: Array, block: Places
) -> Array:
    """Return how far the true values of some series lie below their best fits, in H: asked x series."""
    fits = fit(setting.design, series[block])
    least = setting.least(held(fits, setting.design))
    shape, start, ceiling = drawn.shape[block], drawn.start[block], drawn.ceiling[block]
    found = []
    for what in asked:
        true = start * what.start[shape] + ceiling * what.ceiling[shape]
        off = true[:, None, None] - (what.start * fits.start + what.ceiling * fits.ceiling)
        found.append(setting.least(fits.sse + off**2 / setting.design.variance(*what)) - least)
    return np.stack(found)
