"""Log-probs of chosen tokens straight from hidden states, one block of logits at a time.

The output layer is applied to blocks of rows; a block is turned into log-probs, entropies and (in the
backward pass) gradients before the next one is made, so N x vocabulary numbers never exist together. The
last block is kept for the backward pass, the ones before it are computed again there: memory is one block,
and a pack that fits in a block costs no second product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK_BYTES = 1 << 28
"""Size of a block of float32 logits."""
CPU_CHUNK_BYTES = 1 << 22
"""On the CPU a block is read in chunks of about this size, which stay in its cache."""


def linear_logprobs(
    hidden: Tensor,
    layer: torch.nn.Linear,
    targets: Tensor,
    temperature: float = 1.0,
    with_entropy: bool = False,
    rows: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Return log softmax(layer(hidden) / temperature) at ``targets`` (N,), and each row's entropy (N,).

    ``hidden`` (N, H), ``targets`` (N,) int. The log-probs are differentiable in ``hidden`` and the
    layer's parameters; the entropy in nats is not, and is None unless asked for. ``rows`` of logits are
    made at a time (default: ``BLOCK_BYTES`` of them). Products run in the autocast type where autocast is
    on, everything after them, and sums over blocks, in float32 (float64 for float64 input).
    """
    if rows is None:
        rows = max(1, BLOCK_BYTES // (4 * layer.out_features))
    logprobs, entropy = _LinearLogprobs.apply(  # type: ignore[no-untyped-call]
        hidden, layer.weight, layer.bias, targets, temperature, rows, with_entropy
    )
    return logprobs, entropy if with_entropy else None


def logits_logprobs(
    logits: Tensor, targets: Tensor, temperature: float = 1.0, with_entropy: bool = False
) -> tuple[Tensor, Tensor | None]:
    """The same from logits (N, vocabulary) that a model computed in its own way."""
    scaled = (logits.float() if logits.dtype != torch.float64 else logits) / temperature
    logprobs = scaled.gather(-1, targets[:, None])[:, 0] - scaled.logsumexp(-1)
    entropy = None
    if with_entropy:
        with torch.no_grad():
            entropy = scaled.new_empty(len(targets))
            size = _chunk_rows(scaled)
            for start in range(0, len(targets), size):
                part = scaled[start : start + size].log_softmax(-1)
                entropy[start : start + size] = -(part.exp() * part).sum(-1)
    return logprobs, entropy


class _LinearLogprobs(torch.autograd.Function):
    """Forward keeps hidden states, the rows' normalisers and the last block; see ``linear_logprobs``."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        hidden, weight, bias, targets, temperature, rows, with_entropy = inputs
        device = hidden.device.type
        autocast = torch.is_autocast_enabled(device) and hidden.dtype != torch.float64
        ctx.dtype = torch.get_autocast_dtype(device) if autocast else hidden.dtype
        ctx.temperature, ctx.rows = temperature, rows
        wide = torch.float64 if hidden.dtype == torch.float64 else torch.float32
        logprobs, entropy, top, total = (
            hidden.new_zeros(len(targets), dtype=wide) for _ in range(4)
        )
        cast = weight.to(ctx.dtype)
        keep = any(ctx.needs_input_grad)
        ctx.last = None
        for start in range(0, len(targets), rows):
            part = slice(start, min(start + rows, len(targets)))
            block = _block(hidden[part], cast, bias, ctx.dtype).to(wide)
            at_end = keep and part.stop == len(targets)
            rows_out = (logprobs[part], top[part], total[part])
            entropies = entropy[part] if with_entropy else None
            _reduce(block, targets[part], temperature, rows_out, entropies)
            if at_end:
                ctx.last = block
            del block
        ctx.save_for_backward(hidden, weight, bias, targets, top, total)
        ctx.mark_non_differentiable(entropy)
        return logprobs, entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, bias, targets, top, total = ctx.saved_tensors
        need_hidden, need_weight, need_bias = ctx.needs_input_grad[:3]
        cast = weight.to(ctx.dtype)
        scale = grad / ctx.temperature
        grad_hidden = torch.empty_like(hidden) if need_hidden else None
        grad_weight = grad_bias = None
        starts = range(0, len(targets), ctx.rows)
        for start in reversed(starts):
            part = slice(start, min(start + ctx.rows, len(targets)))
            block, ctx.last = ctx.last, None
            if block is None:
                block = _block(hidden[part], cast, bias, ctx.dtype).to(top.dtype)
                _exponentials(block, top[part], ctx.temperature)
            slope = _logit_gradient(block, targets[part], scale[part], total[part]).to(ctx.dtype)
            del block
            if grad_hidden is not None:
                grad_hidden[part] = (slope @ cast).to(hidden.dtype)
            if need_weight:
                grad_weight = _accumulate(grad_weight, slope, hidden[part].to(ctx.dtype), top.dtype)
            if need_bias:
                added = slope.to(top.dtype).sum(0)
                grad_bias = added if grad_bias is None else grad_bias.add_(added)
            del slope
        return (
            grad_hidden,
            None if grad_weight is None else grad_weight.to(weight.dtype),
            None if grad_bias is None else grad_bias.to(bias.dtype),
            *(None,) * 4,
        )


def _block(hidden: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    with torch.autocast(hidden.device.type, enabled=False):
        return torch.nn.functional.linear(
            hidden.to(dtype), weight, None if bias is None else bias.to(dtype)
        )


def _chunk_rows(block: Tensor) -> int:
    """Return how many rows to work on at a time: a cache's worth on the CPU, all of them elsewhere."""
    if block.device.type != "cpu":
        return max(1, len(block))
    return max(1, CPU_CHUNK_BYTES // (block.element_size() * block.shape[1]))


def _reduce(
    block: Tensor,
    targets: Tensor,
    temperature: float,
    out: tuple[Tensor, Tensor, Tensor],
    entropy: Tensor | None,
) -> None:
    """Fill log-probs, largest scaled logits and sums of exponentials (R,), and ``entropy`` (R,).

    ``block`` holds logits (R, V) before and exp(scaled logit - largest) afterwards.
    """
    logprobs, tops, totals = out
    size = _chunk_rows(block)
    for start in range(0, len(block), size):
        part = slice(start, start + size)
        x = block[part]
        if temperature != 1.0:
            x.div_(temperature)
        top = torch.amax(x, -1, out=tops[part])
        x.sub_(top[:, None])
        chosen = x.gather(-1, targets[part, None])[:, 0]
        p = x.exp() if entropy is not None else x.exp_()
        total = torch.sum(p, -1, out=totals[part])
        logprobs[part] = chosen - total.log()
        if entropy is not None:
            entropy[part] = total.log() - (p[:, None, :] @ x[:, :, None])[:, 0, 0] / total
            x.copy_(p)


def _exponentials(block: Tensor, top: Tensor, temperature: float) -> None:
    """Do to ``block`` what ``_reduce`` does to it, bit for bit."""
    size = _chunk_rows(block)
    for start in range(0, len(block), size):
        x = block[start : start + size]
        if temperature != 1.0:
            x.div_(temperature)
        x.sub_(top[start : start + size, None]).exp_()


def _logit_gradient(p: Tensor, targets: Tensor, scale: Tensor, total: Tensor) -> Tensor:
    """Return scale x (onehot(target) - p / total), in the place of the exponentials ``p`` (R, V)."""
    p.mul_((-scale / total)[:, None])
    p[torch.arange(len(targets), device=p.device), targets] += scale
    return p


def _accumulate(total: Tensor | None, slope: Tensor, hidden: Tensor, wide: torch.dtype) -> Tensor:
    """Return total + slope^T hidden in the ``wide`` type."""
    if total is not None and slope.dtype == wide:
        return total.addmm_(slope.T, hidden)
    added = (slope.T @ hidden).to(wide)
    return added if total is None else total.add_(added)
