"""The estimated memory of a pass, compared with autograd's saved tensors and the peak of live ones."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from prorl_training.config import TrainConfig
from prorl_training.planning.engine_memory import trained_parameters
from prorl_training.planning.memory import (
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
from prorl_training.types import CPU_CHUNK_BYTES


def sizes_of(kind: str, *numbers: int, tied: bool = False, **others: int) -> dict[str, Any]:
    keys = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"]
    keys += ["num_key_value_heads", "vocab_size"]
    sizes = dict(zip(keys, numbers, strict=True))
    return {"model_type": kind, **sizes, "tie_word_embeddings": tied, **others}


SIZES = {
    "narrow": sizes_of("llama", 96, 256, 6, 6, 2, 16384, tied=True),
    "middle": sizes_of("qwen2", 128, 640, 4, 8, 2, 16384),
    "normed": sizes_of("qwen3", 192, 512, 3, 6, 6, 1024, head_dim=48),
}
PRECISIONS = {
    Precision.FLOAT32: (torch.float32, torch.float32),
    Precision.AUTOCAST: (torch.float32, torch.bfloat16),
    Precision.BF16: (torch.bfloat16, torch.float32),
}
"""The types of weights, and of products under autocast (float32: none)."""


def address(tensor: Tensor) -> int:
    storage: Any = tensor.untyped_storage()
    return int(storage._cdata)


@contextmanager
def saved_storages(known: Iterable[Tensor]) -> Iterator[dict[int, int]]:
    """Collect the bytes of storages that autograd keeps in the block, except those of ``known``."""
    ours = {address(tensor) for tensor in known}
    saved: dict[int, int] = {}
    alive: list[Tensor] = []  # keeps addresses from being reused

    def pack(tensor: Tensor) -> Tensor:
        if address(tensor) not in ours:
            saved[address(tensor)] = tensor.untyped_storage().nbytes()
            alive.append(tensor.detach())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield saved


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now, self.peak = 0, 0
        self.seen: weakref.WeakSet[Any] = weakref.WeakSet()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = {address(t) for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)}
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, Tensor) and address(tensor) not in before:
                self.add(tensor.untyped_storage())
        return out

    def add(self, storage: Any) -> None:
        if storage not in self.seen:
            self.seen.add(storage)
            self.change(storage.nbytes())
            weakref.finalize(storage, self.change, -storage.nbytes())

    def change(self, size: int) -> None:
        self.now += size
        self.peak = max(self.peak, self.now)


def peak_of(policy: PolicyModel, pack: Pack) -> int:
    with LiveBytes() as live, policy.gradient_pass(0):
        logprobs, _ = policy.target_logprobs(pack, 1.2, with_entropy=True)
        logprobs.sum().backward()  # type: ignore[no-untyped-call]
    return int(live.peak)


def policy_of(
    sizes: dict[str, Any], precision: Precision, checkpointing: bool, rank: int = 0
) -> PolicyModel:
    """Return a CPU policy with random weights; one in bf16 represents the OpenRLHF engine's."""
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


def a_pack(packed: bool, prompt: int = 40, responses: int = 3, length: int = 121) -> Pack:
    ids = tuple(i % 1000 for i in range(length))
    count = responses if packed else 1
    group = PromptGroup(ids[:prompt], (ids,) * count, tuple(range(count)))
    return build_pack([group])


def size_of(pack: Pack, precision: Precision, checkpointing: bool) -> PassSize:
    tokens, targets = pack.input_ids.shape[1], len(pack.targets)
    packed = pack.owners is not None
    return PassSize(tokens, targets, precision, checkpointing, packed, chunk_bytes=CPU_CHUNK_BYTES)


CASES = [
    pytest.param(
        *(name, precision, checkpointing, packed),
        marks=[pytest.mark.slow] if name == "middle" else [],
    )
    for name, packed, checkpoints in (
        ("narrow", True, (True,)),
        ("middle", True, (False, True)),
        ("normed", False, (False,)),
    )
    for precision in PRECISIONS
    for checkpointing in checkpoints
]


@pytest.mark.parametrize(("name", "precision", "checkpointing", "packed"), CASES)
def test_a_pass_holds_what_was_reckoned_within_five_percent(
    name: str, precision: Precision, checkpointing: bool, packed: bool
) -> None:
    policy, pack = policy_of(SIZES[name], precision, checkpointing), a_pack(packed)
    shape, size = ModelShape.from_config(SIZES[name]), size_of(pack, precision, checkpointing)
    reckoned, worst = held_for_backward(shape, size), peak(shape, size)
    if not checkpointing:
        with saved_storages(policy.model.parameters()) as saved, policy.gradient_pass(0):
            policy.target_logprobs(pack, 1.2, with_entropy=True)
        assert reckoned.total - reckoned.logits == pytest.approx(sum(saved.values()), rel=0.05)
    with LiveBytes() as live, policy.gradient_pass(0):
        logprobs, _ = policy.target_logprobs(pack, 1.2, with_entropy=True)
        between = live.now
        logprobs.sum().backward()  # type: ignore[no-untyped-call]
    assert reckoned.total == pytest.approx(between, rel=0.05)
    assert worst.total == pytest.approx(live.peak, rel=0.05)


def test_logits_in_several_blocks_are_reckoned(monkeypatch: pytest.MonkeyPatch) -> None:
    block = 8 << 20  # 363 targets would make 24 MB of logits
    monkeypatch.setattr(chunked, "BLOCK_BYTES", block)
    policy, pack = policy_of(SIZES["middle"], Precision.AUTOCAST, True), a_pack(True)
    shape = ModelShape.from_config(SIZES["middle"])
    size = replace(size_of(pack, Precision.AUTOCAST, True), block_bytes=block)
    assert peak(shape, size).total == pytest.approx(peak_of(policy, pack), rel=0.05)


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
    reckoned = peak(shape, replace(size, tables_trained=False)).total
    assert reckoned == pytest.approx(peak_of(policy, pack), rel=0.05)
