"""Trains and samples in float32 where OpenRLHF 0.11.2 knows bf16 and fp16 only.

A CPU without bfloat16 instructions (AVX512-BF16, AMX) multiplies bfloat16 matrices by plain loops: the update of a
tiny model took 16 s of a step. The arguments still say ``bf16``, which OpenRLHF's parser wants; this turns it into
float32 behind the parser. On unless the config asks for ``model.dtype=bf16``.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

FLOAT32 = "PRORL_OPENRLHF_FLOAT32"
"""The environment variable that switches this on (``1``)."""


def wanted() -> bool:
    """Return whether this process belongs to a run in float32."""
    return os.environ.get(FLOAT32) == "1"


def load_in_float32(utils: ModuleType) -> None:
    """Read ``bf16`` as float32 where models are loaded (utils/utils.py:8)."""
    if not wanted():
        return
    import torch

    original = utils.convert_to_torch_dtype

    def convert_to_torch_dtype(param_dtype: str) -> torch.dtype:
        return torch.float32 if param_dtype == "bf16" else original(param_dtype)

    utils.convert_to_torch_dtype = convert_to_torch_dtype  # type: ignore[attr-defined]


def train_in_float32(deepspeed_strategy: ModuleType) -> None:
    """Switch DeepSpeed's bf16 off (utils/deepspeed/deepspeed.py, ``get_ds_train_config`` and ``_eval_config``)."""
    if not wanted():
        return
    strategy = deepspeed_strategy.DeepspeedStrategy
    for name in ("get_ds_train_config", "get_ds_eval_config"):
        setattr(strategy, name, _without_bf16(getattr(strategy, name)))


def _without_bf16(original: Any) -> Any:
    def config(*args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        found["bf16"]["enabled"] = False
        return found

    return config
