"""Numbers as the report writes them."""

from __future__ import annotations

import math


def number(value: float, digits: int = 3) -> str:
    """Return a number, or a dash when it is not one; a minus sign where a minus is."""
    return "–" if not math.isfinite(value) else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """Return a difference with its sign."""
    return "–" if not math.isfinite(value) else f"{value:+.{digits}f}".replace("-", "−")


def percent(value: float) -> str:
    """Return a share as a percentage."""
    return "–" if not math.isfinite(value) else f"{100 * value:.1f}%"


def p_value(value: float) -> str:
    """Return a p-value as people write one."""
    if math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
