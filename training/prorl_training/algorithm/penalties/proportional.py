"""The ProRL v2 post's cosine in proportion to the raw reward, so that length never costs an answer its rank.

Ours. Added to the raw reward it makes raw x (1 + weight x eta(t)): for a right answer the post's number, to the bit;
for a wrong one 0 at any length. With weight x eta_min above -1 (which the config holds to) whatever is partly
right stays above what is wrong, and the longer of two equal answers is never above the shorter. The post's form
subtracts the same from all: at 7,000 of 8,192 tokens an answer worth 0.4 falls to -0.08, below a wrong one of 300
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_training.algorithm.shaping import cosine_between
from prorl_training.spec import PenaltySpec, Response


def proportional(response: Response, options: Mapping[str, Any]) -> float:
    """Return the raw reward times the cosine from ``eta_max`` at 0 tokens to ``eta_min`` at the limit."""
    eta = cosine_between(options["eta_max"], options["eta_min"], response.tokens, response.limit)
    return response.raw * eta


SPEC = PenaltySpec(
    name="proportional",
    penalty=proportional,
    keys=("length_penalty.eta_max", "length_penalty.eta_min"),
    options={"eta_max": 0.0, "eta_min": -0.5},
)
