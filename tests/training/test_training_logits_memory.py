"""Logits are computed in blocks, never for all tokens at once, with the same results."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from prorl_inference.testing import tiny_model
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.config.presets import preset_names
from prorl_training.policy import logprobs as chunked
from prorl_training.policy.logprobs import linear_logprobs, logits_logprobs
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import Policy, UpdateBatch

TOKENS, WIDTH, VOCABULARY, ROWS = 40, 16, 263, 6
"""No other size in these tests is 263: a tensor with that last dimension is logits, or a bias."""
Scores = tuple[Tensor, Tensor | None]


class LogitsSeen(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Record the rows of all tensors of logits that operations make: the largest, and all live at once."""

    def __init__(self, dtype: torch.dtype | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.largest = self.at_once = 0
        self._dtype = dtype
        self._seen: list[tuple[weakref.ref[Tensor], int, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if not isinstance(leaf, Tensor) or self._dtype not in (None, leaf.dtype):
                continue
            # the transposed weight is not logits
            if leaf.ndim > 1 and leaf.shape[-1] == VOCABULARY and leaf.shape[-2] != WIDTH:
                self._note(leaf, leaf.numel() // VOCABULARY)
        return out

    def _note(self, tensor: Tensor, rows: int) -> None:
        self.largest = max(self.largest, rows)
        place = tensor.untyped_storage().data_ptr()
        self._seen = [s for s in self._seen if s[0]() is not None]
        self._seen.append((weakref.ref(tensor), place, rows))
        storages = {place: rows for _, place, rows in sorted(self._seen, key=lambda s: s[2])}
        self.at_once = max(self.at_once, sum(storages.values()))


def inputs(dtype: torch.dtype = torch.float32) -> tuple[Tensor, torch.nn.Linear, Tensor]:
    draw = torch.Generator().manual_seed(3)
    hidden = torch.randn(TOKENS, WIDTH, generator=draw).to(dtype).requires_grad_()
    layer = torch.nn.Linear(WIDTH, VOCABULARY, bias=False, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(VOCABULARY, WIDTH, generator=draw))
    return hidden, layer, torch.randint(0, VOCABULARY, (TOKENS,), generator=draw)


def plain(
    hidden: Tensor, layer: torch.nn.Linear, targets: Tensor, temperature: float, entropy: bool
) -> Scores:
    logs = (layer(hidden).float() / temperature).log_softmax(-1)
    chosen = logs.gather(-1, targets[:, None])[:, 0]
    return chosen, -(logs.exp() * logs).sum(-1).detach() if entropy else None


def whole(
    hidden: Tensor, layer: torch.nn.Linear, targets: Tensor, temperature: float, entropy: bool
) -> Scores:
    return logits_logprobs(layer(hidden), targets, temperature, entropy, ROWS)


def blocks(
    hidden: Tensor, layer: torch.nn.Linear, targets: Tensor, temperature: float, entropy: bool
) -> Scores:
    return linear_logprobs(hidden, layer, targets, temperature, entropy, ROWS)


Score = Callable[[Tensor, torch.nn.Linear, Tensor, float, bool], Scores]


def found(score: Score, dtype: torch.dtype, temperature: float, entropy: bool) -> list[Tensor]:
    """Return log-probs, entropies if requested, and the gradients of a weighted sum."""
    hidden, layer, targets = inputs(dtype)
    logprobs, entropies = score(hidden, layer, targets, temperature, entropy)
    (logprobs * torch.linspace(-1, 1, TOKENS)).sum().backward()  # type: ignore[no-untyped-call]
    assert hidden.grad is not None and layer.weight.grad is not None
    values = [logprobs.detach(), hidden.grad.float(), layer.weight.grad.float()]
    return [*values, entropies] if entropies is not None else values


@pytest.mark.parametrize("score", [blocks, whole])
@pytest.mark.parametrize("temperature", [1.0, 0.6, 1.2])
@pytest.mark.parametrize("entropy", [True, False])
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.bfloat16, 8e-3)])
def test_values_and_gradients_are_those_of_the_whole_softmax(
    score: Score, temperature: float, entropy: bool, dtype: torch.dtype, bound: float
) -> None:
    ours = found(score, dtype, temperature, entropy)
    expected = found(plain, dtype, temperature, entropy)
    assert len(ours) == len(expected) == 3 + entropy
    for mine, theirs in zip(ours, expected, strict=True):
        # in bfloat16: two roundings (2^-8 each) of gradients, none of log-probs and entropies
        assert float((mine - theirs).abs().max()) <= bound * max(1.0, float(theirs.abs().max()))
    for mine, theirs in zip(ours[:1] + ours[3:], expected[:1] + expected[3:], strict=True):
        assert torch.allclose(mine, theirs, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("entropy", [True, False])
def test_forward_and_backward_hold_no_more_than_a_block_of_logits(
    dtype: torch.dtype, entropy: bool
) -> None:
    with LogitsSeen() as seen:
        found(blocks, dtype, 1.2, entropy)
    assert seen.largest == ROWS
    assert seen.at_once <= 3 * ROWS  # a block, its product's type, and the exponentials beside it


def test_logits_of_the_models_own_are_read_in_blocks_of_float32() -> None:
    with LogitsSeen(torch.float32) as seen:
        found(whole, torch.bfloat16, 1.2, True)
    assert seen.largest == ROWS


def test_the_count_sees_the_whole_softmax() -> None:
    with LogitsSeen(torch.float32) as seen:
        found(plain, torch.bfloat16, 1.2, True)
    assert seen.largest == TOKENS
    assert seen.at_once > 2 * TOKENS


def test_nothing_of_the_vocabularys_width_is_saved_for_the_backward_pass() -> None:
    saved: list[int] = []

    def keep(tensor: Tensor) -> Tensor:
        saved.append(tensor.numel())
        return tensor

    hidden, layer, targets = inputs()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        blocks(hidden, layer, targets, 1.2, True)
    assert (
        max(saved) == VOCABULARY * WIDTH
    )  # the layer itself; the one block beside is not an input


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_a_whole_update_holds_no_more_than_a_block_of_logits(
    make_config: Callable[..., TrainConfig], monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    monkeypatch.setattr(chunked, "BLOCK_BYTES", 4 * VOCABULARY * ROWS)
    config = make_config(kl={"measure_share_every": 1}, model={"gradient_checkpointing": True})
    compute = torch.bfloat16 if dtype == "bf16" else torch.float32
    policy = Policy(tiny_model(hidden=WIDTH, vocab=VOCABULARY), config, compute)
    answers = tuple(tuple(range(10, 10 + n)) for n in (9, 12, 7))
    groups = [PromptGroup((1, 2, 3), answers, (0, 1, 2)), PromptGroup((4, 5), answers, (3, 4, 5))]
    batch = UpdateBatch(
        mini_batches=[groups[:1], groups[1:]],
        advantages=torch.tensor([1.0, -1.0, 0.5, 1.0, -1.0, 0.5]),
        sampler_logprobs=[(-5.0,) * len(answer) for answer in answers] * 2,
        config=config,
        measure_kl_share=True,
    )
    with LogitsSeen() as seen:
        stats = policy.update(batch)
    assert stats.skipped == 0
    assert seen.largest == ROWS
    assert seen.at_once <= 3 * ROWS


SMALL = {"cpu", "quickstart"}


@pytest.mark.parametrize("name", sorted({*preset_names()} - SMALL))
def test_every_full_size_preset_recomputes_its_activations(name: str) -> None:
    config = load_config(name)
    for settings in config.phase_configs:
        assert settings.model.gradient_checkpointing
