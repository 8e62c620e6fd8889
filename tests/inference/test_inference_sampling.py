from __future__ import annotations

import math

import pytest
import torch

from prorl_inference.backends.transformers.decoding import (
    invert_cdf,
    nucleus_floor,
    sample_tokens,
    uniform_rows,
)

PINNED = [0.3035680343067586, 0.8487087496857769, 0.1561347780434731]


def test_a_row_of_uniforms_depends_on_its_seed_alone() -> None:
    together = uniform_rows([3, 7, 9], 40)
    assert torch.equal(together[1], uniform_rows([7], 40)[0])
    assert torch.equal(together[1, :5], uniform_rows([7], 5)[0])
    assert not torch.equal(together[0], together[1])
    assert bool((together >= 0).all()) and bool((together < 1).all())


def test_the_uniforms_of_a_seed_never_change() -> None:
    # Philox4x64-10, key 1, numpy's raw words >> 11, times 2^-53: a change here invalidates every journal.
    row = uniform_rows([1], 3)[0].tolist()
    assert row == PINNED


def test_samples_follow_the_probabilities() -> None:
    logits = torch.tensor([[0.0, math.log(2), math.log(5), -math.inf]]).repeat(40000, 1)
    uniforms = (torch.arange(40000, dtype=torch.float64) + 0.5) / 40000
    tokens, logprobs = sample_tokens(logits, uniforms, 1.0, 1.0)
    # probabilities 1/8, 2/8, 5/8, 0 of 40000 evenly spread points
    assert torch.bincount(tokens, minlength=4).tolist() == [5000, 10000, 25000, 0]
    assert logprobs[0].item() == pytest.approx(math.log(1 / 8), abs=1e-6)
    assert logprobs[-1].item() == pytest.approx(math.log(5 / 8), abs=1e-6)


def test_temperature_divides_the_logits_and_the_logprobs_say_so() -> None:
    logits = torch.tensor([[0.0, 2.0]])
    tokens, logprobs = sample_tokens(logits, torch.tensor([0.0], dtype=torch.float64), 2.0, 1.0)
    # logits / 2 = 0, 1: p(0) = 1 / (1 + e)
    assert tokens.item() == 0
    assert logprobs.item() == pytest.approx(-math.log(1 + math.e), abs=1e-6)


def test_temperature_zero_takes_the_best_token_with_its_logprob_at_temperature_one() -> None:
    logits = torch.tensor([[0.0, 2.0]])
    tokens, logprobs = sample_tokens(logits, torch.tensor([0.0], dtype=torch.float64), 0.0, 1.0)
    assert tokens.item() == 1
    assert logprobs.item() == pytest.approx(-math.log(1 + math.exp(-2)), abs=1e-6)


def test_top_p_keeps_the_smallest_set_that_reaches_it_and_leaves_the_logprobs_alone() -> None:
    logits = torch.tensor([[0.1, 0.4, 0.2, 0.3]]).log().repeat(1000, 1)
    uniforms = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    tokens, logprobs = sample_tokens(logits, uniforms, 1.0, 0.6)
    # 0.4 is too little, 0.4 + 0.3 suffices: tokens 1 and 3 in the ratio 4 : 3
    counts = torch.bincount(tokens, minlength=4).tolist()
    assert counts[0] == counts[2] == 0
    assert counts[1] == round(1000 * 4 / 7)
    assert logprobs[0].item() == pytest.approx(math.log(0.4), abs=1e-6)


def test_a_nucleus_wider_than_the_first_look_equals_the_full_sort() -> None:
    probs = torch.softmax(torch.linspace(0, 1, 5000), dim=0).flip(0).repeat(2, 1)
    floor = nucleus_floor(probs, 0.9)
    ordered = probs[0].sort(descending=True).values
    needed = int((ordered.double().cumsum(0) < 0.9).sum())
    assert needed > 1024
    assert floor[0].item() == floor[1].item() == ordered[needed].item()


def test_the_two_level_search_equals_a_running_sum_over_the_vocabulary() -> None:
    generator = torch.Generator().manual_seed(1)
    probs = torch.softmax(torch.randn(64, 1000, generator=generator) * 3, dim=-1)
    uniforms = torch.rand(64, generator=generator, dtype=torch.float64)
    cdf = probs.cumsum(dim=-1, dtype=torch.float64)
    expected = torch.searchsorted(cdf, uniforms[:, None] * cdf[:, -1:], right=True).squeeze(-1)
    assert torch.equal(invert_cdf(probs, uniforms), expected)


@pytest.mark.parametrize("quantile", [0.0, 1.0 - 2.0**-53])
def test_the_extreme_quantiles_never_land_on_an_impossible_token(quantile: float) -> None:
    probs = torch.zeros(1, 600)
    probs[0, 290], probs[0, 310] = 0.5, 0.5
    token = invert_cdf(probs, torch.tensor([quantile], dtype=torch.float64)).item()
    assert token == (290 if quantile == 0.0 else 310)
