"""Computes log-probs and entropies with Liger's fused kernel (liger-kernel 0.8.5).

On Hopper in bfloat16 the kernel never writes logits to memory; elsewhere it works in chunks of 512 tokens.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import torch
from torch import Tensor

from prorl_common import UserError
from prorl_training.policy.logprobs import linear_logprobs, product_type

OFF = "--set model.liger=false"
_TOKENS, _VOCABULARY = 8, 512
_ROUGH, _CLOSE = 0.05, 1e-3
"""Allowed difference from ``linear_logprobs`` with bfloat16, and with other types; relative for gradients."""


def check_liger(device: str) -> None:
    """Raise UserError with a fix if the kernel is unavailable on ``device``. Does not import the kernel."""
    if not device.startswith("cuda"):
        raise UserError(
            f"model.liger=true needs a CUDA GPU, but this run is on {device}: use {OFF}"
        )
    if importlib.util.find_spec("liger_kernel") is None:
        raise UserError(
            "model.liger=true needs liger-kernel, which is not installed: "
            f"pip install 'liger-kernel[cutedsl]>=0.8.5', or use {OFF}"
        )


def liger_logprobs(
    hidden: Tensor,
    layer: torch.nn.Linear,
    targets: Tensor,
    temperature: float = 1.0,
    with_entropy: bool = False,
    vocabulary: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Return the same as ``linear_logprobs``, less precisely: gradients are summed in the autocast type."""
    from liger_kernel.ops import LigerFusedLinearScaledCrossEntropyFunction as Fused

    dtype = product_type(hidden)
    with torch.autocast(hidden.device.type, enabled=False):
        result: Any = Fused.apply(
            hidden.to(dtype),
            layer.weight[:vocabulary].to(dtype),
            targets,
            temperature,
            return_entropy=with_entropy,
        )
    loss, entropy = result if with_entropy else (result, None)
    return -loss.float(), None if entropy is None else entropy.detach().float()


def try_liger(layer: torch.nn.Linear, dtype: torch.dtype, device: torch.device) -> None:
    """Run the kernel on a few random tokens, with products in ``dtype``.

    Raises UserError with a fix if the kernel fails or its results differ from those of ``linear_logprobs``.
    """
    if layer.bias is not None:
        raise UserError(f"model.liger=true does not support an output layer with a bias: use {OFF}")
    draw = torch.Generator().manual_seed(0)
    width = layer.in_features
    hidden = torch.randn(_TOKENS, width, generator=draw).to(device, dtype).requires_grad_()
    trial = torch.nn.Linear(width, _VOCABULARY, bias=False, device=device, dtype=dtype)
    with torch.no_grad():
        weight = torch.randn(_VOCABULARY, width, generator=draw) / width**0.5
        trial.weight.copy_(weight)
    targets = torch.randint(0, _VOCABULARY, (_TOKENS,), generator=draw).to(device)
    results = []
    try:
        for score in (linear_logprobs, liger_logprobs):
            logprobs, entropy = score(hidden, trial, targets, 1.2, True)
            assert entropy is not None
            gradients = torch.autograd.grad(logprobs.sum(), (hidden, trial.weight))
            results.append([x.detach().float() for x in (logprobs, entropy, *gradients)])
    except (ImportError, TypeError, ValueError, RuntimeError) as error:
        first = str(error).strip().splitlines()[:1]
        raise UserError(
            f"model.liger=true: Liger's kernel does not run here ({type(error).__name__}: "
            f"{first[0] if first else ''}): on a Hopper GPU it needs liger-kernel[cutedsl] and "
            f"model.dtype=bf16; or use {OFF}"
        ) from error
    bound = _ROUGH if dtype == torch.bfloat16 else _CLOSE
    names = ("log-probs", "entropies", "gradients", "gradients")
    for name, ours, theirs in zip(names, *results, strict=True):
        size = float(ours.abs().max()) if name == "gradients" else 1.0
        gap = float((ours - theirs).abs().max())
        if not gap <= bound * size:
            raise UserError(
                f"model.liger=true: Liger's kernel gives wrong {name} here (off by {gap:.2g}): "
                f"use {OFF}"
            )
