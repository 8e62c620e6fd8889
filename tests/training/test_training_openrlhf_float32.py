from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from prorl_training.engine.openrlhf.cpu import float32
from prorl_training.engine.openrlhf.launch.environment import environment


class Strategy:
    """The part of OpenRLHF's strategy that builds DeepSpeed's config."""

    def get_ds_train_config(self, stage: int) -> dict[str, Any]:
        return {"bf16": {"enabled": True}, "stage": stage}

    def get_ds_eval_config(self, offload: bool = False) -> dict[str, Any]:
        return {"bf16": {"enabled": True}, "offload": offload}


def loaded_as(param_dtype: str) -> torch.dtype:
    names = {"bf16": torch.bfloat16, "fp16": torch.float16}
    utils: Any = SimpleNamespace(convert_to_torch_dtype=lambda name: names[name])
    float32.load_in_float32(utils)
    found: torch.dtype = utils.convert_to_torch_dtype(param_dtype)
    return found


def configs() -> tuple[dict[str, Any], dict[str, Any]]:
    own = type("Own", (Strategy,), {})
    float32.train_in_float32(SimpleNamespace(DeepspeedStrategy=own))  # type: ignore[arg-type]
    return own().get_ds_train_config(3), own().get_ds_eval_config(offload=True)


def test_bf16_is_read_as_float32_in_a_float32_run_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(float32.FLOAT32, raising=False)
    assert loaded_as("bf16") == torch.bfloat16
    monkeypatch.setenv(float32.FLOAT32, "1")
    assert loaded_as("bf16") == torch.float32
    assert loaded_as("fp16") == torch.float16, "only what prorl passes is changed"


def test_deepspeed_trains_without_bf16_in_a_float32_run_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(float32.FLOAT32, raising=False)
    assert [c["bf16"]["enabled"] for c in configs()] == [True, True]
    monkeypatch.setenv(float32.FLOAT32, "1")
    train, evaluation = configs()
    assert train == {"bf16": {"enabled": False}, "stage": 3}
    assert evaluation == {"bf16": {"enabled": False}, "offload": True}


def test_only_a_cpu_run_is_made_float32() -> None:
    assert environment("cpu", 1, {}, float32=True)[float32.FLOAT32] == "1"
    assert float32.FLOAT32 not in environment("cpu", 1, {})
    assert float32.FLOAT32 not in environment("cuda", 1, {}, float32=True)
