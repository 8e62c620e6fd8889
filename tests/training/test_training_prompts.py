from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_datasets import Sample
from prorl_training.config import AdvantageConfig, TrainConfig
from prorl_training.rollout.prompts import PromptSource, check_context
from prorl_training.run.watchdog import Watchdog
from prorl_verifiers import Task


def samples(count: int) -> list[Sample]:
    return [
        Sample(
            id=f"s{i}",
            domain="math" if i % 2 else "logic",
            prompt=({"role": "user", "content": "x" * (i + 1)},),
            task=Task("math", {"answer": "1"}),
            source="test",
            licence="none",
            split="train",
            metadata={},
        )
        for i in range(count)
    ]


def length_as_tokens(sample: Sample) -> list[int]:
    return [0] * len(sample.prompt[0]["content"])


def config_of(**rollout: Any) -> TrainConfig:
    return TrainConfig.model_validate(
        {"rollout": {"prompts": 4, "max_tokens": 10, **rollout}, "loss": {"mini_batches": 1}}
    )


def test_prompts_that_leave_no_room_for_the_response_are_left_out_and_counted() -> None:
    source = PromptSource(samples(10), length_as_tokens, context=15)
    drawn = {s.id for s in source.draw(1, config_of())}
    assert drawn == {f"s{i}" for i in range(5)}  # prompts of at most 5 tokens
    assert source.dropped == {f"s{i}" for i in range(5, 10)}


def test_prompts_passed_over_are_counted_anew_in_each_draw_even_one_that_takes_none() -> None:
    source = PromptSource(samples(10), length_as_tokens, context=15)
    for step in (1, 2):
        list(source.draw(step, config_of()))
        assert source.passed_over == 5
    source.draw(3, config_of())
    assert source.passed_over == 0


def test_a_reward_of_a_part_that_no_task_has_is_refused_with_the_nearest() -> None:
    parts = [{"name": "form", "verifier": "math", "reference": {"answer": "1"}}]
    composed = replace(samples(1)[0], task=Task("composite", {"parts": parts}))
    source = PromptSource([composed], length_as_tokens, context=None)
    config = config_of()
    for name, allowed in (("part.form", True), ("raw", True), ("part.from", False)):
        advantage = AdvantageConfig(estimator="gdpo", rewards={name: 1.0})
        settings = config.model_copy(update={"advantage": advantage})
        if allowed:
            source.check(settings)
        else:
            with pytest.raises(UserError, match=r"'part\.from', but no task.*part\.form"):
                source.check(settings)


def test_a_limit_of_the_prompt_holds_without_a_context() -> None:
    source = PromptSource(samples(10), length_as_tokens, context=None)
    assert len(list(source.draw(1, config_of(max_prompt_tokens=3)))) == 3


def test_an_overlong_prompt_is_an_error_where_asked_for() -> None:
    source = PromptSource(samples(10), length_as_tokens, context=15)
    with pytest.raises(UserError, match="overlong_prompts=drop"):
        list(source.draw(1, config_of(overlong_prompts="error")))


def test_no_prompt_that_fits_is_one_line_with_the_cure() -> None:
    source = PromptSource(samples(10)[5:], length_as_tokens, context=15)
    with pytest.raises(UserError, match=r"no prompt leaves room for rollout\.max_tokens=10"):
        list(source.draw(1, config_of()))


def test_a_response_limit_beyond_the_context_is_refused_before_the_run() -> None:
    with pytest.raises(UserError, match="no room for a prompt"):
        check_context(config_of(max_tokens=512), 512)
    check_context(config_of(max_tokens=511), 512)
    check_context(config_of(max_tokens=512), None)


def test_the_context_is_checked_in_every_phase() -> None:
    phases = [
        {"name": "a", "steps": 1},
        {"name": "long", "steps": 1, "set": {"rollout": {"max_tokens": 900}}},
    ]
    config = TrainConfig.model_validate(
        {"rollout": {"max_tokens": 10}, "phases": phases, "steps": 2}
    )
    with pytest.raises(UserError, match="in phase long"):
        check_context(config, 512)


def test_the_same_step_draws_the_same_prompts_and_more_steps_than_data_go_round() -> None:
    source = PromptSource(samples(8), length_as_tokens, context=None)
    first = [s.id for s in source.draw(7, config_of())]
    assert first == [s.id for s in source.draw(7, config_of())]
    seen = [s.id for step in range(1, 5) for s in list(source.draw(step, config_of()))[:4]]
    assert sorted(seen) == sorted([f"s{i}" for i in range(8)] * 2)  # two complete epochs


def test_the_watchdog_writes_the_stacks_once_a_stall(tmp_path: Path) -> None:
    said: list[str] = []
    with Watchdog(0.05, tmp_path / "stacks.txt", said.append) as dog:
        deadline = time.monotonic() + 10
        while not said and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        assert len(said) == 1
        dog.beat()
        while len(said) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(said) == 2
    assert "test_the_watchdog_writes" in (tmp_path / "stacks.txt").read_text()


def test_a_watchdog_that_sees_movement_says_nothing(tmp_path: Path) -> None:
    clock = [0.0]
    said: list[str] = []
    with Watchdog(1000.0, tmp_path / "stacks.txt", said.append, lambda: clock[0]) as dog:
        clock[0] = 999.0
        dog.beat()
        clock[0] = 1500.0
    assert said == []
    assert not (tmp_path / "stacks.txt").exists()
