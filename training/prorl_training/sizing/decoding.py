"""How long a sampler takes for many responses: as many at once as it has room for, the next when one ends.

Every running sequence gets one token an iteration. An iteration takes as long as its slower half, the products or the
reading of weights and cache, and what it costs beside. Leaves out prompts and the reward.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from prorl_training.sizing.cards import Card
from prorl_training.sizing.ratios import Ratios
from prorl_training.sizing.shape import ModelShape
from prorl_training.sizing.work import Tokens, forward_flops, read_bytes


@dataclass(frozen=True, slots=True)
class Sampler:
    """One engine on ``cards`` cards, with numbers of ``width`` bytes and room for ``rows`` sequences."""

    shape: ModelShape
    card: Card
    ratios: Ratios
    rows: int
    cards: int = 1
    width: int = 2

    def iteration_seconds(self, rows: int, cached: float) -> float:
        """Return the seconds of one token for ``rows`` sequences with ``cached`` tokens of cache in all."""
        r = self.ratios
        flops = forward_flops(self.shape, Tokens(rows, cached, rows))
        computing = flops / (self.card.flops * self.cards * r.decode_flops.value)
        reading = read_bytes(self.shape, cached, self.width) / (
            self.card.bandwidth * self.cards * r.decode_bandwidth.value
        )
        beside = r.iteration_seconds.value + rows * r.row_seconds.value
        return max(computing, reading) + beside + self.shape.layers * r.layer_seconds.value

    def seconds(self, lengths: Sequence[int], prompt: int) -> float:
        """Return the seconds for responses of these ``lengths``, in this order, after prompts of ``prompt`` tokens."""
        waiting = iter(lengths)
        running: list[tuple[int, int]] = []  # the iteration at whose end it is done, its length
        cached, now, seconds = 0.0, 0, 0.0
        for length in waiting:
            heapq.heappush(running, (length, length))
            cached += prompt
            if len(running) == self.rows:
                break
        while running:
            steps, rows = running[0][0] - now, len(running)
            seconds += steps * self.iteration_seconds(rows, cached + rows * steps / 2)
            cached += rows * steps
            now += steps
            while running and running[0][0] == now:
                cached -= prompt + heapq.heappop(running)[1]
                following = next(waiting, None)
                if following is not None:
                    heapq.heappush(running, (now + following, following))
                    cached += prompt
        return seconds
