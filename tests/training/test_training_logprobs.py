from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from prorl_inference.testing import tiny_model
from prorl_training.policy import logprobs as chunked
from prorl_training.policy.logprobs import TargetScorer, linear_logprobs, logits_factor
from prorl_training.policy.packing import PromptGroup, build_pack

ROWS, WIDTH, VOCABULARY = 7, 5, 11
GROUPS = [
    PromptGroup((1, 2, 3), ((10, 11, 12), (20,), (30, 31)), (0, 1, 2)),
    PromptGroup((7, 8), ((40, 41),), (3,)),
]


def inputs(dtype: torch.dtype, bias: bool = True) -> tuple[Tensor, torch.nn.Linear, Tensor]:
    draw = torch.Generator().manual_seed(3)
    hidden = torch.randn(ROWS, WIDTH, generator=draw, dtype=dtype).requires_grad_()
    layer = torch.nn.Linear(WIDTH, VOCABULARY, bias=bias, dtype=dtype)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=draw, dtype=dtype))
    return hidden, layer, torch.randint(0, VOCABULARY, (ROWS,), generator=draw)


@pytest.mark.parametrize("rows", [1, 3, ROWS, 100])
@pytest.mark.parametrize("bias", [True, False])
def test_gradients_pass_gradcheck_whatever_the_block(rows: int, bias: bool) -> None:
    hidden, layer, targets = inputs(torch.float64, bias)
    parameters = tuple(layer.parameters())

    def logprobs(hidden: Tensor, *values: Tensor) -> Tensor:
        del values  # the layer's own, which gradcheck changes in place
        return linear_logprobs(hidden, layer, targets, 1.7, False, rows)[0]

    assert torch.autograd.gradcheck(logprobs, (hidden, *parameters))


@pytest.mark.parametrize("rows", [1, 2, 100])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_blocks_equal_the_whole_softmax_in_float32(rows: int, temperature: float) -> None:
    hidden, layer, targets = inputs(torch.float32)
    weights = torch.linspace(-1, 1, ROWS)
    ours, entropy = linear_logprobs(hidden, layer, targets, temperature, True, rows)
    (ours * weights).sum().backward()  # type: ignore[no-untyped-call]
    gradients = [p.grad.clone() for p in (hidden, *layer.parameters()) if p.grad is not None]
    hidden.grad = None
    layer.zero_grad()
    plain = (layer(hidden) / temperature).log_softmax(-1)
    chosen = plain.gather(-1, targets[:, None])[:, 0]
    (chosen * weights).sum().backward()
    assert torch.allclose(ours, chosen, atol=1e-6)
    assert entropy is not None
    assert torch.allclose(entropy, -(plain.exp() * plain).sum(-1), atol=1e-6)
    for mine, parameter in zip(gradients, (hidden, *layer.parameters()), strict=True):
        assert parameter.grad is not None
        assert torch.allclose(mine, parameter.grad, atol=1e-6)


def test_two_backward_passes_over_one_forward_give_the_same_bits() -> None:
    hidden, layer, targets = inputs(torch.float32)
    logprobs, _ = linear_logprobs(hidden, layer, targets, 1.3, True, 3)
    first = torch.autograd.grad(logprobs.sum(), (hidden, layer.weight), retain_graph=True)
    second = torch.autograd.grad(logprobs.sum(), (hidden, layer.weight))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_no_more_than_one_block_of_logits_is_made_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive: list[Any] = []
    most = 0
    make = chunked._block

    def counted(*args: Any) -> Tensor:
        nonlocal most
        import weakref

        assert len(args[0]) <= 2
        block = make(*args)
        alive.append(weakref.ref(block))
        most = max(most, sum(ref() is not None for ref in alive))
        return block

    monkeypatch.setattr(chunked, "_block", counted)
    hidden, layer, targets = inputs(torch.float32)
    linear_logprobs(hidden, layer, targets, 1.0, True, 2)[0].sum().backward()  # type: ignore[no-untyped-call]
    assert len(alive) == 4 + 3  # the last of four blocks is kept for the backward pass
    assert most == 1


def test_a_frozen_layer_gets_no_gradient_and_passes_it_on() -> None:
    hidden, layer, targets = inputs(torch.float32)
    layer.requires_grad_(False)
    linear_logprobs(hidden, layer, targets, rows=3)[0].sum().backward()  # type: ignore[no-untyped-call]
    assert layer.weight.grad is None
    assert hidden.grad is not None


def test_large_logits_neither_overflow_nor_lose_the_entropy() -> None:
    hidden, layer, targets = inputs(torch.float32)
    logprobs, entropy = linear_logprobs(hidden * 1e4, layer, targets, 1.0, True)
    assert entropy is not None
    assert torch.isfinite(logprobs).all()
    assert torch.isfinite(entropy).all() and (entropy.abs() < 1e-3).all()


def test_autocast_products_are_bfloat16_and_sums_float32() -> None:
    hidden, layer, targets = inputs(torch.float32)
    exact, _ = linear_logprobs(hidden, layer, targets)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough, _ = linear_logprobs(hidden, layer, targets, rows=3)
        plain = layer(hidden).float().log_softmax(-1).gather(-1, targets[:, None])[:, 0]
    rough.sum().backward()  # type: ignore[no-untyped-call]
    assert rough.dtype == torch.float32
    assert layer.weight.grad is not None and layer.weight.grad.dtype == torch.float32
    assert torch.allclose(rough, plain, atol=1e-6)
    assert not torch.allclose(rough, exact, atol=1e-6)


def test_a_model_is_split_where_its_output_layer_alone_makes_the_logits() -> None:
    assert logits_factor(tiny_model()) == 1.0


def test_split_and_whole_model_agree() -> None:
    scorer = TargetScorer(tiny_model(seed=1, spread=0.3))
    pack = build_pack(GROUPS)
    split, entropy = scorer.score(pack, 1.3, True)
    scorer.factor = None
    whole, whole_entropy = scorer.score(pack, 1.3, True)
    assert torch.allclose(split, whole, atol=1e-5)
    assert entropy is not None and whole_entropy is not None
    assert torch.allclose(entropy, whole_entropy, atol=1e-5)


def small(config_class: str, model_class: str, **over: Any) -> Any:
    hf: Any = transformers
    sizes = {
        "vocab_size": 64,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "pad_token_id": 0,
    }
    config = getattr(hf, config_class)(**sizes, **over)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return getattr(hf, model_class)(config).eval()


@pytest.mark.parametrize(
    ("names", "over", "factor"),
    [
        (("Gemma2Config", "Gemma2ForCausalLM"), {"final_logit_softcapping": 0.1}, None),
        (("CohereConfig", "CohereForCausalLM"), {"logit_scale": 0.0625}, 0.0625),
        (("GraniteConfig", "GraniteForCausalLM"), {"logits_scaling": 8.0}, 0.125),
    ],
)
def test_a_model_that_scales_its_logits_is_split_and_one_that_caps_them_is_run_whole(
    names: tuple[str, str], over: dict[str, Any], factor: float | None
) -> None:
    model = small(*names, eos_token_id=1, bos_token_id=1, **over)
    scorer = TargetScorer(model)
    assert scorer.factor == pytest.approx(factor)
    group = PromptGroup((1, 2, 3), ((10, 11, 12),), (0,))
    logprobs, entropy = scorer.score(build_pack([group]), 1.3, True)
    with torch.no_grad():
        logits = model(torch.tensor([[1, 2, 3, 10, 11, 12]])).logits[0, 2:5]
    plain = (logits / 1.3).log_softmax(-1)
    expected = plain.gather(-1, torch.tensor([[10], [11], [12]]))[:, 0]
    assert torch.allclose(logprobs, expected, atol=1e-6)
    assert entropy is not None
    assert torch.allclose(entropy, -(plain.exp() * plain).sum(-1), atol=1e-6)


def test_a_model_whose_logits_differ_for_no_stated_reason_is_run_whole() -> None:
    model: Any = tiny_model(spread=0.3)
    forward = model.forward

    def bent(*args: Any, **kwargs: Any) -> Any:
        out = forward(*args, **kwargs)
        out.logits = out.logits + 0.01 * out.logits**2
        return out

    model.forward = bent
    assert logits_factor(model) is None


def test_a_model_with_a_bias_in_its_output_layer_agrees() -> None:
    model = small("PhiConfig", "PhiForCausalLM")
    scorer = TargetScorer(model)
    assert scorer.factor == 1.0 and model.get_output_embeddings().bias is not None
    pack = build_pack(GROUPS)
    split, _ = scorer.score(pack, 1.0)
    scorer.factor = None
    assert torch.allclose(split, scorer.score(pack, 1.0)[0], atol=1e-5)
