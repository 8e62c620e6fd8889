"""Turn logits into tokens: temperature, top-p, one uniform number a row, log-probs.

Pure functions over tensors. Leaves out: penalties, top-k, beams, the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_BLOCK = 256
_NUCLEUS_FIRST = 1024
"""Most nuclei are smaller than this many tokens; rows that are not are sorted in full."""


def uniform_rows(seeds: Sequence[int], count: int) -> torch.Tensor:
    """Return float64 uniforms in [0, 1), shape ``[len(seeds), count]``, on the CPU.

    Row i is a function of ``seeds[i]`` alone: the Philox counter generator keyed by the seed (Salmon et
    al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011), its top 53 bits. Raw words are used
    because numpy promises their stream to stay the same between versions. Seeds are taken modulo 2^64.
    """
    import numpy as np
    import torch

    out = np.empty((len(seeds), count), dtype=np.float64)
    for row, seed in enumerate(seeds):
        words = np.random.Philox(key=seed % 2**64).random_raw(count)
        out[row] = (words >> np.uint64(11)) * 2.0**-53
    return torch.from_numpy(out)


def sample_tokens(
    logits: torch.Tensor, uniforms: torch.Tensor, temperature: float, top_p: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (token ids, log-probs), both of shape ``[rows]``, for logits of shape ``[rows, vocab]``.

    ``uniforms`` (float64, ``[rows]``) picks by inverse CDF in token order over the nucleus: the smallest
    set of most likely tokens whose probability reaches ``top_p`` (Holtzman et al., 2020). Log-probs are
    natural logs in fp32 under the temperature and before top-p. Temperature 0 takes the most likely
    token and gives its log-prob at temperature 1. Each row depends on nothing but itself.
    """
    import torch

    scaled = logits.float()
    if temperature not in (0.0, 1.0):
        scaled = scaled / temperature
    probs = torch.softmax(scaled, dim=-1)
    if temperature == 0.0:
        tokens = probs.argmax(dim=-1)
    else:
        kept = probs
        if top_p < 1.0:
            kept = probs.masked_fill(probs < nucleus_floor(probs, top_p)[:, None], 0.0)
        tokens = invert_cdf(kept, uniforms)
    return tokens, probs.gather(-1, tokens[:, None]).squeeze(-1).log()


def invert_cdf(probs: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Return, for each row of ``probs`` ``[rows, vocab]``, the token at quantile ``uniforms[row]``.

    Rows need not sum to 1. Sums run in two levels (blocks, then inside one block), which is many times
    faster than a running sum over a large vocabulary: blocks add up in fp32, as exact as the probabilities
    themselves, all running sums are in fp64. A token of probability 0 is never returned.
    """
    import torch

    padded = torch.nn.functional.pad(probs, (0, -probs.shape[-1] % _BLOCK))
    blocks = padded.view(probs.shape[0], -1, _BLOCK)
    outer = blocks.sum(dim=-1).cumsum(dim=-1, dtype=torch.float64)
    point = uniforms[:, None] * outer[:, -1:]
    block = _first_above(outer, point)
    before = torch.nn.functional.pad(outer, (1, 0)).gather(-1, block)
    chosen = blocks[torch.arange(len(probs), device=probs.device), block.squeeze(-1)]
    inner = chosen.cumsum(dim=-1, dtype=torch.float64)
    return (block * _BLOCK + _first_above(inner, point - before)).squeeze(-1)


def _first_above(cdf: torch.Tensor, point: torch.Tensor) -> torch.Tensor:
    """Return the first index where ``cdf`` exceeds ``point`` ``[rows, 1]``, which is kept below its end."""
    import torch

    total = cdf[:, -1:]
    inside = point.minimum(torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cdf, inside, right=True)


def nucleus_floor(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """Return, for each row of ``probs`` ``[rows, vocab]``, the probability of the nucleus's last token.

    Tokens tied with the last one count as inside. Looks at the first ``_NUCLEUS_FIRST`` tokens only,
    and sorts in full just the rows whose nucleus is larger.
    """
    first = probs.topk(min(_NUCLEUS_FIRST, probs.shape[-1]), dim=-1).values
    floor, reached = _floor(first, top_p)
    if not bool(reached.all()):
        wide = (~reached).nonzero().squeeze(-1)
        ordered = probs[wide].sort(dim=-1, descending=True).values
        floor[wide] = _floor(ordered, top_p)[0]
    return floor


def _floor(ordered: torch.Tensor, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the probability at which the running sum reaches ``top_p``, and whether it does."""
    import torch

    mass = ordered.cumsum(dim=-1, dtype=torch.float64)
    last = (mass < top_p).sum(dim=-1)
    reached = last < ordered.shape[-1]
    last = last.clamp(max=ordered.shape[-1] - 1)
    return ordered.gather(-1, last[:, None]).squeeze(-1), reached
