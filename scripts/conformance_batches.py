"""Random batches for the conformance kit, in the shapes that the trainers expect.

A batch concatenates trajectories of different lengths, including one-token answers, a group of equal rewards and, if
``extreme``, log-ratios far beyond every clamp.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

EXTREME_GAPS = tuple(
    gap for size in (0.5, 4.4, 4.5, 9.9, 10.1, 19.0, 25.0, 60.0) for gap in (size, -size)
)
"""Log-ratios on both sides of sqrt(20), of 10 and of 20."""


@dataclass(frozen=True)
class Batch:
    """B trajectories of ``lengths`` tokens; ``rewards``, ``groups`` and ``truncated`` have B values, other lists N."""

    seed: int
    lengths: list[int]
    groups: list[int]
    rewards: list[float]
    truncated: list[bool]
    logprobs: list[float]
    old_logprobs: list[float]
    ref_logprobs: list[float]
    sampler_logprobs: list[float]
    advantages: list[float]

    def stored(self, *names: str) -> dict[str, Any]:
        """Return the named fields, with the seed and the lengths."""
        values = asdict(self)
        return {name: values[name] for name in ("seed", "lengths", *names)}

    def padded(self, name: str, fill: float = 7.25, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return a per-token field as (B, T), padded with ``fill``."""
        flat = torch.tensor(getattr(self, name), dtype=dtype)
        return pad(flat, self.lengths, fill)

    def mask(self, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return (B, T): 1 for a token, 0 for padding."""
        return pad(torch.ones(sum(self.lengths), dtype=dtype), self.lengths, 0.0)


def pad(flat: Tensor, lengths: list[int], fill: float) -> Tensor:
    """Return the values (N,) as rows (B, T), padded on the right with ``fill``."""
    rows = torch.full((len(lengths), max(lengths)), fill, dtype=flat.dtype)
    at = 0
    for row, length in enumerate(lengths):
        rows[row, :length] = flat[at : at + length]
        at += length
    return rows


def unpad(rows: Tensor, lengths: list[int]) -> list[float]:
    """Return the N token values of (B, T)."""
    return [float(x) for row, length in zip(rows, lengths, strict=True) for x in row[:length]]


def draw(seed: int, groups: int, size: int | None, extreme: bool = False) -> Batch:
    """Return the batch of ``seed``, with ``groups`` groups of ``size`` trajectories (None: 2 to 5)."""
    rng = random.Random(f"conformance {seed}")
    sizes = [size or rng.randint(2, 5) for _ in range(groups)]
    group_of = [group for group, count in enumerate(sizes) for _ in range(count)]
    lengths = [rng.choice((1, 1, 2, 3, 5, 8)) for _ in group_of]
    rewards = [rng.choice((0.0, 1.0, 0.5, round(rng.random(), 3))) for _ in group_of]
    rewards = [
        0.1 if group == groups - 1 else value
        for group, value in zip(group_of, rewards, strict=True)
    ]
    total = sum(lengths)
    old = [round(-rng.expovariate(0.8) - 1e-3, 4) for _ in range(total)]

    def near(width: float) -> list[float]:
        return [round(x + rng.gauss(0, width), 4) for x in old]

    logprobs, ref, sampler = near(0.3), near(0.5), near(0.4)
    if extreme:
        gaps = [rng.choice(EXTREME_GAPS) for _ in range(total)]
        logprobs = [round(x + gap, 4) for x, gap in zip(old, gaps, strict=True)]
        ref = [round(x + rng.choice(EXTREME_GAPS), 4) for x in logprobs]
        sampler = [round(x + rng.choice(EXTREME_GAPS[:8]), 4) for x in old]
    return Batch(
        seed=seed,
        lengths=lengths,
        groups=group_of,
        rewards=rewards,
        truncated=[rng.random() < 0.4 for _ in group_of],
        logprobs=logprobs,
        old_logprobs=old,
        ref_logprobs=ref,
        sampler_logprobs=sampler,
        advantages=[round(rng.gauss(0, 1), 4) for _ in range(total)],
    )


def usual() -> list[Batch]:
    """Return the batches for most functions."""
    return [
        draw(0, 2, 3),
        draw(1, 3, 4),
        draw(2, 2, 2, extreme=True),
        draw(3, 3, 3, extreme=True),
        draw(4, 1, 2),
        draw(5, 4, 5, extreme=True),
    ]


def family(
    function: str, cases: list[Any], batches: Sequence[Any], *fields: str, dtype: str = ""
) -> dict[str, Any]:
    """Return the content of a golden file, with the named fields of its batches (dicts are stored as they are).

    ``dtype`` is given if it is not float64.
    """
    head = {"function": function} | ({"dtype": dtype} if dtype else {})
    stored = [b.stored(*fields) if isinstance(b, Batch) else b for b in batches]
    return head | {"batches": stored, "cases": cases}


def case(batch: int, options: Any, outputs: Any, gradient: Any = None) -> dict[str, Any]:
    """Return the case of one set of options, by default without a gradient."""
    result = {"batch": batch, "options": options, "outputs": outputs}
    return result if gradient is None else result | {"gradient": gradient}
