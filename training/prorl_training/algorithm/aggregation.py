"""From losses per token to the loss of a batch: the weight of each token.

Sources: DAPO (arXiv 2503.14476, eq. 12) for the token mean, GRPO (2402.03300, eq. 3) for the sequence
mean, Dr. GRPO (2503.20783, section 3.2) for the constant divisor.
"""

from __future__ import annotations

import torch
from torch import Tensor


def token_weights(lengths: Tensor, aggregation: str, max_tokens: int) -> Tensor:
    """Return the weight (N,) float32 of each token; sum(weights * losses) is the batch loss.

    ``lengths`` (B,) int tokens of each trajectory. ``token_mean``: 1 / N. ``sequence_mean``: a
    trajectory with tokens weighs 1 / (number of such trajectories), shared among its tokens.
    ``constant``: 1 / (B max_tokens). Raises ValueError for another name.
    """
    total = int(lengths.sum())
    if aggregation == "token_mean":
        weight = 1.0 / max(total, 1)
    elif aggregation == "constant":
        weight = 1.0 / max(len(lengths) * max_tokens, 1)
    elif aggregation == "sequence_mean":
        count = (lengths > 0).sum().clamp(min=1)
        return (1.0 / (lengths.double().clamp(min=1) * count)).float().repeat_interleave(lengths)
    else:
        raise ValueError(f"aggregation {aggregation!r}: token_mean, sequence_mean or constant")
    return torch.full((total,), weight, dtype=torch.float32, device=lengths.device)
