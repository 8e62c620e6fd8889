"""Computes log-probs of a pack's targets in blocks, so that N x vocabulary logits never exist at once."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Any, Literal, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from prorl_inference.tokens import vocabulary
from prorl_training.policy.packing import (
    Pack,
    PromptGroup,
    attention_mask,
    build_pack,
    packed,
    singles,
)
from prorl_training.types import BLOCK_BYTES, CPU_CHUNK_BYTES


def linear_logprobs(
    hidden: Tensor,
    layer: torch.nn.Linear,
    targets: Tensor,
    temperature: float = 1.0,
    with_entropy: bool = False,
    rows: int | None = None,
    vocabulary: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Return log-probs (N,) of ``targets`` (N,), and entropies (N,) in nats or None.

    The log-probs are log softmax(layer(hidden) / temperature), of hidden states (N, H). Entropies have no gradient.
    Matrix products use the autocast type, everything else float32 (float64 for float64 input).

    - rows: number of rows of logits to compute at a time, by default as many as fit into ``BLOCK_BYTES``.
    - vocabulary: number of outputs of ``layer`` that are tokens, by default all.
    """
    if rows is None:
        rows = block_rows(layer.out_features)
    logprobs, entropy = _LinearLogprobs.apply(  # type: ignore[no-untyped-call]
        hidden, layer.weight, layer.bias, targets, temperature, rows, with_entropy, vocabulary
    )
    return logprobs, entropy if with_entropy else None


def logits_logprobs(
    logits: Tensor,
    targets: Tensor,
    temperature: float = 1.0,
    with_entropy: bool = False,
    rows: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Return the same as ``linear_logprobs``, given the logits (N, vocabulary)."""
    if rows is None:
        rows = block_rows(logits.shape[1])
    logprobs, entropy = _LogitsLogprobs.apply(  # type: ignore[no-untyped-call]
        logits, targets, temperature, rows, with_entropy
    )
    return logprobs, entropy if with_entropy else None


def block_rows(vocabulary: int) -> int:
    return max(1, BLOCK_BYTES // (4 * vocabulary))


def product_type(hidden: Tensor) -> torch.dtype:
    """Return the dtype of matrix products with ``hidden``: the autocast type, except for float64."""
    device = hidden.device.type
    if torch.is_autocast_enabled(device) and hidden.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    return hidden.dtype


class _LinearLogprobs(torch.autograd.Function):
    """Keeps the last block of logits for the backward pass and recomputes earlier blocks."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        hidden, weight, bias, targets, temperature, rows, with_entropy, vocabulary = inputs
        ctx.dtype = product_type(hidden)
        ctx.temperature, ctx.rows, ctx.vocabulary = temperature, rows, vocabulary
        wide = torch.float64 if hidden.dtype == torch.float64 else torch.float32
        logprobs, entropy, top, total = (
            hidden.new_zeros(len(targets), dtype=wide) for _ in range(4)
        )
        cast, bias_used = _used(weight, bias, ctx.dtype, vocabulary)
        keep = any(ctx.needs_input_grad)
        ctx.last = None
        for start in range(0, len(targets), rows):
            part = slice(start, min(start + rows, len(targets)))
            block = _block(hidden[part], cast, bias_used, ctx.dtype).to(wide)
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
        cast, bias_used = _used(weight, bias, ctx.dtype, ctx.vocabulary)
        scale = grad.to(top.dtype) / ctx.temperature
        grad_hidden = torch.empty_like(hidden) if need_hidden else None
        grad_weight = grad_bias = None
        starts = range(0, len(targets), ctx.rows)
        for start in reversed(starts):
            part = slice(start, min(start + ctx.rows, len(targets)))
            block, ctx.last = ctx.last, None
            if block is None:
                block = _block(hidden[part], cast, bias_used, ctx.dtype).to(top.dtype)
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
            None if grad_weight is None else _padded(grad_weight, weight),
            None if grad_bias is None else _padded(grad_bias, bias),
            *(None,) * 5,
        )


class _LogitsLogprobs(torch.autograd.Function):
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
        grad_logits = torch.empty_like(logits)
        for start in range(0, len(targets), ctx.rows):
            part = slice(start, start + ctx.rows)
            block = logits[part].to(top.dtype, copy=True)
            _exponentials(block, top[part], ctx.temperature)
            _slopes(block, targets[part], scale[part], total[part])
            grad_logits[part] = block
        return grad_logits, None, None, None, None


def _used(
    weight: Tensor, bias: Tensor | None, dtype: torch.dtype, vocabulary: int | None
) -> tuple[Tensor, Tensor | None]:
    return weight[:vocabulary].to(dtype), None if bias is None else bias[:vocabulary]


def _padded(gradient: Tensor, parameter: Tensor) -> Tensor:
    gradient = gradient.to(parameter.dtype)
    if len(gradient) == len(parameter):
        return gradient
    whole = torch.zeros_like(parameter)
    whole[: len(gradient)] = gradient
    return whole


def _block(hidden: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Tensor:
    with torch.autocast(hidden.device.type, enabled=False):
        return torch.nn.functional.linear(
            hidden.to(dtype), weight, None if bias is None else bias.to(dtype)
        )


def _chunk_rows(block: Tensor) -> int:
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
    """Fill ``out`` (log-probs, maxima, sums of exponentials) and ``entropy``, all (R,).

    Replaces the logits in ``block`` (R, V) by exp(scaled logit - maximum).
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
    """Replace the logits in ``block`` by the same exponentials as ``_reduce``, bit for bit."""
    size = _chunk_rows(block)
    for start in range(0, len(block), size):
        x = block[start : start + size]
        if temperature != 1.0:
            x.div_(temperature)
        x.sub_(top[start : start + size, None]).exp_()


def _slopes(block: Tensor, targets: Tensor, scale: Tensor, total: Tensor) -> None:
    block.mul_((-scale / total)[:, None])
    block[torch.arange(len(block), device=block.device), targets] += scale


CAPPED = "final_logit_softcapping"
"""Config key of models that cap their logits (Gemma 2), which a trial with small logits would not show."""
_PROBE = 4
_TOLERANCE = 1e-5
_PACK_TOLERANCE = 1e-3
_TRIAL_WINDOW = 5
_LENGTH_DEPENDENT = ("dynamic", "longrope")

Method = Literal["flex", "blocks", "dense", "alone"]
"""How responses share a pass: by flex attention, by SDPA on blocks, by a dense mask, or not at all."""
_EFFECTS: dict[Method, str] = {
    "flex": "packs use flex attention",
    "blocks": "packs use SDPA on blocks",
    "dense": "packs use dense masks",
    "alone": "responses are not packed",
}


class LinearScorer(Protocol):
    """Signature of ``linear_logprobs``."""

    def __call__(
        self,
        hidden: Tensor,
        layer: torch.nn.Linear,
        targets: Tensor,
        temperature: float = 1.0,
        with_entropy: bool = False,
        *,
        vocabulary: int | None = None,
    ) -> tuple[Tensor, Tensor | None]: ...


class TargetScorer:
    """Computes the log-probs of a pack's targets under one model.

    - factor: scale of the logits (``logits_factor``); None if the whole model must run.
    - method: how responses share a pass.
    - vocabulary: number of tokens without padding ids.
    """

    def __init__(self, model: Any, linear: LinearScorer = linear_logprobs) -> None:
        self.model = model
        self.linear = linear
        self.whole = model.get_base_model() if hasattr(model, "get_base_model") else model
        parameters = inspect.signature(self.whole.forward).parameters
        self._knows = {name: name in parameters for name in ("position_ids", "logits_to_keep")}
        self.vocabulary = vocabulary(self.whole)
        self.factor = logits_factor(self.whole)
        self.method: Method = self._choose_method()

    def score(
        self, pack: Pack, temperature: float, with_entropy: bool = False, **options: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Return differentiable log-probs (N,), and entropies (N,) or None. ``options`` are passed to the model."""
        if self.method != "alone" or pack.owners is None:
            return self._score(pack, self.method, temperature, with_entropy, options)
        parts = [self._score(p, "alone", temperature, with_entropy, options) for p in singles(pack)]
        entropies = [entropy for _, entropy in parts if entropy is not None]
        return torch.cat([p for p, _ in parts]), torch.cat(entropies) if entropies else None

    def _score(
        self,
        pack: Pack,
        method: Method,
        temperature: float = 1.0,
        with_entropy: bool = False,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> tuple[Tensor, Tensor | None]:
        device = next(self.model.parameters()).device
        inputs = {
            "input_ids": pack.input_ids.to(device),
            "attention_mask": None,
            "use_cache": False,
            **options,
        }
        if self._knows["position_ids"]:
            inputs["position_ids"] = pack.position_ids.to(device)
        targets, keep = pack.targets.to(device), pack.predict_at.to(device)
        attention: AbstractContextManager[None] = nullcontext()
        if method in ("flex", "blocks"):
            # a mask of ones keeps Transformers from looking for packs itself
            inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
            attention = packed(self.whole, pack, method)
        elif pack.owners is not None:
            inputs["attention_mask"] = self._mask(pack.owners.to(device))
        with attention:
            if self.factor is not None:
                hidden = self.whole.get_decoder()(**inputs).last_hidden_state[0]
            elif self._knows["logits_to_keep"]:
                logits = self.whole(**inputs, logits_to_keep=keep).logits[0]
            else:
                logits = self.whole(**inputs).logits[0].index_select(0, keep)
        used = self.vocabulary
        if self.factor is None:
            return logits_logprobs(logits[:, :used], targets, temperature, with_entropy)
        hidden, layer = hidden.index_select(0, keep), self.whole.get_output_embeddings()
        scale = temperature / self.factor
        return self.linear(hidden, layer, targets, scale, with_entropy, vocabulary=used)

    def _mask(self, owners: Tensor) -> Tensor:
        allowed = attention_mask(owners)
        if getattr(self.whole.config, "_attn_implementation", None) != "eager":
            return allowed
        dtype = next(self.model.parameters()).dtype
        empty = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
        return empty.masked_fill(~allowed, torch.finfo(dtype).min)

    def _choose_method(self) -> Method:
        """Return the first method by which packed and separate responses get the same log-probs and gradients."""
        from prorl_inference.backends.transformers.refill import can_refill

        config = self.whole.config
        local = "local" in getattr(config, "attention_layers", ())  # GPT-Neo, whose cache hides it
        if local or getattr(config, "alibi", False) or not self._knows["position_ids"]:
            return self._report("alone", "the model's positions cannot be set")
        if any(kind in str(getattr(config, "rope_parameters", "")) for kind in _LENGTH_DEPENDENT):
            return self._report(
                "alone", "the model's positions depend on the longest response in a pass"
            )
        on_gpu = next(self.model.parameters()).is_cuda
        methods: list[Method] = ["flex", "blocks"] if on_gpu else ["blocks"]
        if can_refill(self.whole):  # a dense mask does not show windows
            methods.append("dense")
        attention, reason = config._attn_implementation, ""
        pack = _trial_pack(int(self.whole.get_input_embeddings().num_embeddings))
        with _small_window(config.get_text_config()):
            alone = self._trial(singles(pack), "alone")
            for method in methods:
                try:
                    shared = self._trial([pack], method)
                    if all(_close(*pair) for pair in zip(shared, alone, strict=True)):
                        return self._report(method, reason)
                    problem = "packing changes the model's results"
                except (AttributeError, KeyError, TypeError, ValueError, RuntimeError) as error:
                    problem = " ".join(str(error).split())[:200]
                reason = reason or problem
                if config._attn_implementation != attention:
                    self.whole.set_attn_implementation(attention)
        return self._report("alone", reason)

    def _trial(self, packs: Iterable[Pack], method: Method) -> list[Tensor]:
        """Return the packs' log-probs and, for a model in training, their sum's gradient for one weight tensor."""
        first = self.whole.get_input_embeddings().weight
        weights = (p for p in self.model.parameters() if p.requires_grad and p is not first)
        weight = next(weights, None)
        with torch.set_grad_enabled(weight is not None):
            logprobs = torch.cat([self._score(pack, method)[0] for pack in packs])
        if weight is None:
            return [logprobs]
        (gradient,) = torch.autograd.grad(logprobs.sum(), weight, allow_unused=True)
        return [logprobs.detach(), *([] if gradient is None else [gradient])]

    def _report(self, method: Method, reason: str) -> Method:
        if reason:
            _log(f"{type(self.whole).__name__}: {_EFFECTS[method]}, because {reason}")
        return method


@functools.cache
def _log(line: str) -> None:
    logging.getLogger("prorl").warning(line)


def _trial_pack(vocabulary: int) -> Pack:
    ids = [i % vocabulary for i in range(3, 40)]
    one, two, three, four, five = (
        tuple(ids[a:b]) for a, b in ((0, 7), (7, 16), (16, 22), (22, 30), (30, 37))
    )
    return build_pack([PromptGroup(one, (two, three), (0, 1)), PromptGroup(four, (five,), (2,))])


@contextmanager
def _small_window(config: Any) -> Iterator[None]:
    window = getattr(config, "sliding_window", None)
    if window:
        config.sliding_window = min(window, _TRIAL_WINDOW)
    try:
        yield
    finally:
        if window:
            config.sliding_window = window


def _close(values: Tensor, expected: Tensor) -> bool:
    return bool((values - expected).abs().max() <= _PACK_TOLERANCE * (1 + expected.abs().max()))


def logits_factor(model: Any) -> float | None:
    """Return the factor by which the model scales its output layer's logits, as Cohere and Granite do.

    Returns None if a trial shows that the model changes its logits in another way.
    """
    if getattr(model.config, CAPPED, None) not in (None, 0):
        return None
    if not (hasattr(model, "get_decoder") and hasattr(model, "get_output_embeddings")):
        return None
    decoder, layer = model.get_decoder(), model.get_output_embeddings()
    if decoder is model or type(layer) is not torch.nn.Linear:
        return None
    if "position_ids" not in inspect.signature(decoder.forward).parameters:
        return None
    ids = torch.arange(_PROBE, device=layer.weight.device)[None] % layer.out_features
    with torch.no_grad():
        out = decoder(input_ids=ids, use_cache=False)
        hidden = getattr(out, "last_hidden_state", None)
        if hidden is None or hidden.shape[-1] != layer.in_features:
            return None
        logits = model(input_ids=ids, use_cache=False).logits
        linear = layer(hidden)
    if logits.shape != linear.shape:
        return None
    largest = logits.abs().max()
    if (logits - linear).abs().max() <= _TOLERANCE * largest:
        return 1.0
    factor = float((logits.double() * linear).sum() / linear.double().square().sum())
    fits = factor > 0 and (logits - factor * linear).abs().max() <= _TOLERANCE * largest
    return factor if fits else None
