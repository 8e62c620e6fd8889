"""What a vLLM engine makes of its share of a GPU."""

from __future__ import annotations

from prorl_training.sizing.shape import ModelShape

BATCHED_TOKENS = 8192
"""Prompt tokens that an engine reads at once (vLLM's usual limit)."""
SEQUENCES = 256
"""Sequences whose logits it has at once (vLLM's usual limit)."""
ASLEEP_BYTES = 1_500_000_000
"""Assumed for an engine that sleeps: its CUDA graphs and what it does not give back."""


def engine_share(
    shape: ModelShape, memory: int, share: float, context: int, width: int = 1, number: int = 2
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the items of an engine that has ``share`` of ``memory`` on each of ``width`` GPUs, and what is wrong.

    vLLM takes its share whole, whatever it needs: the weights (``number`` bytes each), what a pass of its own works
    with, and the rest for its cache. It does not start where the cache cannot hold one sequence of ``context`` tokens.
    """
    taken = int(share * memory)
    weights = number * shape.parameters // width
    cache = taken - weights - _working(shape, number)
    troubles = []
    if cache < context * 2 * number * shape.layers * shape.kv_width // width:
        troubles.append(
            f"vLLM would not start: of its {taken / 1e9:.3g} GB {max(cache, 0) / 1e9:.2g} are left for a cache, which "
            f"holds no sequence of {context} tokens"
        )
    return {"sampler weights": weights, "KV cache": max(taken - weights, 0)}, tuple(troubles)


def _working(shape: ModelShape, number: int) -> int:
    """Return what vLLM's own passes are assumed to work with: one MLP over a full batch, and three of all logits."""
    layer = BATCHED_TOKENS * (3 * shape.intermediate + 4 * shape.hidden) * number
    return layer + 3 * 4 * SEQUENCES * shape.vocab
