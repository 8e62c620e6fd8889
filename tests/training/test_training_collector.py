"""Collecting a batch: refilling, carrying, outages, and scoring beside sampling."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from prorl_common import ServiceError
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.config import DynamicSamplingConfig, SafetyConfig, TrainConfig
from prorl_training.rollout.collector import Collector, RewardOutage, TooFewGroups
from prorl_training.rollout.types import Group, Trajectory
from prorl_training.schedule.safety import Guard
from prorl_training.testing import EchoGenerator, named_sample
from prorl_verifiers import Task, Verdict


class RuleScorer:
    """Gives the reward that ``rule`` says for (prompt, sample number)."""

    def __init__(self, rule: Callable[[str, int], float | None]) -> None:
        self.rule = rule
        self.calls = 0
        self.threads: set[str] = set()

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        self.calls += 1
        self.threads.add(threading.current_thread().name)
        return [self._judge(text) for text, _ in items]

    def _judge(self, text: str) -> Verdict:
        name, _, number = text.rpartition("/")
        reward = self.rule(name, int(number))
        if reward is None:
            return Verdict(None, "infra_error", "down")
        return Verdict(reward, "scored", "rule")


def mixed(name: str, number: int) -> float:
    return float(number % 2)


def config_of(**sampling: Any) -> TrainConfig:
    return TrainConfig.model_validate(
        {
            "rollout": {"prompts": 4, "samples": 2, "max_tokens": 8},
            "loss": {"mini_batches": 1},
            "dynamic_sampling": sampling,
        }
    )


def names(count: int, prefix: str = "p") -> Iterator[Sample]:
    return iter([named_sample(f"{prefix}{i}") for i in range(count)])


def test_a_batch_of_usable_groups_takes_one_round() -> None:
    generator = EchoGenerator()
    batch = Collector(generator, RuleScorer(mixed), Guard(SafetyConfig())).collect(
        names(9), 3, config_of()
    )
    assert [g.sample.id for g in batch.kept] == ["p0", "p1", "p2", "p3"]
    assert (batch.rounds, batch.gave_up, generator.draws) == (1, False, [4])
    assert {g.step for g in batch.kept} == {3}


def test_groups_all_right_or_all_wrong_are_dropped_and_others_drawn() -> None:
    def rule(name: str, number: int) -> float:
        return {"p0": 1.0, "p1": 0.0}.get(name, mixed(name, number))

    batch = Collector(EchoGenerator(), RuleScorer(rule), Guard(SafetyConfig())).collect(
        names(9), 1, config_of(refill="missing")
    )
    assert [g.sample.id for g in batch.kept] == ["p2", "p3", "p4", "p5"]
    assert batch.outcomes == ["all_right", "all_wrong", "usable", "usable", "usable", "usable"]
    assert batch.rounds == 2


def test_an_expected_refill_asks_for_as_many_as_the_rate_of_usable_groups_says() -> None:
    def rule(name: str, number: int) -> float:
        return mixed(name, number) if name in ("p0", "p6", "p8", "p9", "p10") else 0.0

    generator = EchoGenerator()
    collector = Collector(generator, RuleScorer(rule), Guard(SafetyConfig()))
    batch = collector.collect(names(40), 1, config_of())
    assert generator.draws == [4, 6]  # 3 missing; (1 usable + 2) of (4 drawn + 2) is a half
    assert [g.sample.id for g in batch.kept] == ["p0", "p6", "p8", "p9"]
    assert collector.usable_rate == pytest.approx(1 + 0.2 * (4 / 10 - 1))
    collector.collect(names(40), 2, config_of())
    assert generator.draws[2] == 5  # 4 / 0.88


def test_a_step_never_draws_more_prompts_than_its_rounds_of_whole_batches() -> None:
    generator = EchoGenerator()
    collector = Collector(generator, RuleScorer(lambda n, i: 0.0), Guard(SafetyConfig()))
    for step in range(1, 11):
        batch = collector.collect(names(999), step, config_of(max_rounds=3))
        assert len(batch.sampled) == 12
    assert generator.draws[-1] == 12  # at a rate this low, all of them at once
    assert collector.usable_rate < 0.2


def test_carried_groups_come_first_and_nothing_usable_is_lost() -> None:
    collector = Collector(EchoGenerator(), RuleScorer(mixed), Guard(SafetyConfig()))
    old = collector.collect(names(5, "old"), 1, config_of(oversample=1.5))
    assert [g.sample.id for g in old.surplus] == ["old4"]
    batch = collector.collect(names(9), 2, config_of(), old.surplus)
    assert [g.sample.id for g in batch.kept] == ["old4", "p0", "p1", "p2"]
    assert batch.carried_in == 1
    assert [g.step for g in batch.kept] == [1, 2, 2, 2]


def test_carried_groups_beyond_a_batch_wait_on() -> None:
    groups = [Group(named_sample(f"g{i}"), (), 1) for i in range(6)]
    generator = EchoGenerator()
    batch = Collector(generator, RuleScorer(mixed), Guard(SafetyConfig())).collect(
        names(9), 2, config_of(), groups
    )
    assert [g.sample.id for g in batch.kept] == ["g0", "g1", "g2", "g3"]
    assert [g.sample.id for g in batch.surplus] == ["g4", "g5"]
    assert generator.draws == []


def test_after_the_last_round_the_step_goes_on_or_stops_as_configured() -> None:
    collector = Collector(
        EchoGenerator(), RuleScorer(lambda name, number: 0.0), Guard(SafetyConfig())
    )
    batch = collector.collect(names(99), 1, config_of(max_rounds=2))
    assert batch.gave_up
    assert batch.kept == []
    with pytest.raises(TooFewGroups, match="0 of 4 groups were usable after 2 rounds"):
        collector.collect(names(99), 1, config_of(max_rounds=2, exhausted="stop"))


def test_an_infra_error_is_masked_out_and_never_a_reward_of_zero() -> None:
    def rule(name: str, number: int) -> float | None:
        return None if name == "p0" else mixed(name, number)

    batch = Collector(EchoGenerator(), RuleScorer(rule), Guard(SafetyConfig())).collect(
        names(9), 1, config_of()
    )
    assert batch.outcomes[0] == "infra"
    assert [g.sample.id for g in batch.kept] == ["p1", "p2", "p3", "p4"]


def test_a_reward_service_that_comes_back_is_asked_again_with_growing_waits() -> None:
    scorer = RuleScorer(mixed)
    scorer.rule = lambda name, number: None if scorer.calls < 4 else mixed(name, number)
    waits: list[float] = []
    config = config_of().model_copy(update={"reward": TrainConfig().reward})
    collector = Collector(EchoGenerator(), scorer, Guard(SafetyConfig()), sleep=waits.append)
    batch = collector.collect(names(9), 1, config)
    assert len(batch.kept) == 4
    assert waits[:2] == [1.0, 2.0]


def test_a_reward_service_that_stays_away_is_an_outage_not_a_batch() -> None:
    waits: list[float] = []
    collector = Collector(
        EchoGenerator(),
        RuleScorer(lambda name, number: None),
        Guard(SafetyConfig()),
        sleep=waits.append,
    )
    with pytest.raises(RewardOutage, match=r"no verdict for 8 of 8 responses after 5 more tries"):
        collector.collect(names(9), 1, config_of())
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_a_scorer_that_raises_a_service_error_counts_as_away() -> None:
    class Broken:
        def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
            raise ServiceError("engine not running")

    collector = Collector(
        EchoGenerator(), Broken(), Guard(SafetyConfig()), sleep=lambda seconds: None
    )
    with pytest.raises(RewardOutage, match="engine not running"):
        collector.collect(names(9), 1, config_of())


def test_a_bug_in_the_scorer_is_raised_as_it_is() -> None:
    class Buggy:
        def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
            raise KeyError("bug")

    with pytest.raises(KeyError, match="bug"):
        Collector(EchoGenerator(), Buggy(), Guard(SafetyConfig())).collect(names(9), 1, config_of())


@pytest.mark.parametrize("overlap", [True, False])
def test_overlap_changes_who_scores_and_nothing_else(overlap: bool) -> None:
    config = config_of().model_copy(
        update={"reward": TrainConfig().reward.model_copy(update={"overlap": overlap})}
    )
    scorer = RuleScorer(lambda name, number: (len(name) + number) / 10)
    batch = Collector(EchoGenerator(), scorer, Guard(SafetyConfig())).collect(names(9), 1, config)
    assert [t.reward for g in batch.kept for t in g.trajectories] == [0.2, 0.3] * 4
    assert scorer.threads == ({"prorl-scoring"} if overlap else {"MainThread"})


def group_of(rewards: Sequence[float | None]) -> Group:
    verdicts = [
        Verdict(None, "infra_error", "x") if r is None else Verdict(r, "scored", "x")
        for r in rewards
    ]
    done = Completion("x", (1,), (-1.0,), "stop")
    return Group(
        named_sample("g"),
        tuple(Trajectory(i, done, v, v.reward or 0.0) for i, v in enumerate(verdicts)),
    )


@pytest.mark.parametrize(
    ("rule", "rewards", "expected"),
    [
        ("spread", [0.0, 1.0], "usable"),
        ("spread", [1.0, 1.0], "all_right"),
        ("spread", [0.0, 0.0], "all_wrong"),
        ("spread", [0.5, 0.5], "flat"),
        ("spread", [0.3, 0.5], "usable"),
        ("spread", [None, 1.0], "infra"),
        ("spread", [None, 0.0, 1.0], "usable"),
        ("open_interval", [0.5, 0.5], "usable"),
        ("open_interval", [1.0, 1.0], "all_right"),
        ("correct_count", [0.3, 0.5], "flat"),
        ("correct_count", [0.5, 1.0], "usable"),
    ],
)
def test_the_rule_looks_at_raw_rewards(
    rule: Any, rewards: list[float | None], expected: str
) -> None:
    assert group_of(rewards).outcome(DynamicSamplingConfig(rule=rule)) == expected


def test_without_dynamic_sampling_every_group_with_two_verdicts_is_used() -> None:
    off = DynamicSamplingConfig(enabled=False)
    assert group_of([1.0, 1.0]).outcome(off) == "usable"
    assert group_of([1.0, None]).outcome(off) == "infra"
