"""The decode loop: one prefill for each distinct prompt, then one token a row a step.

Does: left-padded prefill, repeating each prompt's cache for its samples, stepwise decoding, dropping
finished rows so that cost follows the rows that still run. Leaves out: refilling freed rows (see
:mod:`prorl_inference.refill`; here the batch is fixed, so that it depends on its requests alone), chat
templates, text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prorl_inference.sampling import sample_tokens, uniform_rows
from prorl_inference.types import SamplingParams

if TYPE_CHECKING:
    import torch

COMPACT_AT = 0.875
"""Rows are dropped from the batch once at most this share of it still runs: dropping copies the cache."""


@dataclass(slots=True)
class Row:
    """One sample while it grows: which request and sample it is, its seed, its token budget."""

    request: int
    sample: int
    seed: int
    budget: int
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    stopped: bool = False

    def take(self, token: int, logprob: float, stop_ids: frozenset[int]) -> bool:
        """Append one token; return whether the row ends with it."""
        self.token_ids.append(token)
        self.logprobs.append(logprob)
        self.stopped = token in stop_ids
        return self.stopped or len(self.token_ids) >= self.budget


@dataclass(frozen=True, slots=True)
class PromptRows:
    """One prompt's token ids and the samples wanted of it."""

    token_ids: tuple[int, ...]
    rows: list[Row]


def decode_batch(
    model: Any,
    prompts: Sequence[PromptRows],
    params: SamplingParams,
    stop_ids: frozenset[int],
    on_end: Callable[[list[Row]], None],
) -> None:
    """Sample every row of ``prompts`` to its end, filling ``token_ids``, ``logprobs`` and ``stopped``.

    ``model`` is a Transformers causal language model in eval mode; gradients must be off. A row ends at
    a token of ``stop_ids`` (kept, ``stopped`` true) or when its budget is used up.
    """
    import torch

    live = [row for prompt in prompts for row in prompt.rows]
    steps = max(row.budget for row in live)
    device = model.device
    uniforms = uniform_rows([row.seed for row in live], steps).to(device)
    logits, cache, mask = _start(model, prompts, steps)
    width = mask.shape[1] - steps
    running = torch.ones(len(live), dtype=torch.bool)
    for step in range(steps):
        tokens, logprobs = sample_tokens(
            logits, uniforms[:, step], params.temperature, params.top_p
        )
        ended = _record(live, running, tokens.tolist(), logprobs.tolist(), stop_ids)
        if ended:
            on_end(ended)
        alive = int(running.sum())
        if alive == 0:
            return
        if alive <= COMPACT_AT * len(live):
            keep = running.nonzero().squeeze(-1)
            live = [live[i] for i in keep.tolist()]
            running = running[keep]
            kept = keep.to(device)
            tokens, uniforms, mask = tokens[kept], uniforms[kept], mask[kept]
            cache.batch_select_indices(kept)
        logits, cache = advance(model, tokens, mask[:, : width + step + 1], cache)


def advance(
    model: Any, tokens: torch.Tensor, seen: torch.Tensor, cache: Any
) -> tuple[torch.Tensor, Any]:
    """Feed one token a row; return the next logits ``[rows, vocabulary]`` and the cache.

    Rows that ended may be fed too; their positions stay inside the model's context.
    """
    last = getattr(model.config, "max_position_embeddings", None) or seen.shape[1]
    output = model(
        input_ids=tokens[:, None],
        attention_mask=seen,
        position_ids=seen.sum(dim=-1, keepdim=True).clamp(max=last) - 1,
        past_key_values=cache,
        use_cache=True,
    )
    return output.logits[:, -1], output.past_key_values


def prefill(model: Any, prompts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """Run prompts once, padded at the left; return last logits, cache and mask, a row a prompt."""
    import torch

    from prorl_inference.roomy_cache import make_cache

    width = max(len(prompt) for prompt in prompts)
    ids = torch.zeros((len(prompts), width), dtype=torch.long)
    mask = torch.zeros((len(prompts), width), dtype=torch.long)
    for i, prompt in enumerate(prompts):
        ids[i, width - len(prompt) :] = torch.tensor(prompt)
        mask[i, width - len(prompt) :] = 1
    ids, mask = ids.to(model.device), mask.to(model.device)
    output = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=(mask.cumsum(dim=-1) - 1).clamp(min=0),
        past_key_values=make_cache(model.config),
        use_cache=True,
        logits_to_keep=1,
    )
    return output.logits[:, -1], output.past_key_values, mask


def _start(
    model: Any, prompts: Sequence[PromptRows], steps: int
) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """Run all prompts once; return last logits, cache and mask, repeated to one row a sample.

    The mask ``[rows, longest prompt + steps]`` is already 1 for every token still to come.
    """
    import torch

    logits, cache, mask = prefill(model, [prompt.token_ids for prompt in prompts])
    counts = torch.tensor([len(prompt.rows) for prompt in prompts])
    index = torch.arange(len(prompts)).repeat_interleave(counts).to(model.device)
    cache.batch_select_indices(index)
    mask = torch.nn.functional.pad(mask, (0, steps), value=1)
    return logits[index], cache, mask[index]


def _record(
    live: Sequence[Row],
    running: torch.Tensor,
    tokens: Sequence[int],
    logprobs: Sequence[float],
    stop_ids: frozenset[int],
) -> list[Row]:
    """Append one token to every running row, clear ``running`` where a row ended; return those rows."""
    ended = []
    for i, row in enumerate(live):
        if not running[i]:
            continue
        if row.take(tokens[i], logprobs[i], stop_ids):
            running[i] = False
            ended.append(row)
    return ended
