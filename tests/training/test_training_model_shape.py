from __future__ import annotations

from typing import Any

import pytest

from prorl_common import UserError
from prorl_training.planning.model_shape import ModelShape

SMALL = {
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
}

FAMILIES: list[tuple[str, dict[str, Any]]] = [
    ("llama", {}),
    ("llama", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    ("qwen2", {"tie_word_embeddings": False}),
    ("qwen2", {"tie_word_embeddings": True}),
    ("qwen3", {"head_dim": 32}),
    ("mistral", {"head_dim": 32}),
    ("smollm3", {"pad_token_id": 0}),
    ("gemma", {"head_dim": 32, "pad_token_id": 0}),
    ("gemma2", {"head_dim": 32, "pad_token_id": 0}),
    ("gemma3_text", {"head_dim": 32, "pad_token_id": 0}),
    ("phi3", {"pad_token_id": 0}),
]


@pytest.mark.parametrize(("kind", "more"), FAMILIES)
def test_parameters_are_those_of_transformers_own_model(kind: str, more: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    from transformers import AutoConfig, AutoModelForCausalLM

    config: Any = AutoConfig.for_model(kind, **SMALL, **more)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    counted = sum(p.numel() for p in model.parameters())
    assert ModelShape.from_config(config.to_dict()).parameters == counted


def test_the_distilled_qwen_has_1_777_088_000_parameters() -> None:
    config = {
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
    shape = ModelShape.from_config(config)
    assert shape.parameters == 1_777_088_000
    assert (shape.head_dim, shape.context) == (128, 131072)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"model_type": "qwen3_moe", "num_experts": 8}, "experts"),
        ({"model_type": "qwen3_next", "linear_num_value_heads": 4}, "recurrent"),
        ({"model_type": "gpt2", "hidden_size": None}, "hidden_size"),
    ],
)
def test_a_model_of_another_build_is_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        ModelShape.from_config({**SMALL, **more})
