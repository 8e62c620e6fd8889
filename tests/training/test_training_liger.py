from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from prorl_common import UserError
from prorl_inference.testing import tiny_model
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.launch.understood import unsupported
from prorl_training.policy.liger import check_liger, liger_logprobs, try_liger
from prorl_training.policy.logprobs import linear_logprobs
from prorl_training.policy.packing import PromptGroup, build_pack
from prorl_training.policy.update import Policy

CPU = torch.device("cpu")


class Fused:
    """The function of liger-kernel 0.8.5 as documented: a loss per token, and the entropy on request."""

    louder = 1.0

    @classmethod
    def apply(
        cls,
        hidden: Tensor,
        weight: Tensor,
        target: Tensor,
        temperature: float = 1.0,
        ignore_index: int = -100,
        m_tiles_per_cluster: int = 1,
        return_entropy: bool = False,
    ) -> Any:
        assert hidden.dtype == weight.dtype
        logs = (cls.louder * (hidden @ weight.T).float() / temperature).log_softmax(-1)
        loss = -logs.gather(-1, target[:, None])[:, 0]
        return (loss, -(logs.exp() * logs).sum(-1)) if return_entropy else loss


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> type[Fused]:
    class Own(Fused):
        pass

    ops: Any = ModuleType("liger_kernel.ops")
    ops.LigerFusedLinearScaledCrossEntropyFunction = Own
    monkeypatch.setitem(sys.modules, "liger_kernel", ModuleType("liger_kernel"))
    monkeypatch.setitem(sys.modules, "liger_kernel.ops", ops)
    return Own


def layer(bias: bool = False) -> torch.nn.Linear:
    return torch.nn.Linear(16, 50, bias=bias)


def test_without_a_cuda_gpu_it_is_refused() -> None:
    with pytest.raises(UserError, match=r"CUDA GPU.*model\.liger=false"):
        check_liger("cpu")
    config = load_config("prorl-v2", None, ["engine=openrlhf", "model.liger=true"])
    assert [line for line in unsupported(config, "cpu") if "model.liger" in line]
    assert not [line for line in unsupported(config, "cuda") if "model.liger" in line]


def test_where_it_is_not_installed_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install 'liger-kernel"):
        check_liger("cuda:0")


def test_its_numbers_are_taken_as_log_probs_and_entropies(fused: type[Fused]) -> None:
    head, hidden = layer(), torch.randn(6, 16)
    targets = torch.arange(6)
    theirs = liger_logprobs(hidden, head, targets, 1.3, True)
    ours = linear_logprobs(hidden, head, targets, 1.3, True)
    for a, b in zip(theirs, ours, strict=True):
        assert a is not None and b is not None
        assert torch.allclose(a, b, atol=1e-5)
    assert liger_logprobs(hidden, head, targets)[1] is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_kernel_that_agrees_passes_its_trial(fused: type[Fused], dtype: torch.dtype) -> None:
    try_liger(layer(), dtype, CPU)


def test_a_kernel_with_other_numbers_is_refused(fused: type[Fused]) -> None:
    fused.louder = 1.2
    with pytest.raises(UserError, match=r"wrong log-probs here.*model\.liger=false"):
        try_liger(layer(), torch.bfloat16, CPU)


def test_a_kernel_that_does_not_run_is_refused(
    fused: type[Fused], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> Any:
        raise ImportError("No module named 'cutlass'\nmore")

    monkeypatch.setattr(fused, "apply", broken)
    with pytest.raises(
        UserError, match=r"does not run here \(ImportError: No module named 'cutlass'\)"
    ):
        try_liger(layer(), torch.bfloat16, CPU)


def test_an_output_layer_with_a_bias_is_refused(fused: type[Fused]) -> None:
    with pytest.raises(UserError, match="output layer with a bias"):
        try_liger(layer(bias=True), torch.float32, CPU)


def test_the_policy_scores_with_it_where_the_config_says_so(
    fused: type[Fused], make_config: Callable[..., TrainConfig]
) -> None:
    pack = build_pack([PromptGroup((1, 2), ((3, 4), (5, 6, 7)), (0, 1))])
    theirs, ours = (
        Policy(tiny_model(spread=0.3), make_config(model={"liger": on}), torch.float32)
        for on in (True, False)
    )
    assert torch.allclose(theirs.logprobs(pack, 1.2), ours.logprobs(pack, 1.2), atol=1e-5)
    fused.louder = 1.5
    assert not torch.allclose(theirs.logprobs(pack, 1.2), ours.logprobs(pack, 1.2), atol=1e-2)
