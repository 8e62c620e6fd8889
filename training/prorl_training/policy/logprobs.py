"""Log-probs of a pack's targets under a causal language model, one block of logits at a time.

Two things are tried out on each model first, so that no family is silently computed wrong. Split into
hidden states and output layer only where applying the layer to them really gives the model's logits (models
that scale or cap their logits are run whole). Packs only where a pack gives what its responses give alone:
sliding windows, recurrent layers and position biases do not know a pack's mask, and such models get one
response at a time.

Split, the output layer is applied to blocks of rows; a block is turned into log-probs, entropies and (in the
backward pass) gradients before the next one is made, so N x vocabulary numbers never exist together. The
last block is kept for the backward pass, the ones before it are computed again there: memory is one block,
and a pack that fits in a block costs no second product.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from prorl_training.policy.packing import Pack, PromptGroup, build_pack, singles

HEAD_SETTINGS = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")
"""Config keys of models that do something to their logits (Gemma, Cohere, Granite, Falcon-H1)."""
_PROBE = 4
_TOLERANCE = 1e-5
_PACK_TOLERANCE = 1e-3
BLOCK_BYTES = 1 << 28
"""Size of a block of float32 logits."""
CPU_CHUNK_BYTES = 1 << 22
"""On the CPU a block is read in chunks of about this size, which stay in its cache."""


class TargetScorer:
    """Log-probs of a pack's targets under one model.

    ``split`` says whether in blocks of logits, ``packs`` whether a pack goes through the model as it is.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.whole = model.get_base_model() if hasattr(model, "get_base_model") else model
        known = inspect.signature(self.whole.forward).parameters
        self._knows = {name: name in known for name in ("position_ids", "logits_to_keep")}
        self.split = can_split(self.whole)
        self.packs = self._can_pack()

    def score(
        self, pack: Pack, temperature: float, with_entropy: bool = False, **options: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Return log-probs (N,) of the pack's targets, differentiable, and entropies (N,) if asked for.

        ``options`` go to the model's forward pass.
        """
        if self.packs or pack.mask is None:
            return self._score(pack, temperature, with_entropy, options)
        parts = [self._score(p, temperature, with_entropy, options) for p in singles(pack)]
        entropies = [entropy for _, entropy in parts if entropy is not None]
        return torch.cat([p for p, _ in parts]), torch.cat(entropies) if entropies else None

    def _score(
        self, pack: Pack, temperature: float, with_entropy: bool, options: dict[str, Any]
    ) -> tuple[Tensor, Tensor | None]:
        device = next(self.model.parameters()).device
        inputs = {
            "input_ids": pack.input_ids.to(device),
            "attention_mask": None if pack.mask is None else self._mask(pack.mask.to(device)),
            "use_cache": False,
            **options,
        }
        if self._knows["position_ids"]:
            inputs["position_ids"] = pack.position_ids.to(device)
        targets, keep = pack.targets.to(device), pack.predict_at.to(device)
        if self.split:
            hidden = self.whole.get_decoder()(**inputs).last_hidden_state[0].index_select(0, keep)
            layer = self.whole.get_output_embeddings()
            return linear_logprobs(hidden, layer, targets, temperature, with_entropy)
        if self._knows["logits_to_keep"]:
            inputs["logits_to_keep"] = keep
            logits = self.whole(**inputs).logits[0]
        else:
            logits = self.whole(**inputs).logits[0].index_select(0, keep)
        return logits_logprobs(logits, targets, temperature, with_entropy)

    def _mask(self, allowed: Tensor) -> Tensor:
        """Return the mask as the model's attention takes it: eager attention adds it to the scores."""
        if getattr(self.whole.config, "_attn_implementation", None) != "eager":
            return allowed
        dtype = next(self.model.parameters()).dtype
        empty = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
        return empty.masked_fill(~allowed, torch.finfo(dtype).min)

    def _can_pack(self) -> bool:
        """Return whether a pack gives its responses' own log-probs: by the config, then by trying it."""
        from prorl_inference.backends.transformers.refill import can_refill

        config = self.whole.config
        local = "local" in getattr(config, "attention_layers", ())  # GPT-Neo, not seen in its cache
        if local or getattr(config, "alibi", False) or not self._knows["position_ids"]:
            return False
        if not can_refill(self.whole):
            return False
        size = int(self.whole.get_input_embeddings().num_embeddings)
        ids = [i % size for i in range(3, 3 + 4 * _PROBE)]
        one, two, three, four = (tuple(ids[i::_PROBE]) for i in range(_PROBE))
        pack = build_pack([PromptGroup(one, (two, three), (0, 1)), PromptGroup(two, (four,), (2,))])
        with torch.no_grad():
            try:
                whole = self._score(pack, 1.0, False, {})[0]
            except (TypeError, ValueError, RuntimeError):  # it knows no mask of four dimensions
                return False
            alone = torch.cat([self._score(p, 1.0, False, {})[0] for p in singles(pack)])
        return bool((whole - alone).abs().max() <= _PACK_TOLERANCE * (1 + alone.abs().max()))


def can_split(model: Any) -> bool:
    """Return whether the output layer applied to the decoder's hidden states gives the model's logits.

    By the config's known keys first, then by trying it on a few tokens.
    """
    settings = [getattr(model.config, name, None) for name in HEAD_SETTINGS]
    if any(value not in (None, 1, 0) for value in settings):
        return False
    if not (hasattr(model, "get_decoder") and hasattr(model, "get_output_embeddings")):
        return False
    decoder, layer = model.get_decoder(), model.get_output_embeddings()
    if decoder is model or type(layer) is not torch.nn.Linear:
        return False
    if "position_ids" not in inspect.signature(decoder.forward).parameters:
        return False
    ids = torch.arange(_PROBE, device=layer.weight.device)[None] % layer.out_features
    with torch.no_grad():
        out = decoder(input_ids=ids, use_cache=False)
        hidden = getattr(out, "last_hidden_state", None)
        if hidden is None or hidden.shape[-1] != layer.in_features:
            return False
        own = model(input_ids=ids, use_cache=False).logits
        ours = layer(hidden)
    if own.shape != ours.shape:
        return False
    return bool((own - ours).abs().max() <= _TOLERANCE * own.abs().max())


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
            # of the logits: scale x (onehot(target) - exponential / total), in the exponentials' place
            block.mul_((-scale[part] / total[part])[:, None])
            block[torch.arange(len(block), device=block.device), targets[part]] += scale[part]
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
                    grad_weight.add_((slope.T @ inputs).to(top.dtype))
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
