"""Pack prompts and responses into one row of tokens without padding.

Each prompt comes once, followed by its responses, which attend only to the prompt and to themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class PromptGroup:
    """Token ids of a prompt and its responses. ``indices`` are the responses' numbers in the batch."""

    prompt: tuple[int, ...]
    responses: tuple[tuple[int, ...], ...]
    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """One forward pass of L tokens that predicts N response tokens, on the CPU.

    - input_ids, position_ids: (1, L).
    - owners: (2, L), each token's group, and its response or 0 for a prompt; None for plain causal attention.
    - predict_at, targets: (N,), the positions that predict, and the tokens that they predict.
    - trajectories, lengths: each response's number in the batch, and its tokens.
    """

    input_ids: Tensor
    position_ids: Tensor
    owners: Tensor | None
    predict_at: Tensor
    targets: Tensor
    trajectories: tuple[int, ...]
    lengths: tuple[int, ...]


def input_length(group: PromptGroup) -> int:
    """Return the number of input tokens of the group. The last token of each response is no input."""
    return len(group.prompt) + sum(len(r) - 1 for r in group.responses)


def split_group(group: PromptGroup, max_tokens: int) -> Iterator[PromptGroup]:
    """Yield parts of at most ``max_tokens`` input tokens. A longer response gets its own part."""
    start, used = 0, len(group.prompt)
    for i, response in enumerate(group.responses):
        if i > start and used + len(response) - 1 > max_tokens:
            yield _part(group, start, i)
            start, used = i, len(group.prompt)
        used += len(response) - 1
    yield _part(group, start, len(group.responses))


def _part(group: PromptGroup, start: int, stop: int) -> PromptGroup:
    return PromptGroup(group.prompt, group.responses[start:stop], group.indices[start:stop])


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
    for number, group in enumerate(groups):
        ids += group.prompt
        positions += range(len(group.prompt))
        group_of += [number] * len(group.prompt)
        response_of += [0] * len(group.prompt)
        last_prompt = len(ids) - 1
        for response in group.responses:
            predict_at += [last_prompt, *range(len(ids), len(ids) + len(response) - 1)]
            targets += response
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
        tuple(len(r) for g in groups for r in g.responses),
    )


def singles(pack: Pack) -> Iterator[Pack]:
    """Yield each response of a pack, with its prompt, as a pack of its own, in order."""
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
        size = inputs.shape[1]
        predict_at = torch.arange(size - length, size)
        yield Pack(inputs, positions, None, predict_at, pack.targets[part], (index,), (length,))


def attention_mask(owners: Tensor) -> Tensor:
    """Return a bool mask (1, 1, L, L) for ``Pack.owners``: causal attention to the prompt and within the response."""
    groups, responses = owners
    visible = (responses[None, :] == 0) | (responses[:, None] == responses[None, :])
    visible &= groups[:, None] == groups[None, :]
    allowed: Tensor = visible.tril()[None, None]
    return allowed
