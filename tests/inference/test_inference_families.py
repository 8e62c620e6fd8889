from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from prorl_inference.backends.transformers.generator import TransformersGenerator
from prorl_inference.models.loading import load_model, load_tokenizer, respect_soft_caps
from prorl_inference.testing import BYTE_VOCAB, byte_tokenizer, tiny_model
from prorl_inference.tokens import encode_prompt, mark_padding
from prorl_inference.types import Batching, Completion, ModelError, Request, SamplingParams
from prorl_training.policy.logprobs import Method, TargetScorer
from prorl_training.policy.model import checkpointed_pass, enable_checkpointing
from prorl_training.policy.packing import PromptGroup, build_pack

SHAPE: dict[str, Any] = {
    "vocab_size": BYTE_VOCAB,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.3,
    "pad_token_id": 256,
    "eos_token_id": 257,
    "bos_token_id": None,
}
LOCAL = ["sliding_attention", "full_attention"]
SSM: dict[str, Any] = {"mamba_n_heads": 4, "mamba_d_state": 8, "mamba_chunk_size": 8}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
OLD = {"n_embd": 32, "n_head": 4, "n_layer": 2}
MLA = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8}
WINDOW = {"sliding_window": 8}
FAMILIES: dict[str, tuple[Method, dict[str, Any]]] = {
    "Apertus": ("blocks", {}),
    "Bamba": ("alone", {**SSM, "mamba_d_head": 16, "attn_layer_indices": [1]}),
    "Cohere": ("blocks", {}),
    "Cohere2": ("blocks", {**WINDOW, "layer_types": LOCAL}),
    "DeepseekV3": (
        "blocks",
        {
            **MLA,
            "num_key_value_heads": 4,
            "v_head_dim": 8,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 16,
            "n_group": 1,
            "topk_group": 1,
            "first_k_dense_replace": 1,
        },
    ),
    "Exaone4": ("blocks", {**WINDOW, "layer_types": LOCAL}),
    "Falcon": ("dense", {"num_kv_heads": 2}),
    "FalconH1": (
        "alone",
        {**SSM, "mamba_d_ssm": 32, "mamba_d_head": 8, "mamba_n_groups": 1, "head_dim": 8},
    ),
    "FalconMamba": ("alone", {"state_size": 8}),
    "Gemma": ("blocks", {"head_dim": 8}),
    "Gemma2": ("blocks", {**WINDOW, "head_dim": 8, "attn_logit_softcapping": 2.0}),
    "Gemma3": ("blocks", {**WINDOW, "head_dim": 8, "layer_types": LOCAL}),
    "Glm4": ("blocks", {"head_dim": 8}),
    "GptOss": ("alone", {**WINDOW, "head_dim": 8, "num_local_experts": 4, "layer_types": LOCAL}),
    "GPT2": ("blocks", OLD),
    "GPTJ": ("dense", {**OLD, "rotary_dim": 4}),
    "GPTNeoX": ("blocks", {}),
    "Granite": ("blocks", {}),
    "GraniteMoeHybrid": (
        "alone",
        {
            **SSM,
            "layer_types": ["mamba", "attention"],
            "mamba_d_head": 16,
            "num_local_experts": 0,
            "shared_intermediate_size": 32,
        },
    ),
    "Lfm2": ("alone", {"layer_types": ["conv", "full_attention"]}),
    "Llama": ("blocks", {}),
    "Mamba": ("alone", {"state_size": 8}),
    "Mamba2": (
        "alone",
        {"state_size": 8, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8},
    ),
    "Mistral": ("blocks", WINDOW),
    "Mixtral": ("blocks", {"num_local_experts": 4}),
    "Nemotron": ("blocks", {}),
    "Olmo2": ("blocks", {}),
    "OPT": ("blocks", {"ffn_dim": 64, "word_embed_proj_dim": 32}),
    "Phi3": ("blocks", WINDOW),
    "Qwen2": (
        "blocks",
        {**WINDOW, "use_sliding_window": True, "layer_types": LOCAL[::-1]},
    ),
    "Qwen3": ("blocks", {"head_dim": 8}),
    "Qwen3Moe": ("blocks", {**EXPERTS, "head_dim": 8}),
    "SmolLM3": ("blocks", {}),
    "StableLm": ("dense", {}),
    "Starcoder2": ("blocks", WINDOW),
}
"""How each family's responses share a pass, and the sizes of a tiny one."""
QUESTIONS = ("a", "what is it, then?")


def built(family: str, **settings: Any) -> Any:
    """Return a random fp32 model of a family, with soft caps on its attention if it has them."""
    config = getattr(transformers, f"{family}TextConfig", None)
    config = config or getattr(transformers, f"{family}Config")
    config = config(**{**SHAPE, **settings})
    names = (f"{family}ForCausalLM", f"{family}LMHeadModel")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = next(getattr(transformers, n) for n in names if hasattr(transformers, n))(config)
    respect_soft_caps(model)
    return model.eval()


def sampled(model: Any, batching: Batching = "fixed") -> list[tuple[list[int], Completion]]:
    """Return prompt ids and completions of two prompts of different lengths, two samples each."""
    tokenizer = byte_tokenizer()
    generator = TransformersGenerator(model, tokenizer, batch_size=3, batching=batching)
    requests = [
        Request([{"role": "user", "content": question}], seeds=(at, at + 9))
        for at, question in enumerate(QUESTIONS)
    ]
    answers = generator.generate(requests, SamplingParams(max_tokens=12, temperature=0.7))
    prompts = [encode_prompt(tokenizer, request.prompt) for request in requests]
    return [(p, one) for p, group in zip(prompts, answers, strict=True) for one in group]


def gradients(model: Any, value: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return the gradient of ``value`` by parameter, divided by its largest number if that is more than 1."""
    names, weights = zip(*model.named_parameters(), strict=True)
    all_of_them = torch.autograd.grad(value, weights, allow_unused=True)
    pairs = zip(names, all_of_them, strict=True)
    return {name: g / g.abs().max().clamp(min=1) for name, g in pairs if g is not None}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_the_log_probs_and_gradients_of_a_plain_pass(family: str) -> None:
    method, settings = FAMILIES[family]
    model = built(family, **settings)
    plain = copy.deepcopy(model)
    answers = sampled(model)
    expected, entropies = [], []
    for prompt, one in answers:
        logits = plain(torch.tensor([[*prompt, *one.token_ids]])).logits[0, len(prompt) - 1 : -1]
        logp = (logits / 0.7).log_softmax(-1)
        expected.append(logp.gather(-1, torch.tensor(one.token_ids)[:, None])[:, 0])
        entropies.append(-(logp.exp() * logp).sum(-1))
    close = functools.partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)
    for (_, one), values in zip(answers, expected, strict=True):
        close(torch.tensor(one.logprobs), values.detach())

    scorer = TargetScorer(model)
    newer = {"GPTJ": "blocks"}  # by version of Transformers
    assert scorer.method in {method, newer.get(family)}
    pairs = [answers[:2], answers[2:]]
    groups = [
        PromptGroup(tuple(pair[0][0]), tuple(one.token_ids for _, one in pair), (at, at + 1))
        for at, pair in zip((0, 2), pairs, strict=True)
    ]
    pack = build_pack(groups)
    found, entropy = scorer.score(pack, 0.7, with_entropy=True)
    close(found, torch.cat(expected))
    close(entropy, torch.cat(entropies))
    wanted = gradients(plain, torch.cat(expected).sum())
    close(gradients(model, found.sum()), wanted)
    if model.supports_gradient_checkpointing:
        enable_checkpointing(model)
        with checkpointed_pass(model):
            close(gradients(model, scorer.score(pack, 0.7)[0].sum()), wanted)


@pytest.mark.filterwarnings("ignore")
def test_a_family_that_keeps_its_state_elsewhere_is_refused_in_one_line() -> None:
    model = built("Rwkv", attention_hidden_size=32, context_length=256)
    with pytest.raises(ModelError, match=r"^RwkvForCausalLM cannot be sampled by .* vLLM$"):
        sampled(model)


def padded_model() -> Any:
    """Return a model that gives high probability to 60 ids without tokens."""
    model: Any = tiny_model(seed=3, spread=0.3, vocab=BYTE_VOCAB + 60)
    with torch.no_grad():
        model.lm_head.weight[BYTE_VOCAB:] *= 3
    return model


@pytest.mark.parametrize("batching", ["fixed", "refill"])
def test_ids_without_a_token_are_neither_sampled_nor_given_probability(batching: Batching) -> None:
    model = padded_model()
    assert any(t >= BYTE_VOCAB for _, one in sampled(model, batching) for t in one.token_ids)
    mark_padding(model, byte_tokenizer())
    for split in (True, False):
        scorer = TargetScorer(model)
        scorer.factor = scorer.factor if split else None
        for prompt, one in sampled(model, batching):
            assert max(one.token_ids) < BYTE_VOCAB
            pack = build_pack([PromptGroup(tuple(prompt), (one.token_ids,), (0,))])
            found, entropy = scorer.score(pack, 0.7, with_entropy=True)
            ids = torch.tensor([[*prompt, *one.token_ids]])
            logits = model(input_ids=ids).logits[0, len(prompt) - 1 : -1, :BYTE_VOCAB] / 0.7
            logp = logits.log_softmax(-1)
            chosen = logp.gather(-1, torch.tensor(one.token_ids)[:, None])[:, 0]
            torch.testing.assert_close(found, chosen, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(torch.tensor(one.logprobs), chosen, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(entropy, -(logp.exp() * logp).sum(-1))
            weight = model.lm_head.weight
            (ours,) = torch.autograd.grad(found.sum(), weight)
            (theirs,) = torch.autograd.grad(chosen.sum(), weight)
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
            assert not ours[BYTE_VOCAB:].any()


def test_a_loaded_model_knows_its_padding_and_the_saved_one_keeps_its_size(tmp_path: Path) -> None:
    saved(tmp_path, padded_model())
    model, _ = load_model(tmp_path, "cpu", torch.float32)
    assert all(max(one.token_ids) < BYTE_VOCAB for _, one in sampled(model))
    model.save_pretrained(tmp_path / "again")
    config = json.loads((tmp_path / "again" / "config.json").read_text())
    assert config["vocab_size"] == BYTE_VOCAB + 60


def saved(folder: Path, model: Any, **changes: object) -> None:
    """Write a model folder with changes to its config files."""
    model.save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    for name in ("config.json", "generation_config.json"):
        values = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(values | changes))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pad_token_id", [256]),
        ("pad_token_id", "<pad>"),
        ("pad_token_id", 99_999),
        ("eos_token_id", "<eos>"),
        ("eos_token_id", {"a": 1}),
        ("bos_token_id", [1]),
        ("vocab_size", None),
        ("vocab_size", -1),
        ("model_type", 7),
        ("num_attention_heads", 0),
    ],
)
def test_a_config_that_makes_no_sense_is_one_line(tmp_path: Path, key: str, value: object) -> None:
    saved(tmp_path, tiny_model(), **{key: value})
    with pytest.raises(ModelError, match=r"correct its files, or download it again$") as raised:
        load_model(tmp_path, "cpu", torch.float32)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("ends", [None, 257, [257, 258], []])
def test_ends_may_be_a_number_several_or_none(tmp_path: Path, ends: object) -> None:
    saved(tmp_path, tiny_model(), eos_token_id=ends, pad_token_id=None)
    model, tokenizer = load_model(tmp_path, "cpu", torch.float32)
    assert 257 in TransformersGenerator(model, tokenizer).stop_ids


def test_an_end_that_is_no_number_is_named(tmp_path: Path) -> None:
    saved(tmp_path, tiny_model())
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": "<eos>"}')
    with pytest.raises(ModelError, match="eos_token_id"):
        load_model(tmp_path, "cpu", torch.float32)


def test_a_tokenizer_whose_files_are_broken_is_one_line(tmp_path: Path) -> None:
    saved(tmp_path, tiny_model())
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(ModelError, match="cannot load a tokenizer"):
        load_tokenizer(str(tmp_path))
