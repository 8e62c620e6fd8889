"""Pack prompts and responses into one row of tokens without padding.

Each prompt comes once, followed by its responses. A response attends only to its prompt and itself, by SDPA on blocks
or flex attention on CUDA.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from prorl_inference.types import sampled_at


@dataclass(frozen=True, slots=True)
class PromptGroup:
    """Token ids of a prompt and its responses. ``indices`` are the numbers of the responses in the batch.

    ``given`` has the (start, stop) ranges of each response's tokens that an environment wrote, or is empty.
    """

    prompt: tuple[int, ...]
    responses: tuple[tuple[int, ...], ...]
    indices: tuple[int, ...]
    given: tuple[tuple[tuple[int, int], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Pack:
    """One forward pass of L tokens that predicts the N sampled tokens of its responses, on the CPU.

    - input_ids, position_ids: (1, L).
    - owners: (2, L), numbers of each token's group and response (0: prompt); None for plain causal attention.
    - predict_at, targets: (N,), positions whose outputs predict the sampled tokens, and these tokens.
    - trajectories, lengths: each response's number in the batch, and its number of sampled tokens.
    """

    input_ids: Tensor
    position_ids: Tensor
    owners: Tensor | None
    predict_at: Tensor
    targets: Tensor
    trajectories: tuple[int, ...]
    lengths: tuple[int, ...]


def input_length(group: PromptGroup) -> int:
    """Return the group's number of input tokens, without the last token of each response."""
    return len(group.prompt) + sum(len(r) - 1 for r in group.responses)


def split_group(group: PromptGroup, max_tokens: int) -> Iterator[PromptGroup]:
    """Yield parts of the group with at most ``max_tokens`` input tokens. A longer response gets its own part."""
    start, used = 0, len(group.prompt)
    for i, response in enumerate(group.responses):
        if i > start and used + len(response) - 1 > max_tokens:
            yield _part(group, start, i)
            start, used = i, len(group.prompt)
        used += len(response) - 1
    yield _part(group, start, len(group.responses))


def _part(group: PromptGroup, start: int, stop: int) -> PromptGroup:
    cut = slice(start, stop)
    return PromptGroup(group.prompt, group.responses[cut], group.indices[cut], group.given[cut])


def build_packs(groups: Sequence[PromptGroup], max_tokens: int) -> list[Pack]:
    """Build packs of at most ``max_tokens`` by first-fit decreasing. A longer response gets its own pack."""
    parts = [part for group in groups for part in split_group(group, max_tokens)]
    parts.sort(key=input_length, reverse=True)
    contents: list[list[PromptGroup]] = []
    room: list[int] = []
    for part in parts:
        need = input_length(part)
        place = next((i for i, left in enumerate(room) if left >= need), len(room))
        if place == len(room):
            contents.append([])
            room.append(max_tokens)
        contents[place].append(part)
        room[place] -= need
    return [build_pack(content) for content in contents]


def build_pack(groups: Sequence[PromptGroup]) -> Pack:
    """Build one pack. No response may be empty."""
    ids: list[int] = []
    positions: list[int] = []
    group_of: list[int] = []
    response_of: list[int] = []  # 0 for prompt tokens, else 1, 2, ... unique in the pack
    predict_at: list[int] = []
    targets: list[int] = []
    lengths: list[int] = []
    for number, group in enumerate(groups):
        ids += group.prompt
        positions += range(len(group.prompt))
        group_of += [number] * len(group.prompt)
        response_of += [0] * len(group.prompt)
        last_prompt = len(ids) - 1
        for response, given in zip_longest(group.responses, group.given, fillvalue=()):
            sampled = sampled_at(len(response), given)
            predict_at += [len(ids) + i - 1 if i else last_prompt for i in sampled]
            targets += [response[i] for i in sampled]
            lengths.append(len(sampled))
            ids += response[:-1]
            start = len(group.prompt)
            positions += range(start, start + len(response) - 1)
            group_of += [number] * (len(response) - 1)
            response_of += [len(predict_at)] * (len(response) - 1)
    simple = len(groups) == 1 and len(groups[0].responses) == 1
    return Pack(
        torch.tensor([ids]),
        torch.tensor([positions]),
        None if simple else torch.tensor([group_of, response_of]),
        torch.tensor(predict_at),
        torch.tensor(targets),
        tuple(i for g in groups for i in g.indices),
        tuple(lengths),
    )


def singles(pack: Pack) -> Iterator[Pack]:
    """Yield a separate pack for each response of ``pack``, in order."""
    if pack.owners is None:
        yield pack
        return
    groups, responses = pack.owners
    end = 0
    for index, length in zip(pack.trajectories, pack.lengths, strict=True):
        part = slice(end, end + length)
        end += length
        last = int(pack.predict_at[end - 1])
        visible = (groups == groups[last]) & ((responses == 0) | (responses == responses[last]))
        visible[last + 1 :] = False
        inputs, positions = pack.input_ids[:, visible], pack.position_ids[:, visible]
        predict_at = (visible.cumsum(0) - 1)[pack.predict_at[part]]
        yield Pack(inputs, positions, None, predict_at, pack.targets[part], (index,), (length,))


def attention_mask(owners: Tensor) -> Tensor:
    """Return a bool mask (1, 1, L, L) for ``Pack.owners``: causal attention to the prompt and within the response."""
    groups, responses = owners
    visible = (responses[None, :] == 0) | (responses[:, None] == responses[None, :])
    visible &= groups[:, None] == groups[None, :]
    allowed: Tensor = visible.tril()[None, None]
    return allowed


Kernel = Literal["flex", "blocks"]
NAME = "prorl_packed"
_ROWS = 256
"""Number of queries in a call of SDPA with a mask."""
_BLOCK = 128
"""Number of tokens in a block of flex attention's mask."""
_COMPUTED = frozenset({"scaling", "dropout", "softcap", "is_causal", "sliding_window"})
_IGNORED = frozenset({"cache_position", "position_ids", "use_cache"})
_OUTPUTS = "output_"
"""Prefix of arguments that request additional outputs."""
_mask_of_pack: ContextVar[Callable[[int | None], PackMask] | None] = ContextVar("m", default=None)


class UnsupportedAttention(ValueError):
    """The model's attention cannot be computed within packs."""


class PackMask:
    """The attention mask of a pack. A token attends to all, or the last ``window``, tokens of prompt and response."""

    def __init__(
        self, pack: Pack, device: torch.device, kernel: Kernel, window: int | None = None
    ) -> None:
        alone = torch.zeros(2, pack.position_ids.shape[1], dtype=torch.long)
        owners = alone if pack.owners is None else pack.owners
        self.groups, self.responses = owners.to(device)
        self.positions = pack.position_ids[0].to(device)
        self.kernel, self.window = kernel, window
        self.spans = tuple(spans(owners))
        self._bias: Tensor | None = None

    @property
    def plain(self) -> bool:
        """Whether the mask is plain causal attention over all tokens."""
        length = len(self.positions)
        return len(self.spans) == 1 and (self.window is None or self.window >= length)

    @functools.cached_property
    def visible(self) -> Callable[..., Tensor]:
        """Mask function for flex attention: whether token ``query`` attends to token ``key``."""
        # it holds tensors alone, so that all packs use one compiled kernel
        groups, responses, positions = self.groups, self.responses, self.positions
        window = self.window

        def visible(batch: Any, head: Any, query: Tensor, key: Tensor) -> Tensor:
            allowed: Tensor = (key <= query) & (groups[key] == groups[query])
            allowed = allowed & ((responses[key] == 0) | (responses[key] == responses[query]))
            if window is None:
                return allowed
            return allowed & (positions[key] > positions[query] - window)

        return visible

    @functools.cached_property
    def block_mask(self) -> Any:
        from torch.nn.attention.flex_attention import BlockMask

        length = len(self.positions)
        blocks = -(-length // _BLOCK)
        index = torch.arange(blocks * _BLOCK, device=self.positions.device)
        real, index = index < length, index.clamp(max=length - 1)
        counts = []
        for rows in torch.split(index, 8 * _BLOCK):
            allowed = self.visible(0, 0, rows[:, None], index) & real
            counts.append(allowed.reshape(-1, _BLOCK, blocks, _BLOCK).sum((1, 3)))
        count = torch.cat(counts)
        full = count == _BLOCK**2
        return BlockMask.from_kv_blocks(
            *_ordered((count > 0) & ~full),
            *_ordered(full),
            BLOCK_SIZE=_BLOCK,
            mask_mod=self.visible,
            seq_lengths=(length, length),
        )

    def bias(self, rows: int, keys: int, like: Tensor) -> Tensor:
        """Return a causal mask (rows, keys) of 0 and -inf for the last ``rows`` tokens, as a view of a cached mask."""
        if self._bias is None:
            width = max(own.stop + prompt.stop - prompt.start for prompt, own in self.spans)
            width = max(width if self.window is None else min(width, self.window + _ROWS), _ROWS)
            row = torch.arange(width - _ROWS, width, device=like.device)[:, None]
            key = torch.arange(width, device=like.device)
            hidden = key > row
            if self.window is not None:
                hidden |= key <= row - self.window
            empty = torch.zeros(_ROWS, width, dtype=like.dtype, device=like.device)
            self._bias = empty.masked_fill_(hidden, float("-inf"))
        return self._bias[_ROWS - rows :, self._bias.shape[1] - keys :]


def spans(owners: Tensor) -> Iterator[tuple[slice, slice]]:
    """Yield (prompt, tokens) slices: ``tokens`` attend causally to each other and fully to ``prompt``.

    A prompt and its first response are one span with an empty ``prompt``.
    """
    runs, counts = torch.unique_consecutive(owners, dim=1, return_counts=True)
    stops = counts.cumsum(0).tolist()
    prompt = first = slice(0, 0)
    for response, start, stop in zip(runs[1].tolist(), [0, *stops], stops, strict=False):
        if response == 0:
            if first.stop:
                yield slice(0, 0), first
            prompt = first = slice(start, stop)
        elif first.stop:
            yield slice(0, 0), slice(first.start, stop)
            first = slice(0, 0)
        else:
            yield prompt, slice(start, stop)
    if first.stop:
        yield slice(0, 0), first


def _ordered(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Return the number of true ``blocks`` in each row, and all column indices, those of true blocks first."""
    columns = torch.argsort(blocks.int(), dim=-1, descending=True, stable=True).int()
    return blocks.sum(-1, dtype=torch.int32)[None, None], columns[None, None]


def block_attention(
    mask: PackMask,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float | None,
    cap: float | None,
) -> Tensor:
    """Return attention (1, L, heads, D). ``query`` is (1, heads, L, D), ``key`` and ``value`` (1, kv heads, L, D).

    With ``cap``, scores become cap * tanh(score / cap).
    """
    parts = []
    for prompt, own in mask.spans:
        queries, keys, values = (x[:, :, own] for x in (query, key, value))
        length, shared = own.stop - own.start, prompt.stop - prompt.start
        if shared:
            keys = torch.cat((key[:, :, prompt], keys), 2)
            values = torch.cat((value[:, :, prompt], values), 2)
        elif cap is None and (mask.window is None or mask.window >= length):
            parts.append(_sdpa(queries, keys, values, None, scale))
            continue
        for start in range(0, length, _ROWS):
            rows = queries[:, :, start : start + _ROWS]
            end = shared + start + rows.shape[2]
            first = 0 if mask.window is None else max(0, shared + start - mask.window + 1)
            bias = mask.bias(rows.shape[2], end - first, query)
            visible = keys[:, :, first:end], values[:, :, first:end]
            if cap is None:
                parts.append(_sdpa(rows, *visible, bias, scale))
            else:
                parts.append(_capped(rows, *visible, bias, scale, cap))
    return torch.cat([part.transpose(1, 2) for part in parts], 1)


def _sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float | None) -> Tensor:
    return scaled_dot_product_attention(
        q, k, v, mask, is_causal=mask is None, scale=scale, enable_gqa=k.shape[1] != q.shape[1]
    )


def _capped(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, scale: float | None, cap: float
) -> Tensor:
    shared = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(shared, 1) for x in (key, value))
    scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scale is None else scale)
    scores = cap * torch.tanh(scores / cap) + bias
    return scores.softmax(-1, dtype=torch.float32).to(value.dtype) @ value


def flex(
    mask: PackMask,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    scale: float | None,
    cap: float | None,
) -> Tensor:
    """Return the same as ``block_attention``, by flex attention (compiled on CUDA)."""
    out = _flex(query.is_cuda)(
        query,
        key,
        value,
        score_mod=None if cap is None else _soft_cap(cap),
        block_mask=mask.block_mask,
        scale=scale,
        enable_gqa=key.shape[1] != query.shape[1],
    )
    transposed: Tensor = out.transpose(1, 2).contiguous()
    return transposed


@functools.cache
def _flex(compiled: bool) -> Callable[..., Any]:
    from torch.nn.attention.flex_attention import flex_attention

    function: Callable[..., Any] = flex_attention
    return torch.compile(function) if compiled else function


@functools.cache
def _soft_cap(cap: float) -> Callable[..., Tensor]:
    return lambda score, *_: cap * torch.tanh(score / cap)


def attend(
    plain: Callable[..., Any],
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any,
    **options: Any,
) -> Any:
    """Transformers' attention interface for packs. ``plain`` is the function for other passes.

    Raises UnsupportedAttention for unknown arguments, such as attention sinks.
    """
    cap, scale, mask = options.get("softcap"), options.get("scaling"), attention_mask
    if not isinstance(mask, PackMask):
        if cap is None:
            return plain(module, query, key, value, mask, **options)
        bias = _additive(mask, query, key)
        return _capped(query, key, value, bias, scale, cap).transpose(1, 2), None
    passed = {n for n, option in options.items() if option is not None and n[:7] != _OUTPUTS}
    if unknown := passed - _COMPUTED - _IGNORED:
        raise UnsupportedAttention(f"packs do not support {', '.join(sorted(unknown))}")
    if (
        options.get("dropout")
        or options.get("is_causal") is False
        or query.shape[2] != key.shape[2]
    ):
        raise UnsupportedAttention("the model's attention is not causal, or has dropout")
    if mask.plain and cap is None:
        return plain(module, query, key, value, None, **options)
    if torch.is_autocast_enabled(query.device.type):  # rotary embeddings give float32
        dtype = torch.get_autocast_dtype(query.device.type)
        query, key, value = (x.to(dtype) for x in (query, key, value))
    function = flex if mask.kernel == "flex" else block_attention
    return function(mask, query, key, value, scale, cap), None


def _additive(mask: Tensor | None, query: Tensor, key: Tensor) -> Tensor:
    """Convert a bool ``mask`` (None: causal) to a mask of 0 and -inf."""
    new, seen = query.shape[2], key.shape[2]
    if mask is None:
        mask = torch.ones(new, seen, dtype=torch.bool, device=query.device).tril(seen - new)
    empty = torch.zeros(mask.shape, dtype=query.dtype, device=mask.device)
    return empty.masked_fill_(~mask, float("-inf"))


def make_mask(plain: Callable[..., Any], **options: Any) -> Any:
    """Implements Transformers' mask interface inside ``packed``; elsewhere calls ``plain``.

    Raises UnsupportedAttention for masks that are neither causal nor sliding windows.
    """
    mask_of_pack, window = _mask_of_pack.get(), options.get("local_size")
    if mask_of_pack is None:
        return plain(**options)
    if options.get("use_vmap"):
        raise UnsupportedAttention("the model uses a custom mask function")
    if window is not None and window > 1:
        at = torch.tensor(window)  # a second chunk's first token, which does not see the one before
        if not options["mask_function"](0, 0, at, at - 1):
            raise UnsupportedAttention("the model attends within chunks")
    return mask_of_pack(window)


@contextmanager
def packed(model: Any, pack: Pack, kernel: Kernel) -> Iterator[None]:
    """Make a Transformers model use the ``PackMask`` of ``pack`` inside the block.

    Raises UnsupportedAttention if the model does not use Transformers' attention interface.
    """
    import transformers
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS as masks
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS as functions

    current, interfaces = str(model.config._attn_implementation), transformers
    if not getattr(model, "_supports_attention_backend", False):
        raise UnsupportedAttention("the model's attention cannot be replaced")
    if not current.startswith(NAME):
        base = "sdpa" if current == "eager" else current
        name = NAME if base == "sdpa" else f"{NAME}_{base}"  # Transformers checks names with sdpa
        attention = functools.partial(attend, functions[base])
        interfaces.AttentionInterface.register(name, attention)
        interfaces.AttentionMaskInterface.register(name, functools.partial(make_mask, masks[base]))
        model.set_attn_implementation(name)
    token = _mask_of_pack.set(functools.partial(PackMask, pack, model.device, kernel))
    try:
        yield
    finally:
        _mask_of_pack.reset(token)
