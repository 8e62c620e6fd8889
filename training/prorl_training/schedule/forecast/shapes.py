"""The curves that a run's validation may follow, on a grid: which shares of the way from R0 to A are done at compute C.

Every shape is R(C) = R0 + (A - R0) f(C) with f rising from 0, so that R0 and A are a linear least-squares problem
once f is fixed. f has at most two parameters, and they are laid on a grid:

sigmoid:     f = 1 / (1 + (C_mid / C)^B)      ScaleRL, arXiv 2510.13786, equation 1
power law:   f = 1 - (1 + C / C_0)^-B         what the sigmoid is at high compute (appendix A.4 there); B large: exponential
saturating:  f = 1 - 2^-((C / C_half)^B)      stretched exponential (Weibull): ends faster than the sigmoid; B 1: exponential
broken line: f = min(C / C_b, 1)              a straight line, then level; with C_b beyond the data a straight line

A constant is no shape here: it is what they are all tested against.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIGMOID, POWER_LAW, SATURATING, BROKEN_LINE = "sigmoid", "power law", "saturating", "broken line"
CURVES: dict[str, Callable[[Array, Array], Array]] = {
    SIGMOID: lambda ratio, b: 1 / (1 + ratio**-b),
    POWER_LAW: lambda ratio, b: 1 - (1 + ratio * (2 ** (1 / b) - 1)) ** -b,
    SATURATING: lambda ratio, b: 1 - 2.0 ** -np.minimum(ratio**b, 1000),
    BROKEN_LINE: lambda ratio, b: np.minimum(ratio, 1),
}
"""f of each family at C as a multiple of ``middle``, and B."""
FAMILIES = tuple(CURVES)


class Shapes(NamedTuple):
    """Points of the grid: ``family`` is the place in FAMILIES, ``middle`` is the compute at which half is done
    (C_mid; for the power law C_0 (2^(1/B) - 1)) or, for the broken line, C_b, ``exponent`` B."""

    family: NDArray[np.int64]
    middle: Array
    exponent: Array

    def of(self, family: int) -> Shapes:
        """Return those of one family."""
        own = self.family == family
        return Shapes(self.family[own], self.middle[own], self.exponent[own])

    def share(self, compute: Array) -> Array:
        """Return f at each compute (>= 0): shape x compute."""
        middle, exponent = self.middle[:, None], self.exponent[:, None]
        ratio = np.maximum(compute, 1e-12)[None, :] / middle
        share = np.empty(ratio.shape)
        for number, curve in enumerate(CURVES.values()):
            own = self.family == number
            share[own] = curve(ratio[own], exponent[own])
        return share


def grid(last: float) -> Shapes:
    """Return the shapes that are tried on data up to the compute ``last``."""
    middles, exponents = last * np.geomspace(0.02, 8, 30), np.geomspace(0.5, 6, 11)
    parts = [
        _product(SIGMOID, middles, exponents),
        _product(POWER_LAW, last * np.geomspace(0.02, 8, 24), np.geomspace(0.25, 16, 7)),
        _product(SATURATING, last * np.geomspace(0.02, 8, 24), np.geomspace(0.4, 4, 8)),
        _product(BROKEN_LINE, last * np.geomspace(0.1, 4, 30), np.ones(1)),
    ]
    return join(parts)


def closer(shapes: Shapes, near: NDArray[np.bool_]) -> Shapes:
    """Return a finer grid over what the shapes marked ``near`` span, family by family."""
    parts = []
    for number, family in enumerate(FAMILIES):
        own = shapes.of(number)
        kept = near[shapes.family == number]
        if not kept.any():
            continue
        middles = _refined(own.middle, kept, 24)
        exponents = _refined(own.exponent, kept, 12)
        parts.append(_product(family, middles, exponents))
    return join(parts)


def join(parts: list[Shapes]) -> Shapes:
    """Return one grid of several."""
    return Shapes(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _product(family: str, middles: Array, exponents: Array) -> Shapes:
    middle, exponent = (x.ravel() for x in np.meshgrid(middles, exponents, indexing="ij"))
    return Shapes(np.full(middle.size, FAMILIES.index(family)), middle, exponent)


def _refined(values: Array, near: NDArray[np.bool_], count: int) -> Array:
    """Return ``count`` values from one step below what is near to one step above."""
    levels = np.unique(values)
    if levels.size == 1:
        return levels
    places = np.searchsorted(levels, values[near])
    low, high = levels[max(places.min() - 1, 0)], levels[min(places.max() + 1, levels.size - 1)]
    return np.geomspace(low, high, count)
