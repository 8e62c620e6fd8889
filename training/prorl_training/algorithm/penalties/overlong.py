"""DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_training.spec import PenaltySpec, Response


def overlong(response: Response, options: Mapping[str, Any]) -> float:
    """Return -factor * min(max(t - (T - buffer), 0), buffer) / buffer; 0 where ``buffer_tokens`` is 0."""
    buffer = options["buffer_tokens"]
    if not buffer:
        return 0.0
    excess = min(response.tokens - (response.limit - buffer), buffer)
    return float(-options["factor"] * max(excess, 0) / buffer)


SPEC = PenaltySpec(
    name="overlong",
    penalty=overlong,
    keys=("overlong.buffer_tokens", "overlong.factor"),
    options={"buffer_tokens": 0, "factor": 1.0},
)
