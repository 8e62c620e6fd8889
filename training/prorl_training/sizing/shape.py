"""The sizes of a decoder-only language model, read from its config; nothing is loaded.

Reckons models built of equal layers of attention and a gated MLP (Llama, Qwen2, Qwen3, Mistral, Gemma, Phi-3 and
their like). Mixtures of experts and recurrent layers are refused: their sizes do not follow from these numbers.
Leaves out: where a config is found (``known``), and bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prorl_common import UserError

EXPERT_KEYS = ("num_experts", "num_local_experts", "n_routed_experts")
"""Config keys that say how many experts a layer has."""
RECURRENT_KEYS = ("linear_num_value_heads", "mamba_d_state", "mamba_n_heads", "ssm_state_size")
"""Config keys of layers that carry a state along instead of attending."""
QKV_BIAS_TYPES = frozenset({"qwen2"})
"""Model types whose query, key and value projections always have a bias."""
QK_NORM_TYPES = frozenset({"qwen3", "gemma3_text"})
"""Model types that normalise queries and keys, a head at a time."""
FOUR_NORM_TYPES = frozenset({"gemma2", "gemma3_text"})
"""Model types with a norm after attention and MLP too."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Sizes of a model of ``layers`` equal layers.

    ``heads`` query heads and ``kv_heads`` key and value heads of ``head_dim`` each; ``vocab`` rows in the embedding
    and, unless ``tied``, as many in an output layer of its own. ``context`` is the longest sequence in tokens, 0 where
    the config does not say.
    """

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    tied: bool
    context: int = 0
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    norms: int = 2
    """Norms over the hidden state in a layer."""
    model_type: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ModelShape:
        """Return the shape of a Transformers ``config.json``.

        Raises UserError for a model with experts or recurrent layers, and where a size is missing.
        """
        kind = str(config.get("model_type", ""))
        if any(int(config.get(key) or 0) > 1 for key in EXPERT_KEYS):
            raise UserError(f"the size of a model with experts ({kind}) cannot be reckoned")
        if any(config.get(key) for key in RECURRENT_KEYS):
            raise UserError(
                f"the size of a model with recurrent layers ({kind}) cannot be reckoned"
            )
        hidden, heads = _size(config, "hidden_size"), _size(config, "num_attention_heads")
        bias = bool(config.get("attention_bias", False))
        return cls(
            layers=_size(config, "num_hidden_layers"),
            hidden=hidden,
            intermediate=_size(config, "intermediate_size"),
            heads=heads,
            kv_heads=int(config.get("num_key_value_heads") or heads),
            head_dim=int(config.get("head_dim") or hidden // heads),
            vocab=_size(config, "vocab_size"),
            tied=bool(config.get("tie_word_embeddings", kind.startswith("gemma"))),
            context=int(config.get("max_position_embeddings") or 0),
            qkv_bias=bias or kind in QKV_BIAS_TYPES,
            output_bias=bias,
            mlp_bias=bool(config.get("mlp_bias", False)),
            qk_norm=kind in QK_NORM_TYPES,
            norms=4 if kind in FOUR_NORM_TYPES else 2,
            model_type=kind,
        )

    @property
    def query_width(self) -> int:
        """Return the numbers in one token's queries."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Return the numbers in one token's keys; its values are as many."""
        return self.kv_heads * self.head_dim

    @property
    def layer_parameters(self) -> int:
        """Return the parameters of one layer."""
        q, kv, h, m = self.query_width, self.kv_width, self.hidden, self.intermediate
        matrices = h * (q + 2 * kv) + q * h + 3 * h * m
        biases = self.qkv_bias * (q + 2 * kv) + self.output_bias * h + self.mlp_bias * (2 * m + h)
        return matrices + biases + self.norms * h + self.qk_norm * 2 * self.head_dim

    @property
    def embedding_parameters(self) -> int:
        """Return the parameters of the embedding, as many as those of an output layer."""
        return self.vocab * self.hidden

    @property
    def parameters(self) -> int:
        """Return the parameters of the whole model; tied weights count once."""
        tables = self.embedding_parameters * (1 if self.tied else 2)
        return self.layers * self.layer_parameters + tables + self.hidden


def _size(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int) or value < 1:
        raise UserError(
            f"the model's config has no {key}: sizes are reckoned for models of attention and gated MLP layers"
        )
    return value
