"""Faster attention and key-value cache for sampling on the CPU. Import it only inside functions: it imports torch."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

_SPARE = 64
"""Minimum number of spare positions in a new buffer."""
NAME = "prorl_grouped"
FAMILIES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
"""Model types for which :func:`grouped_attention` is tested."""


class GrowingLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """Cache of a layer's keys and values ``[rows, heads, tokens, head_dim]`` in buffers with spare positions."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._key_room: torch.Tensor | None = None
        self._value_room: torch.Tensor | None = None
        self._left = 0

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        length, new = self.get_seq_length(), key_states.shape[-2]
        if self._key_room is None or self._left + length + new > self._key_room.shape[-2]:
            self._key_room = _with_room(self.keys, key_states, length)
            self._value_room = _with_room(self.values, value_states, length)
            self._left = 0
        assert self._value_room is not None
        start = self._left + length
        self._key_room[:, :, start : start + new] = key_states
        self._value_room[:, :, start : start + new] = value_states
        self.keys = self._key_room[:, :, self._left : start + new]
        self.values = self._value_room[:, :, self._left : start + new]
        return self.keys, self.values

    def reorder_cache(self, beam_idx: Any) -> None:
        super().reorder_cache(beam_idx)
        self._key_room = self._value_room = None

    def drop_left(self, tokens: int) -> None:
        assert self.keys is not None and self.values is not None
        self.keys, self.values = self.keys[:, :, tokens:], self.values[:, :, tokens:]
        self._left += tokens

    def pad_left(self, tokens: int) -> None:
        assert self.keys is not None and self.values is not None
        self.keys = torch.nn.functional.pad(self.keys, (0, 0, tokens, 0))
        self.values = torch.nn.functional.pad(self.values, (0, 0, tokens, 0))
        self._key_room = self._value_room = None

    def overwrite(self, rows: torch.Tensor, source: DynamicLayer, index: torch.Tensor) -> None:
        """Copy row ``index[i]`` of ``source`` over row ``rows[i]``, right-aligned.

        If ``source`` is shorter, older values remain to the left, and the caller must mask them.
        """
        assert self.keys is not None and self.values is not None
        assert source.keys is not None and source.values is not None
        taken = min(self.get_seq_length(), source.get_seq_length())
        start, first = self.get_seq_length() - taken, source.get_seq_length() - taken
        self.keys[rows, :, start:] = source.keys[index, :, first:]
        self.values[rows, :, start:] = source.values[index, :, first:]


def _with_room(old: torch.Tensor | None, new: torch.Tensor, length: int) -> torch.Tensor:
    end = length + new.shape[-2]
    room = new.new_empty((*new.shape[:2], end + max(_SPARE, end // 4), new.shape[-1]))
    if old is not None and length:
        room[:, :, :length] = old
    return room


def make_cache(config: Any) -> Cache:
    """Return an empty cache. It grows in place if every layer keeps all tokens."""
    cache = DynamicCache(config=config)
    if cache.layers and all(type(layer) is DynamicLayer for layer in cache.layers):
        return Cache(layers=[GrowingLayer() for _ in cache.layers])
    return cache


def select_rows(cache: Cache, index: torch.Tensor) -> Cache:
    chosen: Any = Cache(layers=[GrowingLayer() for _ in cache.layers])
    layers: Any = cache.layers
    for target, source in zip(chosen.layers, layers, strict=True):
        target.lazy_initialization(source.keys, source.values)
        target.keys, target.values = source.keys[index], source.values[index]
    result: Cache = chosen
    return result


def grows_in_place(cache: Cache) -> bool:
    return all(isinstance(layer, GrowingLayer) for layer in cache.layers)


def grouped_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Return (attention output ``[rows, new, heads, head_dim]``, None). ``new`` is the number of new tokens.

    - ``query``: ``[rows, heads, new, head_dim]``.
    - ``key``, ``value``: ``[rows, kv_heads, seen, head_dim]``.
    - ``attention_mask``: ``[rows, 1, new, seen]``, or None.
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
    interfaces: Any = transformers
    interfaces.AttentionInterface.register(NAME, grouped_attention)
    interfaces.AttentionMaskInterface.register(NAME, sdpa_mask)
    return NAME
