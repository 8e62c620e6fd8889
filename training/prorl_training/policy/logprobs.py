"""Log-probs of a pack's targets under a causal language model.

Two things are tried out on each model first, so that no family is silently computed wrong. Split into
hidden states and output layer only where the layer applied to them really gives the model's logits, up to a
factor (Cohere, Granite and Falcon-H1 scale theirs): the logits of a pack then never exist together (``chunked``).
Models that cap their logits are run whole. Packs only where a pack gives what its responses give alone:
sliding windows, recurrent layers and position biases do not know a pack's mask, and such models get one
response at a time.
"""

from __future__ import annotations

import inspect
from typing import Any, Protocol

import torch
from torch import Tensor

from prorl_training.policy.chunked import linear_logprobs, logits_logprobs
from prorl_training.policy.packing import (
    Pack,
    PromptGroup,
    attention_mask,
    build_pack,
    singles,
)

CAPPED = "final_logit_softcapping"
"""Config key of models that cap their logits (Gemma 2): small logits do not show it."""
_PROBE = 4
_TOLERANCE = 1e-5
_PACK_TOLERANCE = 1e-3


class LinearScorer(Protocol):
    """Computes what ``chunked.linear_logprobs`` computes."""

    def __call__(
        self,
        hidden: Tensor,
        layer: torch.nn.Linear,
        targets: Tensor,
        temperature: float = 1.0,
        with_entropy: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return log-probs (N,), differentiable, and entropies (N,) if asked for."""
        ...


class TargetScorer:
    """Log-probs of a pack's targets under one model.

    ``factor``: what the model's logits are of its output layer's, None where it has to be run whole. ``packs``:
    whether a pack goes through the model as it is. ``linear`` scores hidden states under the output layer.
    """

    def __init__(self, model: Any, linear: LinearScorer = linear_logprobs) -> None:
        self.model = model
        self.linear = linear
        self.whole = model.get_base_model() if hasattr(model, "get_base_model") else model
        known = inspect.signature(self.whole.forward).parameters
        self._knows = {name: name in known for name in ("position_ids", "logits_to_keep")}
        self.factor = logits_factor(self.whole)
        self.packs = self._can_pack()

    def score(
        self, pack: Pack, temperature: float, with_entropy: bool = False, **options: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Return log-probs (N,) of the pack's targets, differentiable, and entropies (N,) if asked for.

        ``options`` go to the model's forward pass.
        """
        if self.packs or pack.owners is None:
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
            "attention_mask": None if pack.owners is None else self._mask(pack.owners.to(device)),
            "use_cache": False,
            **options,
        }
        if self._knows["position_ids"]:
            inputs["position_ids"] = pack.position_ids.to(device)
        targets, keep = pack.targets.to(device), pack.predict_at.to(device)
        if self.factor is not None:
            hidden = self.whole.get_decoder()(**inputs).last_hidden_state[0].index_select(0, keep)
            layer = self.whole.get_output_embeddings()
            return self.linear(hidden, layer, targets, temperature / self.factor, with_entropy)
        if self._knows["logits_to_keep"]:
            inputs["logits_to_keep"] = keep
            logits = self.whole(**inputs).logits[0]
        else:
            logits = self.whole(**inputs).logits[0].index_select(0, keep)
        return logits_logprobs(logits, targets, temperature, with_entropy)

    def _mask(self, owners: Tensor) -> Tensor:
        """Return the mask as the model's attention takes it: eager attention adds it to the scores."""
        allowed = attention_mask(owners)
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


def logits_factor(model: Any) -> float | None:
    """Return f where the model's logits are f times what its output layer makes of the decoder's hidden states.

    None where they are something else: by the config for caps, else by trying it on a few tokens.
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
        own = model(input_ids=ids, use_cache=False).logits
        ours = layer(hidden)
    if own.shape != ours.shape:
        return None
    largest = own.abs().max()
    if (own - ours).abs().max() <= _TOLERANCE * largest:
        return 1.0
    factor = float((own.double() * ours).sum() / ours.double().square().sum())
    fits = factor > 0 and (own - factor * ours).abs().max() <= _TOLERANCE * largest
    return factor if fits else None
