"""The local engine's update in bf16 beside float32 on the same batch, and its speed.

Bounds are ours: bf16 has 8 bits of precision, so that a log-prob of a real model moves by about 0.01 on average.
"""

from __future__ import annotations

import gc
import math
from typing import TYPE_CHECKING, Any

from prorl_cli.prove.stage import Finding, Place, Stage
from prorl_cli.prove.stages.policies import config_of, load_policy, random_batch

if TYPE_CHECKING:
    from torch import Tensor

    from prorl_training.policy.update import Policy

MOST_LOGPROB = 0.03
"""Mean |log-prob in bf16 - log-prob in float32|, in nats."""
LEAST_COSINE = 0.97
"""Of the two gradients of the first mini-batch, all parameters as one vector."""
MOST_NORM = 0.05
"""Relative difference of their norms."""


class FirstGradient:
    """A judge of updates that keeps the first gradient and refuses every step."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.gradients: list[Tensor] = []

    def judge_update(self, loss: float, grad_norm: float) -> bool:
        """Return False."""
        del loss, grad_norm
        if not self.gradients:
            grads = [p.grad for p in self.policy.trained if p.grad is not None]
            self.gradients = [grad.float().cpu() for grad in grads]
        return False

    def norm_limit(self) -> float:
        """Return 0: nothing is applied."""
        return 0.0

    def hear_update(self, loss: float, grad_norm: float, applied: bool) -> None:
        """Do nothing."""


def run(place: Place) -> Finding:
    """Compare, then time."""
    config = config_of(place)
    exact = _passes(place, config, "fp32")
    rounded = _passes(place, config, "bf16")
    gap = (exact["logprobs"] - rounded["logprobs"]).abs()
    pairs = list(zip(exact["gradient"], rounded["gradient"], strict=True))
    product = sum(float((a.double() * b.double()).sum()) for a, b in pairs)
    norms = [
        math.sqrt(sum(float(g.double().square().sum()) for g in found["gradient"]))
        for found in (exact, rounded)
    ]
    cosine = product / max(norms[0] * norms[1], 1e-30)
    figures = {
        "logprob_gap_mean": float(gap.mean()),
        "logprob_gap_max": float(gap.max()),
        "gradient_cosine": cosine,
        "gradient_norm_difference": abs(norms[1] - norms[0]) / max(norms[0], 1e-30),
        "kl_fp32": exact["kl"],
        "kl_bf16": rounded["kl"],
        **rounded["speed"],
    }
    passed = (
        figures["logprob_gap_mean"] <= MOST_LOGPROB
        and cosine >= LEAST_COSINE
        and figures["gradient_norm_difference"] <= MOST_NORM
    )
    said = (
        f"log-probs differ by {figures['logprob_gap_mean']:.2g} on average (at most {MOST_LOGPROB:g}), gradients: "
        f"cosine {cosine:.4f} (at least {LEAST_COSINE:g}), norms by {figures['gradient_norm_difference']:.2%} (at most "
        f"{MOST_NORM:.0%}); {figures['update_tokens_per_second']:,.0f} tokens/s, {figures['share_of_peak_flops']:.1%} of "
        "the measured peak"
    )
    return Finding(passed, said, figures, rounded["ratios"])


def _passes(place: Place, config: Any, dtype: str) -> dict[str, Any]:
    """Return the log-probs of the batch, the gradient, the KL to the reference and, in bf16, the speed."""
    import torch

    from prorl_training.policy.packing import build_packs

    policy, _ = load_policy(place, dtype, config)
    batch = random_batch(place, config, policy.model.config.vocab_size)
    _move(policy)  # so that the KL term has a gradient
    packs = [
        p for groups in batch.mini_batches for p in build_packs(groups, config.loss.pack_tokens)
    ]
    found: dict[str, Any] = {
        "logprobs": torch.cat([policy.logprobs(p).float().cpu() for p in packs])
    }
    judge = FirstGradient(policy)
    found["kl"] = policy.update(batch, judge).kl
    found["gradient"] = judge.gradients
    if dtype == "bf16":
        found |= _speed(place, policy, batch)
    del policy, judge
    gc.collect()
    if place.on_gpu:
        torch.cuda.empty_cache()
    return found


def _move(policy: Any) -> None:
    """Scale the policy's weights a little, the same in every precision."""
    import torch

    with torch.no_grad():
        for parameter in policy.trained:
            parameter.mul_(1.001)


def _speed(place: Place, policy: Any, batch: Any) -> dict[str, Any]:
    """Return tokens/s, the share of the measured peak and the ratios for plans."""
    import torch

    from prorl_training.sizing.probe import measured_card, time_passes
    from prorl_training.sizing.shape import ModelShape

    shape = ModelShape.from_config(policy.model.config.to_dict())
    device = policy.device
    card = measured_card(device, policy.compute_dtype, place.device_name, repeats=3)
    if place.on_gpu:
        torch.cuda.reset_peak_memory_stats()
    times = time_passes(policy, batch, shape, repeats=2)
    ratios = times.ratios(card)
    speed = {
        "update_tokens_per_second": times.tokens / times.total,
        "share_of_peak_flops": ratios["update_flops"],
        "share_of_peak_flops_without_gradient": ratios["score_flops"],
        "gradient_seconds": times.update_seconds,
        "reference_seconds": times.score_seconds,
        "optimizer_seconds": times.optimizer_seconds,
        "response_tokens": times.tokens,
    }
    if place.on_gpu:
        speed["peak_memory_gb"] = torch.cuda.max_memory_allocated() / 1e9
    moved = shape.parameters * 28 * times.optimizer_updates
    measured = {"optimizer_bandwidth": moved / times.optimizer_seconds / card.bandwidth}
    return {"speed": speed, "ratios": {} if place.tiny else {**ratios, **measured}}


STAGE = Stage("local-step", "local engine: a bf16 step", run, minutes=2)
