"""Log-probs and entropies under an output layer, a block of logits at a time.

A block is turned into log-probs, entropies and (in the backward pass) gradients before the next one is made, so
N x vocabulary numbers never exist together. Of a layer's logits the last block is kept for the backward pass, the
ones before it are computed again there: memory is one block, and a pack that fits in a block costs no second
product. Logits that a model has made itself are kept in its own type and read in blocks of float32.
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
        rows = block_rows(layer.out_features)
    logprobs, entropy = _LinearLogprobs.apply(  # type: ignore[no-untyped-call]
        hidden, layer.weight, layer.bias, targets, temperature, rows, with_entropy
    )
    return logprobs, entropy if with_entropy else None


def logits_logprobs(
    logits: Tensor,
    targets: Tensor,
    temperature: float = 1.0,
    with_entropy: bool = False,
    rows: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """The same from logits (N, vocabulary) that a model computed in its own way."""
    if rows is None:
        rows = block_rows(logits.shape[1])
    logprobs, entropy = _LogitsLogprobs.apply(  # type: ignore[no-untyped-call]
        logits, targets, temperature, rows, with_entropy
    )
    return logprobs, entropy if with_entropy else None


def block_rows(vocabulary: int) -> int:
    """Return how many rows of logits make a block."""
    return max(1, BLOCK_BYTES // (4 * vocabulary))


def product_type(hidden: Tensor) -> torch.dtype:
    """Return the type in which ``hidden`` is multiplied: autocast's where it is on, float64 as it is."""
    device = hidden.device.type
    if torch.is_autocast_enabled(device) and hidden.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    return hidden.dtype


class _LinearLogprobs(torch.autograd.Function):
    """Forward keeps hidden states, the rows' normalisers and the last block; see ``linear_logprobs``."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        hidden, weight, bias, targets, temperature, rows, with_entropy = inputs
        ctx.dtype = product_type(hidden)
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
        scale = grad.to(top.dtype) / ctx.temperature
        grad_hidden = torch.empty_like(hidden) if need_hidden else None
        grad_weight = grad_bias = None
        starts = range(0, len(targets), ctx.rows)
        for start in reversed(starts):
            part = slice(start, min(start + ctx.rows, len(targets)))
            block, ctx.last = ctx.last, None
            if block is None:
                block = _block(hidden[part], cast, bias, ctx.dtype).to(top.dtype)
                _exponentials(block, top[part], ctx.temperature)
            _slopes(block, targets[part], scale[part], total[part])
            slope = block.to(ctx.dtype)
            del block
            if grad_hidden is not None:
                grad_hidden[part] = (slope @ cast).to(hidden.dtype)
            if need_weight:
                inputs = hidden[part].to(ctx.dtype)
                if grad_weight is None:
                    grad_weight = (slope.T @ inputs).to(top.dtype)
                elif slope.dtype == top.dtype:
                    grad_weight.addmm_(slope.T, inputs)
                else:
                    grad_weight.add_(slope.T @ inputs)
                del inputs
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


class _LogitsLogprobs(torch.autograd.Function):
    """Forward keeps the logits as they came and the rows' normalisers; see ``logits_logprobs``."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        logits, targets, temperature, rows, with_entropy = inputs
        ctx.temperature, ctx.rows = temperature, rows
        wide = torch.float64 if logits.dtype == torch.float64 else torch.float32
        logprobs, entropy, top, total = (
            logits.new_zeros(len(targets), dtype=wide) for _ in range(4)
        )
        for start in range(0, len(targets), rows):
            part = slice(start, start + rows)
            entropies = entropy[part] if with_entropy else None
            rows_out = (logprobs[part], top[part], total[part])
            block = logits[part].to(wide, copy=True)
            _reduce(block, targets[part], temperature, rows_out, entropies)
        ctx.save_for_backward(logits, targets, top, total)
        ctx.mark_non_differentiable(entropy)
        return logprobs, entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        logits, targets, top, total = ctx.saved_tensors
        scale = grad.to(top.dtype) / ctx.temperature
        found = torch.empty_like(logits)
        for start in range(0, len(targets), ctx.rows):
            part = slice(start, start + ctx.rows)
            block = logits[part].to(top.dtype, copy=True)
            _exponentials(block, top[part], ctx.temperature)
            _slopes(block, targets[part], scale[part], total[part])
            found[part] = block
        return found, None, None, None, None


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


def _slopes(block: Tensor, targets: Tensor, scale: Tensor, total: Tensor) -> None:
    """Turn exponentials into the gradient of the logits: scale x (onehot(target) - exponential / total)."""
    block.mul_((-scale / total)[:, None])
    block[torch.arange(len(block), device=block.device), targets] += scale
