"""The ranges of limits, checked before anything is run."""

from __future__ import annotations

import math

from prorl_common import UserError
from prorl_sandbox.types import Limits

_RANGES: dict[str, tuple[float, float]] = {
    "wall_seconds": (0.0, 86_400.0),
    "cpu_seconds": (0.0, 86_400.0),
    "memory_mb": (16, 1 << 20),
    "output_kb": (1, 1 << 20),
    "processes": (1, 4096),
    "scratch_mb": (1, 1 << 16),
}


def check_limits(limits: Limits) -> None:
    """Raise UserError for a limit that is no number in its range."""
    for name, (low, high) in _RANGES.items():
        value = getattr(limits, name)
        kinds = (int, float) if name.endswith("_seconds") else (int,)
        number = type(value) in kinds and math.isfinite(value)
        if not number or value <= 0 or not low <= value <= high:
            least = f"from {low:g}" if low else "above 0 and up"
            whole = "" if float in kinds else "a whole number "
            raise UserError(f"limit {name} must be {whole}{least} to {high:,.0f}, not {value}")
