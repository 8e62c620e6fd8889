"""A penalty per token, for right and wrong responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_training import PenaltySpec, Response


def per_token(response: Response, options: Mapping[str, Any]) -> float:
    """Return -price * tokens."""
    return float(-options["price"] * response.tokens)


SPEC = PenaltySpec(name="per_token", penalty=per_token, options={"price": 0.001})
