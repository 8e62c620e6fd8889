"""Fits curves to validations, and gives intervals for quantities linear in a curve's start R0 and ceiling A.

The model is y = R0 (1 - f) + A f + u. The share f of the climb, a curve from a grid, rises from 0 to 1 over compute.
The noise u is normal with covariance sigma^2 K, K from CORRELATIONS. With least-squares R0 and A, -2 log-likelihood is

    H = n log s2 + SSE / s2 + log|K|,    s2 = max(SSE / n, the noise of single problems)

An interval holds the values whose lowest H is within a bootstrapped threshold of the minimum (profile likelihood).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]

LEVEL, USUAL = 0.95, 3.84
"""Level of the intervals, and the minimum of a threshold on H (95 % point of chi^2 with one degree of freedom)."""
DRAWS, STILL = 400, 160
"""Number of simulated series for a threshold, and for the p-value of "validation does not move"."""
FINEST = 1e-8
"""Minimum variance of the noise, well above rounding errors."""
NEAR, KEPT = 10.0, 24.0
"""The grid is refined around shapes with H up to NEAR above the minimum. Shapes with H up to KEPT above it are kept."""
RATIO, VARIANCES = 1.4, 12
"""Ratio between successive candidate variances of the noise, and their number."""
BLOCK = 40
"""Number of series fitted together, so that they fit into the processor's cache."""

CURVES: dict[str, Callable[[Array, Array], Array]] = {
    # ScaleRL, arXiv 2510.13786, equation 1: 1 / (1 + (C_mid / C)^B)
    "sigmoid": lambda ratio, b: 1 / (1 + ratio**-b),
    # the sigmoid at high compute (its appendix A.4): 1 - (1 + C / C_0)^-B
    "power law": lambda ratio, b: 1 - (1 + ratio * (2 ** (1 / b) - 1)) ** -b,
    # stretched exponential (Weibull): levels off faster than the sigmoid
    "saturating": lambda ratio, b: 1 - 2.0 ** -np.minimum(ratio**b, 1000),
    # a straight line, then constant
    "broken line": lambda ratio, b: np.minimum(ratio, 1),
}
"""Family -> f(ratio, B). The ratio is compute / compute at half of the climb (broken line: at the climb's end)."""
FAMILIES = tuple(CURVES)


class Correlation(NamedTuple):
    """A correlation matrix K: 1 on the diagonal, else (1 - ``white``) ``rho``^gap.

    A gap is a distance in steps, divided by the median distance between validations.
    """

    rho: float
    white: float = 0.0

    def matrix(self, places: Array) -> Array:
        gaps = np.abs(places[:, None] - places[None, :])
        correlation = np.where(gaps == 0, 1.0, (1 - self.white) * self.rho**gaps)
        return np.asarray(correlation, dtype=np.float64)


CORRELATIONS = (
    *(Correlation(rho) for rho in (0.0, 0.3, 0.5, 0.7, 0.85)),
    Correlation(0.8, white=0.5),
)


class Shapes(NamedTuple):
    """Curves of rising reward: index into FAMILIES, compute at half of the rise, and exponent, each (shape,)."""

    family: Places
    middle: Array
    exponent: Array

    def of(self, family: int) -> Shapes:
        return self.where(self.family == family)

    def where(self, chosen: NDArray[np.bool_]) -> Shapes:
        return Shapes(self.family[chosen], self.middle[chosen], self.exponent[chosen])

    def share(self, compute: Array) -> Array:
        """Return the fraction of each curve's rise that is reached at each ``compute`` (shape x compute)."""
        ratio = np.maximum(compute, 1e-12)[None, :] / self.middle[:, None]
        share = np.empty(ratio.shape)
        for place, curve in enumerate(CURVES.values()):
            members = self.family == place
            share[members] = curve(ratio[members], self.exponent[members, None])
        return share


def grid(last: float) -> Shapes:
    return _join(
        [
            _product(0, last * np.geomspace(0.02, 8, 30), np.geomspace(0.5, 6, 11)),
            _product(1, last * np.geomspace(0.02, 8, 24), np.geomspace(0.25, 16, 7)),
            _product(2, last * np.geomspace(0.02, 8, 24), np.geomspace(0.4, 4, 8)),
            _product(3, last * np.geomspace(0.1, 4, 30), np.ones(1)),
        ]
    )


def closer(shapes: Shapes, near: NDArray[np.bool_]) -> Shapes:
    parts = []
    for family in range(len(FAMILIES)):
        members, selected = shapes.of(family), near[shapes.family == family]
        if selected.any():
            middles = _refined(members.middle, selected, 24)
            parts.append(_product(family, middles, _refined(members.exponent, selected, 12)))
    return _join(parts)


def _join(parts: Sequence[Shapes]) -> Shapes:
    return Shapes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _product(family: int, middles: Array, exponents: Array) -> Shapes:
    middle, exponent = (x.ravel() for x in np.meshgrid(middles, exponents, indexing="ij"))
    return Shapes(np.full(middle.size, family), middle, exponent)


def _refined(values: Array, near: NDArray[np.bool_], count: int) -> Array:
    levels = np.unique(values)
    if levels.size == 1:
        return levels
    places = np.searchsorted(levels, values[near])
    low, high = levels[max(places.min() - 1, 0)], levels[min(places.max() + 1, levels.size - 1)]
    return np.geomspace(low, high, count)


class Functional(NamedTuple):
    """Factors (shape,) of a quantity ``start`` x (a curve's start) + ``ceiling`` x (its limit)."""

    start: Array
    ceiling: Array


class Fits(NamedTuple):
    """Least-squares fits: start, limit and residual sum of squares of a curve, each (series x correlation x shape)."""

    start: Array
    ceiling: Array
    sse: Array


class Design:
    """The part of a fit that does not depend on the measured values."""

    def __init__(self, shapes: Shapes, compute: Array, places: Array) -> None:
        self.shapes, self.places, self.n = shapes, places, compute.size
        roots = [np.linalg.cholesky(k.matrix(places)) for k in CORRELATIONS]
        self.whiten = [np.linalg.inv(root).T for root in roots]
        self.log_det = np.array([2 * np.log(np.diag(root)).sum() for root in roots])
        share = shapes.share(compute)
        self.ones = [np.ones(self.n) @ w for w in self.whiten]
        self.shares = [share @ w for w in self.whiten]
        rests = [o - f for o, f in zip(self.ones, self.shares, strict=True)]
        ridge = 1e-9 * self.n  # needed if all data lie before or after the climb
        self.a = np.array([(r * r).sum(axis=1) for r in rests]) + ridge
        self.b = np.array([(r * f).sum(axis=1) for r, f in zip(rests, self.shares, strict=True)])
        self.d = np.array([(f * f).sum(axis=1) for f in self.shares]) + ridge
        self.det = self.a * self.d - self.b**2

    def variance(self, at_start: Array | float, at_ceiling: Array | float) -> Array:
        """Return the variance of ``at_start`` x start + ``at_ceiling`` x ceiling, divided by that of the noise."""
        s, e = np.asarray(at_start), np.asarray(at_ceiling)
        variance = (s * s * self.d - 2 * s * e * self.b + e * e * self.a) / self.det
        return np.asarray(np.maximum(variance, 1e-9))

    def fit(self, series: Array) -> Fits:
        """Fit a curve of every shape to each row of ``series`` (series x validations)."""
        starts, ceilings, sses = [], [], []
        for k, whiten in enumerate(self.whiten):
            y = series @ whiten
            of_ceiling = y @ self.shares[k].T
            of_start = (y @ self.ones[k])[:, None] - of_ceiling
            start = (self.d[k] * of_start - self.b[k] * of_ceiling) / self.det[k]
            ceiling = (self.a[k] * of_ceiling - self.b[k] * of_start) / self.det[k]
            sse = (y * y).sum(axis=1)[:, None] - start * of_start - ceiling * of_ceiling
            starts.append(start)
            ceilings.append(ceiling)
            sses.append(np.maximum(sse, 1e-12))
        return Fits(*(np.stack(x, axis=1) for x in (starts, ceilings, sses)))

    def held(self, fits: Fits) -> Array:
        """Return the residual sums of squares of ``fits`` if their ceilings are constrained to [0, 1]."""
        beyond = fits.ceiling - np.clip(fits.ceiling, 0, 1)
        return np.asarray(fits.sse + beyond**2 / self.variance(0.0, 1.0))

    def around_level(self, series: Array) -> Array:
        """Return the residual sums of squares around the best constant (series x correlation x 1)."""
        sums = []
        for ones, whiten in zip(self.ones, self.whiten, strict=True):
            y = series @ whiten
            sums.append((y * y).sum(axis=1) - (y @ ones) ** 2 / (ones @ ones))
        return np.asarray(np.maximum(np.stack(sums, axis=1)[..., None], 1e-12))


class Setting:
    """Curves fitted to one series. ``height`` is their -2 log-likelihood, with ceilings constrained to [0, 1]."""

    def __init__(self, shapes: Shapes, compute: Array, places: Array, values: Array, floor: float):
        self.shapes, self.compute, self.floor, self.n = shapes, compute, floor, compute.size
        self.design = Design(shapes, compute, places)
        self.fits = self.design.fit(values[None])
        self.height = self.surprise(self.design.held(self.fits))[0]

    def surprise(self, sse: Array) -> Array:
        """Return the -2 log-likelihood for residual sums of squares ``sse`` (... x correlation x shape)."""
        variance = np.maximum(sse / self.n, max(self.floor, FINEST))
        log_det = self.design.log_det[:, None]
        return np.asarray(self.n * np.log(variance) + sse / variance + log_det)

    def least(self, sse: Array) -> Array:
        """Return each series' lowest -2 log-likelihood, given all its residual sums of squares ``sse``."""
        best = sse.min(axis=2, keepdims=True)  # H rises with the sum of squares
        return np.asarray(self.surprise(best).min(axis=(1, 2)))

    def allowed(self, what: Functional, threshold: float) -> tuple[float, float]:
        """Return the interval of ``what`` with a -2 log-likelihood within ``threshold`` of the minimum."""
        # for each correlation the residual sum of squares at which H reaches its limit; negative if H is never that low
        limit = float(self.height.min()) + threshold - self.design.log_det
        least = max(self.floor, FINEST)
        bound = limit - self.n * np.log(least)
        free = self.n * np.exp(np.minimum(limit / self.n - 1, 50))
        slack = np.where(bound >= self.n, free, least * bound)[:, None] - self.fits.sse[0]
        radius = np.sqrt(self.design.variance(*what) * np.maximum(slack, 0))
        middle = what.start * self.fits.start[0] + what.ceiling * self.fits.ceiling[0]
        fits = slack >= 0
        return float((middle - radius)[fits].min()), float((middle + radius)[fits].max())

    def likeliest(self) -> tuple[int, float, float]:
        """Return (index of shape, start, ceiling) of the likeliest curve with a ceiling in [0, 1]."""
        k, g = np.unravel_index(self.height.argmin(), self.height.shape)
        free = self.fits.ceiling[0, k, g]
        ceiling = float(np.clip(free, 0, 1))
        slope = self.design.b[k, g] / self.design.a[k, g]
        return int(g), float(self.fits.start[0, k, g] - slope * (ceiling - free)), ceiling


def settle(compute: Array, places: Array, values: Array, floor: float) -> Setting:
    wide = Setting(grid(float(compute[-1])), compute, places, values, floor)
    near = (wide.height - wide.height.min() < NEAR).any(axis=0)
    fine = Setting(closer(wide.shapes, near), compute, places, values, floor)
    likely_shapes = (fine.height - fine.height.min() < KEPT).any(axis=0)
    return Setting(fine.shapes.where(likely_shapes), compute, places, values, floor)


def p_of_no_movement(setting: Setting, values: Array, random: np.random.Generator) -> float:
    """Return the p-value of "validation does not move", from series simulated around a constant."""
    shapes, places = grid(float(setting.compute[-1])), setting.design.places
    design = Design(shapes, setting.compute, places)
    sums = design.around_level(values[None])
    k = int(setting.surprise(sums)[0].argmin())
    variance = max(float(sums[0, k, 0]) / (setting.n - 1), setting.floor, FINEST)
    root = np.linalg.cholesky(CORRELATIONS[k].matrix(places))
    still = np.sqrt(variance) * random.standard_normal((STILL, setting.n)) @ root.T
    series = np.concatenate([values[None], float(values.mean()) + still])
    curves = setting.least(design.held(design.fit(series)))
    falls = setting.least(design.around_level(series)) - curves
    return float((1 + (falls[1:] >= falls[0]).sum()) / (1 + STILL))


class Likely(NamedTuple):
    """Posterior ``weights`` [variances, correlations, shapes] on a grid, and the grid's noise ``variances``."""

    variances: Array
    weights: Array


class Draws(NamedTuple):
    shape: Places
    start: Array
    ceiling: Array
    correlation: Places
    variance: Array


def likely(setting: Setting) -> Likely:
    """Return the posterior of curves and noise by restricted likelihood.

    The prior is uniform in family, ceiling, log ``middle`` and log ``exponent``. Half of its weight is on noise
    variance ``setting.floor``, if positive.
    """
    design, fits, n = setting.design, setting.fits, setting.n
    if setting.floor > 0:
        variances = setting.floor * RATIO ** np.arange(VARIANCES)
        prior = np.array([0.5, *np.full(VARIANCES - 1, 0.5 / (VARIANCES - 1))])
    else:
        variances = max(fits.sse.min() / (n - 2), FINEST) * RATIO ** np.arange(-2, VARIANCES - 2)
        prior = np.full(VARIANCES, 1 / VARIANCES)
    log = -0.5 * (design.log_det[:, None] + np.log(design.det)) + np.log(_volumes(setting.shapes))
    log = log - 0.5 * fits.sse[0] / variances[:, None, None]
    log += (np.log(prior) - 0.5 * (n - 2) * np.log(variances))[:, None, None]
    spread = np.sqrt(variances[:, None, None] * design.variance(0.0, 1.0))
    inside = _normal((1 - fits.ceiling[0]) / spread) - _normal(-fits.ceiling[0] / spread)
    log += np.log(np.maximum(inside, 1e-12))
    weights = np.exp(log - log.max())
    return Likely(np.asarray(variances), weights / weights.sum())


def _normal(z: Array) -> Array:
    """Return the normal CDF (logistic approximation by Bowling et al. 2009, to 0.0002)."""
    return np.asarray(1 / (1 + np.exp(-np.clip(1.5976 * z + 0.07056 * z**3, -700, 700))))


def _volumes(shapes: Shapes) -> Array:
    volumes = np.empty(shapes.family.size)
    full_grid = grid(1.0)
    for family in range(len(FAMILIES)):
        members = shapes.family == family
        if members.any():
            levels = [np.unique(x[members]) for x in (shapes.middle, shapes.exponent)]
            steps = [float(np.log(x[1] / x[0])) if x.size > 1 else 1.0 for x in levels]
            family_grid = full_grid.of(family)
            spans = [
                max(math.log(x.max() / x.min()), 1.0)
                for x in (family_grid.middle, family_grid.exponent)
            ]
            volumes[members] = math.prod(steps) / math.prod(spans)
    return volumes


def draw(setting: Setting, likely: Likely, random: np.random.Generator) -> Draws:
    """Draw DRAWS curves from the posterior, or fewer if most ceilings are outside [0, 1]."""
    design, fits, weights = setting.design, setting.fits, likely.weights
    cells = random.choice(weights.size, size=8 * DRAWS, p=weights.ravel())
    v, k, g = np.unravel_index(cells, weights.shape)
    variance = likely.variances[v]
    middle = fits.ceiling[0, k, g]
    spread = np.sqrt(variance * design.variance(0.0, 1.0)[k, g])
    ceiling = middle + spread * random.standard_normal(k.size)
    expected_start = fits.start[0, k, g] - design.b[k, g] / design.a[k, g] * (ceiling - middle)
    start = expected_start + np.sqrt(variance / design.a[k, g]) * random.standard_normal(k.size)
    inside = np.flatnonzero((ceiling >= 0) & (ceiling <= 1))[:DRAWS]
    chosen = inside if inside.size >= DRAWS // 8 else np.arange(DRAWS)
    return Draws(
        g[chosen], start[chosen], np.clip(ceiling, 0, 1)[chosen], k[chosen], variance[chosen]
    )


def thresholds(
    setting: Setting, drawn: Draws, functionals: Sequence[Functional], random: np.random.Generator
) -> list[float]:
    """Return each functional's ``threshold`` for ``Setting.allowed``, simulated with the ``drawn`` curves."""
    share = setting.shapes.share(setting.compute)[drawn.shape]
    curve = drawn.start[:, None] + (drawn.ceiling - drawn.start)[:, None] * share
    noise = random.standard_normal(curve.shape)
    for place, k in enumerate(CORRELATIONS):
        members = drawn.correlation == place
        noise[members] = noise[members] @ np.linalg.cholesky(k.matrix(setting.design.places)).T
    series = curve + np.sqrt(drawn.variance)[:, None] * noise
    blocks = np.array_split(np.arange(len(series)), math.ceil(len(series) / BLOCK))
    falls = np.concatenate([_falls(setting, drawn, functionals, series, b) for b in blocks], axis=1)
    return [max(USUAL, float(np.quantile(members, LEVEL))) for members in falls]


def _falls(
    setting: Setting, drawn: Draws, functionals: Sequence[Functional], series: Array, block: Places
) -> Array:
    """Return how far the best fit's -2 log-likelihood is below the true values' (functionals x series)."""
    design = setting.design
    fits = design.fit(series[block])
    least = setting.least(design.held(fits))
    shape, start, ceiling = drawn.shape[block], drawn.start[block], drawn.ceiling[block]
    falls = []
    for functional in functionals:
        true = start * functional.start[shape] + ceiling * functional.ceiling[shape]
        off = true[:, None, None] - (
            functional.start * fits.start + functional.ceiling * fits.ceiling
        )
        falls.append(setting.least(fits.sse + off**2 / design.variance(*functional)) - least)
    return np.stack(falls)
