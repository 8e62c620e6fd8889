from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_training.config.loading import load_config
from prorl_training.engine.openrlhf import step
from prorl_training.engine.openrlhf.driver.policy import (
    ClusterPolicy,
    ResetFailed,
    RestoreFailed,
    max_kl_after_reset,
    mean_k2,
    same_weights,
    sampler_mismatch,
)
from prorl_training.engine.openrlhf.step import (
    FitReport,
    Share,
    StepPlan,
    TrainingRow,
    UpdateReport,
    checksum,
)
from prorl_training.policy.packing import PromptGroup
from prorl_training.policy.update import AcceptAll, UpdateBatch

DONE = UpdateReport(loss=0.525, policy_loss=0.5, grad_norm=2.0, applied=True)


class FakeCluster:
    """A cluster whose log-probs differ by ``gap`` and whose weights are one number each; it records its calls."""

    ranks = 2
    has_reference = True

    def __init__(self, gap: float = 0.0, copies: bool = True) -> None:
        self.gap = gap
        self.copies = copies
        self.weight = 1.0
        self.asked: list[Any] = []
        self.plans: list[StepPlan] = []
        self.dealt: list[Sequence[Sequence[Share]]] = []
        second = replace(DONE, loss=0.725, policy_loss=0.7, grad_norm=4.0)
        self.report = FitReport((DONE, second), 0.25, 1.5, 0.1, 0.0)

    def log_probs(
        self, rows: Sequence[TrainingRow | None], temperature: float
    ) -> list[tuple[Any, Any]]:
        self.asked.append(("log_probs", len(rows), temperature))
        lengths = [1 if r is None else r.tokens - 1 for r in rows]
        return [(torch.full((n,), -1.0), torch.full((n,), -1.0 - self.gap)) for n in lengths]

    def fit(self, dealt: Sequence[Sequence[Share]], seen: Any, plan: StepPlan) -> FitReport:
        self.dealt.append(dealt)
        self.plans.append(plan)
        return self.report

    def copy_policy_to_reference(self) -> tuple[dict[str, float], dict[str, float]]:
        self.asked.append("copy")
        ours = {"sum": 3.0, "squares": 9.0, "count": 3.0}
        return ours, ours if self.copies else {**ours, "sum": 2.9}

    def checksums(self) -> dict[str, dict[str, float]]:
        return {"policy": {"sum": self.weight, "squares": 1.0, "count": 1.0}}

    def copy_checkpoint_to_reference(self, folder: Path) -> dict[str, float]:
        self.asked.append(("reference", folder))
        return self.checksums()["policy"]

    def clear_optimizer(self) -> None:
        self.asked.append("clear")

    def load(self, folder: Path, reference: str) -> None:
        self.asked.append(("load", folder, reference))

    def load_policy(self, folder: Path) -> None:
        self.asked.append(("load_policy", folder))

    def save(self, folder: Path, reference: bool) -> None:
        self.asked.append(("save", folder, reference))


class Judge(AcceptAll):
    def __init__(self) -> None:
        self.heard: list[tuple[float, float, bool]] = []

    def norm_limit(self) -> float:
        return 7.0

    def record_update(self, loss: float, grad_norm: float, applied: bool) -> None:
        self.heard.append((loss, grad_norm, applied))


def batch_of(*settings: str) -> UpdateBatch:
    groups = [[PromptGroup((1, 2), ((3, 4), (5,)), (0, 1))], [PromptGroup((6,), ((7,),), (2,))]]
    return UpdateBatch(
        mini_batches=groups,
        advantages=torch.tensor([1.0, -1.0, 0.0]),
        sampler_logprobs=[(-1.5, -1.0), (-1.0,), (-3.0,)],
        config=load_config("prorl-v2", None, list(settings)),
        stale=frozenset({2}),
    )


def policy_on(cluster: FakeCluster) -> ClusterPolicy:
    return ClusterPolicy(cluster, load_config("prorl-v2"), {"ranks": 2})


def test_an_update_deals_every_row_and_reports_openrlhfs_means() -> None:
    cluster, judge = FakeCluster(), Judge()
    policy = policy_on(cluster)
    stats = policy.update(batch_of("kl.coefficient=0.1", "rollout.temperature=0.7"), judge, 0.5)
    assert cluster.asked == [("log_probs", 4, 0.7)]  # two mini-batches, two ranks, one row each
    (plan,) = cluster.plans
    assert plan.learning_rates == (1e-6, 1e-6)
    assert (plan.rows, len(plan.learning_rates), policy.updates) == (2, 2, 2)
    assert plan.norm_limit == 7.0
    assert stats.loss == pytest.approx(0.6 + 0.1 * 0.25)
    assert stats.policy_loss == pytest.approx(0.6)
    assert (stats.kl, stats.entropy, stats.grad_norm, stats.skipped) == (0.25, 1.5, 3.0, 0)
    # log-ratios of the fresh rows: 0.5, 0 and 0; the stale row does not count
    assert stats.mismatch_kl == pytest.approx((math.exp(0.5) - 1.5) / 3)
    ratios = [math.exp(0.5), 1, 1]
    assert stats.mismatch_ess == pytest.approx(sum(ratios) ** 2 / 3 / sum(r * r for r in ratios))
    assert [norm for _, norm, _ in judge.heard] == [2.0, 4.0]
    assert [loss for loss, _, _ in judge.heard] == pytest.approx([0.525, 0.725])
    assert stats.lr == pytest.approx(1e-6)


def test_updates_that_were_dropped_are_not_counted_and_the_judge_hears_of_them() -> None:
    cluster, judge = FakeCluster(), Judge()
    dropped = replace(DONE, grad_norm=math.nan, applied=False)
    cluster.report = FitReport((dropped, DONE), 0.25, 1.5, 0.0, 0.0)
    policy = policy_on(cluster)
    stats = policy.update(batch_of(), judge)
    assert (stats.skipped, policy.updates, stats.grad_norm) == (1, 1, 2.0)
    assert [applied for _, _, applied in judge.heard] == [False, True]
    assert math.isnan(judge.heard[0][1])


def test_each_update_has_the_learning_rate_of_its_place_in_the_run() -> None:
    cluster = FakeCluster()
    policy = policy_on(cluster)
    policy.updates = 2
    policy.update(batch_of("optimizer.lr=0.1", "optimizer.warmup_updates=4"), None, 0.5)
    assert cluster.plans[0].learning_rates == pytest.approx((0.0375, 0.05))


def test_without_a_reference_no_kl_is_reported() -> None:
    cluster = FakeCluster()
    cluster.has_reference = False
    cluster.report = replace(cluster.report, kl=None)
    assert policy_on(cluster).update(batch_of()).kl is None


def test_a_kl_on_the_step_after_a_reset_stops_the_run_with_the_reason() -> None:
    cluster = FakeCluster(gap=0.5)
    policy = policy_on(cluster)
    policy.reset_reference(clear_optimizer=False)
    with pytest.raises(ResetFailed, match=r"KL to the reference is 0\.125 on the step after"):
        policy.update(batch_of())
    cluster.gap = 0.0
    policy.update(batch_of())
    cluster.gap = 0.5
    policy.update(batch_of())  # no longer the step after the reset


def test_a_reset_allows_what_the_compute_type_rounds_away() -> None:
    assert max_kl_after_reset("bf16") == pytest.approx(1 / 32)
    # bf16 logits of 16 to 32 lie 1/8 apart: rounded to either side, two models differ by one step
    policy = policy_on(FakeCluster(gap=1 / 8))
    policy.update(batch_of())
    policy.environment["dtype"] = "fp32"
    policy.reset_reference(clear_optimizer=False)
    with pytest.raises(ResetFailed, match=r"at most 0\.00049"):
        policy.update(batch_of())


def test_the_checksum_in_blocks_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = [torch.randn(7, 3), torch.randn(5).bfloat16()]
    whole = checksum(weights)
    monkeypatch.setattr(step, "CHECKSUM_BLOCK", 4)
    assert checksum(weights) == pytest.approx(whole, rel=1e-12)
    values = torch.cat([w.double().reshape(-1) for w in weights])
    assert whole == pytest.approx(
        {"sum": float(values.sum()), "squares": float(values.square().sum()), "count": 26.0}
    )


def test_a_reference_whose_weights_differ_after_a_reset_is_an_error() -> None:
    with pytest.raises(ResetFailed, match="but the policy's is"):
        policy_on(FakeCluster(copies=False)).reset_reference(clear_optimizer=False)


def test_the_optimiser_is_cleared_only_when_asked_to() -> None:
    cluster = FakeCluster()
    policy_on(cluster).reset_reference(clear_optimizer=False)
    assert cluster.asked == ["copy"]
    policy_on(cluster).reset_reference(clear_optimizer=True)
    assert cluster.asked == ["copy", "copy", "clear"]


def test_a_reset_to_a_checkpoint_moves_the_reference_alone_and_expects_a_kl(tmp_path: Path) -> None:
    cluster = FakeCluster()
    policy = policy_on(cluster)
    entries = policy.write_checkpoint(tmp_path, None)
    (tmp_path / "state.json").write_text(json.dumps(entries))
    cluster.asked.clear()
    policy.reset_to_checkpoint(clear_optimizer=True, path=tmp_path)
    assert cluster.asked == [("reference", tmp_path), "clear"]
    assert policy.write_checkpoint(tmp_path, None)["reference"] == "own"
    cluster.gap = 0.5
    policy.update(batch_of())  # the reference is not the policy, but no ResetFailed is raised
    cluster.weight = 1.5
    with pytest.raises(RestoreFailed, match="the policy loaded from"):
        policy.reset_to_checkpoint(clear_optimizer=False, path=tmp_path)


def test_a_checkpoint_says_whether_the_reference_is_the_policy(tmp_path: Path) -> None:
    cluster = FakeCluster()
    policy = policy_on(cluster)
    policy.reset_reference(clear_optimizer=False)
    assert policy.write_checkpoint(tmp_path, None)["reference"] == "policy"
    policy.update(batch_of())
    entries = policy.write_checkpoint(tmp_path, None)
    assert (entries["updates"], entries["reference"]) == (2, "own")
    assert cluster.asked[-1] == ("save", tmp_path, True)
    again = policy_on(cluster)
    again.restore(tmp_path, entries)
    assert (again.updates, cluster.asked[-1]) == (2, ("load", tmp_path, "own"))


def test_weights_that_come_back_otherwise_are_an_error(tmp_path: Path) -> None:
    cluster = FakeCluster()
    entries = policy_on(cluster).write_checkpoint(tmp_path, None)
    cluster.weight = 1.5
    with pytest.raises(RestoreFailed, match="the policy loaded from"):
        policy_on(cluster).restore(tmp_path, entries)


def test_k2_and_mismatch_are_means_over_response_tokens() -> None:
    rows = [TrainingRow(0, (1, 2), (3, 4), 0.0, (-1.0, -2.0), (0.5, 0.5), False), None]
    policy = torch.tensor([9.0, -1.5, -2.0])  # the first position belongs to the prompt
    seen = [(policy, torch.tensor([0.0, -0.5, -2.0])), (torch.tensor([5.0]), torch.tensor([0.0]))]
    assert mean_k2(rows, seen) == pytest.approx(0.25)
    found = sampler_mismatch(rows, {0: policy[1:]})
    assert found is not None and found.kl == pytest.approx((math.exp(-0.5) - 0.5) / 2)


def test_checksums_are_compared_up_to_rounding_and_without_padding() -> None:
    one = {"sum": 310.0, "squares": 362.0, "count": 107.0}
    assert same_weights(one, {"sum": 310.0 + 1e-8, "squares": 362.0, "count": 115.0})
    assert not same_weights(one, {**one, "sum": 310.0 + 1e-5})
    assert not same_weights(one, {**one, "squares": 362.0 + 1e-5})
