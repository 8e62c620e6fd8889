"""A key-value cache that grows in place instead of copying itself at every token.

Transformers' own dynamic cache concatenates, which copies everything seen so far once a step and layer.
Here the tokens seen are a window into a larger buffer: it grows to the right in place, padding that no
row needs any more falls off its left edge at no cost, and the rows of one cache can be written over rows
of another. This module imports torch and transformers: import it inside functions only. Models with
sliding windows or linear attention keep Transformers' own cache.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer

_SPARE = 64
"""Positions kept free when a buffer is made; a quarter of its length more where that is larger."""


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

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep (or repeat) the rows ``indices``; the buffers are made anew at the next token."""
        super().batch_select_indices(indices)
        self._key_room = self._value_room = None

    def drop_left(self, tokens: int) -> None:
        """Forget the oldest ``tokens`` positions of every row."""
        assert self.keys is not None and self.values is not None
        self.keys, self.values = self.keys[:, :, tokens:], self.values[:, :, tokens:]
        self._left += tokens

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
