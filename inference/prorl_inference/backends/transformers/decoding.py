"""The decode loop: one prefill for each distinct prompt, then one token a row a step.

Does: left-padded prefill, repeating each prompt's cache for its samples, stepwise decoding, dropping
finished rows so that cost follows the rows that still run. The batch is fixed, so that it depends on its
requests alone; :mod:`.refill` gives freed places to waiting samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prorl_inference.backends.results import PromptRows, Row
from prorl_inference.backends.transformers.sampling import sample_tokens, uniform_rows
from prorl_inference.types import SamplingParams

if TYPE_CHECKING:
    import torch

COMPACT_AT = 0.875
"""Rows are dropped from the batch once at most this share of it still runs: dropping copies the cache."""


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
    # one row a prompt, then one a sample; the mask is already 1 for every token still to come
    logits, cache, mask = prefill(model, [prompt.token_ids for prompt in prompts])
    width = mask.shape[1]
    counts = torch.tensor([len(prompt.rows) for prompt in prompts])
    index = torch.arange(len(prompts)).repeat_interleave(counts).to(device)
    cache.batch_select_indices(index)
    logits, mask = logits[index], torch.nn.functional.pad(mask, (0, steps), value=1)[index]
    running = torch.ones(len(live), dtype=torch.bool)
    for step in range(steps):
        tokens, logprobs = sample_tokens(
            logits, uniforms[:, step], params.temperature, params.top_p
        )
        ended = []
        sampled = zip(live, tokens.tolist(), logprobs.tolist(), strict=True)
        for i, (row, token, logprob) in enumerate(sampled):
            if running[i] and row.take(token, logprob, stop_ids):
                running[i] = False
                ended.append(row)
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

    from prorl_inference.backends.transformers.kv_cache import make_cache

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
