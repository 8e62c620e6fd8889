"""Linear layers on the CPU with their weights laid out once for oneDNN while a model samples.

torch multiplies float32 matrices with the BLAS it was built with, which lays the weights out anew in every call.
For the few rows of a decode step that costs more than the product itself: SmolLM2-135M samples about 1.4 times
as fast with packed weights (benchmarks/generation.py). Packing takes as long as one step or two, and as much
memory again as the weights, so only ``MOST_BYTES`` are packed, the output layer first, which gains most.

This module imports torch: import it inside functions only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch

MOST_BYTES = 2 << 30
"""Weights that are packed; layers beyond that stay as they are."""


@contextlib.contextmanager
def packed_weights(model: Any, rows: int) -> Iterator[None]:
    """Sample inside the block with packed float32 weights, laid out for batches of ``rows``.

    Results are those of the plain layers up to float rounding. The weights must not change inside the block and
    gradients must be off. Does nothing where there is no oneDNN, for other devices and types, and in autocast.
    """
    packed = []
    try:
        for layer in _layers(model):
            layer.forward = _packed(layer, rows)
            packed.append(layer)
        yield
    finally:
        for layer in packed:
            del layer.forward


def _layers(model: Any) -> Iterator[Any]:
    """Yield the layers to pack, the largest first."""
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise") or torch.is_autocast_enabled("cpu"):
        return
    room = MOST_BYTES
    plain = [m for m in model.modules() if type(m) is torch.nn.Linear and "forward" not in vars(m)]
    for layer in sorted(plain, key=lambda m: -m.weight.numel()):
        weight = layer.weight
        if weight.device.type == "cpu" and weight.dtype == torch.float32:
            room -= weight.nbytes
            if room < 0:
                return
            yield layer


def _packed(layer: Any, rows: int) -> Callable[[torch.Tensor], torch.Tensor]:
    weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), rows)
    bias = None if layer.bias is None else layer.bias.detach()

    def forward(inputs: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            inputs, weight, bias, "none", [], ""
        )
        return result

    return forward
