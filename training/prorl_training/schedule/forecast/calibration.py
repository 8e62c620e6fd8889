"""How far the likelihood may fall before a value is refused: measured by bootstrap, not taken from a table.

With few validations, a correlation that is estimated too and several families of curves, the profile likelihood's usual
threshold (3.84 for 95 %) is too low. So curves are drawn from all that the data allow, in proportion to their restricted
likelihood (flat in log C_mid, log B and A within [0, 1], the families weighing alike; R0, A and sigma^2 as least squares has
them); from each a series is simulated, fitted, and asked how far its own true value lies below its best fit. The threshold
is the 95 % point of that, taken family by family: the largest among those that are likely at all, and never less than 3.84.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prorl_training.schedule.forecast.fitting import CORRELATIONS, fit
from prorl_training.schedule.forecast.setting import Functional, Setting, held
from prorl_training.schedule.forecast.shapes import FAMILIES, Array, Shapes, grid

Places = NDArray[np.int64]
LEVEL = 0.95
USUAL = 3.84
"""The 95 % point of chi^2 with one degree of freedom: no threshold is below it."""
DRAWS = 160
"""Simulated series of each family that is likely at all."""
BLOCK = 40
"""Series that are fitted at a time: so many stay in the processor's cache."""
LEAST_WEIGHT = 0.05
"""Of all: a family below it is not simulated from."""


class Draws(NamedTuple):
    """Curves that the data allow, one a place: ``start`` and ``ceiling`` of shape ``shape``, and their noise."""

    shape: Places
    start: Array
    ceiling: Array
    correlation: Places
    variance: Array
    family: Places


def weights(setting: Setting) -> Array:
    """Return how likely each (correlation, shape) is: correlation x shape, sum 1."""
    design, sse, ceiling = setting.design, setting.fits.sse[0], setting.fits.ceiling[0]
    n = setting.n
    spread = np.sqrt(np.maximum(sse / (n - 2), setting.floor) * design.variance(0.0, 1.0))
    inside = _normal((1 - ceiling) / spread) - _normal(-ceiling / spread)
    restricted = (n - 2) * np.log(np.maximum(sse, n * setting.floor))
    log = -0.5 * (restricted + design.log_det[:, None] + np.log(design.det))
    log += np.log(np.maximum(inside, 1e-12)) + np.log(_volumes(setting.shapes))
    found = np.exp(log - log.max())
    return np.asarray(found / found.sum())


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


def draw(setting: Setting, likely: Array, random: np.random.Generator) -> Draws:
    """Draw DRAWS curves of each family that is likely at all."""
    parts = []
    design, fits = setting.design, setting.fits
    for number in range(len(FAMILIES)):
        own = likely * (setting.shapes.family == number)
        if own.sum() < LEAST_WEIGHT:
            continue
        found = random.choice(own.size, size=8 * DRAWS, p=(own / own.sum()).ravel())
        k, g = np.unravel_index(found, own.shape)
        chi = random.chisquare(setting.n - 2, size=k.size)
        variance = np.maximum(fits.sse[0, k, g] / chi, setting.floor)
        spread = np.sqrt(variance * design.variance(0.0, 1.0)[k, g])
        ceiling = fits.ceiling[0, k, g] + spread * random.standard_normal(k.size)
        start = fits.start[0, k, g] - design.b[k, g] / design.a[k, g] * (
            ceiling - fits.ceiling[0, k, g]
        )
        start += np.sqrt(variance / design.a[k, g]) * random.standard_normal(k.size)
        inside = np.flatnonzero((ceiling >= 0) & (ceiling <= 1))[:DRAWS]
        kept = inside if inside.size >= DRAWS // 4 else np.arange(DRAWS)
        parts.append(
            [x[kept] for x in (g, start, np.clip(ceiling, 0, 1), k, variance)]
            + [np.full(kept.size, number)]
        )
    return Draws(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def thresholds(
    setting: Setting, drawn: Draws, asked: Sequence[Functional], random: np.random.Generator
) -> list[float]:
    """Return the threshold of H for each of what is asked."""
    share = setting.shapes.share(setting.compute)[drawn.shape]
    curve = drawn.start[:, None] + (drawn.ceiling - drawn.start)[:, None] * share
    noise = random.standard_normal(curve.shape)
    for number, k in enumerate(CORRELATIONS):
        own = drawn.correlation == number
        noise[own] = noise[own] @ np.linalg.cholesky(k.matrix(setting.places)).T
    series = curve + np.sqrt(drawn.variance)[:, None] * noise
    blocks = np.array_split(np.arange(len(series)), math.ceil(len(series) / BLOCK))
    falls = np.concatenate([_falls(setting, drawn, asked, series, b) for b in blocks], axis=1)
    families = [drawn.family == f for f in np.unique(drawn.family)]
    return [max(USUAL, *(float(np.quantile(own[f], LEVEL)) for f in families)) for own in falls]


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
