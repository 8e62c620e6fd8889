"""The cosine length reward that knows right from wrong (Yeo et al. 2025, arXiv 2502.03373; TRL's values)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_training.algorithm.shaping import cosine_between
from prorl_training.spec import PenaltySpec, Response

DEFAULTS = {
    "correct_short": 1.0,
    "correct_long": 0.5,
    "wrong_short": -1.0,
    "wrong_long": -0.5,
    "exceed": -1.0,
}


def correctness_aware(response: Response, options: Mapping[str, Any]) -> float:
    """Return ``exceed`` at the limit; below it right answers fall from correct_short to correct_long.

    Wrong ones rise from wrong_short to wrong_long.
    """
    if response.tokens >= response.limit:
        return float(options["exceed"])
    kind = "correct" if response.correct else "wrong"
    return cosine_between(
        options[f"{kind}_short"], options[f"{kind}_long"], response.tokens, response.limit
    )


SPEC = PenaltySpec(
    name="correctness_aware",
    penalty=correctness_aware,
    keys=tuple(f"length_penalty.{key}" for key in DEFAULTS),
    options=DEFAULTS,
)
