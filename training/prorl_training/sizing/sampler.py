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
    shape: ModelShape,
    memory: int,
    share: float,
    width: int,
    context: int,
    setting: str,
    longest: int,
    number: int = 2,
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the items of an engine that has ``share`` of ``memory`` on each of ``width`` GPUs, and what is wrong.

    vLLM takes its share whole, whatever it needs: the weights (``number`` bytes each), what a pass of its own works
    with, and the rest for its cache. It refuses to start when the cache cannot hold one sequence of ``context``
    tokens. ``longest``: the longest sequence that is sampled; ``setting`` names the share.
    """
    taken = int(share * memory)
    weights = number * shape.parameters // width
    cache = taken - weights - _working(shape, number)
    token = 2 * number * shape.layers * shape.kv_width // width
    troubles = []
    if cache < context * token:
        whole = (context * token + taken - cache) / memory
        cures = []
        if longest < context and cache >= longest * token:
            cures.append(f"rollout.vllm_context={longest}")
        if whole < 0.95:
            cures.append(f"{setting}={whole + 0.005:.2f}")
        cure = " or ".join(cures) or "take a larger GPU"
        troubles.append(
            f"vLLM's cache of {max(cache, 0) / 1e9:.1f} GB holds no sequence of {context} tokens, so that it would "
            f"not start: {'set ' if cures else ''}{cure}"
        )
    return {"sampler weights": weights, "KV cache": taken - weights}, tuple(troubles)


def _working(shape: ModelShape, number: int) -> int:
    """Return what vLLM's own passes are assumed to work with: one MLP over a full batch, and three of all logits."""
    layer = BATCHED_TOKENS * (3 * shape.intermediate + 4 * shape.hidden) * number
    return layer + 3 * 4 * SEQUENCES * shape.vocab
