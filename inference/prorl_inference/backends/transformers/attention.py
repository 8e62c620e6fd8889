"""Attention for one new token at a time, faster than Transformers' own: its key-value cache and its arithmetic.

Transformers' dynamic cache concatenates, which copies everything seen so far once a step and layer. Here the
tokens seen are a window into a larger buffer: it grows to the right in place, padding that no row needs any
more falls off its left edge at no cost, and the rows of one cache can be written over rows of another. Models
with sliding windows or linear attention keep Transformers' own cache.

With grouped queries, heads that share a key are asked as if they were successive positions, so that the cache
is read once and never expanded. Everything but decoding goes to Transformers' ``sdpa``. Not for GPUs, where
``sdpa`` does the same in its kernel.

This module imports torch and transformers: import it inside functions only.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

_SPARE = 64
"""Positions kept free when a buffer is made; a quarter of its length more where that is larger."""
NAME = "prorl_grouped"
FAMILIES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
"""Model types it is tested with; others keep ``sdpa``."""


class GrowingLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """One layer's keys and values, ``[rows, heads, tokens, head_dim]``: views into larger buffers."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._key_room: torch.Tensor | None = None
        self._value_room: torch.Tensor | None = None
        self._left = 0

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append the new tokens and return all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        seen, new = self.get_seq_length(), key_states.shape[-2]
        if self._key_room is None or self._left + seen + new > self._key_room.shape[-2]:
            self._key_room = _with_room(self.keys, key_states, seen)
            self._value_room = _with_room(self.values, value_states, seen)
            self._left = 0
        assert self._value_room is not None
        start = self._left + seen
        self._key_room[:, :, start : start + new] = key_states
        self._value_room[:, :, start : start + new] = value_states
        self.keys = self._key_room[:, :, self._left : start + new]
        self.values = self._value_room[:, :, self._left : start + new]
        return self.keys, self.values

    def reorder_cache(self, beam_idx: Any) -> None:
        """Keep (or repeat) the rows ``beam_idx``; the buffers are made anew at the next token."""
        super().reorder_cache(beam_idx)
        self._key_room = self._value_room = None

    def drop_left(self, tokens: int) -> None:
        """Forget the oldest ``tokens`` positions of every row."""
        assert self.keys is not None and self.values is not None
        self.keys, self.values = self.keys[:, :, tokens:], self.values[:, :, tokens:]
        self._left += tokens

    def pad_left(self, tokens: int) -> None:
        """Put ``tokens`` positions of padding before the oldest; the buffers are made anew at the next token."""
        assert self.keys is not None and self.values is not None
        self.keys = torch.nn.functional.pad(self.keys, (0, 0, tokens, 0))
        self.values = torch.nn.functional.pad(self.values, (0, 0, tokens, 0))
        self._key_room = self._value_room = None

    def overwrite(self, rows: torch.Tensor, source: DynamicLayer, index: torch.Tensor) -> None:
        """Put row ``index[i]`` of ``source`` over row ``rows[i]``, both ending at the newest position.

        Where ``source`` is wider, its left edge, which is padding of those rows, is cut off; where it is
        narrower, what the row held to the left stays, for the mask to hide.
        """
        assert self.keys is not None and self.values is not None
        assert source.keys is not None and source.values is not None
        taken = min(self.get_seq_length(), source.get_seq_length())
        start, first = self.get_seq_length() - taken, source.get_seq_length() - taken
        self.keys[rows, :, start:] = source.keys[index, :, first:]
        self.values[rows, :, start:] = source.values[index, :, first:]


def _with_room(seen: torch.Tensor | None, new: torch.Tensor, length: int) -> torch.Tensor:
    """Return a buffer that begins with the ``length`` positions ``seen`` and has room for many more."""
    end = length + new.shape[-2]
    room = new.new_empty((*new.shape[:2], end + max(_SPARE, end // 4), new.shape[-1]))
    if seen is not None and length:
        room[:, :, :length] = seen
    return room


def make_cache(config: Any) -> Cache:
    """Return an empty cache for a model's configuration: growing in place where every layer attends to all
    tokens."""
    own = DynamicCache(config=config)
    if own.layers and all(type(layer) is DynamicLayer for layer in own.layers):
        return Cache(layers=[GrowingLayer() for _ in own.layers])
    return own


def select_rows(cache: Cache, index: torch.Tensor) -> Cache:
    """Return a new cache that grows in place, with the rows ``index`` of ``cache``, which stays as it is."""
    chosen: Any = Cache(layers=[GrowingLayer() for _ in cache.layers])
    layers: Any = cache.layers
    for mine, theirs in zip(chosen.layers, layers, strict=True):
        mine.lazy_initialization(theirs.keys, theirs.values)
        mine.keys, mine.values = theirs.keys[index], theirs.values[index]
    result: Cache = chosen
    return result


def grows_in_place(cache: Cache) -> bool:
    """Return whether every layer is a :class:`GrowingLayer`."""
    return all(isinstance(layer, GrowingLayer) for layer in cache.layers)


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
