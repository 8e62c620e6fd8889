r"""The arithmetic under ``math.evaluating.values``: mpmath contexts, names of functions, exact integer roots."""

from __future__ import annotations

from functools import cache
from typing import Any

TRIGONOMETRY = {
    "sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arccot": "acot", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
}  # fmt: skip


@cache
def numbers(digits: int) -> Any:
    """Return the mpmath context of ``digits`` decimal digits (mpmath is imported at the first use)."""
    import mpmath  # type: ignore[import-untyped,unused-ignore]

    context = mpmath.MPContext()
    context.dps = digits
    return context


def whole_root(value: int, index: int) -> int | None:
    """Return the integer whose ``index``-th power is ``value`` (not negative), or None."""
    if value in (0, 1):
        return value
    if value.bit_length() > 4096:
        return None
    low, high = 1, 1 << (value.bit_length() // index + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**index < value:
            low = middle + 1
        else:
            high = middle
    return low if low**index == value else None
