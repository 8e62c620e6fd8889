from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from prorl_inference.testing import tiny_model
from prorl_training.engine.openrlhf.actors.scoring import TokenScoring
from prorl_training.engine.openrlhf.cpu.flash_attention import pad_input, unpad_input
from prorl_training.policy import logprobs as chunked

VOCABULARY, ROWS = 263, 4
SEQUENCES = torch.tensor([[5, 6, 7, 8, 9, 10], [11, 12, 13, 14, 0, 0]])
ATTENTION = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
ACTIONS = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])


class Actor(torch.nn.Module):
    """The used part of OpenRLHF's actor: an engine with a model, a temperature, a forward pass with whole logits."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        model.config.use_cache = False  # as OpenRLHF sets it; packed rows would see each other
        self.model = Engine(model)
        self.temperature = 1.2

    def forward(
        self,
        sequences: Tensor,
        action_mask: Tensor,
        attention_mask: Tensor,
        return_output: bool = False,
        return_entropy: bool = False,
        **options: Any,
    ) -> Any:
        logprobs, entropies = torch.zeros(ACTIONS.shape), torch.zeros(ACTIONS.shape)
        for i, (row, mask) in enumerate(zip(sequences, attention_mask, strict=True)):
            ids = row[mask.bool()]
            logs = (self.model(ids[None]).logits[0, :-1] / self.temperature).log_softmax(-1)
            logprobs[i, : len(ids) - 1] = logs.gather(-1, ids[1:, None])[:, 0]
            entropies[i, : len(ids) - 1] = -(logs.exp() * logs).sum(-1)
        output = SimpleNamespace(entropy=entropies.detach())
        logprobs = logprobs * action_mask
        return (logprobs, output) if return_output else logprobs


class Engine(torch.nn.Module):
    """A stand-in for a DeepSpeed engine, whose ``module`` is the model."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **options: Any) -> Any:
        return self.module(*args, **options)


@pytest.fixture(autouse=True)
def openrlhf(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenRLHF's un-padding, by the CPU functions that replace flash-attn."""

    def unpad(sequences: Tensor, attention_mask: Tensor, ring: object) -> Any:
        def rows(values: Tensor) -> tuple[Tensor, Tensor]:
            kept, indices, *_ = unpad_input(values[..., None], attention_mask)
            return kept.transpose(0, 1), indices

        tokens, indices = rows(sequences)
        positions = rows((attention_mask.cumsum(-1) - 1).clamp(min=0))[0]
        return tokens, positions, rows(sequences.roll(-1, 1))[0], 0, indices

    def gather(values: Tensor, ring: object, pad: int, kept: Tensor, rows: int, length: int) -> Any:
        return pad_input(values.transpose(0, 1), kept, rows, length).squeeze(-1)

    utils: Any = ModuleType("openrlhf.models.ring_attn_utils")
    utils.unpad_and_slice_tensor, utils.gather_and_pad_tensor = unpad, gather
    for name in ("openrlhf", "openrlhf.models"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "openrlhf.models.ring_attn_utils", utils)
    monkeypatch.setattr(chunked, "BLOCK_BYTES", 4 * VOCABULARY * ROWS)


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    rows = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if not isinstance(leaf, Tensor) or leaf.ndim < 2:
                continue
            if leaf.shape[-1] == VOCABULARY and leaf.shape[-2] != 32:  # 32: the transposed weight
                self.rows = max(self.rows, leaf.numel() // VOCABULARY)
        return out


def scored(actor: Actor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Return log-probs, entropies of action tokens, and gradients by name."""
    actor.zero_grad()
    logprobs, output = actor(
        SEQUENCES, ACTIONS, attention_mask=ATTENTION, return_output=True, return_entropy=True
    )
    (logprobs * torch.linspace(-1, 1, 5)).sum().backward()
    gradients = {n: p.grad.clone() for n, p in actor.named_parameters() if p.grad is not None}
    return logprobs.detach(), output.entropy * ACTIONS, gradients


def same(mine: Any, theirs: Any) -> None:
    for ours, plain in zip(mine[:2], theirs[:2], strict=True):
        assert torch.allclose(ours, plain, atol=1e-5)
    assert mine[2].keys() == theirs[2].keys()
    for name, gradient in theirs[2].items():
        assert torch.allclose(mine[2][name], gradient, atol=1e-5), name


def test_log_probs_entropies_and_gradients_are_those_of_the_whole_pass() -> None:
    actor = Actor(tiny_model(spread=0.3, vocab=VOCABULARY))
    theirs = scored(actor)
    TokenScoring(actor).install()
    same(scored(actor), theirs)
    same(scored(actor), theirs)  # and after the first pass, which checks more


def test_no_pass_makes_more_than_a_block_of_logits() -> None:
    actor = Actor(tiny_model(vocab=VOCABULARY))
    TokenScoring(actor).install()
    with Largest() as seen:  # type: ignore[no-untyped-call]
        scored(actor)
    assert seen.rows == ROWS


def test_the_temperature_is_the_one_that_holds_in_the_pass() -> None:
    actor = Actor(tiny_model(spread=0.3, vocab=VOCABULARY))
    TokenScoring(actor).install()
    before = actor(SEQUENCES, ACTIONS, attention_mask=ATTENTION)
    actor.temperature = 0.6
    assert not torch.allclose(actor(SEQUENCES, ACTIONS, attention_mask=ATTENTION), before)


def test_a_model_that_changes_its_logits_is_left_to_openrlhf(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model: Any = tiny_model(spread=0.3, vocab=VOCABULARY)
    forward = model.forward

    def capped(*args: Any, **options: Any) -> Any:
        out = forward(*args, **options)
        out["logits"] = out.logits.tanh()
        return out

    model.forward = capped
    actor = Actor(model)
    theirs = scored(actor)
    TokenScoring(actor).install()
    same(scored(actor), theirs)
    assert "kept in full" in capsys.readouterr().out
    assert model(SEQUENCES[:1]).logits.shape == (1, 6, VOCABULARY)


def test_outside_a_scoring_pass_the_layer_gives_logits() -> None:
    model = tiny_model(vocab=VOCABULARY)
    TokenScoring(Actor(model)).install()
    assert model(SEQUENCES[:1]).logits.shape == (1, 6, VOCABULARY)
