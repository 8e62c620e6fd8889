from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from prorl_inference.testing import tiny_model
from prorl_training.config import TrainConfig
from prorl_training.policy.logprobs import TargetScorer
from prorl_training.policy.packing import (
    PackMask,
    PromptGroup,
    attention_mask,
    block_attention,
    build_pack,
    build_packs,
    flex,
    input_length,
    split_group,
)
from prorl_training.policy.update import Policy

A = PromptGroup((1, 2, 3), ((10, 11, 12), (20,), (30, 31)), (0, 1, 2))
B = PromptGroup((7, 8), ((40, 41), (10, 11, 12)), (3, 4))


def plain_logprobs(
    policy: Policy, group: PromptGroup, index: int, temperature: float
) -> list[float]:
    ids = [*group.prompt, *group.responses[index]]
    with torch.no_grad():
        logits = policy.model(torch.tensor([ids])).logits[0] / temperature
    logp = logits.log_softmax(-1)
    start = len(group.prompt)
    return [float(logp[start - 1 + i, token]) for i, token in enumerate(group.responses[index])]


def test_packed_logprobs_equal_one_response_at_a_time() -> None:
    policy = Policy(tiny_model(seed=1, spread=0.3), TrainConfig(), torch.float32)
    got = policy.logprobs(build_pack([A, B]), 1.3).tolist()
    expected = [
        x
        for g in (A, B)
        for i in range(len(g.responses))
        for x in plain_logprobs(policy, g, i, 1.3)
    ]
    assert torch.allclose(torch.tensor(got), torch.tensor(expected), atol=1e-5)


def test_gradient_of_a_pack_equals_the_sum_over_responses() -> None:
    policy = Policy(tiny_model(seed=1, spread=0.3), TrainConfig(), torch.float32)

    def gradient(packs: list[list[PromptGroup]]) -> torch.Tensor:
        policy.model.zero_grad()
        for groups in packs:
            loss = -policy.target_logprobs(build_pack(groups))[0].sum()
            loss.backward()  # type: ignore[no-untyped-call]
        return torch.cat(
            [p.grad.flatten() for p in policy.model.parameters() if p.grad is not None]
        )

    singles = [
        [PromptGroup(g.prompt, (r,), (i,))]
        for g in (A, B)
        for r, i in zip(g.responses, g.indices, strict=True)
    ]
    assert torch.allclose(gradient([[A, B]]), gradient(singles), atol=1e-4)


def ids(count: int) -> tuple[int, ...]:
    return tuple(range(count))


LONG = [
    PromptGroup(ids(300), (ids(600), ids(2), ids(1), ids(301)), (0, 1, 2, 3)),
    PromptGroup(ids(40), (ids(20), ids(270)), (4, 5)),
    PromptGroup(ids(9), (ids(12),), (6,)),
]
ONE_TOKEN_EACH = [
    PromptGroup(ids(3), (ids(1), ids(1)), (0, 1)),
    PromptGroup(ids(5), (ids(1),), (2,)),
]


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize(
    "groups", [LONG, ONE_TOKEN_EACH, [A, B], [PromptGroup(ids(3), (ids(5),), (0,))]]
)
@pytest.mark.parametrize(
    ("window", "cap"), [(None, None), (64, None), (300, None), (1, None), (None, 2.0), (64, 2.0)]
)
def test_attention_in_blocks_and_by_flex_attention_equals_a_dense_mask(
    groups: list[PromptGroup], window: int | None, cap: float | None
) -> None:
    pack = build_pack(groups)
    length = pack.input_ids.shape[1]
    owners = torch.zeros(2, length) if pack.owners is None else pack.owners
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, n, length, 8, requires_grad=True) for n in (4, 2, 2))
    positions = pack.position_ids[0]
    seen = attention_mask(owners)[0, 0] & (
        positions > positions[:, None] - (length if window is None else window)
    )
    scores = query @ key.repeat_interleave(2, 1).transpose(2, 3) * 0.3
    scores = scores if cap is None else cap * torch.tanh(scores / cap)
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    expected = (weights @ value.repeat_interleave(2, 1)).transpose(1, 2)

    mask = PackMask(pack, query.device, "blocks", window)
    found = block_attention(mask, query, key, value, 0.3, cap)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    query_only, *others = (x.detach() for x in (query, key, value))  # no backward pass on the CPU
    by_flex = flex(mask, query_only, others[0], others[1], 0.3, cap)
    torch.testing.assert_close(by_flex, expected, atol=1e-5, rtol=1e-5)
    wanted = torch.autograd.grad(expected.square().sum(), (query, key, value))
    gradients = torch.autograd.grad(found.square().sum(), (query, key, value))
    torch.testing.assert_close(gradients, wanted, atol=1e-5, rtol=1e-5)

    blocks = -(-length // 128)
    padded = torch.zeros(blocks * 128, blocks * 128, dtype=torch.bool)
    padded[:length, :length] = seen
    used = padded.reshape(blocks, 128, blocks, 128).sum((1, 3)) > 0
    block_mask = mask.block_mask
    counts = block_mask.kv_num_blocks + block_mask.full_kv_num_blocks
    assert torch.equal(counts[0, 0], used.sum(-1)), "every block with a visible pair is computed"


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records the largest tensor that is made."""

    numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        sizes = [t.numel() for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        self.numbers = max(self.numbers, *sizes, 0)
        return out


@pytest.mark.parametrize("window", [None, 64])
def test_no_mask_of_a_pack_has_a_number_for_each_pair_of_tokens(window: int | None) -> None:
    pack = build_pack(LONG)
    length = pack.input_ids.shape[1]
    heads = torch.randn(1, 2, length, 8, requires_grad=True)
    mask = PackMask(pack, heads.device, "blocks", window)
    with Largest() as made:  # type: ignore[no-untyped-call]
        block_attention(mask, heads, heads, heads, None, None).sum().backward()  # type: ignore[no-untyped-call]
    assert mask.block_mask.seq_lengths == (length, length)
    assert made.numbers < length**2 / 4


def test_a_model_that_gives_all_logits_is_read_at_the_right_places() -> None:
    scorer = TargetScorer(tiny_model(seed=1, spread=0.3))
    pack = build_pack([PromptGroup((1, 2), ((10, 11), (20, 21, 22)), (0, 1))])
    assert pack.input_ids.numel() == len(pack.targets), "or the lengths alone would tell"
    expected = scorer.score(pack, 1.0)[0]
    scorer.factor, scorer._knows["logits_to_keep"] = None, False
    torch.testing.assert_close(scorer.score(pack, 1.0)[0], expected)


def test_input_counts_each_prompt_once_and_no_last_token() -> None:
    assert input_length(A) == 3 + 2 + 0 + 1
    assert build_pack([A, B]).input_ids.shape == (1, input_length(A) + input_length(B))


def test_group_that_does_not_fit_is_split_and_keeps_every_trajectory() -> None:
    parts = list(split_group(A, 5))
    assert [p.indices for p in parts] == [(0, 1), (2,)]
    assert all(p.prompt == A.prompt for p in parts)


def test_packs_cover_all_trajectories_once_and_keep_to_the_limit() -> None:
    packs = build_packs([A, B, A], 9)
    assert sorted(i for p in packs for i in p.trajectories) == [0, 0, 1, 1, 2, 2, 3, 4]
    assert all(p.input_ids.shape[1] <= 9 for p in packs)


def test_short_groups_fill_the_room_that_long_ones_leave() -> None:
    sizes = [3, 9, 4, 8, 7, 5]  # 36 tokens; in this order next-fit would need five packs of 12
    groups = [PromptGroup((1,) * n, ((5,),), (i,)) for i, n in enumerate(sizes)]
    packs = build_packs(groups, 12)
    assert [p.input_ids.shape[1] for p in packs] == [12, 12, 12]
    assert [p.trajectories for p in packs] == [(1, 0), (3, 2), (4, 5)]


def test_packs_are_the_same_every_time_also_among_equal_lengths() -> None:
    groups = [PromptGroup((1, 2), ((5, 6),), (i,)) for i in range(5)]
    assert [p.trajectories for p in build_packs(groups, 6)] == [(0, 1), (2, 3), (4,)]


def test_a_response_longer_than_a_pack_gets_one_of_its_own() -> None:
    packs = build_packs([PromptGroup((1,), ((5,) * 20, (6,)), (0, 1)), A], 9)
    assert [p.trajectories for p in packs if p.input_ids.shape[1] > 9] == [(0,)]
    assert sorted(i for p in packs for i in p.trajectories) == [0, 0, 1, 1, 2]


def test_single_response_needs_no_mask() -> None:
    assert build_pack([PromptGroup((1, 2), ((3, 4),), (0,))]).owners is None
