from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from prorl_common import ServiceError
from prorl_datasets import Sample
from prorl_training.config import DynamicSamplingConfig, SafetyConfig, TrainConfig
from prorl_training.rollout.collector import Collector, Occupancy, RewardOutage, TooFewGroups
from prorl_training.rollout.item_records import ItemRecords
from prorl_training.rollout.scoring import Scoring
from prorl_training.schedule.safety import Guard
from prorl_training.testing import EchoGenerator, named_sample, scored_group
from prorl_training.types import Carried, Group, LateGroup
from prorl_verifiers import Task, Verdict

Rule = Callable[[str, int], float | None]


class RuleScorer:
    """Give the reward ``rule(prompt, sample number)``."""

    def __init__(self, rule: Rule) -> None:
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


def collector_of(generator: EchoGenerator, rule: Rule = mixed) -> Collector:
    return Collector(generator, RuleScorer(rule), Guard(SafetyConfig()))


def ids(groups: Sequence[Group | LateGroup]) -> list[str]:
    return [g.sample.id for g in groups]


def test_a_batch_of_usable_groups_draws_a_batch_of_prompts() -> None:
    generator = EchoGenerator()
    batch = collector_of(generator).collect(names(9), 3, config_of(late="wait"))
    assert ids(batch.kept) == ["p0", "p1", "p2", "p3"]
    assert (batch.drawn, batch.gave_up, generator.drawn) == (4, False, ["p0", "p1", "p2", "p3"])
    assert {g.step for g in batch.kept} == {3}


def test_a_group_that_is_dropped_is_replaced_before_the_others_are_whole() -> None:
    def rule(name: str, number: int) -> float:
        return {"p0": 1.0, "p3": 0.0}.get(name, mixed(name, number))

    generator = EchoGenerator()
    batch = collector_of(generator, rule).collect(
        names(9), 1, config_of(refill="missing", late="wait")
    )
    assert ids(batch.kept) == ["p1", "p2", "p4", "p5"]
    assert batch.outcomes == ["all_right", "usable", "usable", "all_wrong", "usable", "usable"]
    assert generator.drawn == ["p0", "p1", "p2", "p3", "p4", "p5"]
    assert generator.open_at["p4"] == 2  # p0 was reported when p1 was complete: p2 and p3 continued
    assert batch.drawn == 6


def test_a_group_inside_the_boundary_is_replaced_like_any_other() -> None:
    prompts = list(names(9))
    records = ItemRecords(prompts)
    records.right[1] = 3.0  # p1 has Beta(4, 2): 1 - 120 / 3024 for one of 4; the others 4 / 6
    collector = replace(collector_of(EchoGenerator()), records=records)
    config = config_of(
        rule="boundary", boundary_k=4, boundary_probability=0.9, refill="missing", late="wait"
    )
    batch = collector.collect(iter(prompts), 1, config)
    assert ids(batch.kept) == ["p0", "p2", "p3", "p4"]
    assert batch.outcomes == ["usable", "saturated", "usable", "usable", "usable"]


def test_as_many_are_under_way_as_the_rate_of_usable_groups_says() -> None:
    collector = collector_of(EchoGenerator(), lambda name, number: 0.0)
    collector.collect(names(99), 1, config_of(max_batches=3))
    assert collector.usable_rate == pytest.approx(0.8)
    for step in range(2, 30):
        collector.collect(names(99), step, config_of(max_batches=3))
    generator = EchoGenerator()
    collector.generator = generator
    collector.scorer = RuleScorer(mixed)
    assert collector.usable_rate == pytest.approx(0.01)
    collector.usable_rate = 0.5
    batch = collector.collect(names(99), 30, config_of(late="cancel"))
    assert len(generator.drawn) == 8  # 4 / 0.5
    assert len(batch.kept) == 4 and len(batch.kept) + len(batch.surplus) < 8
    assert len(batch.cancelled) == 8 - len(batch.outcomes)


def test_a_step_never_draws_more_prompts_than_its_batches() -> None:
    collector = collector_of(EchoGenerator(), lambda name, number: 0.0)
    for late in ("carry", "cancel", "wait"):
        batch = collector.collect(names(999), 1, config_of(max_batches=3, late=late))
        assert (batch.drawn, len(batch.sampled)) == (12, 12)


def test_carried_groups_come_first_and_nothing_usable_is_lost() -> None:
    collector = collector_of(EchoGenerator())
    old = collector.collect(names(5, "old"), 1, config_of(oversample=1.25, late="wait"))
    assert ids(old.surplus) == ["old4"]
    batch = collector.collect(names(9), 2, config_of(late="wait"), old.carried)
    assert ids(batch.kept) == ["old4", "p0", "p1", "p2"]
    assert batch.carried_in == 1
    assert [g.step for g in batch.kept] == [1, 2, 2, 2]


def test_carried_groups_beyond_a_batch_wait_on() -> None:
    carried = Carried([Group(named_sample(f"g{i}"), (), 1) for i in range(6)])
    generator = EchoGenerator()
    batch = collector_of(generator).collect(names(9), 2, config_of(), carried)
    assert ids(batch.kept) == ["g0", "g1", "g2", "g3"]
    assert ids(batch.surplus) == ["g4", "g5"]
    assert generator.drawn == []


def test_sampling_ends_when_the_batch_is_full_and_the_late_group_is_gone_on_with() -> None:
    generator = EchoGenerator(slow=["p1"])
    collector = collector_of(generator)
    first = collector.collect(names(99), 1, config_of())
    assert ids(first.kept) == ["p0", "p2", "p3", "p4"]
    assert "p1" in ids(first.late) and not first.cancelled
    late = first.late[0]
    assert [c.finish_reason for c in late.completions] == ["stop", "paused"]
    assert first.tokens == 2 * len(first.sampled) + sum(g.tokens for g in first.late)
    generator.slow, generator.drawn = [], []
    second = collector.collect(names(99), 2, config_of(), first.carried)
    assert generator.drawn[0] == "p1" and generator.begun["p1"] == late.completions
    assert len(set(generator.drawn)) == len(generator.drawn)
    (group,) = [g for g in [*second.kept, *second.surplus] if g.sample.id == "p1"]
    assert group.step == 1, "its first tokens are an earlier policy's"
    here = sum(g.tokens for g in second.sampled) + sum(g.tokens for g in second.late)
    assert second.tokens == here - sum(g.tokens for g in first.late)


def test_late_groups_are_cancelled_or_waited_for_where_the_config_says_so() -> None:
    cancelled = collector_of(EchoGenerator(slow=["p1"])).collect(
        names(99), 1, config_of(oversample=1.25, late="cancel")
    )
    assert ids(cancelled.kept) == ["p0", "p2", "p3", "p4"]
    assert ids(cancelled.cancelled) == ["p1"] and not cancelled.late
    waited = collector_of(EchoGenerator(slow=["p1"])).collect(
        names(99), 1, config_of(oversample=1.25, late="wait")
    )
    assert ids(waited.kept) == ["p0", "p1", "p2", "p3"]
    assert ids(waited.surplus) == ["p4"] and not waited.cancelled


def test_a_group_begun_too_many_steps_ago_is_waited_for() -> None:
    generator = EchoGenerator(slow=["p0"])
    collector = collector_of(generator)
    carried = Carried()
    for step in (1, 2, 3):
        batch = collector.collect(
            names(999, f"s{step}-") if step > 1 else names(999),
            step,
            config_of(late_steps=2),
            carried,
        )
        assert ("p0" in ids(batch.late)) == (step < 3)
        carried = batch.carried
    assert "p0" in ids(batch.kept)
    assert [g.step for g in batch.kept if g.sample.id == "p0"] == [1]


def test_a_repeatable_sampler_makes_the_step_a_function_of_what_was_drawn_however_long_scoring_takes() -> (
    None
):
    def collected(delays: Sequence[float]) -> tuple[object, ...]:
        scorer = RuleScorer(
            lambda name, number: mixed(name, number) * (sum(map(ord, name)) % 3 > 0)
        )
        waits = itertools.cycle(delays)
        judge, generator = scorer.score, EchoGenerator(slow=["p1", "p6"])

        def slowly(items: Sequence[tuple[str, Task]]) -> list[Verdict]:
            time.sleep(next(waits))
            return judge(items)

        scorer.score = slowly  # type: ignore[method-assign]
        collector = Collector(generator, scorer, Guard(SafetyConfig()))
        one = collector.collect(names(99), 1, config_of())
        two = collector.collect(names(99, "q"), 2, config_of(), one.carried)
        return generator.drawn, one.outcomes, one.late, two.kept, two.late, collector.usable_rate

    first = collected([0.0])
    assert first == collected([0.02, 0.0, 0.005]) == collected([0.0, 0.0, 0.0, 0.03])


def test_verdicts_of_other_samplers_are_heard_as_they_come() -> None:
    generator = EchoGenerator(repeatable=False)
    batch = collector_of(generator).collect(names(99), 1, config_of())
    assert len(batch.kept) == 4
    assert ids(batch.kept) == sorted(ids(batch.kept), key=lambda name: int(name[1:]))


def test_after_the_last_prompt_the_step_goes_on_or_stops_as_configured() -> None:
    collector = collector_of(EchoGenerator(), lambda name, number: 0.0)
    batch = collector.collect(names(99), 1, config_of(max_batches=2))
    assert batch.gave_up
    assert batch.kept == []
    with pytest.raises(TooFewGroups, match="0 of 4 groups were usable after 8 draws"):
        collector.collect(names(99), 1, config_of(max_batches=2, exhausted="stop"))


def test_an_infra_error_is_masked_out_and_never_a_reward_of_zero() -> None:
    def rule(name: str, number: int) -> float | None:
        return None if name == "p0" else mixed(name, number)

    batch = Collector(EchoGenerator(), RuleScorer(rule), Guard(SafetyConfig())).collect(
        names(9), 1, config_of()
    )
    assert batch.outcomes[0] == "infra"
    assert ids(batch.kept) == ["p1", "p2", "p3", "p4"]


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
    assert scored_group("g", *rewards).outcome(DynamicSamplingConfig(rule=rule)) == expected


def test_without_dynamic_sampling_every_group_with_two_verdicts_is_used() -> None:
    off = DynamicSamplingConfig(enabled=False)
    assert scored_group("g", 1.0, 1.0).outcome(off) == "usable"
    assert scored_group("g", 1.0, None).outcome(off) == "infra"


def test_the_idle_share_is_what_waiting_for_the_last_ones_costs() -> None:
    times = iter([0.0, 0.0, 4.0, 6.0, 8.0])
    occupancy = Occupancy(10, lambda: next(times))
    for running in (30, 10, 2, 0):  # only 10 of the 30 run
        occupancy.record(running)
    assert occupancy.idle_share == pytest.approx(1 - (10 * 6 + 2 * 2) / (10 * 8))
    assert Occupancy(10, lambda: 0.0).idle_share == 0.0


def test_verdicts_are_taken_in_the_order_in_which_groups_came_and_no_more_than_asked() -> None:
    with Scoring(RuleScorer(mixed), overlap=True) as scoring:
        answers = [("x/1", named_sample("x").task)]
        for key in (5, 3, 9):
            scoring.add(key, answers)
        assert [key for key, _ in scoring.take(2, 2)] == [5, 3]
        assert scoring.pending == 1
        assert [(k, [v.reward for v in vs]) for k, vs in scoring.take(1)] == [(9, [1.0])]
        assert scoring.take(0) == []
