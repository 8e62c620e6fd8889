"""Patches that make OpenRLHF 0.11.2 train and sample in float32 unless ``model.dtype=bf16``.

CPUs without AVX512-BF16 or AMX multiply bfloat16 very slowly, and OpenRLHF has no argument for float32.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

FLOAT32 = "PRORL_OPENRLHF_FLOAT32"
"""Environment variable that enables float32 (``1``)."""


def enabled() -> bool:
    return os.environ.get(FLOAT32) == "1"


def load_in_float32(utils: ModuleType) -> None:
    """Make OpenRLHF load models as float32 where it would use bf16 (utils/utils.py:8)."""
    if not enabled():
        return
    import torch

    original = utils.convert_to_torch_dtype

    def convert_to_torch_dtype(param_dtype: str) -> torch.dtype:
        return torch.float32 if param_dtype == "bf16" else original(param_dtype)

    utils.convert_to_torch_dtype = convert_to_torch_dtype  # type: ignore[attr-defined]


def train_in_float32(deepspeed_strategy: ModuleType) -> None:
    """Disable bf16 in DeepSpeed's configs for training and evaluation (utils/deepspeed/deepspeed.py)."""
    if not enabled():
        return

    def without_bf16(original: Any) -> Any:
        def config(*args: Any, **kwargs: Any) -> Any:
            options = original(*args, **kwargs)
            options["bf16"]["enabled"] = False
            return options

        return config

    strategy = deepspeed_strategy.DeepspeedStrategy
    for name in ("get_ds_train_config", "get_ds_eval_config"):
        setattr(strategy, name, without_bf16(getattr(strategy, name)))
