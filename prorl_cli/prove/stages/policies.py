"""The policy that stages train and score with, and a batch of random tokens for it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from prorl_cli.prove.stage import Place

if TYPE_CHECKING:
    from prorl_training.policy.update import Policy, UpdateBatch

PROMPT = 64
"""Tokens of a prompt."""


def config_of(place: Place) -> Any:
    """Return the config of an update on this place's device: two mini-batches, KL term, prorl-v2's loss."""
    from prorl_training.config import TrainConfig
    from prorl_training.config.loading import load_config

    prompts, samples, _, pack = sizes(place)
    sets = [
        f"rollout.prompts={prompts}",
        f"rollout.samples={samples}",
        "rollout.temperature=1.0",
        "loss.mini_batches=2",
        f"loss.pack_tokens={pack}",
        "kl.measure_share_every=0",
        "optimizer.grad_clip=1000000000.0",
        f"model.gradient_checkpointing={str(not place.tiny).lower()}",
    ]
    config: TrainConfig = load_config("prorl-v2", None, sets)
    return config


def sizes(place: Place) -> tuple[int, int, int, int]:
    """Return (prompts, samples, tokens of a response, tokens of a pack)."""
    return (8, 4, 24, 256) if place.tiny else (4, 8, 1024, 8192)


def load_policy(place: Place, dtype: str, config: Any) -> tuple[Policy, Any]:
    """Return (policy, tokenizer), computing in ``dtype`` (fp32, bf16) with float32 weights."""
    import torch

    from prorl_inference import load_model, pick_dtype
    from prorl_training.policy.update import Policy

    model, tokenizer = load_model(place.model, place.device, torch.float32)
    return Policy(model, config, pick_dtype(place.device, dtype)), tokenizer


def random_batch(place: Place, config: Any, vocabulary: int) -> UpdateBatch:
    """Return an update of groups of random tokens with random advantages; the same every time."""
    import torch

    from prorl_training.policy.packing import PromptGroup
    from prorl_training.policy.update import UpdateBatch

    draw = random.Random(0)
    prompts, samples, longest, _ = sizes(place)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(draw.randrange(vocabulary) for _ in range(count))

    groups = []
    for i in range(prompts):
        answers = tuple(ids(draw.randint(longest // 2, longest)) for _ in range(samples))
        groups.append(
            PromptGroup(ids(PROMPT), answers, tuple(range(i * samples, (i + 1) * samples)))
        )
    sampled = [[0.0] * len(answer) for group in groups for answer in group.responses]
    advantages = torch.randn(len(sampled), generator=torch.Generator().manual_seed(0))
    return UpdateBatch([groups[::2], groups[1::2]], advantages, sampled, config)
