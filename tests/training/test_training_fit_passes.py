"""What a pass holds, reckoned from the shape, beside what autograd keeps and what is alive at the worst moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from prorl_training.config import TrainConfig
from prorl_training.planning.engine_memory import trained_parameters
from prorl_training.planning.measured import LiveBytes, saved_tensors
from prorl_training.planning.memory import (
    CPU_CHUNK_BYTES,
    PassSize,
    Precision,
    forward_peak,
    held_for_backward,
    peak,
)
from prorl_training.planning.model_shape import ModelShape
from prorl_training.policy import logprobs as chunked
from prorl_training.policy.model import PolicyModel
from prorl_training.policy.packing import Pack, PromptGroup, build_pack

SIZES: dict[str, dict[str, Any]] = {
    "narrow": {
        "model_type": "llama",
        "hidden_size": 96,
        "intermediate_size": 256,
        "num_hidden_layers": 6,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "vocab_size": 16384,
        "tie_word_embeddings": True,
    },
    "middle": {
        "model_type": "qwen2",
        "hidden_size": 128,
        "intermediate_size": 640,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "vocab_size": 16384,
        "tie_word_embeddings": False,
    },
    "normed": {
        "model_type": "qwen3",
        "hidden_size": 192,
        "intermediate_size": 512,
        "num_hidden_layers": 3,
        "num_attention_heads": 6,
        "num_key_value_heads": 6,
        "head_dim": 48,
        "vocab_size": 1024,
        "tie_word_embeddings": False,
    },
}
PRECISIONS = {
    Precision.FLOAT32: (torch.float32, torch.float32),
    Precision.AUTOCAST: (torch.float32, torch.bfloat16),
    Precision.BF16: (torch.bfloat16, torch.float32),
}
"""The types of weights, and of products under autocast (float32: none)."""


def policy_of(
    sizes: dict[str, Any], precision: Precision, checkpointing: bool, rank: int = 0
) -> PolicyModel:
    """A policy with random weights, on the CPU; one in bf16 stands for the OpenRLHF engine's."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config: Any = AutoConfig.for_model(**sizes)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)  # type: ignore[no-untyped-call]
    chosen = {"gradient_checkpointing": checkpointing, "lora": {"rank": rank}}
    settings = {"model": chosen, "kl": {"coefficient": 0.0}}
    weights, products = PRECISIONS[precision]
    policy = PolicyModel(model, TrainConfig.model_validate(settings), products)
    policy.model.to(weights)
    for parameter in policy.trained:
        parameter.grad = torch.zeros_like(parameter)
    return policy


def a_pack(masked: bool, prompt: int = 40, responses: int = 3, length: int = 121) -> Pack:
    ids = tuple(i % 1000 for i in range(length))
    count = responses if masked else 1
    group = PromptGroup(ids[:prompt], (ids,) * count, tuple(range(count)))
    return build_pack([group])


def size_of(pack: Pack, precision: Precision, checkpointing: bool) -> PassSize:
    tokens, targets = pack.input_ids.shape[1], len(pack.targets)
    masked = pack.owners is not None
    return PassSize(tokens, targets, precision, checkpointing, masked, chunk_bytes=CPU_CHUNK_BYTES)


CASES = [
    (name, precision, checkpointing, masked)
    for name, masked, checkpoints in (
        ("narrow", True, (True,)),
        ("middle", True, (False, True)),
        ("normed", False, (False,)),
    )
    for precision in PRECISIONS
    for checkpointing in checkpoints
]


@pytest.mark.parametrize(("name", "precision", "checkpointing", "masked"), CASES)
def test_a_pass_holds_what_was_reckoned_within_five_percent(
    name: str, precision: Precision, checkpointing: bool, masked: bool
) -> None:
    policy, pack = policy_of(SIZES[name], precision, checkpointing), a_pack(masked)
    shape, size = ModelShape.from_config(SIZES[name]), size_of(pack, precision, checkpointing)
    reckoned, worst = held_for_backward(shape, size), peak(shape, size)
    if not checkpointing:
        with saved_tensors(policy.model.parameters()) as saved, policy.gradient_pass(0):
            policy.target_logprobs(pack, 1.2, with_entropy=True)
        assert reckoned.total - reckoned.logits == pytest.approx(saved.bytes, rel=0.05)
    with LiveBytes() as live, policy.gradient_pass(0):
        logprobs, _ = policy.target_logprobs(pack, 1.2, with_entropy=True)
        between = live.now
        logprobs.sum().backward()  # type: ignore[no-untyped-call]
    assert reckoned.total == pytest.approx(between, rel=0.05)
    assert worst.total == pytest.approx(live.peak, rel=0.05)


def test_logits_in_several_blocks_are_reckoned(monkeypatch: pytest.MonkeyPatch) -> None:
    block = 8 << 20  # where 363 targets make 24 MB of logits
    monkeypatch.setattr(chunked, "BLOCK_BYTES", block)
    policy, pack = policy_of(SIZES["middle"], Precision.AUTOCAST, True), a_pack(True)
    shape = ModelShape.from_config(SIZES["middle"])
    size = replace(size_of(pack, Precision.AUTOCAST, True), block_bytes=block)
    with LiveBytes() as live, policy.gradient_pass(0):
        logprobs, _ = policy.target_logprobs(pack, 1.2, with_entropy=True)
        logprobs.sum().backward()  # type: ignore[no-untyped-call]
    assert peak(shape, size).total == pytest.approx(live.peak, rel=0.05)


def test_a_pass_without_gradient_stays_within_what_was_reckoned() -> None:
    policy, pack = policy_of(SIZES["middle"], Precision.AUTOCAST, False), a_pack(True)
    shape, size = ModelShape.from_config(SIZES["middle"]), size_of(pack, Precision.AUTOCAST, False)
    with LiveBytes() as live:
        policy.logprobs(pack)
    reckoned = forward_peak(shape, size, trained=True).total
    assert 0.9 * reckoned <= live.peak <= 1.05 * reckoned


def test_adapters_keep_the_gradients_of_the_tables_away() -> None:
    precision = Precision.AUTOCAST
    pytest.importorskip("peft")
    policy, pack = policy_of(SIZES["middle"], precision, False, rank=8), a_pack(True)
    shape, size = ModelShape.from_config(SIZES["middle"]), size_of(pack, precision, False)
    config = policy.config
    assert trained_parameters(config, shape) == sum(p.numel() for p in policy.trained)
    with LiveBytes() as live, policy.gradient_pass(0):
        logprobs, _ = policy.target_logprobs(pack, 1.2, with_entropy=True)
        logprobs.sum().backward()  # type: ignore[no-untyped-call]
    reckoned = peak(shape, replace(size, tables_trained=False)).total
    assert reckoned == pytest.approx(live.peak, rel=0.05)
