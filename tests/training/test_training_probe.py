"""Measuring a device and a policy on it: what is counted beside the times."""

from __future__ import annotations

import pytest
import torch

from prorl_inference import Request, SamplingParams, TransformersGenerator
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_training.config import TrainConfig
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import Policy, UpdateBatch
from prorl_training.sizing.cards import Card
from prorl_training.sizing.probe import pass_tokens, time_passes, time_sampling
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.work import Tokens, forward_flops, read_bytes

CPU = torch.device("cpu")


def batch() -> UpdateBatch:
    """Two mini-batches of one group: a prompt of 5 tokens and two responses, of 3 and of 4."""
    config = TrainConfig.model_validate(
        {
            "rollout": {"prompts": 2, "samples": 2, "temperature": 1.0},
            "loss": {"mini_batches": 2, "pack_tokens": 64},
            "kl": {"coefficient": 0.1},
        }
    )
    groups = [
        PromptGroup((1, 2, 3, 4, 5), ((6, 7, 8), (9, 10, 11, 12)), (i, i + 1)) for i in (0, 2)
    ]
    sampled = [[0.0] * 3, [0.0] * 4] * 2
    return UpdateBatch([groups[:1], groups[1:]], torch.ones(4), sampled, config)


def test_a_pack_counts_each_prompt_once_and_what_its_tokens_see() -> None:
    # in each pack 5 prompt tokens, 2 and 3 response tokens; a response sees its prompt and itself
    seen = 2 * (15 + (6 + 7) + (6 + 7 + 8))
    assert pass_tokens(batch(), 64, dense=False) == Tokens(20, seen, 14)
    assert pass_tokens(batch(), 64, dense=True) == Tokens(20, 2 * 10 * 10, 14)


def test_times_of_an_update_come_with_its_operations() -> None:
    model = tiny_model()
    shape = ModelShape.from_config(model.config.to_dict())
    times = time_passes(Policy(model, batch().config, torch.float32), batch(), shape, repeats=1)
    tokens = pass_tokens(batch(), 64, dense=True)
    assert times.score_flops == forward_flops(shape, tokens)
    assert times.update_flops == 3 * times.score_flops
    assert (times.tokens, times.optimizer_updates) == (14, 2)
    card = Card(flops=times.score_flops / times.score_seconds, bandwidth=1.0, source="test")
    assert times.ratios(card)["score_flops"] == pytest.approx(1.0)


def test_sampling_counts_the_tokens_that_it_made() -> None:
    model = tiny_model()
    shape = ModelShape.from_config(model.config.to_dict())
    generator = TransformersGenerator(model, byte_tokenizer(), batch_size=4)
    requests = [Request(({"role": "user", "content": "abc"},), (1, 2, 3, 4))]
    params = SamplingParams(1.0, 1.0, 2)
    times = time_sampling(generator, requests, params, shape, 4, 4, CPU)
    assert (len(times.lengths), times.prompt, times.iterations) == (4, 5, 2)
    running = [4, sum(length > 1 for length in times.lengths)]
    cached = [rows * (5 + step + 1) for step, rows in enumerate(running)]
    pairs = list(zip(running, cached, strict=True))
    assert times.flops == sum(forward_flops(shape, Tokens(n, c, n)) for n, c in pairs)
    assert times.read == sum(read_bytes(shape, c, 4) for c in cached)
