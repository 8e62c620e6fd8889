from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf.step import TrainingRow, deal, mini_batch_rows, step_plan
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import UpdateBatch


def row(index: int, length: int = 3) -> TrainingRow:
    return TrainingRow(index, (1, 2), (3,) * length, 0.5, (-0.1,) * length, (0.1,) * length, False)


@given(
    st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=20), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_every_row_is_dealt_once_in_its_mini_batch_and_shares_are_of_one_size(
    lengths: list[list[int]], ranks: int
) -> None:
    batches = [
        [row(100 * m + i, n) for i, n in enumerate(lengths_of)]
        for m, lengths_of in enumerate(lengths)
    ]
    dealt = deal(batches, ranks)
    assert len(dealt) == ranks
    for m, rows in enumerate(batches):
        found = [r for shares in dealt for r in shares[m] if r is not None]
        assert sorted(r.index for r in found) == sorted(r.index for r in rows)
    sizes = {len(share) for shares in dealt for share in shares}
    assert sizes == {max(-(-len(rows) // ranks) for rows in batches)}


def test_long_rows_are_spread_over_the_ranks() -> None:
    dealt = deal([[row(i, n) for i, n in enumerate([100, 90, 80, 70, 10, 5])]], 2)
    totals = [sum(r.tokens for r in shares[0] if r is not None) for shares in dealt]
    assert max(totals) - min(totals) <= 10


def test_no_mini_batch_cannot_be_dealt() -> None:
    with pytest.raises(ValueError, match="0 mini-batches"):
        deal([], 2)


def test_rows_carry_advantage_log_probs_and_age() -> None:
    groups = [PromptGroup((1,), ((2, 3), (4,)), (0, 1)), PromptGroup((5,), ((6,),), (2,))]
    batch = UpdateBatch(
        mini_batches=[groups[:1], groups[1:]],
        advantages=torch.tensor([1.0, -1.0, 0.25]),
        sampler_logprobs=[(-0.5, -0.6), (-0.7,), (-0.8,)],
        config=load_config("prorl-v2"),
        stale=frozenset({2}),
    )
    first, second = mini_batch_rows(batch)
    assert [(r.index, r.prompt, r.response, r.advantage) for r in first] == [
        (0, (1,), (2, 3), 1.0),
        (1, (1,), (4,), -1.0),
    ]
    assert [(r.sampler_logprobs, r.stale) for r in second] == [((-0.8,), True)]


def test_weights_are_of_the_whole_mini_batch_whatever_rank_a_row_goes_to() -> None:
    groups = [PromptGroup((1,), ((2, 3, 4), (5,)), (0, 1)), PromptGroup((6,), ((7,),), (2,))]

    def weights(*settings: str) -> list[list[tuple[float, ...]]]:
        batch = UpdateBatch(
            mini_batches=[groups, groups[1:]],
            advantages=torch.zeros(3),
            sampler_logprobs=[(-0.5,) * 3, (-0.7,), (-0.8,)],
            config=load_config("prorl-v2", None, ["rollout.max_tokens=4", *settings]),
        )
        return [[row.weights for row in rows] for rows in mini_batch_rows(batch)]

    first, second = weights()
    assert [len(row) for row in first] == [3, 1, 1]
    assert [x for row in first for x in row] == pytest.approx([1 / 5] * 5)
    assert second == [(1.0,)]
    by_sequence = weights("loss.aggregation=sequence_mean")[0]
    assert [x for row in by_sequence for x in row] == pytest.approx([1 / 9] * 3 + [1 / 3] * 2)
    constant = weights("loss.aggregation=constant")[0]
    assert [x for row in constant for x in row] == pytest.approx([1 / 12] * 5)


def test_a_plan_holds_what_the_phase_and_the_guard_say() -> None:
    config = load_config("prorl-v2", None, ["kl.coefficient=0.5", "loss.dual_clip=3"])
    plan = step_plan(config, 32, (0.1, 0.2), 9.0)
    assert (plan.rows, plan.learning_rates, plan.norm_limit) == (32, (0.1, 0.2), 9.0)
    assert (plan.temperature, plan.kl, plan.loss) == (1.2, config.kl, config.loss)
