"""A step's update as rows for the policy's ranks: who trains on which response, in which mini-batch.

The ranks of a data-parallel group do the same number of rows in every update, so mini-batches are dealt
evenly and filled up with rows that have no part in the loss. OpenRLHF's own shapes: ``actors.experiences``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from prorl_training.algorithm import token_weights
from prorl_training.policy.update import UpdateBatch


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One response to train on. ``index`` numbers the trajectory in the step's batch.

    ``sampler_logprobs`` holds a natural log a response token, ``weights`` each one's weight in the mini-batch's
    loss. A ``stale`` row was sampled by an earlier policy: its old log-probs are its sampler's.
    """

    index: int
    prompt: tuple[int, ...]
    response: tuple[int, ...]
    advantage: float
    sampler_logprobs: tuple[float, ...]
    weights: tuple[float, ...]
    stale: bool

    @property
    def tokens(self) -> int:
        """Return the length of prompt and response."""
        return len(self.prompt) + len(self.response)


Share = list[TrainingRow | None]
"""The rows of one rank in one mini-batch; None fills up."""


def mini_batch_rows(batch: UpdateBatch) -> list[list[TrainingRow]]:
    """Return the rows of each mini-batch, groups in order, responses in order.

    Weights are taken over the whole mini-batch here, so that they are right however its rows are dealt to ranks
    and cut into passes.
    """
    advantages, config = batch.advantages.tolist(), batch.config
    found = []
    for groups in batch.mini_batches:
        responses = [
            (group.prompt, response, index)
            for group in groups
            for response, index in zip(group.responses, group.indices, strict=True)
        ]
        lengths = torch.tensor([len(response) for _, response, _ in responses], dtype=torch.long)
        weights = token_weights(lengths, config.loss.aggregation, config.rollout.max_tokens)
        found.append(
            [
                TrainingRow(
                    index=index,
                    prompt=prompt,
                    response=response,
                    advantage=advantages[index],
                    sampler_logprobs=tuple(batch.sampler_logprobs[index]),
                    weights=tuple(part.tolist()),
                    stale=index in batch.stale,
                )
                for (prompt, response, index), part in zip(
                    responses, torch.split(weights, lengths.tolist()), strict=True
                )
            ]
        )
    return found


def deal(mini_batches: Sequence[Sequence[TrainingRow]], ranks: int) -> list[list[Share]]:
    """Return [rank][mini-batch] shares of one size, long rows spread evenly over the ranks.

    The size is the largest mini-batch divided by the ranks, rounded up; rows go in order of falling
    length, each to the rank with the fewest tokens of those with room. Raises ValueError without a
    mini-batch or a rank.
    """
    if not mini_batches or ranks < 1:
        raise ValueError(f"{len(mini_batches)} mini-batches cannot be dealt to {ranks} ranks")
    size = max(-(-len(rows) // ranks) for rows in mini_batches)
    dealt: list[list[Share]] = [[] for _ in range(ranks)]
    for rows in mini_batches:
        shares: list[Share] = [[] for _ in range(ranks)]
        tokens = [0] * ranks
        for row in sorted(rows, key=lambda r: -r.tokens):
            rank = min((r for r in range(ranks) if len(shares[r]) < size), key=tokens.__getitem__)
            shares[rank].append(row)
            tokens[rank] += row.tokens
        for rank, share in enumerate(shares):
            dealt[rank].append(share + [None] * (size - len(share)))
    return dealt
