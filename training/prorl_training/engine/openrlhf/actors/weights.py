"""Gather, checksum, write and load a DeepSpeed engine's weights.

With ZeRO-3 the functions, except ``write_tensors``, must be called on all ranks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import deepspeed
import torch
from torch import Tensor

from prorl_training.engine.openrlhf.step import Checksum, checksum

ZERO_3 = 3


def model_checksum(model: torch.nn.Module, stage: int) -> Checksum:
    def gathered(parameter: Tensor) -> Any:
        return deepspeed.zero.GatheredParameters([parameter], enabled=stage == ZERO_3)

    return checksum(model.parameters(), gathered)


@torch.no_grad()
def whole_state(engine: Any, stage: int) -> dict[str, Tensor] | None:
    """Return all parameters by name on the CPU of rank 0, and None on other ranks."""
    model = engine.module
    if stage == ZERO_3:
        state = engine._consolidated_16bit_state_dict()
    else:
        state = dict(model.named_parameters())
    if torch.distributed.get_rank() != 0:
        return None
    names = {name for name, _ in model.named_parameters()}  # without the second name of a tied head
    return {n: t.detach().cpu().clone().contiguous() for n, t in state.items() if n in names}


@torch.no_grad()
def take_over(model: Any, tensors: Mapping[str, Tensor], stage: int) -> None:
    """Copy ``tensors`` into the model's parameters of the same names. Raises KeyError for a missing name."""
    for name, parameter in model.named_parameters():
        gathered = deepspeed.zero.GatheredParameters(
            [parameter], modifier_rank=0, enabled=stage == ZERO_3
        )
        with gathered:
            if stage != ZERO_3 or torch.distributed.get_rank() == 0:
                parameter.data.copy_(tensors[name].to(parameter.dtype))


def write_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    work = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(dict(tensors), work)
    os.replace(work, path)
