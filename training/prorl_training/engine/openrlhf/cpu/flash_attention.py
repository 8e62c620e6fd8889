"""Replace flash-attn by torch functions and SDPA if it is not installed (OpenRLHF 0.11.2)."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any


@contextlib.contextmanager
def stand_in() -> Iterator[None]:
    """Make a replacement for ``flash_attn`` importable inside the block, for importing OpenRLHF's ring_attn_utils.

    Outside the block it is not importable, because transformers and vLLM would use it.
    """
    if importlib.util.find_spec("flash_attn") is not None:
        yield
        return

    def rearrange(tensor: Any, pattern: str, **sizes: int) -> Any:
        import einops  # a requirement of OpenRLHF

        return einops.rearrange(tensor, pattern, **sizes)

    def all_gather(*args: object, **kwargs: object) -> None:
        from prorl_common import UserError

        raise UserError(
            "ring attention needs flash-attn, which is not installed: set ring_attn_size=1"
        )

    names = ("", ".bert_padding", ".utils", ".utils.distributed")
    modules: dict[str, Any] = {f"flash_attn{n}": ModuleType(f"flash_attn{n}") for n in names}
    padding = modules["flash_attn.bert_padding"]
    padding.unpad_input = unpad_input
    padding.pad_input = pad_input
    padding.index_first_axis = index_first_axis
    padding.rearrange = rearrange
    modules["flash_attn.utils.distributed"].all_gather = all_gather
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name in modules:
            sys.modules.pop(name, None)


def unpad_input(hidden: Any, mask: Any) -> tuple[Any, Any, Any, int, Any]:
    """Return the rows of ``hidden`` (batch, length, ...) that ``mask`` (batch, length; 0 or 1) keeps.

    As in flash-attn, also return the rows' indices in the flattened batch, the cumulative lengths (batch + 1, int32),
    the maximum length and the lengths (batch).
    """
    import torch

    lengths = mask.sum(dim=-1, dtype=torch.int32)
    indices = torch.nonzero(mask.flatten()).flatten()
    cumulative = torch.nn.functional.pad(torch.cumsum(lengths, 0, dtype=torch.int32), (1, 0))
    rows = hidden.flatten(0, 1)[indices]
    return rows, indices, cumulative, int(lengths.max()), lengths


def pad_input(rows: Any, indices: Any, batch: int, length: int) -> Any:
    """Undo ``unpad_input``: (kept, ...) -> (batch, length, ...) with zeros elsewhere."""
    empty = rows.new_zeros(batch * length, *rows.shape[1:])
    return empty.index_copy(0, indices, rows).unflatten(0, (batch, length))


def index_first_axis(rows: Any, indices: Any) -> Any:
    return rows[indices]


def use_sdpa(actor: ModuleType) -> None:
    """Use SDPA if OpenRLHF requests flash attention (cli/train_ppo_ray.py:704).

    For packed samples Transformers builds the same block-diagonal mask from the position ids.
    """
    original = actor.Actor.__init__
    signature = inspect.signature(original)

    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        if "flash" in str(bound.arguments["attn_implementation"]):
            bound.arguments["attn_implementation"] = "sdpa"
        original(*bound.args, **bound.kwargs)

    actor.Actor.__init__ = initialise
