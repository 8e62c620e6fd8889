"""Fit all shapes at once, under noise that hangs together over time, and tell which values the data allow.

The measured values are y = R0 (1 - f) + A f + u, with u normal of covariance sigma^2 K. K is one of a few correlations
(``noise``). For each
(shape, K) the rest is linear; -2 log-likelihood, maximised over R0, A and sigma^2 >= ``floor`` (what the problems'
own scatter shows the noise to be at least), is

    H = n log s2 + SSE / s2 + log|K|,    s2 = max(SSE / n, floor)

A value v of something linear in (R0, A) is allowed where the least H over all shapes with that value exceeds the least H of
all by no more than a threshold: the profile likelihood, inverted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prorl_training.schedule.forecast.noise import Noise
from prorl_training.schedule.forecast.shapes import Array, Shapes

FINEST = 1e-8
"""Variance: no noise is taken as less, or rounding would choose between curves that fit exactly."""


class Design:
    """What does not depend on the measured values: shapes at the validations, whitened, and their Gram matrices."""

    def __init__(self, shapes: Shapes, compute: Array, noise: Noise) -> None:
        self.shapes, self.noise, self.n = shapes, noise, compute.size
        self.log_det = noise.log_det
        share = shapes.share(compute)
        self.ones = [whiten(np.ones(self.n)) for whiten in noise.whiten]
        self.shares = [whiten(share) for whiten in noise.whiten]
        rests = [o - f for o, f in zip(self.ones, self.shares, strict=True)]
        ridge = 1e-9 * self.n  # where all of the data lie before the climb, or after it
        self.a = np.array([(r * r).sum(axis=1) for r in rests]) + ridge
        self.b = np.array([(r * f).sum(axis=1) for r, f in zip(rests, self.shares, strict=True)])
        self.d = np.array([(f * f).sum(axis=1) for f in self.shares]) + ridge
        self.det = self.a * self.d - self.b**2

    def variance(self, at_start: Array | float, at_ceiling: Array | float) -> Array:
        """Return the variance, in sigma^2, of at_start R0 + at_ceiling A: correlation x shape; never quite 0."""
        s, e = np.asarray(at_start), np.asarray(at_ceiling)
        found = (s * s * self.d - 2 * s * e * self.b + e * e * self.a) / self.det
        return np.asarray(np.maximum(found, 1e-9))


class Fits(NamedTuple):
    """Least squares of each series under each (correlation, shape): arrays series x correlation x shape."""

    start: Array
    ceiling: Array
    sse: Array


def fit(design: Design, series: Array) -> Fits:
    """Fit series (series x validations)."""
    starts, ceilings, sses = [], [], []
    for k, whiten in enumerate(design.noise.whiten):
        y = whiten(series)
        of_ceiling = y @ design.shares[k].T
        of_start = (y @ design.ones[k])[:, None] - of_ceiling
        start = (design.d[k] * of_start - design.b[k] * of_ceiling) / design.det[k]
        ceiling = (design.a[k] * of_ceiling - design.b[k] * of_start) / design.det[k]
        sse = (y * y).sum(axis=1)[:, None] - start * of_start - ceiling * of_ceiling
        starts.append(start)
        ceilings.append(ceiling)
        sses.append(np.maximum(sse, 1e-12))
    return Fits(*(np.stack(x, axis=1) for x in (starts, ceilings, sses)))


def surprise(sse: Array, n: int, log_det: Array, floor: float) -> Array:
    """Return H of a sum of squares whose correlation is on the axis before the last."""
    variance = np.maximum(sse / n, max(floor, FINEST))
    return np.asarray(n * np.log(variance) + sse / variance + log_det[:, None])


def largest_sse(limit: float, n: int, log_det: Array, floor: float) -> Array:
    """Return, for each correlation, the sum of squares at which H comes to ``limit``; negative where it never is so low."""
    least, own = max(floor, FINEST), limit - log_det
    bound = own - n * np.log(least)
    return np.where(bound >= n, n * np.exp(np.minimum(own / n - 1, 50)), least * bound)
