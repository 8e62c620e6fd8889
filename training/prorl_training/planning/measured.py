"""Count the bytes that torch holds, storage by storage, to check the estimates; allocator overhead does not count."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@dataclass
class Saved:
    """Storages that autograd keeps for the backward pass, except those in ``known``."""

    known: set[int] = field(default_factory=set)
    storages: dict[int, int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Bytes kept, counting each storage once."""
        return sum(self.storages.values())


@contextmanager
def saved_tensors(known: Iterable[Tensor] = ()) -> Iterator[Saved]:
    """Collect tensors that the block keeps for backward, except ``known`` (the parameters)."""
    saved = Saved({_key(tensor) for tensor in known})
    alive: list[Tensor] = []  # so that no address is reused

    def pack(tensor: Tensor) -> Tensor:
        if _key(tensor) not in saved.known:
            saved.storages[_key(tensor)] = tensor.untyped_storage().nbytes()
            alive.append(tensor.detach())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield saved


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of live tensors made inside the block: ``now`` and ``peak``."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = 0
        self.peak = 0
        self._seen: weakref.WeakKeyDictionary[Any, None] = weakref.WeakKeyDictionary()

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run the operation and count its new tensors."""
        del types
        given = {_key(t) for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)}
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, Tensor) and _key(tensor) not in given:
                self._add(tensor.untyped_storage())
        return out

    def _add(self, storage: Any) -> None:
        if storage in self._seen:
            return
        self._seen[storage] = None
        size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, size)

    def _forget(self, size: int) -> None:
        self.now -= size


def _key(tensor: Tensor) -> int:
    storage: Any = tensor.untyped_storage()
    return int(storage._cdata)
