from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from prorl_inference.testing import tiny_model
from prorl_training.config import TrainConfig
from prorl_training.policy.logprobs import TargetScorer
from prorl_training.policy.packing import (
    PromptGroup,
    build_pack,
    build_packs,
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


SHAPE: dict[str, Any] = {
    "vocab_size": 260,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "eos_token_id": 257,
    "pad_token_id": 256,
    "bos_token_id": None,
    "initializer_range": 0.3,
}


@pytest.mark.parametrize(
    ("family", "settings", "attention", "packs"),
    [
        ("Llama", {"num_key_value_heads": 2}, "sdpa", True),
        ("Llama", {"num_key_value_heads": 2}, "eager", True),
        ("Mistral", {"num_key_value_heads": 2, "sliding_window": 2}, "sdpa", False),
        ("Gemma2", {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 2}, "sdpa", False),
        ("Bloom", {}, "eager", False),
        ("Falcon", {"alibi": True}, "eager", False),
        ("Mamba", {}, None, False),
    ],
)
def test_every_family_gives_a_packs_responses_what_they_get_alone(
    family: str, settings: dict[str, Any], attention: str | None, packs: bool
) -> None:
    config = getattr(transformers, f"{family}Config")(**SHAPE, **settings)
    if attention is not None:
        config._attn_implementation = attention
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model: Any = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    scorer = TargetScorer(model)
    assert scorer.packs == packs
    found, entropies = scorer.score(build_pack([A, B]), 1.3, with_entropy=True)
    expected, uncertain = [], []
    for group in (A, B):
        for response in group.responses:
            logits = model(torch.tensor([[*group.prompt, *response]])).logits[0]
            logp = (logits[len(group.prompt) - 1 : -1] / 1.3).log_softmax(-1)
            expected.append(logp.gather(-1, torch.tensor(response)[:, None])[:, 0])
            uncertain.append(-(logp.exp() * logp).sum(-1))
    assert entropies is not None
    torch.testing.assert_close(found, torch.cat(expected), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(entropies, torch.cat(uncertain), atol=1e-4, rtol=1e-4)
    found.sum().backward()  # type: ignore[no-untyped-call]
    ours = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    model.zero_grad()
    torch.cat(expected).sum().backward()  # type: ignore[no-untyped-call]
    theirs = [p.grad for p in model.parameters() if p.grad is not None]
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-3, rtol=1e-3)


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
