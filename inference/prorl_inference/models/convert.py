"""Convert a GGUF file of a SmolLM Llama model to a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prorl_inference.types import ModelError

_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_IN_BLOCK = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_CONTROL_TOKEN = 3  # the GGUF token type of special tokens


def convert_gguf(source: Path, folder: Path) -> None:
    """Write the model in ``source`` to ``folder`` with bf16 weights. Raises ModelError for other models."""
    import gguf
    import numpy as np
    import torch
    import transformers
    from safetensors.torch import save_file

    hf: Any = transformers
    reader = gguf.GGUFReader(str(source))
    facts = {
        name: field.contents()
        for name, field in reader.fields.items()
        if not name.startswith("GGUF.")
    }
    kind = tuple(facts.get(f"tokenizer.ggml.{part}") for part in ("model", "pre"))
    if facts.get("general.architecture") != "llama" or kind != ("gpt2", "smollm"):
        raise ModelError(f"{source.name} is not a SmolLM Llama GGUF file: nothing was converted")
    heads = {".attn_q.": "llama.attention.head_count", ".attn_k.": "llama.attention.head_count_kv"}
    weights = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        values = values.reshape([int(n) for n in tensor.shape[::-1]])
        for part, count in heads.items():
            if part in tensor.name:
                values = split_rotary_pairs(values, facts[count])
        weight = torch.from_numpy(np.ascontiguousarray(values))
        weights[weight_name(tensor.name)] = weight.to(torch.bfloat16)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    end = facts["tokenizer.ggml.eos_token_id"]
    ids = {"bos_token_id": facts["tokenizer.ggml.bos_token_id"], "eos_token_id": end}
    ids["pad_token_id"] = facts.get("tokenizer.ggml.padding_token_id", end)
    config = hf.LlamaConfig(
        vocab_size=len(facts["tokenizer.ggml.tokens"]),
        hidden_size=facts["llama.embedding_length"],
        intermediate_size=facts["llama.feed_forward_length"],
        num_hidden_layers=facts["llama.block_count"],
        num_attention_heads=facts["llama.attention.head_count"],
        num_key_value_heads=facts["llama.attention.head_count_kv"],
        max_position_embeddings=facts["llama.context_length"],
        rms_norm_eps=round(facts["llama.attention.layer_norm_rms_epsilon"], 9),
        rope_parameters={"rope_type": "default", "rope_theta": facts["llama.rope.freq_base"]},
        tie_word_embeddings="lm_head.weight" not in weights,
        dtype="bfloat16",
        architectures=["LlamaForCausalLM"],
        **ids,
    )
    config.save_pretrained(folder)
    hf.GenerationConfig(**ids).save_pretrained(folder)
    _save_tokenizer(facts, folder)


def weight_name(name: str) -> str:
    """Return the Transformers name of a Llama tensor, given its GGUF name."""
    parts = name.split(".")
    if parts[-1] == "weight" and len(parts) == 2 and parts[0] in _OUTER:
        return f"{_OUTER[parts[0]]}.weight"
    if parts[0] == "blk" and parts[-1] == "weight" and len(parts) == 4 and parts[2] in _IN_BLOCK:
        return f"model.layers.{parts[1]}.{_IN_BLOCK[parts[2]]}.weight"
    raise ModelError(f"unknown tensor '{name}' in the GGUF file: nothing was converted")


def split_rotary_pairs(weight: Any, heads: int) -> Any:
    """Reorder the rows of query or key projections ``[heads * head_dim, hidden]`` from GGUF to Transformers.

    Transformers stores the second row of every rotary pair after all first rows; GGUF stores pairs together.
    """
    rows, hidden = weight.shape
    pairs = weight.reshape(heads, rows // heads // 2, 2, hidden)
    return pairs.swapaxes(1, 2).reshape(rows, hidden)


def _save_tokenizer(facts: dict[str, Any], folder: Path) -> None:
    import transformers
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    hf: Any = transformers
    tokens: list[str] = facts["tokenizer.ggml.tokens"]
    merges = [tuple(line.split(" ", 1)) for line in facts["tokenizer.ggml.merges"]]
    backend = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    kinds = zip(tokens, facts["tokenizer.ggml.token_type"], strict=True)
    special = [token for token, kind in kinds if kind == _CONTROL_TOKEN]
    backend.add_special_tokens([AddedToken(token, special=True) for token in special])
    end = tokens[facts["tokenizer.ggml.eos_token_id"]]
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token=tokens[facts["tokenizer.ggml.bos_token_id"]],
        eos_token=end,
        pad_token=tokens[facts.get("tokenizer.ggml.padding_token_id", 0)],
        unk_token=tokens[facts["tokenizer.ggml.unknown_token_id"]],
        model_max_length=facts["llama.context_length"],
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = facts["tokenizer.chat_template"]
    tokenizer.save_pretrained(folder)
