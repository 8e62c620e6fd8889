r"""How far a number may be from the gold: the tolerance from the significant digits of the gold.

An explicit ``tolerance`` wins: a relative fraction, or {"rel": r, "abs": a} (the larger counts). Without it:

- a whole number without a unit (a count, an index, an oxidation number) must be met exactly;
- a gold with its own uncertainty (``5.0 \pm 0.1``) allows that uncertainty, and at least what follows;
- any other gold allows half a unit in its last significant digit, or in its third one if that is more, at least
  ``FLOOR`` (0.3 %) of its value and at most ``CEILING`` (5 %).

Half a unit is all that a rounded value says of the true one; digits of the gold beyond the third do not bind, so
an answer rounded to three digits is right. The floor: constants taken to three digits (g = 9.8 or 9.81, R = 8.31 or
8.314, e = 1.60 or 1.602, c = 3.00 or 2.998) move results by 0.05 to 0.3 %. The ceiling: one written digit (0.5) would allow up to 50 %. The zeros at the end of
a whole number with a unit (2600 J) do not count as significant, but then 1 % is the ceiling. Zero: half a unit in
the last digit, at most 0.005. A gold that is an exact ratio (``\frac{1}{3}``) counts as three digits, so that 0.333 is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from prorl_verifiers.notation.quantities import Quantity

FLOOR = Fraction(3, 1000)
CEILING = Fraction(5, 100)
CEILING_OF_ZEROS = Fraction(1, 100)
LARGEST_NEAR_ZERO = Fraction(1, 200)


def allowed(gold: Quantity, tolerance: Any, uncertainty: Fraction | None = None) -> Fraction:
    """Return the largest difference from ``gold`` (in its own unit) that still counts as right."""
    size = abs(gold.value)
    if isinstance(tolerance, Mapping):
        relative = Fraction(str(tolerance.get("rel") or 0))
        return max(size * relative, Fraction(str(tolerance.get("abs") or 0)))
    if tolerance is not None:
        return size * Fraction(str(tolerance))
    if gold.integer and not gold.unit and uncertainty is None:
        return Fraction(0)
    half, ceiling = _half_unit(gold)
    if size == 0:
        return min(half, LARGEST_NEAR_ZERO)
    # one unit in the third significant digit: 1/100 for 3.14159
    place = len(str(size.numerator)) - len(str(size.denominator))
    if Fraction(10) ** place > size:
        place -= 1
    third_digit = Fraction(10) ** (place - 2)
    least = max(size * FLOOR, third_digit / 2)
    return max(uncertainty or Fraction(0), min(max(half, least), size * ceiling))


def _half_unit(gold: Quantity) -> tuple[Fraction, Fraction]:
    """Return half a unit in the last significant digit, and the ceiling (a fraction of the value)."""
    if gold.decimals is None:
        return Fraction(0), CEILING
    place, ceiling = gold.decimals, CEILING
    if gold.integer and gold.value:
        digits = str(abs(int(gold.value)))
        zeros = len(digits) - len(digits.rstrip("0"))
        if zeros:
            place, ceiling = place + zeros, CEILING_OF_ZEROS
    return Fraction(10) ** place / 2, ceiling
