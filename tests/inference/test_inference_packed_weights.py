from __future__ import annotations

from typing import Any

import pytest
import torch

from prorl_inference.backends.transformers import packed_weights as module
from prorl_inference.backends.transformers.packed_weights import packed_weights
from prorl_inference.testing import tiny_model

IDS = torch.arange(24).view(4, 6)


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        result: torch.Tensor = model(input_ids=IDS).logits
    return result


def layers(model: Any) -> list[Any]:
    return [m for m in model.modules() if type(m) is torch.nn.Linear]


def packed(model: Any) -> list[Any]:
    return [m for m in layers(model) if "forward" in vars(m)]


def test_logits_are_those_of_the_plain_layers_and_the_layers_come_back() -> None:
    model = tiny_model(seed=3, spread=0.2)
    plain = logits(model)
    with packed_weights(model, 4):
        assert packed(model) == layers(model)
        assert torch.allclose(logits(model), plain, atol=1e-4)
    assert not packed(model)
    assert torch.equal(logits(model), plain)


def test_a_layers_bias_is_added() -> None:
    layer = torch.nn.Linear(8, 5)
    with torch.no_grad(), packed_weights(torch.nn.Sequential(layer), 2):
        got = layer(torch.ones(2, 8))
    assert torch.allclose(got, layer(torch.ones(2, 8)), atol=1e-5)


def test_weights_changed_between_two_blocks_are_seen() -> None:
    model = tiny_model(seed=3, spread=0.2)
    with packed_weights(model, 4):
        before = logits(model)
    with torch.no_grad():
        layers(model)[0].weight.mul_(3.0)
    with packed_weights(model, 4):
        after = logits(model)
    assert not torch.allclose(before, after, atol=1e-2)
    assert torch.allclose(after, logits(model), atol=1e-4)


def test_the_largest_layers_are_packed_first_and_only_so_many_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model: Any = tiny_model(seed=3)
    head = model.get_output_embeddings()
    monkeypatch.setattr(module, "MOST_BYTES", head.weight.nbytes)
    with packed_weights(model, 4):
        assert packed(model) == [head]


def test_other_types_and_autocast_keep_their_layers() -> None:
    half: Any = tiny_model()
    half.to(torch.bfloat16)
    with packed_weights(half, 4):
        assert not packed(half)
    model = tiny_model()
    with torch.autocast("cpu", torch.bfloat16), packed_weights(model, 4):
        assert not packed(model)


def test_an_error_inside_the_block_leaves_plain_layers() -> None:
    model = tiny_model()
    with pytest.raises(RuntimeError, match="in the middle"), packed_weights(model, 4):
        raise RuntimeError("in the middle")
    assert not packed(model)
