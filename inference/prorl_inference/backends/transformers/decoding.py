"""Sample fixed batches: run each distinct prompt once, then sample one token per row and step."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from prorl_inference.tokens import PromptRows, Row, vocabulary
from prorl_inference.types import ModelError, SamplingParams

if TYPE_CHECKING:
    import torch

COMPACT_AT = 0.875
"""Ended rows are dropped when at most this fraction of the rows is running. Dropping copies the cache."""
_CACHE_NAMES = ("cache", "past_key_values", "cache_params")
"""Possible names of the cache argument of a model's forward pass."""
STOP_CHECK = 8
"""Number of tokens between checks for ended rows on a GPU, where each check waits for the device."""
_BLOCK = 256
_NUCLEUS_FIRST = 1024
"""Number of most likely tokens that contain the top-p set of most rows."""


def decode_batch(
    model: Any, prompts: Sequence[PromptRows], params: SamplingParams, stop_ids: frozenset[int]
) -> Iterator[list[Row]]:
    """Sample all rows of ``prompts``. Yields, after each step, the rows that ended.

    ``model`` is a Transformers causal language model in eval mode, used without gradients. A row ends after a token in
    ``stop_ids`` or when its token budget is used up. A resumed row's prompt includes its earlier tokens.
    """
    import torch

    live = [row for prompt in prompts for row in prompt.rows]
    steps = max(row.budget - len(row.token_ids) for row in live)
    device = model.device
    uniforms = uniform_rows(
        [row.seed for row in live], steps, [len(row.token_ids) for row in live]
    ).to(device)
    # first one row per prompt, then one per sample; the mask is 1 for all future tokens
    logits, cache, mask = prefill(model, [prompt.token_ids for prompt in prompts])
    width = mask.shape[1]
    counts = torch.tensor([len(prompt.rows) for prompt in prompts])
    index = torch.arange(len(prompts)).repeat_interleave(counts).to(device)
    cache.reorder_cache(index)
    logits, mask = logits[index], torch.nn.functional.pad(mask, (0, steps), value=1)[index]
    running = torch.ones(len(live), dtype=torch.bool)
    step, together = 0, tokens_between_checks(device)
    while step < steps:
        drawn: list[tuple[torch.Tensor, torch.Tensor]] = []
        for _ in range(min(together, steps - step)):
            if drawn:
                logits, cache = advance(model, drawn[-1][0], mask[:, : width + step], cache)
            picks = uniforms[:, step]
            drawn.append(sample_tokens(logits, picks, params.temperature, params.top_p))
            step += 1
        tokens = drawn[-1][0]
        ended = []
        for i, (row, sampled) in enumerate(zip(live, sampled_rows(drawn), strict=True)):
            if running[i] and row.take(sampled, stop_ids):
                running[i] = False
                ended.append(row)
        yield ended
        alive = int(running.sum())
        if alive == 0:
            return
        if alive <= COMPACT_AT * len(live):
            keep = running.nonzero().squeeze(-1)
            live = [live[i] for i in keep.tolist()]
            running = running[keep]
            selected = keep.to(device)
            tokens, uniforms, mask = tokens[selected], uniforms[selected], mask[selected]
            cache.reorder_cache(selected)
        logits, cache = advance(model, tokens, mask[:, : width + step], cache)


def tokens_between_checks(device: torch.device) -> int:
    """Return the number of tokens to sample between two checks for ended rows: 1 on a CPU, more on a GPU."""
    return 1 if device.type == "cpu" else STOP_CHECK


def sampled_rows(
    drawn: Sequence[tuple[torch.Tensor, torch.Tensor]],
) -> list[list[tuple[int, float]]]:
    """Return the (token, log-prob) pairs of each row. ``drawn`` has tokens and log-probs ``[rows]`` of each step."""
    import torch

    one = len(drawn) == 1
    tokens, logprobs = drawn[0] if one else (torch.cat(part) for part in zip(*drawn, strict=True))
    pairs = list(zip(*to_host(tokens, logprobs), strict=True))
    rows = len(drawn[0][0])
    return [pairs[row::rows] for row in range(rows)]


def to_host(tokens: torch.Tensor, logprobs: torch.Tensor) -> tuple[list[int], list[float]]:
    """Copy tokens and log-probs to lists with a single device synchronisation."""
    import torch

    ids, values = torch.stack((tokens.double(), logprobs.double())).tolist()
    return [int(token) for token in ids], values


def advance(
    model: Any, tokens: torch.Tensor, mask: torch.Tensor, cache: Any
) -> tuple[torch.Tensor, Any]:
    """Run one token per row through the model; return the next logits ``[rows, vocabulary]`` and the cache."""
    name = cache_name(model)
    last = getattr(model.config, "max_position_embeddings", None) or mask.shape[1]
    output = model(
        input_ids=tokens[:, None],
        attention_mask=None if is_recurrent(model) else mask,  # the past is in the state
        position_ids=mask.sum(dim=-1, keepdim=True).clamp(max=last) - 1,
        use_cache=True,
        **{name: cache},
    )
    return output.logits[:, -1, : vocabulary(model)], getattr(output, name)


def prefill(model: Any, prompts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """Run left-padded prompts. Returns (last logits ``[rows, vocabulary]``, cache, mask ``[rows, tokens]``)."""
    import torch

    from prorl_inference.backends.transformers.attention import make_cache

    name = cache_name(model)
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
        use_cache=True,
        logits_to_keep=1,
        **{name: make_cache(model.config)},
    )
    return output.logits[:, -1, : vocabulary(model)], getattr(output, name), mask


def cache_name(model: Any) -> str:
    """Return the name of the cache argument of the model's forward pass, or ""."""
    parameters = _forward_parameters(model)
    return next((name for name in _CACHE_NAMES if name in parameters), "")


def is_recurrent(model: Any) -> bool:
    """Return whether all layers are recurrent, so that the model needs no position ids."""
    return "position_ids" not in _forward_parameters(model)


def _forward_parameters(model: Any) -> frozenset[str]:
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return _parameter_names(type(base).forward)


@functools.cache
def _parameter_names(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def check_decoding(model: Any) -> None:
    """Raise ModelError if padding, or decoding token by token, changes the model's log-probs."""
    import torch

    half = next(model.parameters()).dtype != torch.float32
    size = vocabulary(model) or model.get_input_embeddings().weight.shape[0]
    ids = (torch.arange(3, 13) % size).tolist()
    sequences = [ids[:2], ids[2:6]]
    off = 0.0
    try:
        if not cache_name(model):
            raise ValueError("its forward pass accepts no cache")
        with torch.no_grad():
            logits, cache, mask = prefill(model, sequences)
            cache.reorder_cache(index := torch.tensor([0, 1, 1], device=model.device))
            logits, mask = logits[index], mask[index]
            sequences = [list(sequences[i]) for i in index.tolist()]
            for step in range(3):
                for row, sequence in zip(logits, sequences, strict=True):
                    inputs = torch.tensor([sequence], device=model.device)
                    alone = model(input_ids=inputs, use_cache=False).logits[0, -1, : len(row)]
                    gap = row.float().log_softmax(-1) - alone.float().log_softmax(-1)
                    off = max(off, float(gap.abs().max().nan_to_num(torch.inf)))
                for sequence, token in zip(sequences, ids[6 + step :], strict=False):
                    sequence.append(token)
                tokens = torch.tensor([s[-1] for s in sequences], device=model.device)
                mask = torch.nn.functional.pad(mask, (0, 1), value=1)
                logits, cache = advance(model, tokens, mask, cache)
        trouble = f"log-probs are off by {off:.2g}" if off > (0.25 if half else 0.01) else ""
    except (AttributeError, TypeError, ValueError, RuntimeError, IndexError, KeyError) as error:
        trouble = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    if trouble:
        raise ModelError(
            f"{type(model).__name__} cannot be sampled by the transformers backend ({trouble}): use another model, or vLLM"
        )


def uniform_rows(
    seeds: Sequence[int], count: int, starts: Sequence[int] | None = None
) -> torch.Tensor:
    """Return uniform random numbers in [0, 1) as float64 ``[len(seeds), count]`` on the CPU.

    Row i depends only on ``seeds[i]``, and begins after its first ``starts[i]`` numbers.
    """
    import numpy as np
    import torch

    out = np.empty((len(seeds), count), dtype=np.float64)
    for row, seed in enumerate(seeds):
        start = 0 if starts is None else starts[row]
        # top 53 bits of Philox words (Salmon et al., SC 2011), a stream that numpy promises to keep
        words = np.random.Philox(key=seed % 2**64).random_raw(start + count)[start:]
        out[row] = (words >> np.uint64(11)) * 2.0**-53
    return torch.from_numpy(out)


def sample_tokens(
    logits: torch.Tensor, uniforms: torch.Tensor, temperature: float, top_p: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (token ids, log-probs), both ``[rows]``, for logits ``[rows, vocab]``.

    Tokens are the quantiles ``uniforms`` (float64, ``[rows]``) of the top-p distribution (nucleus sampling, Holtzman et
    al., 2020). Log-probs are natural logs in fp32 after temperature, before top-p. Temperature 0 is greedy, with
    log-probs at temperature 1.
    """
    import torch

    scaled = logits.float()
    if temperature not in (0.0, 1.0):
        scaled = scaled / temperature
    probs = torch.softmax(scaled, dim=-1)
    if temperature == 0.0:
        tokens = probs.argmax(dim=-1)
    else:
        nucleus = probs
        if top_p < 1.0:
            nucleus = probs.masked_fill(probs < nucleus_floor(probs, top_p)[:, None], 0.0)
        tokens = invert_cdf(nucleus, uniforms)
    return tokens, probs.gather(-1, tokens[:, None]).squeeze(-1).log()


def invert_cdf(probs: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Return the token at the quantile ``uniforms[row]`` of each row of ``probs`` ``[rows, vocab]``.

    The rows need not be normalised.
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
    import torch

    total = cdf[:, -1:]
    inside = point.minimum(torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cdf, inside, right=True)


def nucleus_floor(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """Return for each row of ``probs`` ``[rows, vocab]`` the smallest probability in its top-p set."""
    first = probs.topk(min(_NUCLEUS_FIRST, probs.shape[-1]), dim=-1).values
    floor, reached = _floor(first, top_p)
    if not bool(reached.all()):
        wide = (~reached).nonzero().squeeze(-1)
        ordered = probs[wide].sort(dim=-1, descending=True).values
        floor[wide] = _floor(ordered, top_p)[0]
    return floor


def _floor(ordered: torch.Tensor, top_p: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (smallest probability in the top-p set, whether ``ordered`` has the whole set), both ``[rows]``.

    ``ordered`` has the largest probabilities of each row, in descending order.
    """
    import torch

    mass = ordered.cumsum(dim=-1, dtype=torch.float64)
    last = (mass < top_p).sum(dim=-1)
    reached = last < ordered.shape[-1]
    last = last.clamp(max=ordered.shape[-1] - 1)
    return ordered.gather(-1, last[:, None]).squeeze(-1), reached
