"""Sizes of a language model (Llama, Qwen2, Qwen3, Mistral, Gemma, Phi-3), from its config on disk or a table."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError, nearest

EXPERT_KEYS = ("num_experts", "num_local_experts", "n_routed_experts")
"""Config keys for the number of experts per layer."""
RECURRENT_KEYS = ("linear_num_value_heads", "mamba_d_state", "mamba_n_heads", "ssm_state_size")
"""Config keys of layers that keep a recurrent state instead of attending."""
QKV_BIAS_TYPES = frozenset({"qwen2"})
"""Model types whose query, key and value projections always have a bias."""
QK_NORM_TYPES = frozenset({"qwen3", "gemma3_text"})
"""Model types that normalise queries and keys per head."""
FOUR_NORM_TYPES = frozenset({"gemma2", "gemma3_text"})
"""Model types with norms after attention and MLP too."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Sizes of a model whose layers are all alike. ``tied``: embedding and output layer share weights.

    ``context`` is the maximum sequence length in tokens, or 0 if unknown.
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
    """Norms over the hidden state per layer."""
    model_type: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ModelShape:
        """Return the sizes in a Transformers config. Raises UserError for a missing size, and for experts or recurrent layers."""
        kind = str(config.get("model_type", ""))
        if any(int(config.get(key) or 0) > 1 for key in EXPERT_KEYS):
            raise UserError(f"the size of a model with experts ({kind}) cannot be estimated")
        if any(config.get(key) for key in RECURRENT_KEYS):
            raise UserError(
                f"the size of a model with recurrent layers ({kind}) cannot be estimated"
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
        """Number of elements of a token's queries over all heads."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Number of elements of a token's keys over all heads, and also of its values."""
        return self.kv_heads * self.head_dim

    @property
    def layer_parameters(self) -> int:
        q, kv, h, m = self.query_width, self.kv_width, self.hidden, self.intermediate
        matrices = h * (q + 2 * kv) + q * h + 3 * h * m
        biases = self.qkv_bias * (q + 2 * kv) + self.output_bias * h + self.mlp_bias * (2 * m + h)
        return matrices + biases + self.norms * h + self.qk_norm * 2 * self.head_dim

    @property
    def embedding_parameters(self) -> int:
        """Number of parameters of the embedding and, if not tied, the output layer."""
        return self.vocab * self.hidden

    @property
    def parameters(self) -> int:
        """Number of parameters of the model. Tied weights count once."""
        tables = self.embedding_parameters * (1 if self.tied else 2)
        return self.layers * self.layer_parameters + tables + self.hidden


def _size(config: Mapping[str, Any], key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int) or value < 1:
        raise UserError(
            f"the model's config has no {key}: only models with attention and gated MLP "
            "layers can be estimated"
        )
    return value


_QWEN_1_5B: dict[str, Any] = {
    "model_type": "qwen2",
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
    "max_position_embeddings": 131072,
}
_SMOLLM2_135M: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "tie_word_embeddings": True,
    "max_position_embeddings": 8192,
}
KNOWN: dict[str, dict[str, Any]] = {
    "Qwen/Qwen3-4B-Instruct-2507": {
        "model_type": "qwen3",
        "hidden_size": 2560,
        "intermediate_size": 9728,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
        "tie_word_embeddings": True,
        "max_position_embeddings": 262144,
    },
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": _QWEN_1_5B,
    "nvidia/Nemotron-Research-Reasoning-Qwen-1.5B": _QWEN_1_5B,
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": _QWEN_1_5B
    | {
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
    },
    "Qwen/Qwen2.5-0.5B": _QWEN_1_5B
    | {
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "tie_word_embeddings": True,
        "max_position_embeddings": 32768,
    },
    "HuggingFaceTB/SmolLM2-135M-Instruct": _SMOLLM2_135M,
    "smollm2-135m": _SMOLLM2_135M,
}
"""Sizes from each model's ``config.json`` (https://huggingface.co/NAME/blob/main/config.json)."""


def model_shape(name: str) -> ModelShape:
    """Return the sizes of a model, named by folder, alias or hub id. Raises UserError if its config is unknown."""
    path = config_path(name)
    if path is not None:
        try:
            config = dict(json.loads(path.read_text("utf-8")))
        except (ValueError, TypeError) as error:
            raise UserError(f"{path} is not a model's config: {error}") from error
        return ModelShape.from_config(config)
    if name in KNOWN:
        return ModelShape.from_config(KNOWN[name])
    raise UserError(
        f"the sizes of {name} are unknown here{nearest(name, KNOWN)}: download its config (hf "
        f"download {name} config.json) or name a folder that has it"
    )


def config_path(name: str) -> Path | None:
    """Return the config file of a model folder, a downloaded alias or a cached hub id, or None."""
    from prorl_inference.models.store import alias_dir

    places = [Path(name).expanduser(), alias_dir(name)]
    if name.count("/") == 1:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        home = os.environ.get("HF_HOME") or f"{base}/huggingface"
        named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
        cache = Path(named or f"{home}/hub").expanduser()
        folder = cache / f"models--{name.replace('/', '--')}"
        places += sorted(folder.glob("snapshots/*"), key=lambda p: p.stat().st_mtime, reverse=True)
    return next((p / "config.json" for p in places if (p / "config.json").is_file()), None)
