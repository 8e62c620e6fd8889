"""One step's work for the policy's processes.

Ranks must process equally many rows per update, so mini-batches are divided evenly and padded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch

from prorl_training.algorithm.objective import token_weights
from prorl_training.config import KLConfig, LossConfig, TrainConfig
from prorl_training.policy.update import UpdateBatch

Checksum = dict[str, float]
"""Sum, sum of squares (float64) and number of all weights. Tied weights count once."""
CHECKSUM_BLOCK = 1 << 22
"""Number of weights converted to float64 at a time (32 MiB)."""


def checksum(
    parameters: Iterable[torch.Tensor],
    gathered: Callable[[torch.Tensor], AbstractContextManager[object]] = nullcontext,
) -> Checksum:
    """Return the checksum of ``parameters``. A sharded parameter is complete inside ``gathered(parameter)``."""
    total = squares = count = 0.0
    for parameter in parameters:
        with gathered(parameter):
            sums = torch.zeros(2, dtype=torch.float64, device=parameter.device)
            for block in torch.split(parameter.detach().reshape(-1), CHECKSUM_BLOCK):
                values = block.double()
                sums += torch.stack((values.sum(), values.dot(values)))
            total, squares = (x + y for x, y in zip((total, squares), sums.tolist(), strict=True))
            count += parameter.numel()
    return {"sum": total, "squares": squares, "count": count}


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """One response of a step. ``index`` is its number in the step's batch.

    ``sampler_logprobs`` and ``weights`` have one entry per response token. A ``stale`` row was sampled by an earlier
    policy, so its old log-probs are the sampler's.
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
        return len(self.prompt) + len(self.response)


Share = list[TrainingRow | None]
"""Rows of one rank in one mini-batch; None is padding."""


def mini_batch_rows(batch: UpdateBatch) -> list[list[TrainingRow]]:
    """Return the rows of each mini-batch, with token weights of the whole mini-batch."""
    advantages, config = batch.advantages.tolist(), batch.config
    mini_batches = []
    for groups in batch.mini_batches:
        responses = [
            (group.prompt, response, index)
            for group in groups
            for response, index in zip(group.responses, group.indices, strict=True)
        ]
        lengths = torch.tensor([len(response) for _, response, _ in responses], dtype=torch.long)
        weights = token_weights(lengths, config.loss.aggregation, config.rollout.max_tokens)
        mini_batches.append(
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
    return mini_batches


def deal(mini_batches: Sequence[Sequence[TrainingRow]], ranks: int) -> list[list[Share]]:
    """Divide each mini-batch among ranks; return shares [rank][mini-batch] of equally many rows, padded with None.

    Ranks get about equally many tokens. Raises ValueError without a mini-batch or rank.
    """
    if not mini_batches or ranks < 1:
        raise ValueError(
            f"{len(mini_batches)} mini-batches cannot be distributed over {ranks} ranks"
        )
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


@dataclass(frozen=True, slots=True)
class StepPlan:
    """Settings of a step's gradient updates, one update for each of ``learning_rates``.

    ``rows`` is the number of rows in an update over all ranks, including padding.
    """

    learning_rates: tuple[float, ...]
    rows: int
    temperature: float
    loss: LossConfig
    kl: KLConfig
    norm_limit: float = math.inf
    """Updates with a larger gradient norm before clipping are skipped."""


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """The losses of one mini-batch, and its gradient norm before clipping (NaN if not finite)."""

    loss: float
    policy_loss: float
    grad_norm: float
    applied: bool


@dataclass(frozen=True, slots=True)
class FitReport:
    """A step's updates, and means over the step's response tokens. ``kl`` is None without a reference."""

    updates: tuple[UpdateReport, ...]
    kl: float | None
    entropy: float
    clipped_fraction: float
    masked_fraction: float


def step_plan(config: TrainConfig, rows: int, rates: tuple[float, ...], limit: float) -> StepPlan:
    return StepPlan(rates, rows, config.rollout.temperature, config.loss, config.kl, limit)
