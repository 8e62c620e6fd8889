"""Split a causal language model into the part that makes hidden states and its output layer.

Only where applying the layer to the hidden states really gives the model's logits: models that scale or
cap their logits, or whose output layer is something else, are run whole. Leaves out: the arithmetic of
log-probs (``token_logprobs``).
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

from prorl_training.packing import Pack
from prorl_training.token_logprobs import linear_logprobs, logits_logprobs

HEAD_SETTINGS = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")
"""Config keys of models that do something to their logits (Gemma, Cohere, Granite, Falcon-H1)."""
_PROBE = 4
_TOLERANCE = 1e-5


class TargetScorer:
    """Log-probs of a pack's targets under one model; ``split`` says whether in blocks of logits."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.whole = model.get_base_model() if hasattr(model, "get_base_model") else model
        self.split = can_split(self.whole)

    def score(
        self, pack: Pack, temperature: float, with_entropy: bool = False, **options: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Return log-probs (N,) of the pack's targets, differentiable, and entropies (N,) if asked for.

        ``options`` go to the model's forward pass.
        """
        device = next(self.model.parameters()).device
        inputs = {
            "input_ids": pack.input_ids.to(device),
            "position_ids": pack.position_ids.to(device),
            "attention_mask": None if pack.mask is None else pack.mask.to(device),
            "use_cache": False,
            **options,
        }
        targets, keep = pack.targets.to(device), pack.predict_at.to(device)
        if self.split:
            hidden = self.whole.get_decoder()(**inputs).last_hidden_state[0].index_select(0, keep)
            layer = self.whole.get_output_embeddings()
            return linear_logprobs(hidden, layer, targets, temperature, with_entropy)
        logits = self.whole(**inputs, **self._keep(keep)).logits[0]
        if len(logits) != len(keep):
            logits = logits[keep]
        return logits_logprobs(logits, targets, temperature, with_entropy)

    def _keep(self, keep: Tensor) -> dict[str, Tensor]:
        known = "logits_to_keep" in inspect.signature(self.whole.forward).parameters
        return {"logits_to_keep": keep} if known else {}


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
