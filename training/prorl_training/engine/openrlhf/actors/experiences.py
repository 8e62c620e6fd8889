"""Convert ``TrainingRow`` (one response) to OpenRLHF's ``Experience``, and its results back.

Sequences and attention mask are (1, T). Action mask, log-probs and advantages are (1, T - 1): entry t belongs to token
t + 1. The field ``returns``, which only a critic would read, holds the token weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.utils.seqlen_balancing import (
    get_minimum_num_micro_batch_size,
    get_seqlen_balanced_partitions,
)
from torch import Tensor

from prorl_training.algorithm.objective import Tokens
from prorl_training.engine.openrlhf.step import TrainingRow

FILLER = 2
"""Number of tokens of a filler row, which has no response token and so does not affect the loss."""


def blank_experience(row: TrainingRow | None, filler_token: int) -> Any:
    """Return ``row`` as an OpenRLHF Experience with only the sampler's log-probs; None gives a filler row."""
    prompt = (filler_token,) * FILLER if row is None else row.prompt
    response = () if row is None else row.response
    length = len(prompt) + len(response)
    mask = torch.zeros(1, length - 1, dtype=torch.long)
    mask[0, len(prompt) - 1 : len(prompt) - 1 + len(response)] = 1
    sampled = torch.zeros(1, length - 1)
    if row is not None:
        sampled[0, len(prompt) - 1 :] = torch.tensor(row.sampler_logprobs)
    return Experience(
        sequences=torch.tensor([[*prompt, *response]], dtype=torch.long),
        attention_mask=torch.ones(1, length, dtype=torch.long),
        action_mask=mask,
        rollout_log_probs=sampled,
        rewards=torch.zeros(1),
        scores=torch.zeros(1),
        response_length=torch.tensor([len(response)]),
        truncated=torch.tensor([False]),
        total_length=torch.tensor([float(length)]),
        prompts=[""],
        labels=[""],
        images=[None],
        mm_train_inputs=[None],
        info={},
    )


def passes(rows: Sequence[Any], ranks: int, tokens: int, filler_token: int) -> list[Any]:
    """Group rows into forward passes of about ``tokens`` tokens. The number of passes is a multiple of ``ranks``."""
    for number, row in enumerate(rows):
        row.index = [number]
    lengths = [int(row.total_length) for row in rows]
    fewest = get_minimum_num_micro_batch_size(lengths, tokens, 1, 1)
    count = min(-(-fewest // ranks) * ranks, len(rows))
    return [
        Experience.concat_experiences([rows[i] for i in part], filler_token)
        for part in get_seqlen_balanced_partitions(lengths, count, False)
    ]


def logprobs_by_row(made: Sequence[Any], count: int) -> list[tuple[Tensor, Tensor | None]]:
    """Return (policy, reference) log-probs (T - 1,) of ``count`` rows, given the results of ``make_experience``."""
    pairs: list[tuple[Tensor, Tensor | None] | None] = [None] * count
    for batch in made:
        for place, index in enumerate(batch.index):
            width = int(batch.attention_mask[place].sum()) - 1
            base = batch.base_action_log_probs
            pairs[index] = (
                batch.action_log_probs[place, :width],
                None if base is None else base[place, :width],
            )
    missing = [i for i, pair in enumerate(pairs) if pair is None]
    if missing:
        raise RuntimeError(f"OpenRLHF returned no log-probs for rows {missing[:5]}")
    return [pair for pair in pairs if pair is not None]


def trained_experience(
    row: TrainingRow | None, seen: tuple[Tensor, Tensor | None], filler_token: int
) -> Any:
    experience = blank_experience(row, filler_token)
    policy, reference = seen
    mask = experience.action_mask.float()
    experience.advantages = (0.0 if row is None else row.advantage) * mask
    experience.returns = torch.zeros_like(mask)
    if row is not None:
        experience.returns[0, len(row.prompt) - 1 :] = torch.tensor(row.weights)
    old = experience.rollout_log_probs if row is not None and row.stale else policy.unsqueeze(0)
    experience.action_log_probs = old
    experience.base_action_log_probs = None if reference is None else reference.unsqueeze(0)
    return experience


def response_tokens(experience: Any, logprobs: Tensor) -> Tokens:
    """Return the tokens of all responses in ``experience``. ``logprobs`` (rows, T - 1) are the policy's, with gradient."""
    mask = experience.action_mask.bool()
    lengths = mask.sum(dim=1)

    def flat(values: Tensor) -> Tensor:
        return values[mask].float()

    base = experience.base_action_log_probs
    return Tokens(
        logprobs=flat(logprobs),
        old=flat(experience.action_log_probs),
        sampled=flat(experience.rollout_log_probs),
        reference=None if base is None else flat(base),
        advantages=flat(experience.advantages),
        weights=flat(experience.returns),
        lengths=lengths[lengths > 0],
    )
