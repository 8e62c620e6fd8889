"""A device's peaks, and how fast a policy computes and samples on it, measured: what ``ratios`` only states.

Times are medians; on a GPU wall time between synchronisations, on a CPU the process's CPU time over its threads, which
other work on the machine disturbs less. Leaves out several cards.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prorl_training.sizing.cards import Card
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.work import (
    Tokens,
    forward_flops,
    read_bytes,
    update_flops,
)

if TYPE_CHECKING:
    import torch

    from prorl_inference import Request, SamplingParams
    from prorl_training.policy.update import Policy, UpdateBatch

GEMM = {"cuda": 8192, "cpu": 1024}
"""Rows and columns of the square matrices that the peak of products is measured with."""
COPIED = {"cuda": 2**30, "cpu": 2**27}
"""Bytes of the array that the peak of bandwidth is measured with."""


def seconds_of(work: Callable[[], object], device: torch.device) -> float:
    """Return the seconds that ``work`` takes on ``device``; see the module."""
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)
        started = time.perf_counter()
        work()
        torch.cuda.synchronize(device)
        return time.perf_counter() - started
    started = time.process_time()
    work()
    return (time.process_time() - started) / torch.get_num_threads()


def median_seconds(work: Callable[[], object], device: torch.device, repeats: int) -> float:
    """Return the median of ``repeats`` times, after one that does not count."""
    work()
    return statistics.median(seconds_of(work, device) for _ in range(repeats))


def measured_card(device: torch.device, dtype: torch.dtype, name: str, repeats: int = 5) -> Card:
    """Return the device as a card: its products of square matrices in ``dtype``, and its copies, at their best."""
    import torch

    size, length = GEMM[device.type], COPIED[device.type]
    a = torch.randn(size, size, device=device, dtype=dtype)
    b, out = torch.randn_like(a), torch.empty_like(a)
    source = torch.ones(length // 4, device=device, dtype=torch.float32)
    target = torch.empty_like(source)
    torch.mm(a, b, out=out)
    target.copy_(source)
    product = min(seconds_of(lambda: torch.mm(a, b, out=out), device) for _ in range(repeats))
    copy = min(seconds_of(lambda: target.copy_(source), device) for _ in range(repeats))
    on_gpu = device.type == "cuda"
    return Card(
        flops=2 * size**3 / product,
        bandwidth=2 * length / copy,  # read and written
        memory=torch.cuda.get_device_properties(device).total_memory if on_gpu else 0,
        source=f"measured on {name}: products of {size} x {size} in {dtype}, copies of {length >> 20} MiB",
    )


@dataclass(frozen=True, slots=True)
class PassTimes:
    """Seconds of one update and its passes, with the operations that ``work`` counts for each."""

    score_seconds: float
    """Log-probs of the reference for the whole batch."""
    score_flops: float
    update_seconds: float
    """Forward and backward passes of the whole batch; the passes without gradient and the optimiser are taken off."""
    update_flops: float
    optimizer_seconds: float
    optimizer_updates: int
    tokens: int
    """Response tokens."""

    @property
    def total(self) -> float:
        """Return the seconds of the reference pass, the gradients and the optimiser together."""
        return self.score_seconds + self.update_seconds + self.optimizer_seconds

    def ratios(self, card: Card) -> dict[str, float]:
        """Return the shares of the card's peak that these are."""
        return {
            "update_flops": self.update_flops / self.update_seconds / card.flops,
            "score_flops": self.score_flops / self.score_seconds / card.flops,
        }


def pass_tokens(batch: UpdateBatch, pack_tokens: int, dense: bool) -> Tokens:
    """Return what goes through one pass over the batch as the local engine packs it.

    ``dense``: attention computes a pack's whole square, masked or not; else each token what it sees.
    """
    from prorl_training.policy.packing import attention_mask, build_packs

    packs = [pack for groups in batch.mini_batches for pack in build_packs(groups, pack_tokens)]
    sizes = [pack.input_ids.shape[1] for pack in packs]
    attended = [
        size * size
        if dense
        else size * (size + 1) / 2
        if pack.owners is None
        else int(attention_mask(pack.owners).sum())
        for size, pack in zip(sizes, packs, strict=True)
    ]
    return Tokens(sum(sizes), sum(attended), sum(len(pack.targets) for pack in packs))


def time_passes(
    policy: Policy, batch: UpdateBatch, shape: ModelShape, repeats: int = 3
) -> PassTimes:
    """Return the times of an update of ``policy`` on ``batch``, whose mini-batches each need old log-probs but the first."""
    from prorl_training.policy.packing import build_packs

    config, device = batch.config, policy.device
    parts = [build_packs(groups, config.loss.pack_tokens) for groups in batch.mini_batches]
    packs = [pack for part in parts for pack in part]
    tokens = pass_tokens(batch, config.loss.pack_tokens, dense=device.type == "cpu")

    def score() -> None:
        for pack in packs:
            policy.reference_logprobs(pack)

    def old() -> None:
        for part in parts[1:]:
            for pack in part:
                policy.logprobs(pack)

    def step() -> None:
        for parameter in policy.trained:
            parameter.grad = (
                parameter.detach().clone() if parameter.grad is None else parameter.grad
            )
        policy.optimizer.step()

    scored = median_seconds(score, device, repeats)
    olds = median_seconds(old, device, repeats) if len(parts) > 1 else 0.0
    whole = median_seconds(lambda: policy.update(batch), device, repeats)
    step()
    stepped = median_seconds(policy.optimizer.step, device, repeats)
    policy.optimizer.zero_grad(set_to_none=True)
    return PassTimes(
        score_seconds=scored,
        score_flops=forward_flops(shape, tokens),
        update_seconds=max(whole - scored - olds - stepped * len(parts), 1e-9),
        update_flops=update_flops(shape, tokens, config.model.gradient_checkpointing),
        optimizer_seconds=stepped * len(parts),
        optimizer_updates=len(parts),
        tokens=sum(len(pack.targets) for pack in packs),
    )


@dataclass(frozen=True, slots=True)
class SampleTimes:
    """Seconds of sampling, and what ``work`` counts for it. ``lengths`` of the responses, in request order."""

    seconds: float
    lengths: Sequence[int]
    prompt: int
    """Tokens of a prompt, on average."""
    iterations: int
    """Of the decoding loop: as many as the longest response of each batch of rows has tokens."""
    rows: int
    flops: float
    """Of decoding."""
    read: float
    """Bytes, in decoding."""
    prompt_flops: float
    """Of the prompts, each once."""


def time_sampling(
    generator: Any,
    requests: Sequence[Request],
    params: SamplingParams,
    shape: ModelShape,
    rows: int,
    width: int,
    device: torch.device,
) -> SampleTimes:
    """Return the time of one call of ``generator``, after a short one that does not count."""
    from dataclasses import replace

    from prorl_inference import encode_prompt

    generator.generate(requests[:1], replace(params, max_tokens=min(4, params.max_tokens)))
    found: list[list[Any]] = []
    seconds = seconds_of(lambda: found.extend(generator.generate(requests, params)), device)
    lengths = [len(c.token_ids) for group in found for c in group]
    prompts = [len(encode_prompt(generator.tokenizer, r.prompt)) for r in requests]
    prompt = round(sum(prompts) / len(prompts))
    batches = [lengths[i : i + rows] for i in range(0, len(lengths), rows)]
    flops = read = 0.0
    iterations = 0
    for batch in batches:
        ended = sorted(batch)
        iterations += ended[-1]
        for step in range(ended[-1]):
            running = sum(length > step for length in ended)
            cached = running * (prompt + step + 1)
            flops += forward_flops(shape, Tokens(running, cached, running))
            read += read_bytes(shape, cached, width)
    prefill = sum(forward_flops(shape, Tokens(n, n * (n + 1) / 2, 1)) for n in prompts)
    return SampleTimes(seconds, lengths, prompt, iterations, rows, flops, read, prefill)
