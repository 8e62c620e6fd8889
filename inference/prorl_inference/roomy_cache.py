"""A key-value cache that grows in place instead of copying itself at every token.

Transformers' own dynamic cache concatenates, which copies everything seen so far once a step and layer.
This module imports torch and transformers: import it inside functions only. Leaves out: sliding windows
and linear attention; models that have them keep Transformers' own cache.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer

_SPARE = 64
"""Positions kept free when a buffer is made; a quarter of its length more where that is larger."""


class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """One layer's keys and values, ``[rows, heads, tokens, head_dim]``: views into larger buffers."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._key_room: torch.Tensor | None = None
        self._value_room: torch.Tensor | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append the new tokens and return all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        self._key_room = _with_room(self._key_room, self.keys, key_states, end)
        self._value_room = _with_room(self._value_room, self.values, value_states, end)
        self._key_room[:, :, start:end] = key_states
        self._value_room[:, :, start:end] = value_states
        self.keys = self._key_room[:, :, :end]
        self.values = self._value_room[:, :, :end]
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep (or repeat) the rows ``indices``; the buffers are made anew at the next token."""
        super().batch_select_indices(indices)
        self._key_room = self._value_room = None


def _with_room(
    room: torch.Tensor | None, seen: torch.Tensor | None, new: torch.Tensor, end: int
) -> torch.Tensor:
    """Return a buffer for ``end`` positions that holds ``seen``: the one given, when it is long enough."""
    if room is not None and room.shape[-2] >= end:
        return room
    length = end + max(_SPARE, end // 4)
    room = new.new_empty((*new.shape[:2], length, new.shape[-1]))
    if seen is not None and seen.numel() > 0:
        room[:, :, : seen.shape[-2]] = seen
    return room


def make_cache(config: Any) -> Cache:
    """Return an empty cache for a model's configuration: roomy where every layer attends to all tokens."""
    own = DynamicCache(config=config)
    if own.layers and all(type(layer) is DynamicLayer for layer in own.layers):
        return Cache(layers=[RoomyLayer() for _ in own.layers])
    return own
