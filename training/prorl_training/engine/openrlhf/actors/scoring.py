"""Computes log-probs and entropies in OpenRLHF's training processes without holding all logits.

The output layer returns log-probs and entropies instead of logits, so DeepSpeed's hooks still gather its weights in
ZeRO-3.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from prorl_training.policy.liger import liger_logprobs, try_liger
from prorl_training.policy.logprobs import LinearScorer, linear_logprobs


class TokenScoring:
    """Replaces the ``forward`` of an OpenRLHF ``Actor``. Raises UserError if Liger's kernel is requested but fails."""

    def __init__(self, actor: Any, liger: bool = False) -> None:
        self._actor = actor
        self._whole = actor.forward
        model: Any = getattr(actor.model, "module", actor.model)
        self._layer: Any = model.get_output_embeddings()
        self._layer_forward = self._layer.forward
        self._linear: LinearScorer = linear_logprobs
        if liger:  # an offloaded weight is on the CPU, passes run on the GPU
            device = torch.device(torch.cuda.current_device())
            try_liger(self._layer, self._layer.weight.dtype, device)
            self._linear = liger_logprobs
        self._tried = False
        self._targets: Tensor | None = None
        self._entropy = False
        self._made: Tensor | None = None

    def install(self) -> None:
        """Replace ``forward`` if the output layer is a plain ``Linear``."""
        plain = type(self._layer) is torch.nn.Linear
        if plain:
            self._layer.forward = self._token_scores
            self._actor.forward = self.forward

    def forward(
        self,
        sequences: Tensor,
        action_mask: Tensor,
        attention_mask: Tensor,
        return_output: bool = False,
        ring_attn_group: Any = None,
        return_entropy: bool = False,
        **options: Any,
    ) -> Any:
        """Return the log-probs of the last A tokens (rows, A), multiplied by ``action_mask`` (rows, A).

        ``sequences`` and ``attention_mask`` are (rows, T). With ``return_output``, return (log-probs, model output).
        With ``return_entropy``, the output has ``entropy`` (rows, T - 1) without gradient.
        """
        from openrlhf.models.ring_attn_utils import gather_and_pad_tensor, unpad_and_slice_tensor

        rows, length = sequences.shape
        tokens, positions, targets, pad, kept = unpad_and_slice_tensor(
            sequences, attention_mask, ring_attn_group
        )
        output = self._pass(tokens, positions, targets[0], return_entropy)
        if output is None:
            return self._whole(
                sequences,
                action_mask,
                attention_mask=attention_mask,
                return_output=return_output,
                ring_attn_group=ring_attn_group,
                return_entropy=return_entropy,
                **options,
            )
        logprobs, entropy = (
            gather_and_pad_tensor(part, ring_attn_group, pad, kept, rows, length)[:, :-1]
            for part in output["logits"].unbind(-1)
        )
        if return_entropy:
            output.entropy = entropy.detach()
        logprobs = logprobs[:, -action_mask.shape[1] :] * action_mask.float()
        return (logprobs, output) if return_output else logprobs

    def _pass(self, tokens: Tensor, positions: Tensor, targets: Tensor, entropy: bool) -> Any:
        """Return the model's output, in which log-probs and entropies (1, tokens, 2) replace the logits.

        Returns None if the model changes its logits after the output layer.
        """
        self._targets, self._entropy = targets, entropy
        try:
            output = self._actor.model(tokens, attention_mask=None, position_ids=positions)
        finally:
            self._targets = None
        made, self._made = self._made, None
        if not self._tried:
            self._tried = True
            if made is None or not torch.equal(output["logits"].detach(), made):
                print("prorl: this model changes its logits, so they are kept in full", flush=True)
                self._layer.forward = self._layer_forward
                self._actor.forward = self._whole
                return None
        return output

    def _token_scores(self, hidden: Tensor) -> Tensor:
        """Forward of the output layer. Within ``_pass``, return log-probs and entropies (1, tokens, 2), else logits."""
        if self._targets is None:
            plain: Tensor = self._layer_forward(hidden)
            return plain
        logprobs, entropy = self._linear(
            hidden[0], self._layer, self._targets, self._actor.temperature, self._entropy
        )
        second = torch.zeros_like(logprobs) if entropy is None else entropy
        scores = torch.stack((logprobs, second), dim=-1)[None]
        self._made = None if self._tried else scores.detach()
        return scores
