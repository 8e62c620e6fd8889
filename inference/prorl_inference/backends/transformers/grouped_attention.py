"""Attention for one new token without repeating keys and values for each query head.

With grouped queries, heads that share a key are asked as if they were successive positions, so that the
cache is read once and never expanded. Everything but decoding goes to Transformers' ``sdpa``. This module
imports torch and transformers: import it inside functions only. Not for GPUs, where ``sdpa`` does the
same in its kernel.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "prorl_grouped"
FAMILIES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
"""Model types it is tested with; others keep ``sdpa``."""


def grouped_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Return attention output ``[rows, new, heads, head_dim]``, the interface of Transformers.

    ``query`` is ``[rows, heads, new, head_dim]``, ``key`` and ``value`` ``[rows, kv_heads, seen,
    head_dim]``; the mask is ``[rows, 1, new, seen]`` or None.
    """
    rows, heads, new, size = query.shape
    if new != 1 or options.get("dropout") or options.get("position_bias") is not None:
        output: torch.Tensor = sdpa_attention_forward(
            module, query, key, value, attention_mask, **options
        )[0]
        return output, None
    grouped = torch.nn.functional.scaled_dot_product_attention(
        query.reshape(rows, key.shape[1], -1, size),
        key,
        value,
        attn_mask=attention_mask,
        scale=options.get("scaling"),
    )
    return grouped.reshape(rows, 1, heads, size), None


def register() -> str:
    """Make the function known to Transformers and return its name; calling it again changes nothing."""
    interfaces: Any = transformers
    interfaces.AttentionInterface.register(NAME, grouped_attention)
    interfaces.AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME
