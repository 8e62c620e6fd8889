"""Gather, checksum, write and load a DeepSpeed engine's weights.

With ZeRO-3 all ranks must call every function except ``write_tensors``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import deepspeed
import torch
from torch import Tensor

ZERO_3 = 3


def checksum(named: Iterable[tuple[str, Tensor]], stage: int = 0) -> dict[str, float]:
    """Return sum, sum of squares (float64) and count of all weights; tied ones count once."""
    total = squares = count = 0.0
    for _, parameter in named:
        with deepspeed.zero.GatheredParameters([parameter], enabled=stage == ZERO_3):
            values = parameter.detach().double()
            total += values.sum().item()
            squares += (values * values).sum().item()
            count += values.numel()
    return {"sum": total, "squares": squares, "count": count}


@torch.no_grad()
def whole_state(engine: Any, stage: int) -> dict[str, Tensor] | None:
    """Return parameters by name on the CPU on rank 0, else None."""
    model = engine.module
    if stage == ZERO_3:
        found = engine._consolidated_16bit_state_dict()
    else:
        found = dict(model.named_parameters())
    if torch.distributed.get_rank() != 0:
        return None
    names = {name for name, _ in model.named_parameters()}  # without a tied head's other name
    return {n: t.detach().cpu().clone().contiguous() for n, t in found.items() if n in names}


@torch.no_grad()
def take_over(model: Any, tensors: Mapping[str, Tensor], stage: int) -> None:
    """Copy ``tensors`` into the parameters. Raises KeyError for a missing name."""
    for name, parameter in model.named_parameters():
        gathered = deepspeed.zero.GatheredParameters(
            [parameter], modifier_rank=0, enabled=stage == ZERO_3
        )
        with gathered:
            if stage != ZERO_3 or torch.distributed.get_rank() == 0:
                parameter.data.copy_(tensors[name].to(parameter.dtype))


def write_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write a safetensors file atomically."""
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    work = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(dict(tensors), work)
    os.replace(work, path)
