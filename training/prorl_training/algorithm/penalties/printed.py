"""The cosine length reward as the ProRL v2 post prints it: the same for right and wrong answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_training.algorithm.shaping import cosine_between
from prorl_training.spec import PenaltySpec, Response


def printed(response: Response, options: Mapping[str, Any]) -> float:
    """Return the cosine from ``eta_max`` at 0 tokens to ``eta_min`` at the limit."""
    return cosine_between(options["eta_max"], options["eta_min"], response.tokens, response.limit)


SPEC = PenaltySpec(
    name="printed",
    penalty=printed,
    keys=("length_penalty.eta_max", "length_penalty.eta_min"),
    options={"eta_max": 0.0, "eta_min": -0.5},
)
