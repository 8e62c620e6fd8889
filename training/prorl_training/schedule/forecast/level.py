"""Has validation moved at all? A constant against every curve, with the noise's correlation free for both."""

from __future__ import annotations

import numpy as np

from prorl_training.schedule.forecast.fitting import FINEST, Design, fit
from prorl_training.schedule.forecast.noise import CORRELATIONS
from prorl_training.schedule.forecast.setting import Setting, held
from prorl_training.schedule.forecast.shapes import Array, grid

SERIES = 160
"""Simulated without any movement."""


def p_of_no_movement(setting: Setting, values: Array, random: np.random.Generator) -> float:
    """Return the share of series simulated from the likeliest constant that look as much like a curve as these values."""
    design = Design(grid(float(setting.compute[-1])), setting.compute, setting.noise)
    sums = _around_level(design, values[None])
    k = int(setting.surprise(sums)[0].argmin())
    variance = max(float(sums[0, k, 0]) / (setting.n - 1), setting.floor, FINEST)
    root = np.linalg.cholesky(CORRELATIONS[k].matrix(setting.noise.places))
    still = np.sqrt(variance) * random.standard_normal((SERIES, setting.n)) @ root.T
    series = np.concatenate([values[None], float(values.mean()) + still])
    curves = setting.least(held(fit(design, series), design))
    falls = setting.least(_around_level(design, series)) - curves
    return float((1 + (falls[1:] >= falls[0]).sum()) / (1 + SERIES))


def _around_level(design: Design, series: Array) -> Array:
    """Return the sums of squares around the best constant: series x correlation x 1."""
    sums = []
    for ones, whiten in zip(design.ones, design.noise.whiten, strict=True):
        y = whiten(series)
        sums.append((y * y).sum(axis=1) - (y @ ones) ** 2 / (ones @ ones))
    return np.asarray(np.maximum(np.stack(sums, axis=1)[..., None], 1e-12))
